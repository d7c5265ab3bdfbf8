import Foundation
import SQLiteAccess
import Testing

@testable import CoreData

/// Errors of opening a file are one line, and nothing in the folder is changed.
@Suite struct OpeningTests {
    let harness: StoreHarness
    init() throws { harness = try StoreHarness(StoreModels.league()) }

    private func failure(
        _ options: [AnyHashable: Any]? = nil, url: URL? = nil
    ) -> (code: Int, message: String) {
        do {
            _ = try harness.open(options, url: url)
            return (0, "it opened")
        } catch {
            return (code(error), message(error))
        }
    }

    private func expect(_ code: Int, _ text: String, _ options: [AnyHashable: Any]? = nil, url: URL? = nil) {
        let found = failure(options, url: url)
        #expect(found.code == code)
        #expect(found.message.contains(text), "\(found.message)")
        #expect(!found.message.contains("\n"))
    }

    static var readOnly: [AnyHashable: Any] { [NSReadOnlyPersistentStoreOption: true] }

    @Test func aTextFileIsNotADatabase() throws {
        let text = Data("Not a database, but a letter that is long enough to be one.\n".utf8)
        try text.write(to: harness.url)
        expect(259, "is not an SQLite database")
        expect(259, "is not an SQLite database", Self.readOnly)
        #expect(try Data(contentsOf: harness.url) == text)
    }

    @Test func anotherDatabaseIsNotAStore() throws {
        let connection = try Connection(path: harness.url.path, access: .create)
        try connection.execute("CREATE TABLE t (a)")
        connection.close()
        expect(259, "not a Core Data store")
        #expect(try harness.sql("SELECT name FROM sqlite_master") == [[.text("t")]])
    }

    @Test func missingFilesAndFolders() throws {
        expect(260, "the file does not exist", Self.readOnly)
        expect(134080, "does not exist", url: harness.folder.appendingPathComponent("no/such/Store.sqlite"))
        expect(134080, "is a folder", url: harness.folder)
        #expect(!FileManager.default.fileExists(atPath: harness.url.path))
    }

