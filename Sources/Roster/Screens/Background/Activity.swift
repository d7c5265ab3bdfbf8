/// Text for running work in the status line.
enum Activity {
    private static let frames = ["|", "/", "-", "\\"]

    /// The text for running work, with a rotating sign: `/ opening 1.2 s`. Tenths are omitted after the first minute.
    static func text(_ what: String, since began: ContinuousClock.Instant, now: ContinuousClock.Instant = .now)
        -> String
    {
        let tenths = Int((now - began) / .milliseconds(100))
        let seconds = tenths == 0 ? "" : tenths < 600 ? " \(tenths / 10).\(tenths % 10) s" : " \(tenths / 10) s"
        return "\(frames[tenths / 2 % frames.count]) \(what)\(seconds)"
    }

    /// Time between two steps of the sign.
    static let interval = Duration.milliseconds(200)
}
