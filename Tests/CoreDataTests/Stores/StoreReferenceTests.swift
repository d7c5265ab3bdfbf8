import CoreData
import Foundation
import StoreConformance
import TestSupport
import Testing

/// References of rows in a store defined by a program: any value, equal in all coordinators and launches.
@Suite struct StoreReferenceTests {
    private func tag(_ coordinator: NSPersistentStoreCoordinator) throws -> NSEntityDescription {
        try #require(coordinator.managedObjectModel.entitiesByName["Tag"])
    }

    private func fetch(_ coordinator: NSPersistentStoreCoordinator) throws -> [NSManagedObjectID] {
        let context = coordinator.makeContext()
        return try context.performAndWait {
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag")).map(\.objectID)
        }
    }

    private func firstLaunch(_ shelf: KeyedStore.Shelf) throws -> [URL] {
        try fetch(shelf.open().0).map { $0.uriRepresentation() }
    }

    static let kinds: [String] = ["numbers", "digits", "texts", "UUIDs", "data", "odd numbers"]

    static func references(_ kind: String) -> [Any] {
        switch kind {
        case "numbers": [42, 10_115, 1 << 40]
        case "odd numbers": [0, -7, Int.max, UInt64.max, 1.5]
        case "digits": ["42", "10115", "007", "+7", "0"]
        case "texts": ["ALFKI", "a/b c%20d", "é", "e\u{301}", "", "p1"]
        case "UUIDs": (0..<3).map { _ in UUID() }
        default: [Data([1, 2, 3]), Data([1, 2, 4]), Data()]
        }
    }

    @Test(arguments: kinds) func aURINamesTheRowThatTheStoreNamesLater(_ kind: String) throws {
        let shelf = KeyedStore.Shelf(Self.references(kind))
        let uris = try firstLaunch(shelf)
        #expect(Set(uris).count == shelf.rows.count)
        let (coordinator, store) = try shelf.open()
        let named = uris.compactMap { coordinator.managedObjectID(forURIRepresentation: $0) }
        let given = shelf.rows.indices.map(store.id)
        #expect(named == given && named.map(\.hash) == given.map(\.hash))
        #expect(try fetch(coordinator) == named)
        #expect(named.map { $0.uriRepresentation() } == uris)
        for (id, row) in zip(named, shelf.rows) {
            #expect("\(store.referenceObject(for: id))" == "\(row.reference)")
            #expect((store.referenceObject(for: id) is NSNumber) == (row.reference is NSNumber))
            #expect((store.referenceObject(for: id) is UUID) == (row.reference is UUID))
            #expect((store.referenceObject(for: id) is Data) == (row.reference is Data))
        }
        let context = coordinator.makeContext()
        try context.performAndWait {
            let names = try named.map { try context.existingObject(with: $0).text("name") }
            #expect(names == shelf.rows.map(\.name))
        }
    }

