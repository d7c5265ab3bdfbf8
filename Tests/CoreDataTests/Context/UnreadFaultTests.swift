import Foundation
import Testing

@testable import CoreData

/// A store that cannot be read when an accessor needs a value.
@Suite struct UnreadFaultTests {
    /// Ghana and Togo play in Accra, Mali in Bamako. A second context has read nothing yet.
    private struct World {
        let coordinator: NSPersistentStoreCoordinator
        let store: MemoryStore
        let context: NSManagedObjectContext
        let ids: [String: NSManagedObjectID]

        init() throws {
            (coordinator, store) = try League.memoryStack()
            ids = try League.context(coordinator).use { context in
                let accra = context.addVenue("Accra", city: "Accra")
                let bamako = context.addVenue("Bamako")
                let teams = [("Ghana", accra), ("Togo", accra), ("Mali", bamako)].map { name, venue in
                    let team = context.addTeam(name, zone: "CAF", wins: 4)
                    team.setValue(venue, forKey: "venue")
                    return team
                }
                try context.save()
                let all = teams + [accra, bamako]
                return Dictionary(uniqueKeysWithValues: all.map { ($0.value(forKey: "name") as! String, $0.objectID) })
            }
            context = League.context(coordinator)
        }

        func object(_ name: String) -> NSManagedObject { context.object(with: ids[name]!) }

        /// Runs `body` while the store cannot be read.
        func withoutDisk(_ body: () throws -> Void) rethrows {
            store.asked.readFailure = CoreDataError.make(259, "the file is damaged")
            defer { store.asked.readFailure = nil }
            try body()
        }

        /// Reads a saved object in a new context.
        func saved<Value>(_ name: String, _ read: (NSManagedObject) -> Value) throws -> Value {
            try League.context(coordinator).use { read(try $0.existingObject(with: ids[name]!)) }
        }
    }

    @Test func aFaultThatCannotBeReadAnswersNilAndIsReadLater() throws {
        let world = try World()
        try world.context.use { context in
            let heard = Notices(context, [.NSManagedObjectContextDidFailToFulfillFault])
            let ghana = world.object("Ghana")
            world.withoutDisk {
                #expect(ghana.value(forKey: "name") == nil && ghana.value(forKey: "venue") == nil)
                #expect(ghana.isFault && !ghana.isDeleted && !context.hasChanges)
            }
            let posts = heard.take()
            #expect(posts.count == 1, "once for each object")
            #expect((posts.first?.userInfo?[NSUnderlyingErrorKey] as? NSError)?.code == 259)
            #expect(posts.first?.userInfo?[NSAffectedObjectsErrorKey] as? [NSManagedObject] == [ghana])
            #expect(ghana.value(forKey: "name") as? String == "Ghana" && !ghana.isFault)
            world.withoutDisk { _ = world.object("Mali").value(forKey: "name") }
            #expect(heard.take().count == 1)
        }
    }

    @Test func askingForTheObjectItselfThrows() throws {
        let world = try World()
        try world.context.use { context in
            world.withoutDisk {
                #expect { try context.existingObject(with: world.ids["Ghana"]!) } throws: { code($0) == 259 }
            }
            let ghana = try context.existingObject(with: world.ids["Ghana"]!)
            #expect(ghana.value(forKey: "wins") as? Int == 4)
        }
    }

    @Test func nothingIsSavedOverARowThatWasNotRead() throws {
        let world = try World()
        try world.context.use { context in
            let ghana = world.object("Ghana")
            world.withoutDisk {
                ghana.setValue("Black Stars", forKey: "name")
                #expect(ghana.value(forKey: "name") as? String == "Black Stars" && ghana.isUpdated)
                #expect(ghana.changedValues() as? [String: String] == ["name": "Black Stars"])
                #expect { try context.save() } throws: { code($0) == 259 }
                #expect(ghana.isUpdated && context.hasChanges)
            }
            #expect(ghana.value(forKey: "wins") as? Int == 4, "it can be read again")
            #expect(ghana.changedValues() as? [String: String] == ["name": "Black Stars"])
            try context.save()
        }
        let saved = try world.saved("Ghana") { $0.committedValues(forKeys: nil) }
        #expect(saved["name"] as? String == "Black Stars")
        #expect(saved["wins"] as? Int == 4 && saved["zone"] as? String == "CAF")
    }

    @Test func aSaveReadsWhatCouldNotBeReadBefore() throws {
        let world = try World()
        try world.context.use { context in
            world.withoutDisk { world.object("Ghana").setValue(9, forKey: "wins") }
            try context.save()
        }
        let saved = try world.saved("Ghana") { $0.committedValues(forKeys: nil) }
        #expect(saved["name"] as? String == "Ghana" && saved["wins"] as? Int == 9)
    }

    @Test func rollbackDiscardsSetValues() throws {
        let world = try World()
        try world.context.use { context in
            let ghana = world.object("Ghana")
            world.withoutDisk { ghana.setValue(9, forKey: "wins") }
            context.rollback()
            #expect(!context.hasChanges && ghana.value(forKey: "wins") as? Int == 4)
        }
    }

