import CoreData
import Foundation

// Two contexts that change the same rows, under each merge policy.
extension StoreConformance {
    static let conflictScenarios = [
        Scenario("merges updates by policy", mergesUpdates),
        Scenario("merges updates of rows that are gone", mergesUpdatesOfDeletedRows),
        Scenario("merges deletions of rows that changed", mergesDeletions),
        Scenario("merges changed relationships by policy", mergesRelationships),
    ]

    private static let policies: [NSMergePolicyType] = [
        .errorMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType,
        .overwriteMergePolicyType, .rollbackMergePolicyType,
    ]

    /// A row, and its object in a context with a merge policy that has read it.
    private struct Rival {
        let policy: NSMergePolicyType
        let context: NSManagedObjectContext
        let object: NSManagedObject
        var id: NSManagedObjectID { object.objectID }

        /// Saves: under the policy `error` with a conflict that is thrown, under the others without.
        func save(_ what: String) throws {
            guard policy == .errorMergePolicyType else {
                try context.save()
                return try expect(!context.hasChanges, "nothing is left to save after \(what), policy \(policy)")
            }
            try expectError(133020, what) { try context.save() }
            try expect(context.hasChanges, "the context keeps its changes after \(what)")
        }
    }

    /// Creates a row for each policy, which the contexts of the result have read.
    private func rivals(
        of entity: String, _ values: [String: Any], reading: @escaping (NSManagedObject) -> Void
    ) throws -> [Rival] {
        try Self.policies.map { policy in
            let id = try inContext { context in
                let object = context.make(entity)
                object.setValuesForKeys(values)
                try context.save()
                return object.objectID
            }
            let context = context()
            context.mergePolicy = NSMergePolicy(merge: policy)
            let object = try context.performAndWait {
                let object = try context.existingObject(with: id)
                reading(object)
                return object
            }
            return Rival(policy: policy, context: context, object: object)
        }
    }

    private func change(_ id: NSManagedObjectID, _ body: (NSManagedObjectContext, NSManagedObject) throws -> Void)
        throws
    {
        try inContext { context in
            try body(context, try context.existingObject(with: id))
            try context.save()
        }
    }