    @Test func aModelWithCodeInItMakesNoStore() throws {
        let attribute = NSAttributeDescription()
        attribute.name = "n"
        attribute.attributeType = .integer32AttributeType
        attribute.setValidationPredicates([NSPredicate { _, _ in true }], withValidationWarnings: ["code"])
        let entity = NSEntityDescription()
        entity.name = "Lone"
        entity.properties = [attribute]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let error = try #require(throws: NSError.self) {
            try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: harness.url)
        }
        #expect(code(error) == 134060 && message(error).contains("a block predicate"))
        #expect(!FileManager.default.fileExists(atPath: harness.url.path))
        #expect(coordinator.persistentStores.isEmpty)
    }

    @Test func aTruncatedStoreIsDamaged() throws {
        let open = try harness.open()
        for number in 0..<500 { try open.insert("Venue", ["name": .text(String(repeating: "\(number)", count: 50))]) }
        try open.close()
        let data = try Data(contentsOf: harness.url)
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: harness.url.path + suffix) }
        try data.prefix(data.count / 2 / 4096 * 4096).write(to: harness.url)
        do {
            let open = try harness.open()
            _ = try open.store.fetch(StoreQuery(entity: open.entity("Venue")))
            Issue.record("half a store was read as if it were whole")
        } catch {
            #expect(code(error) == 259)
            #expect(message(error).contains("damaged"))
        }
    }

    @Test func aLockedStoreIsLocked() throws {
        try harness.open([NSSQLitePragmasOption: ["journal_mode": "delete"]]).close()
        let other = try Connection(path: harness.url.path, access: .readWrite)
        try other.transaction(.exclusive) {
            expect(
                134090, "another program has locked it (waited 0.1 s)",
                [NSPersistentStoreTimeoutOption: 0.1, NSSQLitePragmasOption: ["journal_mode": "delete"]])
        }
    }

    @Test(.enabled(if: geteuid() != 0, "root may write everything")) func permissions() throws {
        try harness.open().close()
        let path = harness.url.path
        try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: path)
        expect(513, "Open it read-only")
        try FileManager.default.setAttributes([.posixPermissions: 0o000], ofItemAtPath: path)
        expect(257, "no permission to read", Self.readOnly)
    }

    @Test func anotherModelIsRefusedWithTheDifferingNames() throws {
        try harness.open().close()
        let model = StoreModels.league()
        model.entitiesByName["Venue"]?.properties.append(StoreModels.attribute("city", .stringAttributeType))
        model.entities.append(StoreModels.entity("Referee", []))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        #expect {
            try coordinator.addPersistentStore(type: .sqlite, at: harness.url)
        } throws: { error in
            code(error) == 134100 && message(error).contains("Venue changed")
                && message(error).contains("Referee only in the model")
        }
    }

    @Test func aReadOnlyStoreIsNeverWritten() throws {
        let writer = try harness.open(StoreHarness.history)
        let id = try writer.insert("Team", ["name": .text("A")])
        try writer.close()
        for suffix in ["-wal", "-shm"] { try FileManager.default.removeItem(atPath: harness.url.path + suffix) }
        let before = try Data(contentsOf: harness.url)
        let reader = try harness.open(Self.readOnly)
        #expect(try reader.value("name", of: id) == .text("A"))
        #expect(throws: (any Error).self) { try reader.insert("Team", ["name": .text("B")]) }
        #expect(throws: (any Error).self) { try reader.store.save(StoreChangeSet(deleted: [try reader.deletion(id)])) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: harness.folder.path) == ["Store.sqlite"])
        #expect(try Data(contentsOf: harness.url) == before)
        // The reader notices when another process begins to write.
        let version = try reader.store.dataVersion()
        let other = try harness.open(StoreHarness.history)
        try other.store.save(StoreChangeSet(updated: [try other.change(id, ["name": .text("B")])]))
        #expect(try reader.store.dataVersion() != version)
        #expect(try reader.value("name", of: id) == .text("B"))
        #expect(try reader.store.history(after: 1).count == 1)
        try other.close()
        #expect(try reader.value("name", of: id) == .text("B"))
    }

    @Test func aLogWithOnlyAHeaderBlocksNoReader() throws {
        let writer = try harness.open()
        let id = try writer.insert("Team", ["name": .text("A")])
        try writer.close()
        // As left by a writer that was killed after it wrote only the log's header.
        var header = Data([0x37, 0x7F, 0x06, 0x82, 0x00, 0x2D, 0xE2, 0x18, 0x00, 0x00, 0x10, 0x00])
        header += Data((0..<20).map { UInt8($0) })
        try header.write(to: URL(fileURLWithPath: harness.url.path + "-wal"))
        try Data(repeating: 0, count: 32768).write(to: URL(fileURLWithPath: harness.url.path + "-shm"))
        // SQLite itself would wait for another process to repair the index and fail with "locking protocol".
        let reader = try harness.open(Self.readOnly)
        #expect(try reader.value("name", of: id) == .text("A"))
        // The next writer's commits are visible.
        let other = try harness.open()
        try other.store.save(StoreChangeSet(updated: [try other.change(id, ["name": .text("B")])]))
        #expect(try reader.value("name", of: id) == .text("B"))
        try other.close()
        try reader.close()
    }

    @Test func aLogWithoutItsIndexIsRead() throws {
        let writer = try harness.open()
        let id = try writer.insert("Team", ["name": .text("in the log")])
        // As after a crash: the log contains commits, and the index is missing.
        let copy = harness.folder.appendingPathComponent("Copy.sqlite")
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: harness.url.path + suffix, toPath: copy.path + suffix)
        }
        let reader = try harness.open(Self.readOnly, url: copy)
        let same = reader.store.objectID(for: try #require(id.rowKey))
        #expect(try reader.value("name", of: same) == .text("in the log"))
    }

    @Test func pragmasAreHonoured() throws {
        let open = try harness.open([NSSQLitePragmasOption: ["journal_mode": "DELETE", "synchronous": "FULL"]])
        let connection = try #require(open.store.openSession).connection
        #expect(try connection.pragma("journal_mode") == .text("delete"))
        #expect(try connection.pragma("synchronous") == .integer(2))
        try open.close()
        let plain = try harness.open()
        let session = try #require(plain.store.openSession)
        #expect(try session.connection.pragma("journal_mode") == .text("wal"))
        #expect(try session.connection.pragma("synchronous") == .integer(1))
        try plain.close()
        expect(
            134080, "the pragma cache_size cannot be set",
            [NSSQLitePragmasOption: ["cache_size": "1; DROP TABLE ZTEAM"]])
    }

    @Test func aNewStoreHasApplesHeader() throws {
        try harness.open().close()
        let header = try Data(contentsOf: harness.url).prefix(20)
        #expect(Array(header[18...19]) == [2, 2])
        let log = try FileManager.default.attributesOfItem(atPath: harness.url.path + "-wal")[.size] as? Int
        #expect(log == 0)
        #expect(try harness.sql("PRAGMA page_size") == [[.integer(4096)]])
        #expect(try harness.sql("PRAGMA auto_vacuum") == [[.integer(2)]])
        #expect(try harness.sql("PRAGMA user_version") == [[.integer(0)]])
    }

    @Test func aNewStoreKeepsItsModel() throws {
        try harness.open().close()
        let data = try #require(try SQLiteStore.cachedModelData(at: harness.url, options: nil))
        let model = try NSManagedObjectModel(cachedModelData: data)
        #expect(model.entityVersionHashesByName == harness.model.entityVersionHashesByName)
        let metadata = try SQLiteStore.metadataForPersistentStore(with: harness.url)
        #expect(metadata[NSStoreTypeKey] as? String == "SQLite")
        #expect((metadata[NSStoreUUIDKey] as? String)?.count == 36)
        #expect(metadata["NSStoreModelVersionHashesVersion"] as? Int == 3)
        #expect(metadata["NSStoreModelVersionChecksumKey"] as? String == harness.model.versionChecksum)
    }

    @Test func metadataAreSetWithoutOpening() throws {
        try harness.open().close()
        let uuid = try SQLiteStore.metadataForPersistentStore(with: harness.url)[NSStoreUUIDKey] as? String
        try SQLiteStore.setMetadata(["Season": "2022"], forPersistentStoreAt: harness.url)
        let after = try SQLiteStore.metadataForPersistentStore(with: harness.url)
        #expect(after["Season"] as? String == "2022")
        #expect(after[NSStoreUUIDKey] as? String == uuid)
    }

    @Test func aDestroyedStoreIsAnEmptyFile() throws {
        let open = try harness.open()
        let other = try Connection(path: harness.url.path, access: .readWrite)
        try other.transaction {
            #expect {
                try SQLiteStore.destroyStore(at: harness.url, options: [NSPersistentStoreTimeoutOption: 0.05])
            } throws: { code($0) == 134090 }
        }
        other.close()
        try open.close()
        try SQLiteStore.destroyStore(at: harness.url, options: nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: harness.folder.path) == ["Store.sqlite"])
        #expect(try Data(contentsOf: harness.url).isEmpty)
    }

    @Test func aFailedCreationLeavesNoFile() throws {
        let derived = NSDerivedAttributeDescription()
        derived.name = "count"
        derived.attributeType = .integer32AttributeType
        let other = try StoreHarness(StoreModels.model([StoreModels.entity("Thing", [derived])]))
        #expect { _ = try other.open() } throws: {
            message($0).contains("Thing.count: it has no derivation")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: other.folder.path).isEmpty)
    }

    @Test func twoProgramsMayMakeTheSameStore() throws {
        let failures = SaveTests.Failures()
        let harness = UncheckedSendable(harness)
        DispatchQueue.concurrentPerform(iterations: 4) { number in
            do {
                let open = try harness.value.open(StoreHarness.history)
                try open.insert("Team", ["name": .text("\(number)")])
                try open.close()
            } catch { failures.add(error) }
        }
        #expect(failures.all.map(message) == [])
        #expect(try harness.value.sql("SELECT COUNT(*) FROM ZTEAM") == [[.integer(4)]])
        #expect(try harness.value.sql("SELECT COUNT(*) FROM Z_METADATA") == [[.integer(1)]])
    }

    /// The power failed before the first page of a new file was written: SQLite empties the file by its journal. Zeros
    /// with a journal of three pages are not such a file.
    @Test(arguments: [UInt8(0), 3]) func aStoreThatWasNotMadeToItsEndIsMadeAnew(pagesBefore: UInt8) throws {
        let zeros = Data(count: 5 * 4096)
        try zeros.write(to: harness.url)
        var journal = Data([0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7, 0, 0, 0, 0, 0x55, 0x2D, 0x7B, 0xDC])
        journal += Data([0, 0, 0, pagesBefore, 0, 0, 2, 0, 0, 0, 0x10, 0])
        journal += Data(count: 512 - journal.count)
        let journalURL = URL(fileURLWithPath: harness.url.path + "-journal")
        try journal.write(to: journalURL)
        guard pagesBefore == 0 else {
            expect(259, "is not an SQLite database")
            #expect(try Data(contentsOf: harness.url) == zeros && Data(contentsOf: journalURL) == journal)
            return
        }
        let open = try harness.open()
        try open.insert("Venue", ["name": .text("Rome")])
        try open.close()
        #expect(try harness.sql("SELECT ZNAME FROM ZVENUE") == [[.text("Rome")]])
    }

    /// A rollback journal that a killed program left is applied before anything is read, even by readers.
    @Test func aStoreInTheMiddleOfAWriteIsRolledBackFirst() throws {
        let options: [AnyHashable: Any] = [NSSQLitePragmasOption: ["journal_mode": "delete", "cache_size": "1"]]
        let open = try harness.open(options)
        for number in 0..<50 {
            try open.insert("Venue", ["name": .text("\(number)" + String(repeating: "x", count: 500))])
        }
        let copies = ["Read.sqlite", "Written.sqlite"].map { harness.folder.appendingPathComponent($0) }
        let connection = try #require(open.store.openSession).connection
        try connection.transaction { () throws -> Void in
            try connection.execute("UPDATE ZVENUE SET ZNAME = 'lost' || ZNAME")
            for copy in copies {
                for suffix in ["", "-journal"] {
                    try FileManager.default.copyItem(atPath: harness.url.path + suffix, toPath: copy.path + suffix)
                }
            }
        }
        for (copy, options) in zip(copies, [Self.readOnly, options]) {
            let repaired = try harness.open(options, url: copy)
            let connection = try #require(repaired.store.openSession).connection
            #expect(try connection.integer("SELECT COUNT(*) FROM ZVENUE") == 50)
            #expect(try connection.integer("SELECT COUNT(*) FROM ZVENUE WHERE ZNAME LIKE 'lost%'") == 0)
            try repaired.close()
        }
        try open.close()
    }

    /// The same if the writer was killed after the first page, which has a higher page count than the file.
    @Test func aGrowingStoreIsRolledBackFirst() throws {
        let options: [AnyHashable: Any] = [NSSQLitePragmasOption: ["journal_mode": "delete", "cache_size": "1"]]
        let open = try harness.open(options)
        for number in 0..<20 { try open.insert("Venue", ["name": .text("\(number)")]) }
        let copy = harness.folder.appendingPathComponent("Read.sqlite")
        let connection = try #require(open.store.openSession).connection
        try connection.transaction { () throws -> Void in
            try connection.execute(
                "INSERT INTO ZVENUE (Z_PK, Z_ENT, Z_OPT, ZNAME) "
                    + "SELECT Z_PK + 1000, Z_ENT, 1, hex(zeroblob(2000)) FROM ZVENUE")
            for suffix in ["", "-journal"] {
                try FileManager.default.copyItem(atPath: harness.url.path + suffix, toPath: copy.path + suffix)
            }
        }
        let file = try FileHandle(forWritingTo: copy)
        try file.seek(toOffset: 28)
        try file.write(contentsOf: [0, 0, 1, 0])
        try file.close()
        let repaired = try harness.open(Self.readOnly, url: copy)
        let reader = try #require(repaired.store.openSession).connection
        #expect(try reader.integer("SELECT COUNT(*) FROM ZVENUE") == 20)
        #expect(try reader.value("PRAGMA integrity_check") == .text("ok"))
        try repaired.close()
        try open.close()
    }
}
