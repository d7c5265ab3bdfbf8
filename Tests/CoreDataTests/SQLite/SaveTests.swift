import ChildProgram
import Foundation
import SQLiteAccess
import TestSupport
import Testing

@testable import CoreData

/// A save is one transaction: it is written completely or not at all, and never overwrites commits of others.
@Suite struct SaveTests {
    let harness: StoreHarness
    init() throws { harness = try StoreHarness(StoreModels.league()) }

    @Test func keysCountUpAndAreSharedBetweenConnections() throws {
        let first = try harness.open()
        let second = try harness.open()
        let team = try first.entity("Team")
        let a = try first.store.obtainPermanentIDs(for: [team, team])
        let b = try second.store.obtainPermanentIDs(for: [team])
        let c = try first.store.obtainPermanentIDs(for: [team])
        #expect((a + b + c).map { $0.rowKey?.reference } == [1, 2, 3, 4])
        #expect(try harness.sql("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Team'") == [[.integer(4)]])
    }

    @Test func aCounterThatIsTooLowIsCorrected() throws {
        let open = try harness.open()
        _ = try harness.sql("INSERT INTO ZTEAM (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (70, 1, 1, 'by hand')")
        let id = try open.insert("Team", ["name": .text("next")])
        #expect(id.rowKey?.reference == 71)
    }

