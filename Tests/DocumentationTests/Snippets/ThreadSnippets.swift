import CoreData
import Testing

/// The code of `ThreadsAndMerging.md`, compiled and run.
@MainActor @Suite struct ThreadSnippets {
    private func opened() throws -> (TemporaryFolder, NSPersistentContainer) {
        let folder = try TemporaryFolder()
        let url = folder.url.appendingPathComponent("Journal.sqlite")
        return (folder, try NSPersistentContainer.open("Journal", at: url))
    }

    @Test func workRunsInABackgroundContext() async throws {
        let (folder, container) = try opened()
        container.viewContext.automaticallyMergesChangesFromParent = true
        let titles = ["Faro", "Évora", "里斯本"]
        let id = try await container.performBackgroundTask { context in
            for title in titles {
                let entry = Entry(context: context)
                entry.title = title
                entry.written = Date()
            }
            try context.save()
            return try context.fetch(Entry.self, sort: \.title)[0].objectID
        }
        let first = try container.viewContext.existingObject(with: id) as? Entry
        #expect(first?.title == "Évora" || first?.title == "Faro")
        withExtendedLifetime(folder) {}
    }

    @Test func conflictsGoToThePolicy() throws {
        let (folder, container) = try opened()
        let context = container.viewContext
        let entry = Entry(context: context)
        (entry.title, entry.written) = ("Braga", Date())
        try context.save()

        let other = container.newBackgroundContext()
        let id = entry.objectID
        try other.performAndWait {
            (other.object(with: id) as? Entry)?.stars = 5
            try other.save()
        }
        entry.text = "Written here, while the stars came from there."
        do {
            try context.save()
        } catch let error as CocoaError where error.code == .managedObjectMerge {
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try context.save()
        }
        #expect(entry.stars == 5 && entry.text?.isEmpty == false)
        withExtendedLifetime(folder) {}
    }

    @Test func aChildContextIsADraft() throws {
        let (folder, container) = try opened()
        let draft = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        draft.parent = container.viewContext
        let entry = Entry(context: draft)
        (entry.title, entry.written) = ("Sintra", Date())
        #expect(try container.viewContext.count(for: Entry.fetchRequest()) == 0)
        try draft.save()
        try container.viewContext.save()
        #expect(try container.viewContext.count(for: Entry.fetchRequest()) == 1)
        withExtendedLifetime(folder) {}
    }

    /// An actor isolated to the queue of its context.
    actor Archive {
        let context: NSManagedObjectContext
        nonisolated var unownedExecutor: UnownedSerialExecutor { context.asUnownedSerialExecutor() }

        init(_ container: NSPersistentContainer) { context = container.newBackgroundContext() }

        func add(_ title: String) throws {
            let entry = Entry(context: context)
            entry.title = title
            entry.written = Date()
            try context.save()
        }

        func count() throws -> Int { try context.count(Entry.self) }
    }

    @Test func anActorLivesOnAContext() async throws {
        let (folder, container) = try opened()
        let archive = Archive(container)
        try await archive.add("Tavira")
        print(try await archive.count())
        #expect(try await archive.count() == 1)
        withExtendedLifetime(folder) {}
    }
}
