import CoreData
import Foundation
import StoreConformance
import Testing

/// Incremental stores defined by a program: their requests, the order of these, and the use of their results.
@Suite struct IncrementalStoreTests {
    private func stack() throws -> (StoreConformance, DocumentStore) {
        let stack = try StoreConformance(DocumentStore.type)
        return (stack, try #require(stack.store as? DocumentStore))
    }

    @Test func referencesNameRows() throws {
        let (stack, store) = try stack()
        #expect(store.identifier.hasPrefix("Documents-"))
        #expect(NSPersistentStoreCoordinator.registeredStoreTypes[DocumentStore.type.rawValue] != nil)
        try stack.inContext { context in
            let author = context.make("Author", named: "Ada")
            try context.save()
            let reference = try #require(store.referenceObject(for: author.objectID) as? String)
            #expect(reference.hasPrefix("Author/"))
            #expect(store.newObjectID(for: author.entity, referenceObject: reference) == author.objectID)
            let number = store.newObjectID(for: author.entity, referenceObject: 4711)
            #expect((store.referenceObject(for: number) as? NSNumber)?.intValue == 4711)
            let uri = author.objectID.uriRepresentation()
            #expect(stack.coordinator.managedObjectID(forURIRepresentation: uri) == author.objectID)
        }
    }

    @Test func rowsAreReadWhenTheyAreTouched() throws {
        let (stack, store) = try stack()
        try stack.inContext { context in
            let ada = context.make("Author", named: "Ada")
            ada.setValue(
                NSOrderedSet(array: ["A", "B"].map { context.make("Book", named: $0, "title") }), forKey: "books")
            try context.save()
            #expect(store.asked == ["save 3 0 0"])
        }
        try stack.inContext { context in
            store.forgetAsked()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
            let ada = try #require(try context.fetch(request).first)
            #expect(store.asked == ["fetch Author"] && ada.isFault)
            #expect(ada.text("name") == "Ada")
            #expect(store.asked == ["fetch Author", "values", "relationship address"])
            let books = ada.mutableOrderedSetValue(forKey: "books")
            #expect(books.count == 2 && store.asked.last == "relationship books")
            store.forgetAsked()
            #expect(try context.count(for: request) == 1)
            #expect(store.asked == ["fetch Author"])
            let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Author")
            ids.resultType = .managedObjectIDResultType
            #expect(try context.fetch(ids) == [ada.objectID])
        }
    }

    @Test func errorsReachTheCallerAndLoseNothing() throws {
        let (stack, store) = try stack()
        try stack.inContext { context in
            let ada = context.make("Author", named: "Ada")
            try context.save()
            store.refusal = CocoaError(.fileReadNoPermission)
            let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
            #expect(throws: CocoaError.self) { try context.fetch(request) }
            #expect(throws: CocoaError.self) { try context.count(for: request) }
            ada.setValue("Eva", forKey: "name")
            #expect(throws: CocoaError.self) { try context.save() }
            #expect(context.hasChanges && ada.text("name") == "Eva")
            store.refusal = nil
            try context.save()
            #expect(store.documents.values.first?.values["name"] as? String == "Eva")
            let gone = store.newObjectID(for: ada.entity, referenceObject: "Author/gone")
            #expect(throws: CocoaError.self) { try context.existingObject(with: gone) }
        }
    }

    @Test func versionsMeetInConflicts() throws {
        let (stack, store) = try stack()
        let (first, second) = (stack.context(), stack.context())
        let id = try first.performAndWait { () -> NSManagedObjectID in
            let author = first.make("Author", named: "Ada")
            try first.save()
            return author.objectID
        }
        let held = try second.performAndWait { () -> NSManagedObject in
            let author = try second.existingObject(with: id)
            #expect(author.text("name") == "Ada")
            return author
        }
        try first.performAndWait {
            try first.existingObject(with: id).setValue("Eva", forKey: "name")
            try first.save()
        }
        try second.performAndWait {
            held.setValue("Ida", forKey: "name")
            do {
                try second.save()
                Issue.record("the save met no conflict")
            } catch { #expect((error as NSError).code == NSManagedObjectMergeError) }
            second.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try second.save()
        }
        #expect(store.documents.values.first?.values["name"] as? String == "Ida")
    }

    @Test func changesOfTheServiceAreVisibleAfterARefresh() throws {
        let (stack, store) = try stack()
        try stack.inContext { context in
            let author = context.make("Author", named: "Ada")
            try context.save()
            let reference = try #require(store.referenceObject(for: author.objectID) as? String)
            store.documents[reference]?.values["name"] = "From there"
            store.documents[reference]?.version += 1
            #expect(author.text("name") == "Ada")
            context.refresh(author, mergeChanges: false)
            #expect(author.text("name") == "From there")
            store.documents[reference] = nil
            context.refresh(author, mergeChanges: false)
            #expect(throws: CocoaError.self) { try context.existingObject(with: author.objectID) }
        }
    }

    @Test func aControllerAndAChildFollow() throws {
        let (stack, _) = try stack()
        let context = stack.context()
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
            request.predicate = NSPredicate(format: "born > 1800")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            let listener = BatchRequestTests.Listener()
            controller.delegate = listener
            try controller.performFetch()
            let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            child.parent = context
            try child.performAndWait {
                for (name, born) in [("Lu", 1881), ("Ada", 1815), ("Old", 1700)] {
                    child.make("Author", named: name).setValue(born, forKey: "born")
                }
                try child.save()
            }
            try context.save()
            #expect(controller.fetchedObjects?.map { $0.text("name") } == ["Ada", "Lu"] && listener.inserted == 2)
            let other = stack.context()
            let changes = try other.performAndWait { () -> [AnyHashable: Any] in
                let lu = try #require(try other.all("Author", where: NSPredicate(format: "name == 'Lu'")).first)
                lu.setValue(1, forKey: "born")
                try other.save()
                return [NSUpdatedObjectsKey: [lu.objectID]]
            }
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [context])
            context.processPendingChanges()
            #expect(controller.fetchedObjects?.map { $0.text("name") } == ["Ada"])
        }
    }

