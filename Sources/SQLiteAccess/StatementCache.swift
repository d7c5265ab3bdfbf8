import CSQLite3

/// Prepared statements by their text. A statement in use is not in the cache.
final class StatementCache {
    private var statements: [String: Statement] = [:]
    private var clock: UInt64 = 0
    private static let capacity = 256

    /// A statement for `sql`, reset and without arguments.
    func take(_ sql: String, connection: Connection) throws -> Statement {
        if let statement = statements.removeValue(forKey: sql) { return statement }
        return try Statement(connection: connection, sql: sql, isPersistent: true)
    }

    func giveBack(_ statement: Statement) {
        statement.reset()
        statement.clearBindings()
        clock += 1
        statement.lastUse = clock
        statements[statement.sql] = statement
        if statements.count > Self.capacity { dropOldest() }
    }

    func removeAll() { statements.removeAll() }

    /// Drops the less recently used half, so that searching for it is rare.
    private func dropOldest() {
        let limit = statements.values.map(\.lastUse).sorted()[statements.count / 2]
        statements = statements.filter { $0.value.lastUse >= limit }
    }
}