    @Test func anOldDestinationForgetsAnObjectThatWasMovedUnread() throws {
        let world = try World()
        try world.context.use { context in
            let (ghana, accra, bamako) = (world.object("Ghana"), world.object("Accra"), world.object("Bamako"))
            #expect(accra.objects("teams").count == 2)
            world.withoutDisk { ghana.setValue(bamako, forKey: "venue") }
            #expect(ghana.object("venue") === bamako)
            try context.save()
            #expect(accra.names("teams") == ["Togo"] && bamako.names("teams") == ["Ghana", "Mali"])
        }
        #expect(try world.saved("Accra") { $0.names("teams") } == ["Togo"])
    }

    @Test func contentsThatCannotBeReadAreEmptyAndReadLater() throws {
        let world = try World()
        try world.context.use { context in
            let accra = world.object("Accra")
            _ = accra.value(forKey: "name")
            world.withoutDisk {
                #expect(accra.objects("teams").isEmpty && accra.hasFault(forRelationshipNamed: "teams"))
            }
            #expect(accra.names("teams") == ["Ghana", "Togo"])
        }
    }

    @Test func contentsThatWereReplacedUnreadAreTheOnlyOnes() throws {
        let world = try World()
        try world.context.use { context in
            let (accra, mali) = (world.object("Accra"), world.object("Mali"))
            _ = (accra.value(forKey: "name"), mali.value(forKey: "name"))
            world.withoutDisk {
                accra.setValue([mali] as Set, forKey: "teams")
                #expect(accra.objects("teams") == [mali])
                #expect { try context.save() } throws: { code($0) == 259 }
            }
            try context.save()
        }
        #expect(try world.saved("Accra") { $0.names("teams") } == ["Mali"])
        #expect(try world.saved("Ghana") { $0.object("venue") == nil })
    }

    @Test func deleteRulesReachWhatCouldNotBeReadAtFirst() throws {
        let world = try World()
        try world.context.use { context in
            let accra = world.object("Accra")
            world.withoutDisk {
                context.delete(accra)
                #expect(accra.isDeleted)
                #expect { try context.save() } throws: { code($0) == 259 }
            }
            try context.save()
        }
        #expect(try world.saved("Ghana") { $0.object("venue") == nil })
        #expect(throws: CocoaError.self) { try world.saved("Accra") { _ in } }
    }

    @Test func refreshLeavesObjectsAsTheyAre() throws {
        let world = try World()
        try world.context.use { context in
            let ghana = world.object("Ghana")
            ghana.setValue(5, forKey: "wins")
            world.withoutDisk { context.refreshAllObjects() }
            #expect(ghana.value(forKey: "wins") as? Int == 5 && ghana.value(forKey: "name") as? String == "Ghana")
        }
    }

    @Test func aDamagedPageStopsNobody() throws {
        let harness = try StoreHarness(StoreModels.league())
        var ids: [NSManagedObjectID] = []
        do {
            let open = try harness.open([NSSQLitePragmasOption: ["journal_mode": "delete"]])
            let rows = try (0..<400).map { number in
                try open.newRow("Team", ["name": .text("\(number) " + String(repeating: "x", count: 200))])
            }
            try open.store.save(StoreChangeSet(inserted: rows))
            ids = rows.map(\.id)
            try open.close()
        }
        let open = try harness.open([NSSQLitePragmasOption: ["journal_mode": "delete"]])
        // Damages all pages of the table but its root: the rows cannot be read, but the list of them can.
        let root = try #require(try harness.sql("SELECT rootpage FROM sqlite_master WHERE name = 'ZTEAM'").first?.first)
        guard case .integer(let rootPage) = root else { return }
        let leaves = try harness.sql(
            "SELECT pageno FROM dbstat WHERE name = 'ZTEAM' AND pagetype = 'leaf'"
        ).compactMap { row in if case .integer(let page) = row[0] { page } else { nil } }
        #expect(leaves.count > 10 && !leaves.contains(rootPage))
        let file = try FileHandle(forUpdating: harness.url)
        for page in leaves {
            try file.seek(toOffset: UInt64((page - 1) * 4096))
            try file.write(contentsOf: Data(repeating: 0xA5, count: 4096))
        }
        try file.close()
        let context = League.context(open.coordinator)
        try context.use { context in
            let heard = Notices(context, [.NSManagedObjectContextDidFailToFulfillFault])
            let team = context.object(
                with: open.coordinator.managedObjectID(forURIRepresentation: ids[7].uriRepresentation())!)
            #expect(team.value(forKey: "name") == nil && team.isFault)
            #expect((heard.take().first?.userInfo?[NSUnderlyingErrorKey] as? NSError)?.code == 259)
            team.setValue(3, forKey: "wins")
            #expect { try context.save() } throws: { error in
                code(error) == 259 && message(error).contains("damaged")
            }
        }
    }
}
