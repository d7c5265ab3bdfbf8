import Dispatch

/// Commits of other processes that a context has not merged yet, in parts of whole transactions. Decides how many rows
/// one turn of the context's queue merges.
///
/// Design. A merge blocks the queue, so a turn should take about a hundredth of a second, however many rows wait. The
/// number of rows is learned from previous turns. If many rows wait, turns may take longer, because each has a fixed
/// cost: lists search for all positions of a turn together, and a server is queried over a network. The rows of a turn
/// may always take as long as this fixed cost: smaller turns would only be more turns, and the queue would never catch
/// up. The longer the oldest part waits, the longer turns may take: if commits arrive faster than short turns merge
/// them, the backlog would grow without end, and with it the number of rows that are newer in the store than in the
/// context. If most rows of a list are such, none of them can be used to find another's position, and a turn takes long
/// for few rows; then the whole backlog is merged at once.
struct ForeignCommits {
    private struct Part {
        let changes: CommittedChanges
        let arrival: DispatchTime
    }

    private var parts: [Part] = []
    /// Parts of stores that are away, until ``resume()``.
    private var held: [Part] = []
    private var rowsWaiting = 0
    /// The number of parts that name each row.
    private var pending: [RowKey: Int] = [:]
    /// True if a turn of the queue is scheduled.
    private var isScheduled = false
    /// True if the current turn takes the whole backlog.
    private var takesAll = false
    /// The maximum number of rows of the next turn.
    private(set) var rowsOfTurn = Self.firstRows

    private static let turn = 0.008
    private static let longTurn = 0.02
    /// The number of waiting turns from which turns are long ones.
    private static let manyTurns = 4
    private static let longestTurn = 0.1
    /// The share of the oldest part's delay that a turn may take, and the maximum of that time, in seconds.
    private static let shareOfDelay = 0.1
    private static let longestLateTurn = 0.25
    private static let firstRows = 64
    /// Turns of fewer rows than `fewRows`, with a delay above `farBehind` seconds, never catch up with the backlog.
    private static let fewRows = 128
    private static let farBehind = 5.0
    private static let fewestRows = 8
    private static let mostRows = 16_384

    /// The estimated time of a turn without its rows, in seconds.
    private var fixedCost = 0.0
    /// The estimated time per row; `nil` while unknown.
    private var costOfRow: Double?
    /// The last turn, for comparison with a turn of another size.
    private var lastTurn: (rows: Int, seconds: Double)?

    /// True if nothing has to be merged, now or later.
    var isEmpty: Bool { parts.isEmpty && held.isEmpty }

    /// True if a turn has something to merge.
    var hasTurns: Bool { !parts.isEmpty }

    /// True if a waiting part affects the row, or a row of another store with the same key.
    func mayConcern(_ key: RowKey) -> Bool { pending[key] != nil }

    /// Adds the latest commit.
    ///
    /// - Returns: true if the caller must schedule a turn.
    mutating func add(_ changes: CommittedChanges, at arrival: DispatchTime = .now()) -> Bool {
        parts.append(Part(changes: changes, arrival: arrival))
        rowsWaiting += changes.count
        forEachKey(of: changes) { pending[$0, default: 0] += 1 }
        defer { isScheduled = true }
        return !isScheduled
    }

    /// Removes and returns the parts of the turn that begins now, at least one.
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

    /// All stores can be read: the held parts are the next ones.
    ///
    /// - Returns: true if the caller must schedule a turn.
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

    /// Updates the estimates after a turn.
    ///
    /// - Returns: true if the caller must schedule another one.
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
        // A turn with the whole backlog does not predict the time of smaller ones.
        guard !takesAll else { return rowsOfTurn = Self.firstRows }
        learnFixedCost(rows: count, seconds: seconds)
        let aim = aim(now: now)
        if seconds > aim * 1.5 {
            rowsOfTurn = max(Self.fewestRows, min(rowsOfTurn, count) * 2 / 3)
        } else if seconds < aim * 0.75, count * 2 > rowsOfTurn {
            rowsOfTurn = min(Self.mostRows, rowsOfTurn * 3 / 2)
        }
    }

    /// The time that the next turn may take, in seconds.
    private func aim(now: DispatchTime) -> Double {
        let usual = rowsWaiting > Self.manyTurns * rowsOfTurn ? Self.longTurn : Self.turn
        return max(
            usual, min(fixedCost * 2, Self.longestTurn),
            min(delay(now: now) * Self.shareOfDelay, Self.longestLateTurn))
    }

    /// The delay of the oldest part, in seconds.
    private func delay(now: DispatchTime) -> Double {
        guard let first = parts.first else { return 0 }
        return (Double(now.uptimeNanoseconds) - Double(first.arrival.uptimeNanoseconds)) / 1e9
    }

    /// Estimates the fixed cost from two turns of different sizes.
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