    /// The stored values of a row, or "gone".
    private static func stored(_ context: NSManagedObjectContext, _ id: URL) -> String {
        guard let id = context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: id),
            let object = try? context.existingObject(with: id)
        else { return "gone" }
        return ["text", "medium", "large"].map { object.value(forKey: $0).map { "\($0)" } ?? "nil" }.joined(
            separator: " ")
    }

    private func expectStored(_ rivals: [Rival], _ expected: [NSMergePolicyType: String], _ what: String) throws {
        let uris = rivals.map { ($0.policy, $0.id.uriRepresentation()) }
        try inEachState { context in
            for (policy, uri) in uris {
                try expect(Self.stored(context, uri), expected[policy] ?? "", "the row after \(what), policy \(policy)")
            }
            try expect(
                try context.counts("Sample"), [expected.values.filter { $0 != "gone" }.count], "the rows after \(what)")
        }
    }

    private static var original: [String: Any] { ["text": "old", "medium": 1, "large": 10] }

    @Sendable private static func mergesUpdates(_ stack: StoreConformance) throws {
        let rivals = try stack.rivals(of: "Sample", original) { _ = $0.text("text") }
        for rival in rivals {
            try stack.change(rival.id) { _, row in
                row.setValue("theirs", forKey: "text")
                row.setValue(11, forKey: "large")
            }
            try rival.context.performAndWait {
                rival.object.setValue("mine", forKey: "text")
                rival.object.setValue(2, forKey: "medium")
                try rival.save("a save of a row that another context changed")
            }
        }
        let expected: [NSMergePolicyType: String] = [
            .errorMergePolicyType: "theirs 1 11", .mergeByPropertyStoreTrumpMergePolicyType: "theirs 2 11",
            .mergeByPropertyObjectTrumpMergePolicyType: "mine 2 11", .overwriteMergePolicyType: "mine 2 10",
            .rollbackMergePolicyType: "theirs 1 11",
        ]
        for rival in rivals where rival.policy != .errorMergePolicyType {
            try rival.context.performAndWait {
                try expect(
                    stored(rival.context, rival.id.uriRepresentation()), expected[rival.policy] ?? "",
                    "the object after the merge, policy \(rival.policy)")
            }
        }
        try stack.expectStored(rivals, expected, "a conflict of two updates")
    }

    @Sendable private static func mergesUpdatesOfDeletedRows(_ stack: StoreConformance) throws {
        let rivals = try stack.rivals(of: "Sample", original) { _ = $0.text("text") }
        for rival in rivals {
            try stack.change(rival.id) { $0.delete($1) }
            try rival.context.performAndWait {
                rival.object.setValue("mine", forKey: "text")
                try rival.save("a save of a row that another context deleted")
            }
        }
        try stack.expectStored(
            rivals,
            [
                .errorMergePolicyType: "gone", .mergeByPropertyStoreTrumpMergePolicyType: "gone",
                .mergeByPropertyObjectTrumpMergePolicyType: "mine 1 10", .overwriteMergePolicyType: "mine 1 10",
                .rollbackMergePolicyType: "gone",
            ], "an update of a deleted row")
    }

    @Sendable private static func mergesDeletions(_ stack: StoreConformance) throws {
        let rivals = try stack.rivals(of: "Sample", original) { _ = $0.text("text") }
        for rival in rivals {
            try stack.change(rival.id) { $1.setValue("theirs", forKey: "text") }
            try rival.context.performAndWait {
                rival.context.delete(rival.object)
                try rival.save("a deletion of a row that another context changed")
            }
        }
        try stack.expectStored(
            rivals,
            [
                .errorMergePolicyType: "theirs 1 10", .mergeByPropertyStoreTrumpMergePolicyType: "theirs 1 10",
                .mergeByPropertyObjectTrumpMergePolicyType: "gone", .overwriteMergePolicyType: "gone",
                .rollbackMergePolicyType: "theirs 1 10",
            ], "a deletion of a changed row")
    }

    /// Both contexts assign another author to a book; afterwards both ends of the relationship agree.
    @Sendable private static func mergesRelationships(_ stack: StoreConformance) throws {
        try stack.inContext { context in
            for name in ["theirs", "mine"] { _ = context.make("Author", named: name) }
            try context.save()
        }
        let rivals = try stack.rivals(of: "Book", ["title": "Book", "pages": 1]) { _ = $0.text("title") }
        for rival in rivals {
            try stack.change(rival.id) { context, book in
                book.setValue(try context.named("Author")["theirs"], forKey: "author")
            }
            try rival.context.performAndWait {
                rival.object.setValue(try rival.context.named("Author")["mine"], forKey: "author")
                rival.object.setValue(2, forKey: "pages")
                try rival.save("a save of a book with another author than another context gave it")
            }
        }
        let expected: [NSMergePolicyType: String] = [
            .errorMergePolicyType: "theirs 1", .mergeByPropertyStoreTrumpMergePolicyType: "theirs 2",
            .mergeByPropertyObjectTrumpMergePolicyType: "mine 2", .overwriteMergePolicyType: "mine 2",
            .rollbackMergePolicyType: "theirs 1",
        ]
        let uris = rivals.map { ($0.policy, $0.id.uriRepresentation()) }
        try stack.inEachState { context in
            let coordinator = try need(context.persistentStoreCoordinator, "the coordinator")
            for (policy, uri) in uris {
                let id = try need(coordinator.managedObjectID(forURIRepresentation: uri), "the ID of the book")
                let book = try context.existingObject(with: id)
                let author = try need(book.value(forKey: "author") as? NSManagedObject, "the author of the book")
                let found = "\(author.text("name") ?? "nil") \(book.value(forKey: "pages") ?? "nil")"
                try expect(found, expected[policy] ?? "", "the book after two changes of its author, policy \(policy)")
                let other = try context.named("Author").values.filter { author in
                    author.mutableOrderedSetValue(forKey: "books").contains(book)
                }
                try expect(other.map(\.objectID), [author.objectID], "the authors that have the book, policy \(policy)")
            }
        }
    }
}
