import CoreData
import Foundation
import Synchronization
import Testing

/// Values, keys and names of injection attacks: each is taken literally and has no other effect.
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

    /// The statements about the entity `Thing` that `body` runs, without their bound values.
    private func statements(_ body: () throws -> Void) rethrows -> [String] {
        let heard = Mutex<[String]>([])
        let observation = StatementObservation { statement in
            heard.withLock { if statement.sql.contains("ZTHING") { $0.append(statement.sql) } }
        }
        try body()
        withExtendedLifetime(observation) {}
        return heard.withLock { $0 }
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
            // As a literal that the printer writes.
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

    /// Values and names of expressions are never part of a statement.
    @Test func statementsAreThoseOfHarmlessWords() throws {
        let context = try container("Thing", ["text"]).viewContext
        try fill(context, "Thing", "text")
        func run(_ text: String) throws {
            for format in ["text == %@", "text CONTAINS[cd] %@", "text IN {%@, 'x'}", "%@ LIKE text"] {
                _ = try ranks(context, "Thing", NSPredicate(format: format, text))
            }
            let count = NSExpressionDescription()
            count.name = text
            count.expression = NSExpression(format: "count:(rank)")
            let request = NSFetchRequest<NSDictionary>(entityName: "Thing")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["text", count]
            request.propertiesToGroupBy = ["text"]
            request.havingPredicate = NSPredicate(format: "%K > 0 AND text != %@", text, text)
            request.sortDescriptors = [NSSortDescriptor(key: text, ascending: true)]
            _ = try context.fetch(request)
            let update = NSBatchUpdateRequest(entityName: "Thing")
            update.predicate = NSPredicate(format: "text == %@", text)
            update.propertiesToUpdate = ["text": text]
            try context.execute(update)
            try context.execute(NSBatchInsertRequest(entityName: "Thing", objects: [["text": text, text: 1]]))
            let fetch = NSFetchRequest<NSFetchRequestResult>(entityName: "Thing")
            fetch.predicate = NSPredicate(format: "text == %@ AND rank == nil", text)
            try context.execute(NSBatchDeleteRequest(fetchRequest: fetch))
        }
        // This value exists, too, because a batch without results runs one statement less.
        let harmless = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
        harmless.setValuesForKeys(["text": "harmless", "rank": Self.attacks.count])
        try context.save()
        try run("harmless")
        let expected = try statements { try run("harmless") }
        #expect(expected.count > 8)
        for text in Self.attacks { #expect(try statements { try run(text) } == expected, "\(text)") }
        #expect(try ranks(context, "Thing", nil).count == Self.attacks.count + 1)
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
        // Not as text: the parser limits the depth.
        var nested = NSPredicate(format: "rank == 1")
        for _ in 0..<200 { nested = NSCompoundPredicate(notPredicateWithSubpredicate: nested) }
        #expect(try ranks(context, "Thing", nested) == [1])
    }

    /// Expressions whose statement would grow as 3ⁿ or exceed the depth of SQLite's parser are evaluated in memory.
    @Test(arguments: [
        ("abs:(", ")"), ("~(", ")"), ("uppercase:(lowercase:(", "))"), ("TERNARY(rank == 1, 1, ", ")"),
        ("(rank - (", "))"),
        ("((", ") + 0)"),
    ])
    func nestedFunctionsCanBeEvaluated(_ before: String, _ after: String) throws {
        let context = try container("Thing", ["text"]).viewContext
        try fill(context, "Thing", "text")
        let isText = before.contains("case")
        for depth in [1, 4, 9, 12, 20, 33, 60] {
            let value =
                String(repeating: before, count: depth) + (isText ? "text" : "rank")
                + String(repeating: after, count: depth)
            let predicate = try NSPredicate.parse(format: "\(value) == \(isText ? "'SELF'" : "1")")
            let statements = try statements {
                let found = try ranks(context, "Thing", predicate)
                let objects = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing"))
                let expected = objects.filter { predicate.evaluate(with: $0) }.compactMap {
                    $0.value(forKey: "rank") as? Int
                }
                #expect(found == expected.sorted(), "\(depth)")
            }
            #expect(statements.allSatisfy { $0.utf8.count < 100_000 }, "\(depth)")
        }
    }

    /// A list with columns as members repeats its left side for each member.
    @Test func nestedListsCanBeEvaluated() throws {
        let context = try container("Thing", ["text"]).viewContext
        try fill(context, "Thing", "text")
        for depth in [1, 3, 5, 8, 11] {
            let value =
                String(repeating: "TERNARY((", count: depth) + "rank"
                + String(repeating: ") IN {rank, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 1, 2)", count: depth)
            let predicate = try NSPredicate.parse(format: "\(value) == 1")
            let statements = try statements {
                let found = try ranks(context, "Thing", predicate)
                #expect(!found.isEmpty, "\(depth)")
            }
            #expect(statements.allSatisfy { $0.utf8.count < 1_000_000 }, "\(depth)")
        }
    }

    /// A chain of nested pairs is translated as one flat chain.
    @Test func longChainsAreSearchedByTheStore() throws {
        let context = try container("Thing", ["text"]).viewContext
        try fill(context, "Thing", "text")
        for type in [NSCompoundPredicate.LogicalType.or, .and] {
            var chain = NSPredicate(format: "rank == 3")
            for _ in 0..<1_000 {
                chain = NSCompoundPredicate(
                    type: type, subpredicates: [chain, NSPredicate(format: "rank == 3 OR rank == 3")])
            }
            let statements = try statements {
                let found = try ranks(context, "Thing", chain)
                #expect(found == [3])
            }
            #expect(statements.contains { $0.components(separatedBy: "ZRANK =").count > 1_000 })
        }
    }
}
