import CoreData
import Foundation
import Testing

/// Values, keys and names that are written to do harm: each means itself, and nothing but what was asked for happens.
@MainActor @Suite struct HostileInputTests {
    private static let attacks = [
        "'; DROP TABLE ZTHING; --", "\"; DROP TABLE ZTHING; --", "x' OR '1'='1", "1); DELETE FROM ZTHING; --", "]]; --",
        "`; ATTACH DATABASE '/tmp/x' AS y; --", "a\u{0}b'; --", "%@ %K %d %n %s", "$x", "\\'; --", "?1 :a @b $c",
        "\u{202E}evil\u{200B}", "*?[a", "SELF", "nil",
    ]

    private func container(_ entity: String, _ attributes: [String]) throws -> NSPersistentContainer {
        let described = MigrationDesk.entity(
            entity,
            attributes.map { MigrationDesk.attribute($0) } + [MigrationDesk.attribute("rank", .integer32AttributeType)])
        return try NSPersistentContainer.open(
            "Hostile", model: MigrationDesk.model([described]), at: URL(fileURLWithPath: "/dev/null"))
    }

    private func fill(_ context: NSManagedObjectContext, _ entity: String, _ key: String) throws {
        for (rank, text) in Self.attacks.enumerated() {
            let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
            object.setValue(text, forKey: key)
            object.setValue(rank, forKey: "rank")
        }
        try context.save()
        context.reset()
    }

    private func ranks(_ context: NSManagedObjectContext, _ entity: String, _ predicate: NSPredicate?) throws -> [Int] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = predicate
        request.sortDescriptors = [NSSortDescriptor(key: "rank", ascending: true)]
        return try context.fetch(request).compactMap { $0.value(forKey: "rank") as? Int }
    }

    @Test func valuesAreOnlyValues() throws {
        let context = try container("Thing", ["text"]).viewContext
        try fill(context, "Thing", "text")
        for (rank, text) in Self.attacks.enumerated() {
            for word in ["==", "==[cd]", "BEGINSWITH", "CONTAINS[c]", "ENDSWITH"] {
                let found = try ranks(context, "Thing", NSPredicate(format: "text \(word) %@", text))
                #expect(found.contains(rank), "\(word) \(text)")
                if word == "==" { #expect(found == [rank]) }
            }
            #expect(try ranks(context, "Thing", NSPredicate(format: "text IN %@", [text])) == [rank])
            // As a literal, through the printer.
            let printed = NSPredicate(format: "text == %@", text).formatString
            #expect(try ranks(context, "Thing", NSPredicate(format: printed)) == [rank], "\(printed)")
            _ = try ranks(context, "Thing", NSPredicate(format: "text LIKE %@", text))
        }
        #expect(try ranks(context, "Thing", nil).count == Self.attacks.count)
    }

    @Test func keysThatTheModelLacksAreRefused() throws {
        let context = try container("Thing", ["text"]).viewContext
        try fill(context, "Thing", "text")
        for text in Self.attacks where text != "SELF" {
            let predicate = NSPredicate(format: "%K == 1", text)
            #expect(throws: (any Error).self, "\(text)") { try ranks(context, "Thing", predicate) }
            let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
            request.sortDescriptors = [NSSortDescriptor(key: text, ascending: true)]
            #expect(throws: (any Error).self, "\(text)") { try context.fetch(request) }
        }
        #expect(try ranks(context, "Thing", nil).count == Self.attacks.count)
    }

    @Test func namesOfExpressionsAreOnlyNames() throws {
        let context = try container("Thing", ["text"]).viewContext
        try fill(context, "Thing", "text")
        for text in Self.attacks {
            let sum = NSExpressionDescription()
            sum.name = text
            sum.expression = NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "rank")])
            let request = NSFetchRequest<NSDictionary>(entityName: "Thing")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = [sum]
            let found = try context.fetch(request)
            #expect(found.first?[text] as? Int == Self.attacks.indices.reduce(0, +), "\(text)")
        }
    }

    @Test func namesInTheModelAreOnlyNames() throws {
        for name in ["a\"b; DROP TABLE x; --", "select", "a b'c", "]x[", "名前", "order by"] {
            let context = try container("Thing", [name]).viewContext
            try fill(context, "Thing", name)
            #expect(
                try ranks(context, "Thing", NSPredicate(format: "%K == %@", name, Self.attacks[2])) == [2], "\(name)")
            let request = NSBatchUpdateRequest(entityName: "Thing")
            request.propertiesToUpdate = [name: "new"]
            request.resultType = .updatedObjectsCountResultType
            let result = try context.execute(request) as? NSBatchUpdateResult
            #expect(result?.result as? Int == Self.attacks.count, "\(name)")
        }
    }

    @Test func longAndDeepTextsEndInAnAnswer() throws {
        let context = try container("Thing", ["text"]).viewContext
        try fill(context, "Thing", "text")
        let long = String(repeating: "a'", count: 5 << 20)
        #expect(try ranks(context, "Thing", NSPredicate(format: "text == %@", long)) == [])
        #expect(try ranks(context, "Thing", NSPredicate(format: "text CONTAINS %@ OR rank == 3", long)) == [3])
        let quoted = "text == \"" + String(repeating: "b", count: 10 << 20) + "\" OR rank == 1"
        #expect(try ranks(context, "Thing", NSPredicate.parse(format: quoted)) == [1])
        for count in [100, 10_000] {
            let deep = String(repeating: "(", count: count) + "rank == 1" + String(repeating: ")", count: count)
            do {
                #expect(try ranks(context, "Thing", NSPredicate.parse(format: deep)) == [1])
            } catch {
                #expect(count > 100 && !error.localizedDescription.contains("\n"), "\(error)")
            }
        }
        // Not through text: so deep a tree is another matter.
        var nested = NSPredicate(format: "rank == 1")
        for _ in 0..<200 { nested = NSCompoundPredicate(notPredicateWithSubpredicate: nested) }
        #expect(try ranks(context, "Thing", nested) == [1])
    }
}
