import Dispatch

/// What other processes committed and a context has not merged yet, in parts of whole transactions, and how much of it one
/// turn of the context's queue takes.
///
/// Design. A merge keeps the queue from everything else, so it is to take a hundredth of a second, however much came. How
/// many rows that are is learned from the turns before. Where much waits, turns may take longer, as each has costs of its
/// own: lists that follow search for all places of a turn together, and a server is asked over a network. A turn takes at
/// least as long for its rows as for these costs: smaller turns would only be more of them, and the queue never be done.
/// And the longer the oldest part waits, the longer turns may take: where more comes than short turns are done with, what
/// waits would grow without end, and with it the rows whose values in the store are newer than those that were merged.
/// Where most rows of a list are such, none of them tells the place of another one, and a turn takes long for few rows: then
/// all that waits is merged at once.
struct ForeignCommits {
    private struct Part {
        let changes: CommittedChanges
        let arrival: DispatchTime
    }

    private var parts: [Part] = []
    /// Parts of stores that are away, until ``resume()``.
    private var held: [Part] = []
    private var rowsWaiting = 0
    /// How many of the parts name each row.
    private var pending: [RowKey: Int] = [:]
    /// Whether a turn of the queue is on its way.
    private var isScheduled = false
    /// Whether the turn that goes on takes all that waits.
    private var takesAll = false
    /// How many rows the next turn may take.
    private(set) var rowsOfTurn = Self.firstRows

    private static let turn = 0.008
    private static let longTurn = 0.02
    /// From so many turns on that wait, turns are long ones.
    private static let manyTurns = 4
    private static let longestTurn = 0.1
    /// The share of the oldest part's delay that a turn may take, and the most that this allows, in seconds.
    private static let shareOfDelay = 0.1
    private static let longestLateTurn = 0.25
    private static let firstRows = 64
    /// Turns of fewer rows than this, where the oldest part is later than that, in seconds, are never done with what waits.
    private static let fewRows = 128
    private static let farBehind = 5.0
    private static let fewestRows = 8
    private static let mostRows = 16_384

    /// What a turn seems to take without its rows, in seconds.
    private var fixedCost = 0.0
    /// What a row seems to take; `nil` while that is not known.
    private var costOfRow: Double?
    /// The last turn, to be compared with the next one of another size.
    private var lastTurn: (rows: Int, seconds: Double)?

    /// True if nothing has to be merged, now or later.
    var isEmpty: Bool { parts.isEmpty && held.isEmpty }

    /// True if a turn has something to merge.
    var hasTurns: Bool { !parts.isEmpty }

    /// Whether something waits that concerns a row, or one of another store with the same key.
    func mayConcern(_ key: RowKey) -> Bool { pending[key] != nil }

    /// Adds what was committed last.
    ///
    /// - Returns: whether a turn has to be asked for.
    mutating func add(_ changes: CommittedChanges, at arrival: DispatchTime = .now()) -> Bool {
        parts.append(Part(changes: changes, arrival: arrival))
        rowsWaiting += changes.count
        forEachKey(of: changes) { pending[$0, default: 0] += 1 }
        defer { isScheduled = true }
        return !isScheduled
    }

    /// What the turn that begins now merges: at least one part.
    mutating func takeForTurn(now: DispatchTime = .now()) -> [CommittedChanges] {
        var taken: [CommittedChanges] = []
        var count = 0
        takesAll = rowsOfTurn < Self.fewRows && delay(now: now) > Self.farBehind
        while taken.count < parts.count {
            let changes = parts[taken.count].changes
            guard taken.isEmpty || takesAll || count + changes.count <= rowsOfTurn else { break }
            count += changes.count
            taken.append(changes)
        }
        parts.removeFirst(taken.count)
        rowsWaiting -= count
        guard !isEmpty else {
            pending = [:]
            return taken
        }
        for part in taken {
            forEachKey(of: part) { key in
                guard let place = pending.index(forKey: key) else { return }
                pending.values[place] -= 1
                if pending.values[place] == 0 { pending.remove(at: place) }
            }
        }
        return taken
    }

    /// Keeps parts whose store is away until ``resume()``.
    mutating func hold(_ parts: [CommittedChanges]) {
        let now = DispatchTime.now()
        held += parts.map { Part(changes: $0, arrival: now) }
        for changes in parts { forEachKey(of: changes) { pending[$0, default: 0] += 1 } }
    }

    /// All stores can be read: what was held is next.
    ///
    /// - Returns: whether a turn has to be asked for.
    mutating func resume() -> Bool {
        guard !held.isEmpty else { return false }
        rowsWaiting += held.reduce(0) { $0 + $1.changes.count }
        parts = held + parts
        held = []
        defer { isScheduled = true }
        return !isScheduled
    }

    private func forEachKey(of changes: CommittedChanges, _ body: (RowKey) -> Void) {
        for ids in [changes.inserted, changes.updated, changes.deleted] {
            for id in ids { if let key = id.rowKey { body(key) } }
        }
    }

    /// Learns from a turn.
    ///
    /// - Returns: whether another one has to be asked for.
    mutating func turnEnded(rows count: Int, since begin: DispatchTime) -> Bool {
        let now = DispatchTime.now()
        let seconds = Double(now.uptimeNanoseconds - begin.uptimeNanoseconds) / 1e9
        return turnEnded(rows: count, seconds: seconds, now: now)
    }

    mutating func turnEnded(rows count: Int, seconds: Double, now: DispatchTime) -> Bool {
        learn(rows: count, seconds: seconds, now: now)
        isScheduled = !parts.isEmpty
        return isScheduled
    }

    mutating func learn(rows count: Int, seconds: Double, now: DispatchTime = .now()) {
        // What a turn of everything took says nothing of smaller ones.
        guard !takesAll else { return rowsOfTurn = Self.firstRows }
        learnFixedCost(rows: count, seconds: seconds)
        let aim = aim(now: now)
        if seconds > aim * 1.5 {
            rowsOfTurn = max(Self.fewestRows, min(rowsOfTurn, count) * 2 / 3)
        } else if seconds < aim * 0.75, count * 2 > rowsOfTurn {
            rowsOfTurn = min(Self.mostRows, rowsOfTurn * 3 / 2)
        }
    }

    /// How long the next turn may take.
    private func aim(now: DispatchTime) -> Double {
        let usual = rowsWaiting > Self.manyTurns * rowsOfTurn ? Self.longTurn : Self.turn
        return max(
            usual, min(fixedCost * 2, Self.longestTurn),
            min(delay(now: now) * Self.shareOfDelay, Self.longestLateTurn))
    }

    /// How late the oldest part is, in seconds.
    private func delay(now: DispatchTime) -> Double {
        guard let first = parts.first else { return 0 }
        return (Double(now.uptimeNanoseconds) - Double(first.arrival.uptimeNanoseconds)) / 1e9
    }

    /// What two turns of different sizes say of the costs that do not depend on the size.
    private mutating func learnFixedCost(rows count: Int, seconds: Double) {
        guard count > 0 else { return }
        defer { lastTurn = (count, seconds) }
        guard let last = lastTurn else { return }
        if abs(count - last.rows) * 4 >= max(count, last.rows) {
            costOfRow = max(0, (seconds - last.seconds) / Double(count - last.rows))
        }
        guard let costOfRow else { return }
        let fixed = max(0, min(seconds, seconds - costOfRow * Double(count)))
        fixedCost += (fixed - fixedCost) * Self.weightOfNewest
    }

    private static let weightOfNewest = 0.3
}
