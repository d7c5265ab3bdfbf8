import CoreData
import Foundation
import Testing

/// What a program may expect of every store type, its own ones too.
@Suite struct StoreConformanceTests {
    static let types: [NSPersistentStore.StoreType] = [
        .sqlite, .inMemory, .binary, .xml, PropertyListStore.type, DocumentStore.type,
    ]

    /// Two authors; the first has three books in an order that is no other, an address, and tags.
    private func fill(_ stack: StoreConformance) throws {
        try stack.inContext { context in
            let (ada, lu) = (context.make("Author", named: "Ada 🧮"), context.make("Author", named: "鲁迅"))
            ada.setValue(1815, forKey: "born")
            lu.setValue(1881, forKey: "born")
            let address = context.make("Address", named: "London", "city")
            ada.setValue(address, forKey: "address")
            let books = [
                context.make("Novel", named: "C", "title"), context.make("Atlas", named: "A", "title"),
                context.make("Book", named: "ب", "title"),
            ]
            for (pages, book) in books.enumerated() { book.setValue(pages * 100, forKey: "pages") }
            books[0].setValue("Zed", forKey: "hero")
            books[1].setValue(1 << 40, forKey: "maps")
            ada.setValue(NSOrderedSet(array: books), forKey: "books")
            let tags = ["new", "old"].map { context.make("Tag", named: $0) }
            books[0].mutableSetValue(forKey: "tags").add(tags[0])
            books[0].mutableSetValue(forKey: "tags").add(tags[1])
            books[1].mutableSetValue(forKey: "tags").add(tags[1])
            try context.save()
        }
    }

    private func code(_ body: () throws -> Void) -> Int? {
        do { try body() } catch { return (error as NSError).code }
        return nil
    }

    private func checkFilled(_ context: NSManagedObjectContext) throws {
        let authors = try context.all("Author", by: "born")
        #expect(authors.map { $0.text("name") } == ["Ada 🧮", "鲁迅"])
        let ada = try #require(authors.first)
        #expect(ada.texts("books", "title") == ["C", "A", "ب"])
        #expect((ada.value(forKey: "address") as? NSManagedObject)?.text("city") == "London")
        #expect(authors.last?.value(forKey: "address") == nil && authors.last?.texts("books", "title") == [])
        let tags = try context.all("Tag", by: "name")
        #expect(tags.map { $0.texts("books", "title") } == [["C"], ["A", "C"]])
        let novel = try #require(try context.all("Novel").first)
        #expect(novel.text("hero") == "Zed" && novel.texts("tags", "name") == ["new", "old"])
        #expect(try context.all("Atlas").first?.value(forKey: "maps") as? Int == 1 << 40)
    }

    @Test(arguments: types) func keepsRowsAndRelationships(_ type: NSPersistentStore.StoreType) throws {
        let stack = try StoreConformance(type)
        try fill(stack)
        try stack.inContext(checkFilled)
        guard stack.keepsRows else { return }
        for _ in 0..<2 {
            try stack.reopen()
            try stack.inContext(checkFilled)
            // A save that changes something else leaves all of it.
            try stack.inContext { context in
                try #require(try context.all("Address").first).setValue("London", forKey: "city")
                _ = context.make("Sample", named: "x", "text")
                try context.save()
            }
        }
    }

