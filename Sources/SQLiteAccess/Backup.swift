import CSQLite3

extension Connection {
    /// Copies the whole database in its current state over that of `destination`, using SQLite's backup API. Includes
    /// the content of the write-ahead log.
    package func copy(to destination: Connection) throws {
        guard let backup = sqlite3_backup_init(destination.handle, "main", handle, "main") else {
            throw destination.error(sqlite3_errcode(destination.handle))
        }
        let result = sqlite3_backup_step(backup, -1)
        let finished = sqlite3_backup_finish(backup)
        guard result == SQLITE_DONE else { throw destination.error(result) }
        guard finished == SQLITE_OK else { throw destination.error(finished) }
    }
}
