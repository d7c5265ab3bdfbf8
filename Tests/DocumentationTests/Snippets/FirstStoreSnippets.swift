import CoreData
import Testing

/// The code of `FirstStore.md`, compiled and run.
@MainActor @Suite struct FirstStoreSnippets {
    @Test func aStoreIsMadeFilledAndRead() throws {
        let folder = try TemporaryFolder()
        let fileURL = folder.url.appendingPathComponent("Journal.sqlite")
        let container = NSPersistentContainer(name: "Journal")
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: fileURL)]
        container.loadPersistentStores { _, error in
            if let error { fatalError("The journal cannot be opened: \(error.localizedDescription)") }
        }
        let context = container.viewContext

        let journal = Journal(context: context)
        journal.name = "Travels"
        let entry = Entry(context: context)
        entry.title = "Lisbon"
        entry.written = Date()
        entry.stars = 4
        entry.journal = journal
        try context.save()

        let request = Entry.fetchRequest()
        request.predicate = NSPredicate(format: "journal.name == %@ AND stars >= %d", "Travels", 3)
        request.sortDescriptors = [NSSortDescriptor(key: "written", ascending: false)]
        for entry in try context.fetch(request) { print(entry.title ?? "", entry.stars) }

        entry.stars = 9
        do {
            try context.save()
        } catch let error as CocoaError where error.code == .validationNumberTooLarge {
            print(error.localizedDescription)
            context.rollback()
        }
        #expect(entry.stars == 4)
        #expect(try context.count(for: request) == 1)

        entry.text = "Rain, and custard tarts."
        context.delete(journal)
        try context.save()
        #expect(try context.count(for: Entry.fetchRequest()) == 0)
    }

    @Test func aStoreOpensInOneLine() throws {
        let container = try NSPersistentContainer.open("Journal", at: URL(fileURLWithPath: "/dev/null"))
        let context = container.viewContext
        for number in 1...3 {
            let entry = Entry(context: context)
            entry.title = "Day \(number)"
            entry.written = Date()
            entry.stars = Int16(number)
        }
        try context.save()
        let best = try context.fetch(Entry.self, where: #Predicate { $0.stars >= 2 }, sort: \.title)
        let stars = try context.aggregate(.sum, of: \Entry.stars)
        #expect(best.map(\.title) == ["Day 2", "Day 3"])
        #expect(stars as? Int == 6)
    }
}
