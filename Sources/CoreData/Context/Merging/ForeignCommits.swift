import Dispatch

/// What other processes committed and a context has not merged yet, in parts of whole transactions, and how much of it one
/// turn of the context's queue takes.
///
/// Design. A merge keeps the queue from everything else, so it is to take a hundredth of a second, however much came. How
/// many rows that are is learned from the turns before. Where much waits, turns may take longer, as each has costs of its
/// own: lists that follow search for all places of a turn together.
struct ForeignCommits {
    private var parts: [CommittedChanges] = []
    /// Whether a turn of the queue is on its way.
    private var isScheduled = false
    /// How many rows the next turn may take.
    private(set) var rowsOfTurn = 64

    private static let turn = 0.008
    private static let longTurn = 0.02
    /// From so many turns on that wait, turns are long ones.
    private static let manyTurns = 4
    private static let fewestRows = 8
    private static let mostRows = 16_384

    var isEmpty: Bool { parts.isEmpty }

    /// Adds what was committed last.
    ///
    /// - Returns: whether a turn has to be asked for.
    mutating func add(_ changes: CommittedChanges) -> Bool {
        parts.append(changes)
        defer { isScheduled = true }
        return !isScheduled
    }

    /// What the turn that begins now merges: at least one part.
    mutating func takeForTurn() -> [CommittedChanges] {
        var taken: [CommittedChanges] = []
        var count = 0
        while taken.count < parts.count, taken.isEmpty || count + parts[taken.count].count <= rowsOfTurn {
            count += parts[taken.count].count
            taken.append(parts[taken.count])
        }
        parts.removeFirst(taken.count)
        return taken
    }

    /// Learns from a turn.
    ///
    /// - Returns: whether another one has to be asked for.
    mutating func turnEnded(rows count: Int, since begin: DispatchTime) -> Bool {
        let seconds = Double(DispatchTime.now().uptimeNanoseconds - begin.uptimeNanoseconds) / 1e9
        learn(rows: count, seconds: seconds)
        isScheduled = !parts.isEmpty
        return isScheduled
    }

    mutating func learn(rows count: Int, seconds: Double) {
        let waiting = parts.reduce(0) { $0 + $1.count }
        let aim = waiting > Self.manyTurns * rowsOfTurn ? Self.longTurn : Self.turn
        if seconds > aim * 1.5 {
            rowsOfTurn = max(Self.fewestRows, min(rowsOfTurn, count) * 2 / 3)
        } else if seconds < aim * 0.75, count * 2 > rowsOfTurn {
            rowsOfTurn = min(Self.mostRows, rowsOfTurn * 3 / 2)
        }
    }
}
