import Foundation

/// The shortest and the median of several runs, in seconds of wall time.
struct Timing {
    let minimum: Double
    let median: Double

    /// Runs `work` `times` times, `prepare` before each outside the clock.
    static func measure<State>(
        times: Int, prepare: () throws -> State, work: (State) throws -> Void
    ) rethrows -> Timing {
        var seconds: [Double] = []
        for _ in 0..<times {
            let state = try prepare()
            let start = ContinuousClock.now
            try work(state)
            let spent = ContinuousClock.now - start
            seconds.append(Double(spent.components.seconds) + Double(spent.components.attoseconds) * 1e-18)
        }
        seconds.sort()
        return Timing(minimum: seconds[0], median: seconds[seconds.count / 2])
    }

    static func measure(times: Int, work: () throws -> Void) rethrows -> Timing {
        try measure(times: times, prepare: {}, work: { try work() })
    }
}

/// A line of the report: the framework's time, raw SQLite's in the same run, and their ratio.
struct Line {
    let what: String
    let roster: Timing
    let raw: Timing?

    func report() {
        func milliseconds(_ seconds: Double) -> String { String(format: "%.3f", seconds * 1_000) }
        let ratio = raw.map { String(format: "%.2f×", roster.median / $0.median) } ?? "–"
        print("| \(what) | \(milliseconds(roster.median)) | \(raw.map { milliseconds($0.median) } ?? "–") | \(ratio) |")
    }
}

/// Peak resident memory of the process in megabytes.
func peakMemory() -> Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
    return (Int(line.split(whereSeparator: { !$0.isNumber }).first ?? "0") ?? 0) / 1_024
}