    @Test func aRowThatSomebodyElseChangedIsAConflict() throws {
        let mine = try harness.open()
        let other = try harness.open()
        let a = try mine.insert("Team", ["name": .text("A"), "wins": .integer(1)])
        let b = try mine.insert("Team", ["name": .text("B"), "wins": .integer(1)])
        let c = try mine.insert("Team", ["name": .text("C"), "wins": .integer(1)])
        let changes = [try mine.change(a, ["wins": .integer(9)]), try mine.change(b, ["wins": .integer(9)])]
        let deletion = try mine.deletion(c)
        try other.store.save(StoreChangeSet(updated: [try other.change(a, ["wins": .integer(2)])]))
        try other.store.save(StoreChangeSet(deleted: [try other.deletion(c)]))
        #expect {
            try mine.store.save(StoreChangeSet(updated: changes, deleted: [deletion]))
        } throws: { error in
            guard let conflicts = error as? StoreConflicts else { return false }
            let found = Dictionary(uniqueKeysWithValues: conflicts.rows.map { ($0.id, $0.current) })
            return found.count == 2 && found[a]??.version == 2 && found[c] != nil && found[c]! == nil
        }
        #expect(try mine.value("wins", of: a) == .integer(2))
        #expect(try mine.value("wins", of: b) == .integer(1), "nothing may be written beside a conflict")
    }

    @Test func lockedRowsMustNotChange() throws {
        let open = try harness.open()
        let id = try open.insert("Team", ["name": .text("A")])
        let locked = try open.deletion(id)
        try open.store.save(StoreChangeSet(locked: [locked]))
        try open.store.save(StoreChangeSet(updated: [try open.change(id, ["wins": .integer(3)])]))
        #expect(throws: StoreConflicts.self) { try open.store.save(StoreChangeSet(locked: [locked])) }
    }

    @Test func aUniqueValueCannotBeUsedTwice() throws {
        let open = try harness.open(StoreHarness.history)
        try open.insert("Team", ["name": .text("Brazil")])
        let venue = try open.newRow("Venue", ["name": .text("Maracanã")])
        let team = try open.newRow("Team", ["name": .text("Brazil")])
        #expect {
            try open.store.save(StoreChangeSet(inserted: [venue, team]))
        } throws: { error in
            code(error) == 133021 && message(error).contains("Team") && message(error).contains("name (Brazil)")
        }
        #expect(try harness.sql("SELECT COUNT(*) FROM ZVENUE") == [[.integer(0)]])
        #expect(try harness.sql("SELECT COUNT(*) FROM ATRANSACTION") == [[.integer(1)]])
    }

    /// Many rows are written by one statement, the remaining ones by statements of their own.
    @Test(arguments: [255, 256, 257, 300]) func manyRowsAreWrittenAsOneIs(_ count: Int) throws {
        let open = try harness.open(StoreHarness.history)
        let texts: [SlotValue] = (0..<count).map { number in
            switch number % 5 {
            case 0: .null
            case 1: .text("")
            case 2: .text("Estádio 場 \(number)")
            case 3: .text(String(repeating: "long ", count: 200) + "\(number)")
            default: .text("V\(number)")
            }
        }
        let venues = try texts.map { try open.newRow("Venue", ["name": $0]) }
        try open.store.save(StoreChangeSet(inserted: venues))
        let saved = try open.store.rows(for: venues.map(\.id))
        #expect(venues.map { saved[$0.id]?.values.array } == venues.map(\.row.values.array))
        let updates = try venues.map { try open.change($0.id, ["name": .text("new")]) }
        try open.store.save(StoreChangeSet(updated: updates))
        let deletions = try venues.map { try open.deletion($0.id) }
        try open.store.save(StoreChangeSet(deleted: deletions))

        let changes = try open.store.history(after: 0).flatMap(\.changes)
        #expect(changes.map(\.number) == Array(1...Int64(count * 3)))
        let kinds: [StoreTransaction.Kind] = [.insert, .update, .delete]
        #expect(changes.map(\.kind) == kinds.flatMap { repeatElement($0, count: count) })
        #expect(changes.map { open.store.objectID(for: $0.key) } == (venues + venues + venues).map(\.id))
        #expect(changes.map(\.changedProperties) == changes.map { $0.kind == .update ? ["name"] : [] })
    }

    enum Keys: CaseIterable {
        case followOnAll, beginBehindAGap, haveGaps, standBeneathOthers, areOfTwoEntities
    }

    /// SQLite assigns the keys itself if they are consecutive and follow all existing ones.
    @Test(arguments: Keys.allCases) func manyRowsGetTheKeysOfTheirIDs(_ keys: Keys) throws {
        let open = try harness.open()
        try open.insert("Team", ["name": .text("first")])
        let isMixed = keys == .areOfTwoEntities
        var rows = try (0..<600).map { number in
            try open.newRow(isMixed && number.isMultiple(of: 2) ? "Venue" : "Team", ["name": .text("Row \(number)")])
        }
        switch keys {
        case .followOnAll, .areOfTwoEntities: break
        case .beginBehindAGap: rows = Array(rows.dropFirst(40))
        case .haveGaps: rows.remove(at: 300)
        case .standBeneathOthers: try harness.open().insert("Team", ["name": .text("last")])
        }
        try open.store.save(StoreChangeSet(inserted: rows.shuffled()))
        for table in ["ZTEAM", "ZVENUE"] {
            let kept = try harness.sql("SELECT Z_PK, ZNAME FROM \(table) WHERE ZNAME LIKE 'Row %' ORDER BY Z_PK")
            let expected = rows.filter { "Z" + ($0.id.entity.name ?? "").uppercased() == table }
                .map { [SQLiteValue.integer($0.id.savedKey), name(of: $0)] }
            #expect(kept == expected)
        }
    }

    private func name(of row: IdentifiedRow) -> SQLiteValue {
        for case .text(let name) in row.row.values.array { return .text(name) }
        return .null
    }

    /// If a trigger of another program ignores a row, nothing is saved, so that no row is lost or gets another key.
    @Test(arguments: [1, 300]) func rowsThatATriggerLeavesOutFailTheSave(_ count: Int) throws {
        let open = try harness.open()
        _ = try harness.sql(
            "CREATE TRIGGER picky BEFORE INSERT ON ZTEAM WHEN NEW.ZNAME = 'Team 0' BEGIN SELECT RAISE(IGNORE); END")
        let teams = try (0..<count).map { try open.newRow("Team", ["name": .text("Team \($0)")]) }
        #expect {
            try open.store.save(StoreChangeSet(inserted: teams))
        } throws: { error in
            code(error) == 134030 && message(error).contains("Triggers of the table ZTEAM")
        }
        #expect(try harness.sql("SELECT COUNT(*) FROM ZTEAM") == [[.integer(0)]])
    }

    /// The schema of a file may call the functions for predicates with any number; none of them stops the program.
    @Test(arguments: [
        "NSCoreDataStringFold(NEW.ZNAME, -1)", "NSCoreDataStringSearch(NEW.ZNAME, 'a', 0, -1)",
        "NSCoreDataStringSearch(NEW.ZNAME, 'a', -9223372036854775808, 9223372036854775807)",
    ]) func functionsForPredicatesAreNotForSchemas(_ call: String) throws {
        let open = try harness.open()
        _ = try harness.sql("CREATE TABLE HEARD (WHAT)")
        _ = try harness.sql("CREATE TRIGGER sly AFTER INSERT ON ZTEAM BEGIN INSERT INTO HEARD VALUES (\(call)); END")
        let team = try open.newRow("Team", ["name": .text("Ada")])
        #expect(throws: CocoaError.self) { try open.store.save(StoreChangeSet(inserted: [team])) }
        #expect(try harness.sql("SELECT COUNT(*) FROM ZTEAM") == [[.integer(0)]])
    }

    /// The triggers of derived attributes call the third function.
    @Test(arguments: [-1, 99, Int64.min, Int64.max]) func aFunctionForTriggersTakesAnyNumber(_ number: Int64) throws {
        let open = try harness.open()
        _ = try harness.sql("CREATE TABLE HEARD (WHAT)")
        _ = try harness.sql(
            "CREATE TRIGGER sly AFTER INSERT ON ZTEAM BEGIN "
                + "INSERT INTO HEARD VALUES (NSCoreDataStringFunction(NEW.ZNAME, \(number))); END")
        try open.store.save(StoreChangeSet(inserted: [try open.newRow("Team", ["name": .text("Ada")])]))
        #expect(try harness.sql("SELECT WHAT FROM HEARD") == [[.null]])
    }

    @Test func rowsOfAnyColumnsThatATriggerLeavesOutFailTheSave() throws {
        let harness = try StoreHarness(StoreModels.types())
        let open = try harness.open()
        _ = try harness.sql("CREATE TRIGGER picky BEFORE INSERT ON ZTHING BEGIN SELECT RAISE(IGNORE); END")
        let thing = try open.newRow("Thing", ["string": .text("lost")])
        #expect { try open.store.save(StoreChangeSet(inserted: [thing])) } throws: { code($0) == 134030 }
    }

    /// A key that SQLite assigns is not available to a trigger that runs before the insertion.
    @Test(arguments: [1, 300]) func triggersSeeTheKeysOfNewRows(_ count: Int) throws {
        let open = try harness.open()
        _ = try harness.sql("CREATE TABLE SEEN (NUMBER INTEGER)")
        _ = try harness.sql("CREATE TRIGGER look BEFORE INSERT ON ZTEAM BEGIN INSERT INTO SEEN VALUES (NEW.Z_PK); END")
        let teams = try (0..<count).map { try open.newRow("Team", ["name": .text("Team \($0)")]) }
        try open.store.save(StoreChangeSet(inserted: teams))
        #expect(try harness.sql("SELECT NUMBER FROM SEEN ORDER BY rowid") == teams.map { [.integer($0.id.savedKey)] })
    }

    @Test func aUniqueValueAmongManyRowsCannotBeUsedTwice() throws {
        let open = try harness.open(StoreHarness.history)
        let teams = try (0..<300).map { try open.newRow("Team", ["name": .text("Team \($0 == 299 ? 40 : $0)")]) }
        #expect {
            try open.store.save(StoreChangeSet(inserted: teams))
        } throws: { error in
            code(error) == 133021 && message(error).contains("another Team already has the same name")
        }
        #expect(try harness.sql("SELECT COUNT(*) FROM ZTEAM") == [[.integer(0)]])
        #expect(try harness.sql("SELECT COUNT(*) FROM ACHANGE") == [[.integer(0)]])
    }

    @Test func aDeletedRowGivesItsUniqueValueFree() throws {
        let open = try harness.open()
        let old = try open.insert("Team", ["name": .text("Brazil")])
        let new = try open.newRow("Team", ["name": .text("Brazil")])
        try open.store.save(StoreChangeSet(inserted: [new], deleted: [try open.deletion(old)]))
        #expect(try harness.sql("SELECT Z_PK FROM ZTEAM") == [[.integer(2)]])
    }

    @Test func anotherProgramsLockIsOneClearLine() throws {
        let open = try harness.open([NSPersistentStoreTimeoutOption: 0.1])
        let row = try open.newRow("Team", ["name": .text("A")])
        let other = try Connection(path: harness.url.path, access: .readWrite)
        try other.transaction { () throws -> Void in
            #expect { try open.store.save(StoreChangeSet(inserted: [row])) } throws: { error in
                code(error) == 134090 && message(error).contains("another program has locked it (waited 0.1 s)")
                    && !message(error).contains("\n")
            }
            // Readers do not wait for writers.
            #expect(try open.store.count(StoreQuery(entity: open.entity("Team"))) == 0)
        }
        try open.store.save(StoreChangeSet(inserted: [row]))
    }

    @Test func twoWritersTakeTurns() throws {
        let opens = [try harness.open(StoreHarness.history), try harness.open(StoreHarness.history)]
        let failures = Failures()
        DispatchQueue.concurrentPerform(iterations: 2) { number in
            for count in 0..<50 {
                do { try opens[number].insert("Team", ["name": .text("\(number)-\(count)")]) } catch {
                    failures.add(error)
                }
            }
        }
        #expect(failures.all.isEmpty)
        #expect(try harness.sql("SELECT COUNT(*), MAX(Z_PK) FROM ZTEAM") == [[.integer(100), .integer(100)]])
        #expect(try harness.sql("SELECT COUNT(*), MAX(Z_PK) FROM ATRANSACTION") == [[.integer(100), .integer(100)]])
        #expect(try harness.sql("PRAGMA integrity_check") == [[.text("ok")]])
    }

    final class Failures: @unchecked Sendable {
        private let lock = NSLock()
        private var errors: [any Error] = []
        var all: [any Error] { lock.withLock { errors } }
        func add(_ error: any Error) { lock.withLock { errors.append(error) } }
    }

    @Test func metadataAreWrittenWithTheNextSave() throws {
        let open = try harness.open()
        open.store.metadata["Season"] = 2022
        #expect(try SQLiteStore.metadataForPersistentStore(with: harness.url)["Season"] == nil)
        try open.insert("Team", ["name": .text("A")])
        #expect(try SQLiteStore.metadataForPersistentStore(with: harness.url)["Season"] as? Int == 2022)
    }

    /// On a file system of 512 kB, which requires root.
    @Test(.needs(.process), .enabled(if: geteuid() == 0, "needs root for a small tmpfs")) func aFullDiskLosesNothing()
        throws
    {
        let mount = harness.folder.appendingPathComponent("disk").path
        try FileManager.default.createDirectory(atPath: mount, withIntermediateDirectories: true)
        guard run("mount", "-t", "tmpfs", "-o", "size=512k", "none", mount) == 0 else { return }
        defer { _ = run("umount", mount) }
        let url = URL(fileURLWithPath: mount).appendingPathComponent("Store.sqlite")
        let open = try harness.open(StoreHarness.history, url: url)
        let kept = try open.insert("Team", ["name": .text("kept")])
        var found: (any Error)?
        for number in 0..<1000 where found == nil {
            do {
                try open.insert("Venue", ["name": .text("\(number)" + String(repeating: "x", count: 8000))])
            } catch { found = error }
        }
        let error = try #require(found)
        #expect(code(error) == 640)
        #expect(message(error).contains("the disk is full"))
        #expect(try open.value("name", of: kept) == .text("kept"))
        let session = try #require(open.store.openSession)
        #expect(try session.connection.rows("PRAGMA integrity_check") == [[.text("ok")]])
        let venues = try session.connection.integer("SELECT COUNT(*) FROM ZVENUE")
        let changes = try session.connection.integer("SELECT COUNT(*) FROM ACHANGE")
        #expect(changes == (venues ?? 0) + 1, "each row with its change, or neither")
        try open.close()
    }

    private func run(_ arguments: String...) -> Int32 {
        (try? ChildProgram(named: arguments[0], Array(arguments.dropFirst())).status) ?? -1
    }
}
