import Foundation

/// The shortest and the median of several runs, in seconds.
struct Timing {
    let minimum: Double
    let median: Double

    /// What is counted: seconds on the wall, for how long somebody waits, or of processor time, for how much work it is,
    /// whatever else the machine does.
    enum Clock {
        case wall, processor

        var now: Double {
            var time = timespec()
            clock_gettime(self == .wall ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
        }
    }

    init(of seconds: [Double]) {
        let sorted = seconds.sorted()
        minimum = sorted[0]
        median = sorted[sorted.count / 2]
    }

    /// Runs `work` `times` times, `prepare` before each outside the clock.
    static func measure<State>(
        _ clock: Clock = .wall, times: Int, prepare: () throws -> State, work: (State) throws -> Void
    ) rethrows -> Timing {
        var seconds: [Double] = []
        for _ in 0..<times {
            let state = try prepare()
            let start = clock.now
            try work(state)
            seconds.append(clock.now - start)
        }
        return Timing(of: seconds)
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
