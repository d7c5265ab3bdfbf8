/// What is said of work that goes on, in the status line.
enum Activity {
    private static let frames = ["|", "/", "-", "\\"]

    /// `/ opening 1.2 s`: the sign turns while the work goes on. From the second minute on without tenths.
    static func text(_ what: String, since began: ContinuousClock.Instant, now: ContinuousClock.Instant = .now)
        -> String
    {
        let tenths = Int((now - began) / .milliseconds(100))
        let seconds = tenths == 0 ? "" : tenths < 600 ? " \(tenths / 10).\(tenths % 10) s" : " \(tenths / 10) s"
        return "\(frames[tenths / 2 % frames.count]) \(what)\(seconds)"
    }

    /// How often the sign turns.
    static let interval = Duration.milliseconds(200)
}