    @Test(arguments: types) func fetches(_ type: NSPersistentStore.StoreType) throws {
        let stack = try StoreConformance(type)
        try fill(stack)
        if stack.keepsRows { try stack.reopen() }
        try stack.inContext { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            request.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: false)]
            #expect(try context.fetch(request).map { $0.text("title") } == ["ب", "A", "C"])
            (request.fetchLimit, request.fetchOffset) = (1, 1)
            #expect(try context.fetch(request).map { $0.text("title") } == ["A"])
            (request.fetchLimit, request.fetchOffset) = (0, 0)
            request.predicate = NSPredicate(format: "ANY tags.name == %@ AND author.name BEGINSWITH %@", "old", "Ada")
            #expect(try context.count(for: request) == 2)
            request.predicate = NSPredicate(format: "author.books.@count == 3 AND pages > 100")
            #expect(try context.fetch(request).map { $0.text("title") } == ["ب"])
            request.predicate = nil
            request.includesSubentities = false
            #expect(try context.fetch(request).map { $0.text("title") } == ["ب"])
            let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Book")
            dictionaries.resultType = .dictionaryResultType
            dictionaries.propertiesToFetch = ["title", "pages"]
            dictionaries.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: true)]
            let found = try context.fetch(dictionaries)
            #expect(found.map { $0["title"] as? String } == ["C", "A", "ب"])
            #expect(found.map { $0["pages"] as? Int } == [0, 100, 200])
        }
    }

    @Test(arguments: types) func keepsValuesOfAllTypes(_ type: NSPersistentStore.StoreType) throws {
        let stack = try StoreConformance(type)
        let id = UUID()
        let values: [String: Any] = [
            "text": "line\r\nسلام <&>\"' 👨‍👩‍👧 \u{1}\t", "small": Int16.min, "medium": Int32.max, "large": Int64.min,
            "real": 0.1 + 0.2, "single": Float(1.1),
            "price": NSDecimalNumber(string: "-12345678901234567890.123456789"),
            "flag": true, "moment": Date(timeIntervalSinceReferenceDate: 445_103_622.123456), "id": id,
            "place": URL(string: "https://example.org/%E4%BD%A0?a=1&b=2#c")!,
            "bytes": Data((0...255).map { UInt8($0) }),
            "list": ["a", "ب", "c"] as NSArray,
        ]
        try stack.inContext { context in
            let (full, _) = (context.make("Sample"), context.make("Sample"))
            for (key, value) in values { full.setValue(value, forKey: key) }
            try context.save()
        }
        if stack.keepsRows { try stack.reopen() }
        try stack.inContext { context in
            let empty = try #require(try context.all("Sample", where: NSPredicate(format: "id == nil")).first)
            #expect(values.keys.allSatisfy { empty.value(forKey: $0) == nil })
            let full = try #require(
                try context.all("Sample", where: NSPredicate(format: "id == %@", id as NSUUID)).first)
            for (key, value) in values {
                let kept = full.value(forKey: key) as? NSObject
                #expect(kept == (value as? NSObject ?? (value as AnyObject as? NSObject)), "\(key)")
            }
        }
    }

    @Test(arguments: types) func updatesAndDeletes(_ type: NSPersistentStore.StoreType) throws {
        let stack = try StoreConformance(type)
        try fill(stack)
        let uris = try stack.inContext { context -> [URL] in
            let authors = try context.all("Author", by: "born")
            let books = authors[0].mutableOrderedSetValue(forKey: "books")
            books.moveObjects(at: IndexSet(integer: 2), to: 0)
            authors[1].setValue(nil, forKey: "born")
            try context.save()
            context.delete(try #require(try context.all("Atlas").first))
            context.delete(try #require(try context.all("Tag", where: NSPredicate(format: "name == 'new'")).first))
            try context.save()
            return authors.map { $0.objectID.uriRepresentation() }
        }
        if stack.keepsRows { try stack.reopen() }
        try stack.inContext { context in
            let ids = uris.compactMap { stack.coordinator.managedObjectID(forURIRepresentation: $0) }
            let authors = try ids.map { try context.existingObject(with: $0) }
            #expect(authors.map { $0.text("name") } == ["Ada 🧮", "鲁迅"])
            #expect(authors[0].texts("books", "title") == ["ب", "C"])
            #expect(authors[1].value(forKey: "born") == nil)
            #expect(try context.all("Novel").first?.texts("tags", "name") == ["old"])
            context.delete(authors[0])
            try context.save()
            #expect(try context.all("Book").isEmpty)
            let address = try #require(try context.all("Address").first)
            #expect(address.value(forKey: "owner") == nil)
        }
    }

    @Test(arguments: types) func refusesConflictsAndRollsBack(_ type: NSPersistentStore.StoreType) throws {
        let stack = try StoreConformance(type)
        try fill(stack)
        let (first, second) = (stack.context(), stack.context())
        let late = try second.performAndWait { try #require(try second.all("Address").first) }
        second.performAndWait { #expect(late.text("city") == "London") }
        try first.performAndWait {
            try #require(try first.all("Address").first).setValue("Paris", forKey: "city")
            try first.save()
        }
        second.performAndWait {
            late.setValue("Rome", forKey: "city")
            #expect(code { try second.save() } == 133020)
            second.rollback()
            second.refresh(late, mergeChanges: false)
            #expect(late.text("city") == "Paris")
        }
        // Constraints of an incremental store are its own affair.
        if type != DocumentStore.type {
            try stack.inContext { context in
                _ = context.make("Tag", named: "old")
                #expect(code { try context.save() } == 133021)
                context.rollback()
                let count = try context.all("Tag").count
                #expect(count == 2)
            }
        }
        if stack.keepsRows { try stack.reopen() }
        try stack.inContext { context in
            let cities = try context.all("Address").map { $0.text("city") }
            #expect(cities == ["Paris"])
        }
    }

    @Test(arguments: types) func keepsMetadata(_ type: NSPersistentStore.StoreType) throws {
        let stack = try StoreConformance(type)
        try fill(stack)
        var metadata = stack.coordinator.metadata(for: stack.store)
        #expect(metadata[NSStoreTypeKey] as? String == type.rawValue)
        #expect(stack.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        metadata["note"] = "你好"
        stack.coordinator.setMetadata(metadata, for: stack.store)
        try stack.inContext { try $0.save() }
        guard stack.keepsRows else { return }
        var kept = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: stack.url)
        #expect(kept["note"] as? String == "你好")
        #expect(kept[NSStoreUUIDKey] as? String == stack.store.identifier)
        kept["note"] = "neu"
        try stack.coordinator.remove(stack.store)
        try NSPersistentStoreCoordinator.setMetadata(kept, type: type, at: stack.url)
        let store = try stack.coordinator.addPersistentStore(type: type, at: stack.url)
        #expect(stack.coordinator.metadata(for: store)["note"] as? String == "neu")
        try stack.inContext(checkFilled)
    }

    @Test(arguments: types) func isCopiedToAndFromEveryType(_ type: NSPersistentStore.StoreType) throws {
        // An incremental store takes objects only.
        for other in Self.types where other != DocumentStore.type {
            let stack = try StoreConformance(type)
            try fill(stack)
            let url = stack.folder.appendingPathComponent("Copy.store")
            let copy = try stack.coordinator.migratePersistentStore(stack.store, to: url, type: other)
            #expect(copy.type == other.rawValue)
            try stack.inContext(checkFilled)
            guard other != .inMemory else { continue }
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
            try stack.coordinator.remove(copy)
            try coordinator.addPersistentStore(type: other, at: url)
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait { try checkFilled(context) }
        }
    }
}
