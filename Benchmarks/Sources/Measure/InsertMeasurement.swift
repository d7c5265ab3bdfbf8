import CSQLite3Raw
import CoreData
import Foundation

/// Inserts of all records in one transaction: plain, and with the index and the history that a live list needs. Raw SQLite
/// writes the same rows to the same tables each time.
@MainActor struct InsertMeasurement {
    let records: [League.Record]
    let folder: URL
    let times: Int

    private var rosterURL: URL { folder.appendingPathComponent("insert.sqlite") }
    private var rawPath: String { folder.appendingPathComponent("insert-raw.sqlite").path }

    func run() throws {
        try compare("no index, no history", isIndexed: false, keepsHistory: false)
        try compare("index and history kept", isIndexed: true, keepsHistory: true)
        remove(rosterURL.path)
        remove(rawPath)
    }

    private func compare(_ what: String, isIndexed: Bool, keepsHistory: Bool) throws {
        let raw = Timing.measure(.processor, times: times, prepare: { remove(rawPath) }) {
            insertRaw(at: rawPath, isIndexed: isIndexed, keepsHistory: keepsHistory)
        }
        let model = League.model(isIndexed: isIndexed)
        var saves: [Double] = []
        let whole = try Timing.measure(
            .processor, times: times,
            prepare: {
                remove(rosterURL.path)
                return try League.container(at: rosterURL, model: model, keepsHistory: keepsHistory)
            },
            work: { saves.append(try insert(into: $0)) })
        Line(what: "insert: create, set and save all; \(what) (CPU)", roster: whole, raw: raw).report()
        Line(what: "… of it the save (CPU)", roster: Timing(of: saves), raw: raw).report()
    }

    /// - Returns: the seconds of processor time that the save took.
    @discardableResult
    func insert(into container: NSPersistentContainer) throws -> Double {
        let context = container.viewContext
        for record in records {
            let team = NSEntityDescription.insertNewObject(forEntityName: "Team", into: context)
            team.setValue(record.name, forKey: "teamName")
            team.setValue(record.zone, forKey: "qualifyingZone")
            team.setValue(record.wins, forKey: "wins")
            team.setValue(Date(timeIntervalSinceReferenceDate: record.founded), forKey: "founded")
        }
        let start = Timing.Clock.processor.now
        try context.save()
        return Timing.Clock.processor.now - start
    }

    func insertRaw(at path: String, isIndexed: Bool, keepsHistory: Bool) {
        let database = RawDatabase(path: path)
        database.execute(
            """
            CREATE TABLE ZTEAM (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZWINS INTEGER,
              ZFOUNDED TIMESTAMP, ZQUALIFYINGZONE VARCHAR, ZTEAMNAME VARCHAR);
            CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER,
              ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB);
            CREATE INDEX byTransaction ON ACHANGE (ZTRANSACTIONID);
            """)
        if isIndexed {
            database.execute(
                "CREATE INDEX byZone ON ZTEAM (ZQUALIFYINGZONE COLLATE BINARY ASC, ZWINS COLLATE BINARY DESC, "
                    + "ZTEAMNAME COLLATE BINARY ASC)")
        }
        database.execute("BEGIN")
        let statement = database.prepare("INSERT INTO ZTEAM VALUES (?, 1, 1, ?, ?, ?, ?)")
        for (number, record) in records.enumerated() {
            sqlite3_bind_int64(statement, 1, Int64(number + 1))
            sqlite3_bind_int64(statement, 2, Int64(record.wins))
            sqlite3_bind_double(statement, 3, record.founded)
            sqlite3_bind_text(statement, 4, record.zone, -1, transient)
            sqlite3_bind_text(statement, 5, record.name, -1, transient)
            sqlite3_step(statement)
            sqlite3_reset(statement)
        }
        sqlite3_finalize(statement)
        if keepsHistory { writeRawHistory(database) }
        database.execute("COMMIT")
    }

    /// A change for each row, as the framework's history has it.
    private func writeRawHistory(_ database: RawDatabase) {
        let statement = database.prepare("INSERT INTO ACHANGE VALUES (?, 16002, 1, 0, 1, ?, 1, NULL)")
        for number in 1...max(1, records.count) {
            sqlite3_bind_int64(statement, 1, Int64(number))
            sqlite3_bind_int64(statement, 2, Int64(number))
            sqlite3_step(statement)
            sqlite3_reset(statement)
        }
        sqlite3_finalize(statement)
    }

    private func remove(_ path: String) {
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }
}