    @Test(arguments: kinds) func coordinatorsAgree(_ kind: String) throws {
        let shelf = KeyedStore.Shelf(Self.references(kind))
        let ((first, firstStore), (second, _)) = (try shelf.open(), try shelf.open())
        let ids = try fetch(first)
        #expect(Set(ids).count == shelf.rows.count)
        #expect(try fetch(second) == ids)
        #expect(shelf.rows.indices.map(firstStore.id) == ids)
        for id in ids { #expect(second.managedObjectID(forURIRepresentation: id.uriRepresentation()) == id) }
    }

    /// A store reads its references from URIs even before it has created an ID.
    @Test func aStoreReadsItsReferences() throws {
        let shelf = KeyedStore.Shelf([UUID()])
        let uri = try firstLaunch(shelf)[0]
        shelf.reading = { UUID(uuidString: $0) }
        let (coordinator, store) = try shelf.open()
        let id = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
        #expect(store.referenceObject(for: id) as? UUID == shelf.rows[0].reference as? UUID)
        // The store formats the reference it read, so that two spellings of one reference are one row.
        let lower = uri.deletingLastPathComponent()
            .appendingPathComponent("p" + uri.lastPathComponent.dropFirst().lowercased())
        #expect(coordinator.managedObjectID(forURIRepresentation: lower) == id)
        let none = try #require(URL(string: "x-coredata://\(shelf.identifier)/Tag/p1"))
        #expect(coordinator.managedObjectID(forURIRepresentation: none) == nil)
        shelf.reading = { $0 }
        let (digits, digitStore) = try KeyedStore.Shelf(["x"]).open()
        digitStore.shelf.reading = { $0 }
        let number = try #require(URL(string: "x-coredata://\(digitStore.shelf.identifier)/Tag/p10115"))
        let named = try #require(digits.managedObjectID(forURIRepresentation: number))
        #expect(digitStore.referenceObject(for: named) as? String == "10115")
        // A text and a number with the same text identify one row, whose reference is the one used last.
        #expect(digitStore.newObjectID(for: try tag(digits), referenceObject: 10_115) == named)
        #expect(digitStore.referenceObject(for: named) as? Int == 10_115)
        #expect(digitStore.newObjectID(for: try tag(digits), referenceObject: "10115") == named)
        #expect(digitStore.referenceObject(for: named) as? String == "10115")
        #expect(named.uriRepresentation() == number)
    }

    /// Code for the text, equality and `deinit` of references may call the store.
    @Test func codeOfReferencesMayUseTheStore() throws {
        final class Reference: KeyedStore.ReferenceType {
            let name: String
            let store: KeyedStore
            nonisolated(unsafe) static var ends = 0

            init(_ name: String, _ store: KeyedStore) { (self.name, self.store) = (name, store) }

            override var text: String {
                _ = store.referenceObject(for: store.id(0))
                return name
            }
            override var hash: Int {
                _ = store.id(0).uriRepresentation()
                return 1
            }
            override func isEqual(_ object: Any?) -> Bool {
                _ = store.id(0)
                return (object as? Reference)?.name == name
            }
            deinit {
                _ = store.referenceObject(for: store.id(0))
                Self.ends += 1
            }
        }
        let (coordinator, store) = try KeyedStore.Shelf(["first"]).open()
        let tag = try tag(coordinator)
        let ids = ["a", "b", "a"].map { store.newObjectID(for: tag, referenceObject: Reference($0, store)) }
        #expect(ids[0] == ids[2] && ids[0] != ids[1])
        #expect(Reference.ends == 1)
        #expect(ids[0].uriRepresentation().lastPathComponent == "pa")
    }

    @Test(.needs(.process)) func anIDNeedsTheStoresIdentifier() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            final class Early: NSIncrementalStore, @unchecked Sendable {
                override func loadMetadata() throws {
                    let entity = persistentStoreCoordinator!.managedObjectModel.entities[0]
                    _ = newObjectID(for: entity, referenceObject: "ALFKI")
                }
            }
            let type = NSPersistentStore.StoreType(rawValue: "org.example.Early")
            NSPersistentStoreCoordinator.registerStoreClass(Early.self, type: type)
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: StoreConformance.library())
            try coordinator.addPersistentStore(type: type, at: URL(fileURLWithPath: "/early"))
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("cannot make object IDs before its metadata has NSStoreUUIDKey"))
    }

    /// The framework's internal numbers of such rows are not valid references.
    @Test func aNumberInAURINamesNoTextOfTheStore() throws {
        let shelf = KeyedStore.Shelf(["a", "b", "c", "d"])
        let (coordinator, _) = try shelf.open()
        let ids = try fetch(coordinator)
        for number in 0...8 {
            let uri = try #require(URL(string: "x-coredata://\(shelf.identifier)/Tag/p\(number)"))
            let id = coordinator.managedObjectID(forURIRepresentation: uri)
            #expect(id.map { !ids.contains($0) && $0.uriRepresentation() == uri } ?? true)
            let context = coordinator.makeContext()
            guard let id else { continue }
            context.performAndWait {
                _ = #expect(throws: CocoaError.self) { try context.existingObject(with: id) }
            }
        }
        let stack = try StoreConformance(PropertyListStore.type)
        try stack.inContext { context in
            let author = context.make("Author", named: "Ada")
            try context.save()
            for number in 0...4 {
                let uri = try #require(URL(string: "x-coredata://\(stack.store.identifier!)/Author/p\(number)"))
                #expect(stack.coordinator.managedObjectID(forURIRepresentation: uri) != author.objectID)
            }
        }
    }
}

/// Rows of an incremental store that cannot be read at the moment.
@Suite struct UnreadableRowTests {
    private let offline = CocoaError(.fileReadUnknown)

    private func open(_ references: [Any]) throws -> (KeyedStore, NSManagedObjectContext) {
        let (coordinator, store) = try KeyedStore.Shelf(references).open()
        return (store, coordinator.makeContext())
    }

    @Test func anErrorIsNotADeletion() throws {
        let (store, context) = try open(["a", "b", "c"])
        try context.performAndWait {
            let tags = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag"))
            for row in store.shelf.rows.indices { store.shelf.rows[row].failure = offline }
            #expect(tags.map { $0.value(forKey: "name") as? String } == [nil, nil, nil])
            #expect(!context.hasChanges && tags.allSatisfy { !$0.isDeleted && $0.isFault })
            for row in store.shelf.rows.indices { store.shelf.rows[row].failure = nil }
            #expect(tags.map { $0.text("name") } == ["row 0", "row 1", "row 2"])
        }
    }

