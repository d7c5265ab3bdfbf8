import CoreData
import Foundation

// Reading rows and relationships at once, in batches, or on demand. The values are always the same.
extension StoreConformance {
    static let faultScenarios = [
        Scenario("reads rows in batches", readsRowsInBatches),
        Scenario("prefetches relationships", prefetchesRelationships),
        Scenario("fires faults", firesFaults),
    ]

    private static let authorCount = 23

    /// Authors `a00` to `a22`, each with three books in descending order of pages and a tag for each book; every third
    /// author has an address.
    private func fillAuthors() throws {
        try inContext { context in
            let tags = (0..<4).map { context.make("Tag", named: "t\($0)") }
            for number in 0..<Self.authorCount {
                let author = context.make("Author", named: String(format: "a%02d", number))
                author.setValue(1900 + number, forKey: "born")
                if number.isMultiple(of: 3) {
                    author.setValue(context.make("Address", named: "city \(number)", "city"), forKey: "address")
                }
                let books = (0..<3).map { place -> NSManagedObject in
                    let book = context.make("Book", named: "b\(number).\(place)", "title")
                    book.setValue(100 - place, forKey: "pages")
                    book.mutableSetValue(forKey: "tags").add(tags[(number + place) % 4])
                    return book
                }
                author.setValue(NSOrderedSet(array: books), forKey: "books")
            }
            try context.save()
        }
        if keepsRows { try reopen() }
    }

    private static func authors() -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
        request.sortDescriptors = [NSSortDescriptor(key: "born", ascending: true)]
        return request
    }

    /// Checks that an author has the values from ``fillAuthors()``.
    private static func check(_ author: NSManagedObject, _ number: Int, _ what: String) throws {
        try expect(author.text("name"), String(format: "a%02d", number), "the name, \(what)")
        try expect(author.value(forKey: "born") as? Int, 1900 + number, "the year, \(what)")
        let city = (author.value(forKey: "address") as? NSManagedObject)?.text("city")
        try expect(city, number.isMultiple(of: 3) ? "city \(number)" : nil, "the city, \(what)")
        try expect(author.texts("books", "title"), (0..<3).map { "b\(number).\($0)" }, "the books, \(what)")
        for (place, book) in author.mutableOrderedSetValue(forKey: "books").array.enumerated() {
            let tags = (book as? NSManagedObject)?.texts("tags", "name")
            try expect(tags, ["t\((number + place) % 4)"], "the tags of book \(place), \(what)")
        }
    }

    @Sendable private static func readsRowsInBatches(_ stack: StoreConformance) throws {
        try stack.fillAuthors()
        for (size, limit) in [(1, 0), (5, 0), (23, 0), (1000, 0), (5, 12)] {
            try stack.inContext { context in
                let request = authors()
                (request.fetchBatchSize, request.fetchLimit) = (size, limit)
                let found = try context.fetch(request)
                let what = "batches of \(size), at most \(limit)"
                try expect(found.count, limit == 0 ? authorCount : limit, "the authors in \(what)")
                try expect(Set(found.map(\.objectID)).count, found.count, "the IDs of the authors in \(what)")
                // Backwards, like scrolling a list from its end.
                for (number, author) in found.enumerated().reversed() { try check(author, number, what) }
            }
        }
        for (asFaults, hasValues) in [(false, true), (true, true), (true, false)] {
            try stack.inContext { context in
                let request = authors()
                (request.returnsObjectsAsFaults, request.includesPropertyValues) = (asFaults, hasValues)
                let found = try context.fetch(request)
                let faults = found.filter(\.isFault).count
                if !asFaults { try expect(faults, 0, "the faults of a fetch that returns none") }
                for (number, author) in found.enumerated() { try check(author, number, "faults: \(asFaults)") }
                try expect(found.filter(\.isFault).count, 0, "the faults after all were read")
            }
        }
    }

    @Sendable private static func prefetchesRelationships(_ stack: StoreConformance) throws {
        try stack.fillAuthors()
        for paths in [["address"], ["books"], ["books.tags", "address"]] {
            try stack.inContext { context in
                let request = authors()
                request.relationshipKeyPathsForPrefetching = paths
                request.predicate = NSPredicate(format: "born < 1912")
                let found = try context.fetch(request)
                try expect(found.count, 12, "the authors whose \(paths) are prefetched")
                for author in found where paths != ["address"] {
                    try expect(
                        !author.hasFault(forRelationshipNamed: "books"),
                        "the books that \(paths) prefetched are no fault")
                }
                if paths.contains("books.tags") {
                    let books = found.flatMap { $0.mutableOrderedSetValue(forKey: "books").array }
                    let faults = books.filter {
                        ($0 as? NSManagedObject)?.hasFault(forRelationshipNamed: "tags") != false
                    }
                    try expect(faults.count, 0, "the books whose tags are faults after prefetching")
                }
                for (number, author) in found.enumerated() { try check(author, number, "prefetching \(paths)") }
            }
        }
    }

    @Sendable private static func firesFaults(_ stack: StoreConformance) throws {
        try stack.fillAuthors()
        try stack.inContext { context in
            let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Author")
            ids.resultType = .managedObjectIDResultType
            ids.sortDescriptors = authors().sortDescriptors
            let faults = try context.fetch(ids).map { context.object(with: $0) }
            try expect(faults.filter { !$0.isFault }.count, 0, "the objects of IDs that are no faults")
            let (first, second) = (faults[0], faults[1])
            try expect(first.hasFault(forRelationshipNamed: "books"), "a relationship of a fault is one")
            try expect(first.isFault, "asking for a relationship's state fires no fault")
            first.willAccessValue(forKey: nil)
            first.didAccessValue(forKey: nil)
            try expect(!first.isFault, "an access without a key fires the fault")
            second.willAccessValue(forKey: "name")
            try expect(second.primitiveValue(forKey: "name") as? String, "a01", "the primitive value after an access")
            second.didAccessValue(forKey: "name")
            try expect(first.hasFault(forRelationshipNamed: "books"), "the contents were not read with the row")
            _ = first.texts("books", "title")
            try expect(!first.hasFault(forRelationshipNamed: "books"), "contents that were read are no fault")
            for (number, author) in faults.enumerated() { try check(author, number, "by IDs") }
            context.refreshAllObjects()
            try expect(faults.filter { !$0.isFault }.count, 0, "the objects that are no faults after a refresh")
            try expect(first.hasFault(forRelationshipNamed: "books"), "a refreshed relationship is a fault")
            // Changes saved by another context are visible.
            let id = first.objectID
            try stack.inContext { other in
                let author = try other.existingObject(with: id)
                author.setValue(1800, forKey: "born")
                author.mutableOrderedSetValue(forKey: "books").removeObject(at: 1)
                try other.save()
            }
            try expect(first.value(forKey: "born") as? Int, 1800, "a value that was saved before the fault fired")
            try expect(first.texts("books", "title"), ["b0.0", "b0.2"], "the books that were saved before it")
            context.refresh(first, mergeChanges: false)
            first.setValue("renamed", forKey: "name")
            try expect(first.value(forKey: "born") as? Int, 1800, "the other values of a fault that was set")
            try context.save()
        }
        try stack.inEachState { context in
            let author = try need(try context.all("Author", by: "born").first, "the first author")
            try expect(author.text("name"), "renamed", "the value that was set on a fault")
            try expect(author.texts("books", "title"), ["b0.0", "b0.2"], "the books of the author")
        }
    }
}
