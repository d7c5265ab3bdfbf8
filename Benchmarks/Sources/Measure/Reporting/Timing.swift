import Foundation

/// Times of several runs in seconds.
struct Timing {
    private let sorted: [Double]

    init(of seconds: [Double]) { sorted = seconds.sorted() }

    var minimum: Double { sorted[0] }
    var median: Double { sorted[sorted.count / 2] }
    var percentile99: Double { sorted[sorted.count * 99 / 100] }
}

/// A clock: wall-clock time for the caller's wait, or processor time for the amount of work, which does not depend on
/// other processes.
enum Clock {
    case wall, processor

    var now: Double {
        var time = timespec()
        clock_gettime(self == .wall ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    func time(_ work: () throws -> Void) rethrows -> Double {
        let start = now
        try work()
        return now - start
    }
}

/// Runs alternatives in turns, to expose all of them to the same state of the machine.
struct Rounds {
    let count: Int
    private var seconds: [String: [Double]] = [:]

    init(_ count: Int) { self.count = count }

    /// Calls `round` `count` times, optionally after a warm-up. `round` notes its times.
    static func run(_ count: Int, warmUp: Bool = false, _ round: (inout Rounds) throws -> Void) rethrows -> Rounds {
        var rounds = Rounds(count)
        if warmUp {
            try round(&rounds)
            rounds.seconds = [:]
        }
        for _ in 0..<count { try round(&rounds) }
        return rounds
    }

    mutating func note(_ what: String, _ time: Double) { seconds[what, default: []].append(time) }

    func runs(_ what: String) -> Int { seconds[what]?.count ?? 0 }

    subscript(what: String) -> Timing {
        guard let times = seconds[what] else { preconditionFailure("\(what) was not measured") }
        return Timing(of: times)
    }
}