    @Test func aRowIsReadWhoseNeighbourCannotBe() throws {
        let (store, context) = try open(Array(0..<40).map { "r\($0)" })
        try context.performAndWait {
            store.shelf.rows[30].failure = offline
            let tags = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag"))
            for (row, tag) in tags.enumerated() where row != 30 { #expect(tag.text("name") == "row \(row)") }
            #expect(tags[30].value(forKey: "name") == nil && tags[30].isFault && !context.hasChanges)
            // Reading the others does not repeat the failed request.
            #expect(store.asked.count < 120)
        }
    }

    @Test func aFetchOfRowsThrows() throws {
        let (store, context) = try open(["a", "b", "c"])
        let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
        request.returnsObjectsAsFaults = false
        try context.performAndWait {
            store.shelf.rows[1].failure = offline
            #expect(throws: CocoaError.self) { try context.fetch(request) }
            let gone = CocoaError(CocoaError.Code(rawValue: NSManagedObjectReferentialIntegrityError))
            store.shelf.rows[1].failure = gone
            let found = try context.fetch(request)
            #expect(found.map(\.isDeleted) == [false, true, false])
        }
    }

    @Test func aRefreshKeepsObjectsThatCannotBeRead() throws {
        let (store, context) = try open(["a", "b"])
        try context.performAndWait {
            let tags = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag"))
            #expect(tags.map { $0.text("name") } == ["row 0", "row 1"])
            store.shelf.rows[0].failure = offline
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSUpdatedObjectsKey: tags.map(\.objectID)], into: [context])
            #expect(tags.allSatisfy { !$0.isDeleted } && !context.hasChanges)
        }
    }
}

/// Changes by others, as reported by an incremental store.
@Suite struct OutsideChangeTests {
    private func list(
        _ shelf: KeyedStore.Shelf, _ name: String, readingFirst row: Int? = nil
    ) throws -> (names: [String?], isFetched: Bool) {
        let (coordinator, store) = try shelf.open()
        if let row { _ = store.id(row) }
        let context = coordinator.makeContext()
        return try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: name)
            try controller.performFetch()
            let isFetched = store.asked.contains("fetch")
            return ((controller.fetchedObjects ?? []).map { $0.text("name") }, isFetched)
        }
    }

    /// The file of a list is written after the fetch.
    private func isKept(_ shelf: KeyedStore.Shelf, _ name: String) throws -> Bool {
        try eventually("the list is kept") { try !list(shelf, name, readingFirst: 3).isFetched }
    }

    @Test(arguments: ["texts", "numbers"]) func aListIsKeptWhileTheTokenIsTheSame(_ kind: String) throws {
        let references: [Any] = kind == "texts" ? ["a/b", "é", "c", "d"] : [9, 7, 5, 3]
        let shelf = KeyedStore.Shelf(references)
        let names = ["row 0", "row 1", "row 2", "row 3"]
        let cache = "OutsideChanges-\(UUID().uuidString)"
        defer { NSFetchedResultsController<NSManagedObject>.deleteCache(withName: cache) }
        // Without a token, each launch fetches.
        for _ in 0..<2 { #expect(try list(shelf, cache).isFetched) }
        shelf.token = "one"
        #expect(try list(shelf, cache).isFetched)
        #expect(try isKept(shelf, cache))
        // Internal numbers for text references differ between launches; the rows are found in any case.
        #expect(try list(shelf, cache, readingFirst: 2).names == names)
        shelf.token = "two"
        #expect(try list(shelf, cache, readingFirst: 1) == (names, true))
    }

    @Test func contextsSeeWhatOthersChangedOnceTheVersionDiffers() throws {
        let shelf = KeyedStore.Shelf(["a", "b"])
        let (coordinator, _) = try shelf.open(options: [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true])
        let context = coordinator.makeContext()
        context.automaticallyMergesChangesFromParent = true
        let tags = try context.performAndWait {
            let tags = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag"))
            #expect(tags.map { $0.text("name") } == ["row 0", "row 1"])
            return tags
        }
        coordinator.performAndWait {
            shelf.rows[0].name = "changed there"
            shelf.rows[0].version = 2
            shelf.version = 1
        }
        func name() -> String? { context.performAndWait { tags[0].text("name") } }
        eventually("the context sees the change") { name() == "changed there" }
        withExtendedLifetime(coordinator) {}
    }
}
