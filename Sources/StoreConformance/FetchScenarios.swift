import CoreData
import Foundation

// Fetches return the same as an evaluation in memory.
extension StoreConformance {
    static let fetchScenarios = [
        Scenario("fetches, counts and cuts", fetches), Scenario("agrees with memory", agreesWithMemory),
    ]

    @Sendable private static func fetches(_ stack: StoreConformance) throws {
        try stack.fill()
        if stack.keepsRows { try stack.reopen() }
        try stack.inContext { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            func titles() throws -> [String?] { try context.fetch(request).map { $0.text("title") } }
            request.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: false)]
            try expect(try titles(), ["ب", "A", "C"], "books by pages, downwards")
            (request.fetchLimit, request.fetchOffset) = (1, 1)
            try expect(try titles(), ["A"], "one book from the second on")
            (request.fetchLimit, request.fetchOffset) = (0, 0)
            request.predicate = NSPredicate(format: "ANY tags.name == %@ AND author.name BEGINSWITH %@", "old", "Ada")
            try expect(try context.count(for: request), 2, "the count of books with a tag")
            request.predicate = NSPredicate(format: "author.books.@count == 3 AND pages > 100")
            try expect(try titles(), ["ب"], "a predicate over two relationships")
            request.predicate = nil
            request.includesSubentities = false
            try expect(try titles(), ["ب"], "books without sub-entities")
            let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Book")
            dictionaries.resultType = .dictionaryResultType
            dictionaries.propertiesToFetch = ["title", "pages"]
            dictionaries.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: true)]
            let found = try context.fetch(dictionaries)
            try expect(found.map { $0["title"] as? String }, ["C", "A", "ب"], "the titles of dictionaries")
            try expect(found.map { $0["pages"] as? Int }, [0, 100, 200], "the pages of dictionaries")
            let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Book")
            ids.resultType = .managedObjectIDResultType
            ids.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: true)]
            let objects = try context.fetch(ids).map { try context.existingObject(with: $0).text("title") }
            try expect(objects, ["C", "A", "ب"], "the objects of fetched IDs")
        }
    }

    /// Predicates and orders over rows with equal, missing and unusual values.
    @Sendable private static func agreesWithMemory(_ stack: StoreConformance) throws {
        let texts: [String?] = ["a", "A", "ä", "ab", "", nil, "z", "Ω", "你好", "😀", "a\u{308}", "%_\\", "10", "9"]
        try stack.inContext { context in
            for number in 0..<56 {
                let sample = context.make("Sample")
                sample.setValue(texts[number % texts.count], forKey: "text")
                sample.setValue(number % 5 == 0 ? nil : number % 7 - 3, forKey: "medium")
                sample.setValue(number % 6 == 0 ? nil : Double(number % 9) / 4, forKey: "real")
                sample.setValue(number % 4 == 0 ? nil : number % 2 == 0, forKey: "flag")
                sample.setValue(number, forKey: "large")
                sample.setValue(Date(timeIntervalSinceReferenceDate: Double(number % 8) * 1e6), forKey: "moment")
            }
            try context.save()
        }
        if stack.keepsRows { try stack.reopen() }
        try stack.inContext { context in
            let all = try context.all("Sample", by: "large")
            let moment = NSPredicate(format: "moment > %@", Date(timeIntervalSinceReferenceDate: 3e6) as NSDate)
            for predicate in formats.map({ NSPredicate(format: $0) }) + [moment] {
                let found = try context.all("Sample", where: predicate, by: "large")
                let wanted = all.filter { predicate.evaluate(with: $0) }
                try expect(found.map(\.objectID), wanted.map(\.objectID), "what matches \(predicate.formatString)")
            }
            for key in ["text", "medium", "real", "moment"] {
                for ascending in [true, false] {
                    let order = [
                        NSSortDescriptor(key: key, ascending: ascending),
                        NSSortDescriptor(key: "large", ascending: true),
                    ]
                    let request = NSFetchRequest<NSManagedObject>(entityName: "Sample")
                    request.sortDescriptors = order
                    try expect(
                        try context.fetch(request).map(\.objectID), all.sorted(using: order).map(\.objectID),
                        "the order by \(key) \(ascending ? "upwards" : "downwards")")
                }
            }
        }
    }

    private static let formats = [
        "text == 'a'", "text ==[cd] 'A'", "text != 'a'", "text == nil", "text != nil", "text < 'b'", "text >= 'ä'",
        "text BEGINSWITH[c] 'A'", "text ENDSWITH 'b'", "text CONTAINS[d] 'a'", "text LIKE '?b'", "text LIKE[c] 'A*'",
        "text MATCHES '[a-z]+'", "text CONTAINS '%'", "text IN {'a', '你好', '😀'}", "NOT text IN {'a', 'z'}",
        "medium > 0", "medium <= -1", "medium BETWEEN {-2, 1}", "medium == nil OR real > 1.5", "real == 0.25",
        "flag == YES", "flag == NO", "NOT flag == YES", "medium + real > 1", "medium * 2 == -6",
        "TRUEPREDICATE", "FALSEPREDICATE",
    ]
}
