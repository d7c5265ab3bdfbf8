import CoreData
import Foundation
import Testing

// Point 4: a SQLite store at `/dev/null` is in memory and complete.
extension NeverHarmTests {
    private static var null: URL { URL(fileURLWithPath: "/dev/null") }

    private func container(_ options: [String: NSObject] = [:]) throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Memory", managedObjectModel: World.model())
        // As in Xcode's template.
        container.persistentStoreDescriptions.first?.url = URL(fileURLWithPath: "/dev/null")
        for (key, value) in options { container.persistentStoreDescriptions.first?.setOption(value, forKey: key) }
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        return container
    }

    @Test func aNewDescriptionIsOfAStoreInMemory() throws {
        let description = NSPersistentStoreDescription()
        #expect(description.url == Self.null && description.type == NSSQLiteStoreType)
        let container = NSPersistentContainer(name: "Memory", managedObjectModel: World.model())
        container.persistentStoreDescriptions = [description]
        container.loadPersistentStores { _, error in #expect(error == nil) }
        let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
        #expect(store.url == Self.null && store.type == NSSQLiteStoreType && !store.isReadOnly)
        #expect(
            container.persistentStoreCoordinator.metadata(for: store)[NSStoreUUIDKey] as? String == store.identifier)
    }

    @Test func allContextsOfACoordinatorShareIt() async throws {
        let container = try container()
        let first = container.newBackgroundContext()
        try first.fill("a")
        try await container.performBackgroundTask { context in
            #expect(try context.names() == ["a"])
            _ = try context.fill("我的 🎈")
        }
        #expect(try first.names() == ["a", "我的 🎈"])
        #expect(try first.names("name BEGINSWITH '我'") == ["我的 🎈"])
        await MainActor.run {
            #expect((try? container.viewContext.names()) == ["a", "我的 🎈"])
        }
    }

    @Test func severalInMemoryStoresAreIndependent() throws {
        let (one, two) = (try container(), try container())
        try one.newBackgroundContext().fill("one")
        try two.newBackgroundContext().fill("two")
        #expect(try one.newBackgroundContext().names() == ["one"])
        #expect(try two.newBackgroundContext().names() == ["two"])
        // The same in one coordinator.
        let coordinator = one.persistentStoreCoordinator
        let second = try coordinator.addPersistentStore(type: .sqlite, at: Self.null)
        #expect(coordinator.persistentStores.count == 2)
        #expect(Set(coordinator.persistentStores.map(\.identifier)).count == 2)
        let context = coordinator.context()
        try context.performAndWait {
            let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
            item.setValue("second", forKey: "name")
            context.assign(item, to: second)
            try context.save()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            request.affectedStores = [second]
            #expect(try context.fetch(request).map(\.objectID) == [item.objectID])
        }
        #expect(try context.names() == ["one", "second"])
        // A removed store is lost; a new one is empty.
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        try coordinator.addPersistentStore(type: .sqlite, at: Self.null)
        context.performAndWait { context.reset() }
        #expect(try context.names().isEmpty)
    }

    @Test func itHasConstraintsAndRelationships() throws {
        let container = try container()
        let context = container.newBackgroundContext()
        try context.fill("a")
        #expect(thrownCode { try context.fill("a") } == 133021)
        context.performAndWait { context.rollback() }
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try context.performAndWait {
            let again = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
            again.setValue("a", forKey: "name")
            again.setValue(7, forKey: "number")
            let folder = NSEntityDescription.insertNewObject(forEntityName: "Folder", into: context)
            folder.setValue(NSSet(object: again), forKey: "items")
            folder.setValue("f", forKey: "name")
            try context.save()
        }
        let other = container.newBackgroundContext()
        #expect(try other.names("number = 7 AND folder.name = 'f'") == ["a"])
        try other.performAndWait {
            let folders = NSFetchRequest<NSManagedObject>(entityName: "Folder")
            folders.predicate = NSPredicate(
                format: "items.@count = 1 AND SUBQUERY(items, $i, $i.number > 6).@count = 1")
            #expect(try other.count(for: folders) == 1)
            other.delete(try #require(other.fetch(folders).first))
            try other.save()
        }
        #expect(try container.newBackgroundContext().names("folder = nil") == ["a"])
    }

    @Test func itSupportsAllRequests() async throws {
        let context = try container().newBackgroundContext()
        try await context.perform {
            try context.execute(
                NSBatchInsertRequest(
                    entityName: "Item", objects: (1...4).map { ["name": "item \($0)", "number": $0] }))
            let update = NSBatchUpdateRequest(entityName: "Item")
            update.predicate = NSPredicate(format: "number > 2")
            update.propertiesToUpdate = ["number": 10]
            update.resultType = .updatedObjectsCountResultType
            #expect((try context.execute(update) as? NSBatchUpdateResult)?.result as? Int == 2)
            let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Item")
            request.predicate = NSPredicate(format: "number = 1")
            let delete = NSBatchDeleteRequest(fetchRequest: request)
            delete.resultType = .resultTypeCount
            #expect((try context.execute(delete) as? NSBatchDeleteResult)?.result as? Int == 1)
            let groups = NSFetchRequest<NSDictionary>(entityName: "Item")
            groups.resultType = .dictionaryResultType
            groups.propertiesToGroupBy = ["number"]
            groups.propertiesToFetch = ["number"]
            groups.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
            #expect(try context.fetch(groups).map { $0["number"] as? Int } == [2, 10])
            let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Item")
            ids.resultType = .managedObjectIDResultType
            #expect(try context.fetch(ids).count == 3 && context.count(for: ids) == 3)
        }
        let found: Int = await withCheckedContinuation { continuation in
            context.performAndWait {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
                let begun = try? context.execute(
                    NSAsynchronousFetchRequest(fetchRequest: request) { result in
                        continuation.resume(returning: result.finalResult?.count ?? 0)
                    })
                #expect(begun != nil)
            }
        }
        #expect(found == 3)
    }

    @Test func itHasAHistory() throws {
        let container = try container([
            NSPersistentHistoryTrackingKey: true as NSNumber,
            NSPersistentStoreRemoteChangeNotificationPostOptionKey: true as NSNumber,
        ])
        let context = container.newBackgroundContext()
        context.transactionAuthor = "author"
        try context.fill("a")
        let token = container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil)
        #expect(token != nil)
        try context.fill("b")
        try context.performAndWait {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
            let result = try context.execute(request) as? NSPersistentHistoryResult
            let transactions = result?.result as? [NSPersistentHistoryTransaction]
            #expect(transactions?.map(\.author) == ["author"])
            #expect(transactions?.first?.changes?.map(\.changeType) == [.insert])
        }
    }

    @Test func aPinnedContextKeepsItsState() throws {
        let container = try container()
        let (reader, writer) = (container.newBackgroundContext(), container.newBackgroundContext())
        let id = try writer.fill("a")
        try reader.performAndWait { try reader.setQueryGenerationFrom(.current) }
        #expect(try reader.names() == ["a"])
        try writer.fill("b")
        try writer.performAndWait {
            try writer.existingObject(with: id).setValue("changed", forKey: "name")
            try writer.save()
        }
        #expect(try reader.names() == ["a"])
        try reader.performAndWait { try reader.setQueryGenerationFrom(.current) }
        reader.performAndWait { reader.reset() }
        #expect(try reader.names() == ["b", "changed"])
    }

    @Test func largeValuesAreInMemoryToo() throws {
        let before = try FileManager.default.contentsOfDirectory(atPath: "/dev").sorted()
        let container = try container()
        let id = try container.newBackgroundContext().fill("a", pictureSize: 1_000_000)
        let reader = container.newBackgroundContext()
        try reader.performAndWait {
            let picture = try reader.existingObject(with: id).value(forKey: "picture") as? Data
            #expect(picture?.count == 1_000_000)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: "/dev").sorted() == before)
    }

    @Test func itCanBeMigratedToAFileAndBack() throws {
        let world = try World()
        let container = try container([NSPersistentHistoryTrackingKey: true as NSNumber])
        let coordinator = container.persistentStoreCoordinator
        try coordinator.context().fill("a", pictureSize: 300_000)
        let url = world.url("a.sqlite")
        let file = try coordinator.migratePersistentStore(
            try #require(coordinator.persistentStores.first), to: url, type: .sqlite)
        #expect(file.url == url && coordinator.persistentStores == [file])
        #expect(try coordinator.context().names() == ["a"])
        let memory = try coordinator.migratePersistentStore(file, to: Self.null, type: .sqlite)
        #expect(coordinator.persistentStores == [memory])
        #expect(try coordinator.context().names() == ["a"])
        try coordinator.context().fill("b")
        #expect(try world.names(url) == ["a"])
    }

    @Test func destroyingItRemovesIt() throws {
        let container = try container()
        let coordinator = container.persistentStoreCoordinator
        try coordinator.context().fill("a")
        try coordinator.destroyPersistentStore(at: Self.null, type: .sqlite)
        #expect(coordinator.persistentStores.isEmpty)
        #expect(FileManager.default.fileExists(atPath: "/dev/null"))
        #expect(
            thrownCode { _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: Self.null) }
                == 260)
    }

    @Test func aListFollowsIt() throws {
        let container = try container()
        let context = container.newBackgroundContext()
        try context.fill("a")
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            try controller.performFetch()
            #expect(controller.fetchedObjects?.count == 1)
        }
    }

    @Test func aReadOnlyOneIsEmptyAndRefusesSaves() throws {
        let container = try container([NSReadOnlyPersistentStoreOption: true as NSNumber])
        let context = container.newBackgroundContext()
        #expect(try context.names().isEmpty)
        #expect(thrownCode { try context.fill("a") } != nil)
    }
}
