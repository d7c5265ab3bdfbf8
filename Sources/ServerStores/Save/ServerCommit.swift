import CoreData
import Foundation

/// A transaction that is written and not committed.
struct StagedTransaction {
    let token: UUID
    let number: Int64
    /// The connection on which it is open: no other can commit it.
    let connection: any ServerConnection
}

/// A transaction whose commit was not answered, and of which nothing could be learned afterwards.
struct DoubtfulTransaction {
    let token: UUID
    let number: Int64
    /// What it wrote; `nil` for a batch.
    let changes: StoreChangeSet?

    var error: ServerError {
        var error = ServerError(
            kind: .uncertain, state: nil,
            message: "the connection was lost in the commit, and the server cannot be asked whether it has done it; "
                + "the next save asks it first")
        error.token = token
        return error
    }

    /// What is left of a save, once this transaction is known to be there: without the rows that it wrote just so. `nil` for
    /// nothing.
    func rest(of other: StoreChangeSet) -> StoreChangeSet? {
        guard let changes else { return other }
        let inserted = Dictionary(changes.inserted.map { ($0.id, $0.row) }, uniquingKeysWith: { $1 })
        let changed = Dictionary(
            (changes.updated + changes.deleted).map { ($0.id, $0) }, uniquingKeysWith: { $1 })
        func isSame(_ left: RowSnapshot?, _ right: RowSnapshot?) -> Bool {
            guard let left, let right else { return left == nil && right == nil }
            return left.version == right.version && left.values.elementsEqual(right.values)
        }
        var rest = other
        rest.inserted.removeAll { row in
            inserted[row.id].map {
                isSame($0, row.row) && changes.insertedPositions[row.id] == other.insertedPositions[row.id]
            } ?? false
        }
        // A row that has another place or other pairs by now meets a conflict with what was written, as one with other
        // values does.
        func isWritten(_ row: StoreRowChange) -> Bool {
            guard let known = changed[row.id] else { return false }
            return known.baseVersion == row.baseVersion && isSame(known.row, row.row)
                && known.orderedPositions == row.orderedPositions
                && Self.pairs(of: row.id, in: changes) == Self.pairs(of: row.id, in: other)
        }
        rest.updated.removeAll(where: isWritten)
        rest.deleted.removeAll(where: isWritten)
        // Pairs may be written twice: the second time they are there.
        let isDone = rest.inserted.isEmpty && rest.updated.isEmpty && rest.deleted.isEmpty
        return isDone && Self.pairs(of: nil, in: changes) == Self.pairs(of: nil, in: other) ? nil : rest
    }

    /// What becomes of one list of pairs.
    private struct Pairs: Equatable {
        let added: Set<NSManagedObjectID>
        let removed: Set<NSManagedObjectID>
        let order: [NSManagedObjectID]?
    }

    private struct PairsKey: Hashable {
        let owner: NSManagedObjectID
        let relationship: ObjectIdentifier
    }

    /// - Parameter owner: the owner whose pairs are wanted; `nil` for all.
    private static func pairs(of owner: NSManagedObjectID?, in changes: StoreChangeSet) -> [PairsKey: Pairs] {
        var pairs: [PairsKey: Pairs] = [:]
        for change in changes.toMany where owner == nil || change.owner == owner {
            pairs[PairsKey(owner: change.owner, relationship: ObjectIdentifier(change.relationship))] = Pairs(
                added: Set(change.added), removed: Set(change.removed), order: change.order)
        }
        return pairs
    }
}

/// How a transaction that writes begins.
enum ServerTransactionStart {
    /// A process that waits for something else with an open transaction keeps all others from writing: after so long the
    /// server ends it. Batches run the program's own code in between.
    private static let longestSilence = "30s"
    private static let longestSilenceOfBatches = "300s"
    /// A machine that is gone is noticed by the server as soon as by its clients.
    private static let noticing = [
        ("tcp_keepalives_idle", "10"), ("tcp_keepalives_interval", "3"), ("tcp_keepalives_count", "3"),
        ("tcp_user_timeout", "10s"),
    ]

    /// A statement in a transaction of its own, which waits for locks no longer than the store's user wants to.
    /// It is the last but one of the returned list.
    static func bounded(_ statement: ServerStatement, _ place: ServerPlace) -> [ServerStatement] {
        // What the URL sets for the whole session stays.
        let isSet = place.sessionSettings.contains("lock_timeout")
        let setting = ServerStatement("SELECT set_config('lock_timeout', '\(place.lockTimeout)', true)")
        return [ServerStatement("BEGIN ISOLATION LEVEL READ COMMITTED")] + (isSet ? [] : [setting])
            + [statement, ServerStatement("COMMIT")]
    }

    /// What applies to this transaction alone, and the store's lock, which is that of its table ``ServerStoreTables/store``: only
    /// roles that may update that table can take it. Saves share it, by an update of no row, for which a right on a column is
    /// enough; a batch, a migration, and a save on which derived values of other rows depend has it alone. All take it before
    /// they touch a row, so that none of them holds rows that the other waits for.
    ///
    /// - Parameters:
    ///   - store: the table, as statements have it.
    ///   - isAlone: whether it is a batch or a migration.
    ///   - derives: whether values of other rows may depend on what it writes: it reads which have changed.
    static func statements(
        _ place: ServerPlace, store: String, isAlone: Bool, derives: Bool = false
    ) -> [ServerStatement] {
        var settings = [("lock_timeout", "\(place.lockTimeout)")]
        settings.append(
            ("idle_in_transaction_session_timeout", isAlone ? longestSilenceOfBatches : longestSilence))
        settings += noticing
        // A plan that was made for an empty table, and kept, would read all of it for each of a million rows.
        if isAlone { settings.append(("plan_cache_mode", "force_custom_plan")) }
        if derives { settings.append((ServerDerivedText.noting, "on")) }
        // What the URL sets for the whole session stays.
        settings = settings.filter { !place.sessionSettings.contains($0.0) }
        let parts = settings.map { "set_config('\($0.0)', '\($0.1)', true)" }
        let lock =
            isAlone || derives
            ? "LOCK TABLE \(store) IN SHARE ROW EXCLUSIVE MODE" : "UPDATE \(store) SET changes = changes WHERE false"
        return [
            ServerStatement("BEGIN ISOLATION LEVEL READ COMMITTED"),
            ServerStatement("SELECT \(parts.joined(separator: ", "))"), ServerStatement(lock),
        ]
    }
}
