import Foundation
import SQLiteAccess
import Testing

@testable import CoreData

/// A save to two stores is written to both or to neither.
@Suite struct MultiStoreSaveTests {
    /// Two SQLite stores, `first` committed before `second`.
    private final class Pair {
        let coordinator: NSPersistentStoreCoordinator
        let folder: URL
        let first: NSPersistentStore
        let second: NSPersistentStore

        init(model: NSManagedObjectModel = StoreModels.league(), options: [AnyHashable: Any] = [:]) throws {
            folder = FileManager.default.temporaryDirectory.appendingPathComponent("two-stores-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let folder = folder
            let coordinator = coordinator
            let stores = try ["a", "b"].map { name in
                try coordinator.addPersistentStore(
                    ofType: NSSQLiteStoreType, configurationName: nil,
                    at: folder.appendingPathComponent("\(name).sqlite"), options: options)
            }
            (first, second) =
                stores[0].identifier < stores[1].identifier ? (stores[0], stores[1]) : (stores[1], stores[0])
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        func sql(_ text: String, in store: NSPersistentStore) throws -> [[SQLiteValue]] {
            try Connection(path: store.url!.path, access: .readWrite).rows(text)
        }

        func count(in store: NSPersistentStore) throws -> Int64 {
            guard case .integer(let count)? = try sql("SELECT COUNT(*) FROM ZTEAM", in: store).first?.first else {
                return -1
            }
            return count
        }

        /// A new team in each store.
        func insert(_ name: String, into context: NSManagedObjectContext) -> [NSManagedObject] {
            [first, second].map { store in
                let team = context.make("Team", ["name": name])
                context.assign(team, to: store)
                return team
            }
        }

        /// Makes every commit of a team in `store` fail, but no statement before the commit.
        func breakCommits(of store: NSPersistentStore) throws {
            _ = try sql("CREATE TABLE BROKEN (X REFERENCES MISSING (Y) DEFERRABLE INITIALLY DEFERRED)", in: store)
            _ = try sql("CREATE TABLE MISSING (Y INTEGER PRIMARY KEY)", in: store)
            _ = try sql(
                "CREATE TRIGGER BREAK AFTER INSERT ON ZTEAM BEGIN INSERT INTO BROKEN VALUES (7); END", in: store)
        }
    }

    @Test func bothAreSaved() throws {
        let pair = try Pair(options: StoreHarness.history)
        try League.context(pair.coordinator).use { context in
            let teams = pair.insert("Ghana", into: context)
            try context.save()
            #expect(!context.hasChanges && teams.allSatisfy { !$0.objectID.isTemporaryID })
            #expect(teams.map(\.objectID.persistentStore) == [pair.first, pair.second])
        }
        #expect(try pair.count(in: pair.first) == 1 && pair.count(in: pair.second) == 1)
    }

    @Test func aRefusalByTheSecondStoreRollsBackTheFirst() throws {
        let pair = try Pair()
        let context = League.context(pair.coordinator)
        try context.use { context in
            let taken = context.make("Team", ["name": "Ghana"])
            context.assign(taken, to: pair.second)
            try context.save()
            let teams = pair.insert("Ghana", into: context)
            #expect { try context.save() } throws: { code($0) == 133021 }
            #expect(context.insertedObjects == Set(teams))
        }
        #expect(try pair.count(in: pair.first) == 0 && pair.count(in: pair.second) == 1)
        try context.use { context in
            for team in context.insertedObjects { team.setValue("Togo", forKey: "name") }
            try context.save()
        }
        #expect(try pair.count(in: pair.first) == 1 && pair.count(in: pair.second) == 2)
    }

    @Test func aConflictInTheSecondIsResolvedForBoth() throws {
        let pair = try Pair()
        try League.context(pair.coordinator).use { context in
            let teams = pair.insert("Ghana", into: context)
            try context.save()
            try League.context(pair.coordinator).use { other in
                try other.existingObject(with: teams[1].objectID).setValue(5, forKey: "wins")
                try other.save()
            }
            for team in teams { team.setValue("Mali", forKey: "name") }
            #expect { try context.save() } throws: { code($0) == 133020 }
            #expect(try pair.sql("SELECT ZNAME FROM ZTEAM", in: pair.first) == [[.text("Ghana")]])
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try context.save()
        }
        for store in [pair.first, pair.second] {
            #expect(try pair.sql("SELECT ZNAME FROM ZTEAM", in: store) == [[.text("Mali")]])
        }
    }

    @Test func aCommitThatFailsAtFirstLeavesNothing() throws {
        let pair = try Pair(options: [NSSQLitePragmasOption: ["foreign_keys": "1"]])
        try pair.breakCommits(of: pair.first)
        try League.context(pair.coordinator).use { context in
            let teams = pair.insert("Ghana", into: context)
            #expect { try context.save() } throws: { code($0) == 134180 }
            #expect(context.insertedObjects == Set(teams))
        }
        #expect(try pair.count(in: pair.first) == 0 && pair.count(in: pair.second) == 0)
    }

    @Test func aCommitThatFailsTooLateIsReported() throws {
        let pair = try Pair(options: [NSSQLitePragmasOption: ["foreign_keys": "1"]])
        try pair.breakCommits(of: pair.second)
        try League.context(pair.coordinator).use { context in
            let teams = pair.insert("Ghana", into: context)
            let error = try #require(throws: CocoaError.self) { try context.save() }
            #expect(error.code == .persistentStoreIncompleteSave)
            #expect(error.affectedStores as? [NSPersistentStore] == [pair.second])
            #expect(error.affectedObjects as? [NSManagedObject] == [teams[1]])
            #expect((error.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == 134180)
            #expect(context.insertedObjects == [teams[1]], "what is not saved stays to be saved")
            _ = try pair.sql("DROP TRIGGER BREAK", in: pair.second)
            try context.save()
        }
        #expect(try pair.count(in: pair.first) == 1 && pair.count(in: pair.second) == 1)
    }

    @Test func aPartialSaveReturnsTheDerivedValuesOfItsObjects() throws {
        let model = StoreModels.league()
        let loud = NSDerivedAttributeDescription()
        (loud.name, loud.attributeType) = ("loud", .stringAttributeType)
        loud.derivationExpression = NSExpression(format: "uppercase:(name)")
        model.entitiesByName["Team"]?.properties.append(loud)
        let pair = try Pair(model: model, options: [NSSQLitePragmasOption: ["foreign_keys": "1"]])
        try League.context(pair.coordinator).use { context in
            let teams = pair.insert("Ghana", into: context)
            try context.save()
            #expect(teams.map { $0.value(forKey: "loud") as? String } == ["GHANA", "GHANA"])
            try pair.breakCommits(of: pair.second)
            _ = try pair.sql(
                "CREATE TRIGGER BREAK2 AFTER UPDATE ON ZTEAM BEGIN INSERT INTO BROKEN VALUES (8); END", in: pair.second)
            for team in teams { team.setValue("Mali", forKey: "name") }
            #expect { try context.save() } throws: { code($0) == 134040 }
            #expect(teams.map { $0.value(forKey: "loud") as? String } == ["MALI", "GHANA"])
            #expect(!teams[0].hasChanges && teams[1].hasChanges)
            _ = try pair.sql("DROP TRIGGER BREAK2", in: pair.second)
            try context.save()
            #expect(teams.map { $0.value(forKey: "loud") as? String } == ["MALI", "MALI"])
        }
    }

    @Test func observersOfAPartialSaveMaySaveTheRest() throws {
        let pair = try Pair(options: [NSSQLitePragmasOption: ["foreign_keys": "1"]])
        try pair.breakCommits(of: pair.second)
        try League.context(pair.coordinator).use { context in
            let teams = pair.insert("Ghana", into: context)
            context.detectConflicts(for: teams[0])
            context.detectConflicts(for: teams[1])
            let work = UncheckedSendable { (saved: Set<NSManagedObject>?) in
                guard saved?.first?.objectID.persistentStore == pair.first else { return }
                _ = try pair.sql("DROP TRIGGER BREAK", in: pair.second)
                try context.save()
            }
            let observer = NotificationCenter.default.addObserver(
                forName: NSManagedObjectContext.didSaveObjectsNotification, object: context, queue: nil
            ) { notice in
                #expect(throws: Never.self) {
                    try work.value(notice.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>)
                }
            }
            defer { NotificationCenter.default.removeObserver(observer) }
            #expect { try context.save() } throws: { code($0) == 134040 }
            #expect(!context.hasChanges && teams.allSatisfy { !$0.flags.contains(.locked) })
        }
        #expect(try pair.count(in: pair.first) == 1 && pair.count(in: pair.second) == 1)
    }