    @Test func metadataAloneAreSavedToo() throws {
        let (stack, store) = try stack()
        var metadata = stack.coordinator.metadata(for: store)
        metadata["note"] = "kept"
        stack.coordinator.setMetadata(metadata, for: store)
        try stack.inContext { try $0.save() }
        #expect(store.asked == ["save - - -"])
        try stack.reopen()
        #expect(stack.coordinator.metadata(for: stack.store)["note"] as? String == "kept")
    }

    /// A class with only the required overrides.
    private final class BareStore: NSIncrementalStore, @unchecked Sendable {
        static let type = NSPersistentStore.StoreType(rawValue: "org.example.BareStore")
        override var type: String { Self.type.rawValue }
    }

    @Test func missingOverridesAreErrors() throws {
        NSPersistentStoreCoordinator.registerStoreClass(BareStore.self, type: BareStore.type)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: StoreConformance.library())
        let url = try #require(URL(string: "https://example.org/library"))
        let store = try coordinator.addPersistentStore(type: BareStore.type, at: url)
        #expect(UUID(uuidString: store.identifier) != nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
            let error = #expect(throws: CocoaError.self) { try context.fetch(request) }
            #expect(error?.localizedDescription.contains("must override execute(_:with:)") == true)
            _ = context.make("Author", named: "Ada")
            #expect(throws: CocoaError.self) { try context.save() }
        }
        for storeClass in [BareStore.self, NSAtomicStore.self, NSPersistentStore.self] {
            let read = #expect(throws: CocoaError.self) { try storeClass.metadataForPersistentStore(with: url) }
            #expect(read?.code.rawValue == NSPersistentStoreInvalidTypeError)
            let written = #expect(throws: CocoaError.self) {
                try storeClass.setMetadata([:], forPersistentStoreAt: url)
            }
            #expect(written?.localizedDescription.contains("must override setMetadata") == true)
        }
    }
}
