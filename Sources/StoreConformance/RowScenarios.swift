import CoreData
import Foundation

// Rows, values and relationships are read as they were saved.
extension StoreConformance {
    static let rowScenarios = [
        Scenario("keeps rows and relationships", keepsRowsAndRelationships),
        Scenario("keeps values of all types", keepsValuesOfAllTypes),
        Scenario("reads rows when they are touched", readsRowsWhenTheyAreTouched),
    ]

    /// Creates two authors; the first has three books in a unique order, an address, and tags.
    package func fill() throws {
        try inContext { context in
            let (ada, lu) = (context.make("Author", named: "Ada 🧮"), context.make("Author", named: "鲁迅"))
            ada.setValue(1815, forKey: "born")
            lu.setValue(1881, forKey: "born")
            ada.setValue(context.make("Address", named: "London", "city"), forKey: "address")
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

    /// Checks that the objects of ``fill()`` exist, with all their values.
    package static func checkFilled(_ context: NSManagedObjectContext) throws {
        let authors = try context.all("Author", by: "born")
        try expect(authors.map { $0.text("name") }, ["Ada 🧮", "鲁迅"], "the authors by birth")
        let ada = try need(authors.first, "the first author")
        try expect(ada.texts("books", "title"), ["C", "A", "ب"], "the ordered books")
        let address = ada.value(forKey: "address") as? NSManagedObject
        try expect(address?.text("city"), "London", "the city of the to-one address")
        try expect(authors.last?.value(forKey: "address") == nil, "the second author has no address")
        try expect(authors.last?.texts("books", "title"), [], "the books of the second author")
        let tags = try context.all("Tag", by: "name")
        try expect(tags.map { $0.texts("books", "title") }, [["C"], ["A", "C"]], "the books of the tags")
        let novel = try need(try context.all("Novel").first, "the novel")
        try expect(novel.text("hero"), "Zed", "an attribute of a sub-entity")
        try expect(novel.texts("tags", "name"), ["new", "old"], "the tags of the novel")
        try expect(try context.all("Atlas").first?.value(forKey: "maps") as? Int, 1 << 40, "a large number")
    }

    @Sendable private static func keepsRowsAndRelationships(_ stack: StoreConformance) throws {
        try stack.fill()
        try stack.inContext(checkFilled)
        guard stack.keepsRows else { return }
        for _ in 0..<2 {
            try stack.reopen()
            try stack.inContext(checkFilled)
            // A save of other changes does not change any of these values.
            try stack.inContext { context in
                try need(try context.all("Address").first, "the address").setValue("London", forKey: "city")
                _ = context.make("Sample", named: "x", "text")
                try context.save()
            }
        }
    }

    @Sendable private static func keepsValuesOfAllTypes(_ stack: StoreConformance) throws {
        let id = UUID()
        let values: [String: Any] = [
            "text": "line\r\nسلام <&>\"' 👨‍👩‍👧 \u{1}\t", "small": Int16.min, "medium": Int32.max, "large": Int64.min,
            "real": 0.1 + 0.2, "single": Float(1.1),
            "price": NSDecimalNumber(string: "-12345678901234567890.123456789"),
            "flag": true, "moment": Date(timeIntervalSinceReferenceDate: 445_103_622.123456), "id": id,
            "place": try need(URL(string: "https://example.org/%E4%BD%A0?a=1&b=2#c"), "a URL"),
            "bytes": Data((0...255).map { UInt8($0) }), "list": ["a", "ب", "c"] as NSArray,
        ]
        try stack.inContext { context in
            let (full, _) = (context.make("Sample"), context.make("Sample"))
            for (key, value) in values { full.setValue(value, forKey: key) }
            try context.save()
        }
        if stack.keepsRows { try stack.reopen() }
        try stack.inContext { context in
            let empty = try need(
                try context.all("Sample", where: NSPredicate(format: "id == nil")).first, "the row without values")
            for key in values.keys.sorted() { try expect(empty.value(forKey: key) == nil, "\(key) is nil") }
            let full = try need(
                try context.all("Sample", where: NSPredicate(format: "id == %@", id as NSUUID)).first,
                "the row that has the UUID")
            for (key, value) in values.sorted(by: { $0.key < $1.key }) {
                let kept = full.value(forKey: key) as? NSObject
                try expect(kept, value as? NSObject ?? (value as AnyObject as? NSObject), "the value of \(key)")
            }
        }
    }

    @Sendable private static func readsRowsWhenTheyAreTouched(_ stack: StoreConformance) throws {
        try stack.fill()
        if stack.keepsRows { try stack.reopen() }
        let id = try stack.inContext { context in
            let tag = try need(try context.all("Tag", by: "name").first, "the first tag")
            context.refresh(tag, mergeChanges: false)
            try expect(tag.isFault, "a refreshed object is a fault")
            try expect(tag.text("name"), "new", "the value that fires the fault")
            try expect(!tag.isFault, "an object that was read is none")
            return tag.objectID
        }
        // The row is deleted while another context has not read it.
        let late = stack.context()
        let fault = late.performAndWait { late.object(with: id) }
        try stack.inContext { context in
            context.delete(try context.existingObject(with: id))
            try context.save()
        }
        try late.performAndWait {
            try expectError(133000, "a look at a row that is gone") { _ = try late.existingObject(with: id) }
            try expect(fault.text("name") == nil, "a deleted row reads as nil")
        }
    }
}