    @Test func aStoreThatCannotHoldAnOpenTransactionIsSavedFirst() throws {
        MemoryStore.register()
        let pair = try Pair()
        let memory = try #require(
            try pair.coordinator.addPersistentStore(
                ofType: MemoryStore.storeType, configurationName: nil,
                at: URL(fileURLWithPath: "/memory/\(UUID().uuidString)")) as? MemoryStore)
        try League.context(pair.coordinator).use { context in
            let team = context.make("Team", ["name": "Ghana"])
            context.assign(team, to: memory)
            _ = pair.insert("Ghana", into: context)
            memory.asked.saveFailure = CoreDataError.make(640, "the disk is full")
            #expect { try context.save() } throws: { code($0) == 640 }
            #expect(try pair.count(in: pair.first) == 0 && pair.count(in: pair.second) == 0)
            memory.asked.saveFailure = nil
            try context.save()
        }
        #expect(try pair.count(in: pair.first) == 1 && pair.count(in: pair.second) == 1)
    }

    @Test func metadataAreSavedWithoutChangesOfObjects() throws {
        let pair = try Pair()
        pair.coordinator.setMetadata(["Season": 2022], for: pair.first)
        try League.context(pair.coordinator).use { try $0.save() }
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            type: .sqlite, at: pair.first.url!)
        #expect(metadata["Season"] as? Int == 2022)
    }
}
