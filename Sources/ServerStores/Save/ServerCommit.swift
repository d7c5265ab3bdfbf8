import CoreData
import Foundation

/// A transaction that is written but not committed.
struct StagedTransaction {
    let token: UUID
    let number: Int64
    /// The connection with the open transaction, which no other can commit.
    let connection: any ServerConnection
}

/// A transaction whose commit was not answered, and whose outcome is unknown.
struct DoubtfulTransaction {
    let token: UUID
    let number: Int64
    /// The changes that the transaction wrote; `nil` for a batch.
    let changes: StoreChangeSet?

    var error: ServerError {
        var error = ServerError(
            kind: .uncertain, state: nil,
            message: "the connection was lost during the commit, so it is unknown whether it succeeded; "
                + "the next save asks the server first")
        error.token = token
        return error
    }

    /// Returns the part of a save to write after this transaction is known to be committed, without rows that it wrote
    /// identically. `nil` if nothing is left.
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
        // A change counts as written only if its values, positions and pairs equal the committed ones. Otherwise it
        // conflicts with the committed row.
        func isWritten(_ row: StoreRowChange) -> Bool {
            guard let known = changed[row.id] else { return false }
            return known.baseVersion == row.baseVersion && isSame(known.row, row.row)
                && known.orderedPositions == row.orderedPositions
                && Self.pairs(of: row.id, in: changes) == Self.pairs(of: row.id, in: other)
        }
        rest.updated.removeAll(where: isWritten)
        rest.deleted.removeAll(where: isWritten)
        // Pairs stay in `rest`, because writing a pair again has no effect.
        let isDone = rest.inserted.isEmpty && rest.updated.isEmpty && rest.deleted.isEmpty
        return isDone && Self.pairs(of: nil, in: changes) == Self.pairs(of: nil, in: other) ? nil : rest
    }

    /// The changes of one list of pairs.
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

/// The first statements of a writing transaction.
enum ServerTransactionStart {
    /// Time after which the server ends the transaction of a process that sends nothing, since others cannot write
    /// during it. It is longer in batches, where the program's own code runs between statements.
    private static let longestSilence = "30s"
    private static let longestSilenceOfBatches = "300s"
    /// Connection settings with which the server notices a lost client machine as soon as its clients notice a lost
    /// server.
    private static let noticing = [
        ("tcp_keepalives_idle", "10"), ("tcp_keepalives_interval", "3"), ("tcp_keepalives_count", "3"),
        ("tcp_user_timeout", "10s"),
    ]

    /// Returns the statements of a transaction that runs only `statement` and waits for locks no longer than the
    /// store's timeout. `statement` is the last but one of them.
    static func bounded(_ statement: ServerStatement, _ place: ServerPlace) -> [ServerStatement] {
        // Settings in the URL apply to the whole session and take precedence.
        let isSet = place.sessionSettings.contains("lock_timeout")
        let setting = ServerStatement("SELECT set_config('lock_timeout', '\(place.lockTimeout)', true)")
        return [ServerStatement("BEGIN ISOLATION LEVEL READ COMMITTED")] + (isSet ? [] : [setting])
            + [statement, ServerStatement("COMMIT")]
    }

    /// Returns settings for this transaction only, and the statement that locks the store. The lock is on the table
    /// ``ServerStoreTables/store``, so only roles that may update it can take it. Saves share it by an update of no
    /// rows, for which a right on one column is enough. Batches, migrations, and saves that affect derived values of
    /// other rows take it exclusively. All take it before they access rows, which prevents deadlocks between them.
    ///
    /// - Parameters:
    ///   - store: the quoted name of the table.
    ///   - isAlone: true for a batch or a migration.
    ///   - derives: true if derived values of other rows may change. The save then reads which rows changed.
    static func statements(
        _ place: ServerPlace, store: String, isAlone: Bool, derives: Bool = false
    ) -> [ServerStatement] {
        var settings = [("lock_timeout", "\(place.lockTimeout)")]
        settings.append(
            ("idle_in_transaction_session_timeout", isAlone ? longestSilenceOfBatches : longestSilence))
        settings += noticing
        // A cached plan made for an empty table would scan the whole table for each of a million rows.
        if isAlone { settings.append(("plan_cache_mode", "force_custom_plan")) }
        if derives { settings.append((ServerDerivedText.noting, "on")) }
        // Settings in the URL apply to the whole session and take precedence.
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
