import CoreData
import StoreConformance
import Testing

// Roster's own tests build this package as one module.
#if canImport(CSVFolderStore)
    import CSVFolderStore
    import RecordService
#endif

/// The store types of the examples pass the scenarios of every store type.
@Suite struct ExampleStoreTests {
    @Test(arguments: StoreConformance.scenarios) func aFolderOfTablesConforms(
        _ scenario: StoreConformance.Scenario
    ) throws {
        CSVFolderStore.register()
        try scenario.run(on: StoreConformance(CSVFolderStore.storeType) { $0.appendingPathComponent("Library") })
    }

    @Test(arguments: StoreConformance.scenarios) func aServiceConforms(_ scenario: StoreConformance.Scenario) throws {
        ServiceStore.register()
        let server = try RecordServer()
        defer { server.stop() }
        // The service checks no constraints, and incremental stores do not take batch requests.
        let stack = try StoreConformance(ServiceStore.storeType, traits: .keepsRows) { _ in server.url }
        // Each row is a request.
        stack.manyRows = 500
        try scenario.run(on: stack)
    }

    @Test func tablesCanBeEditedByHand() throws {
        CSVFolderStore.register()
        let stack = try StoreConformance(CSVFolderStore.storeType) { $0.appendingPathComponent("Library") }
        try stack.inContext { context in
            let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
            author.setValue("Ada, \"Countess\"", forKey: "name")
            try context.save()
        }
        let file = stack.url.appendingPathComponent("Author.csv")
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text == "key,born,name,books\r\n1,,\"Ada, \"\"Countess\"\"\",\r\n")
        try Data((text + "2,1881,鲁迅,\n").utf8).write(to: file)
        try stack.reopen()
        try stack.inContext { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
            request.predicate = NSPredicate(format: "born == 1881")
            let found = try context.fetch(request)
            #expect(found.first?.value(forKey: "name") as? String == "鲁迅")
        }
        // An error names its place in the table, and nothing is changed.
        for (damage, reason) in [
            ("3,x,n,\n", "is no value of born"), ("2,,n,\n", "stands twice"), ("3,,n\n", "has 3 fields"),
            ("3,,n,9\n", "which is not there"), (",,n,\n", "no key"), ("3,,\"n,\n", "has no end"),
        ] {
            let damaged = Data((text + "2,1881,鲁迅,\n" + damage).utf8)
            try damaged.write(to: file)
            let error = try #require(throws: (any Error).self) { try stack.reopen() }
            #expect((error as NSError).localizedDescription.contains(reason), "\(error)")
            #expect(try Data(contentsOf: file) == damaged)
            try Data(text.utf8).write(to: file)
            try stack.coordinator.addPersistentStore(type: CSVFolderStore.storeType, at: stack.url)
        }
    }

    /// A list on the main queue shows another client's changes.
    @MainActor @Test func aListFollowsTheService() async throws {
        ServiceStore.register()
        let server = try RecordServer()
        defer { server.stop() }
        let reader = try StoreConformance(ServiceStore.storeType, traits: .keepsRows) { _ in server.url }
        let writer = try StoreConformance(ServiceStore.storeType, traits: .keepsRows) { _ in server.url }
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = reader.coordinator
        let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let list = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        // As with a delegate.
        list.followsChanges = true
        try list.performFetch()
        let store = try #require(reader.store as? ServiceStore)
        let follower = try ServiceFollower(store, into: [context])
        defer { follower.stop() }
        func names() -> [String?] { (list.fetchedObjects ?? []).map { $0.value(forKey: "name") as? String } }
        func wait(for expected: [String]) async throws {
            for _ in 0..<500 where names() != expected { try await Task.sleep(for: .milliseconds(10)) }
            #expect(names() == expected)
        }
        try writer.inContext { context in
            for name in ["Mo Yan", "Ada"] {
                NSEntityDescription.insertNewObject(forEntityName: "Author", into: context).setValue(
                    name, forKey: "name")
            }
            try context.save()
        }
        try await wait(for: ["Ada", "Mo Yan"])
        try writer.inContext { context in
            let authors = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Author"))
            for author in authors {
                if author.value(forKey: "name") as? String == "Ada" {
                    author.setValue("Zadie", forKey: "name")
                } else {
                    context.delete(author)
                }
            }
            try context.save()
        }
        try await wait(for: ["Zadie"])
    }
}
