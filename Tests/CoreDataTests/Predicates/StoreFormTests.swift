import CoreData
import Foundation
import Testing

/// Forms of predicates in a fetch from a SQLite store. Those that Apple's store supports have the same results; others
/// are evaluated in memory if they have a meaning, or else refused with the reason.
@MainActor @Suite struct StoreFormTests {
    private static let container = Result { () throws -> NSPersistentContainer in
        let container = try NSPersistentContainer.open("Forms", model: model(), at: URL(fileURLWithPath: "/dev/null"))
        let context = container.viewContext
        func make(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
            let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
            object.setValuesForKeys(values)
            return object
        }
        let shops = [("Nord", 10), ("Süd", 20)].map { make("Shop", ["name": $0, "size": $1]) }
        let rows: [(String, Int?, String?, Int?, Bool, [Int])] = [
            ("Ada", 36, "ada@x.org", 0, true, [5, 7]), ("Émile", 20, "emile@y.org", 0, false, [1]),
            ("bob", 52, nil, 1, true, []), ("Zoë", nil, "zoe@x.org", nil, false, [9, 9, 2]),
        ]
        for (name, age, mail, shop, active, sales) in rows {
            let person = make("Person", ["name": name, "active": active])
            person.setValue(age, forKey: "age")
            person.setValue(mail, forKey: "mail")
            person.setValue(shop.map { shops[$0] }, forKey: "shop")
            person.setValue(Date(timeIntervalSinceReferenceDate: Double(age ?? 0) * 86_400), forKey: "since")
            for amount in sales { make("Sale", ["amount": amount]).setValue(person, forKey: "seller") }
        }
        try context.save()
        return container
    }

    private static func model() -> NSManagedObjectModel {
        let person = MigrationDesk.entity(
            "Person",
            [
                MigrationDesk.attribute("name"), MigrationDesk.attribute("age", .integer32AttributeType),
                MigrationDesk.attribute("mail"), MigrationDesk.attribute("active", .booleanAttributeType),
                MigrationDesk.attribute("since", .dateAttributeType),
            ])
        let shop = MigrationDesk.entity(
            "Shop", [MigrationDesk.attribute("name"), MigrationDesk.attribute("size", .integer32AttributeType)])
        let sale = MigrationDesk.entity("Sale", [MigrationDesk.attribute("amount", .integer32AttributeType)])
        MigrationDesk.relate(shop, "staff", many: true, ordered: false, person, "shop")
        MigrationDesk.relate(person, "sales", many: true, ordered: false, sale, "seller")
        return MigrationDesk.model([person, shop, sale])
    }

    private func names(_ predicate: NSPredicate) throws -> [String] {
        let context = try Self.container.get().viewContext
        // Removes objects from memory.
        context.reset()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.predicate = predicate
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let found = try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }
        #expect(try context.count(for: request) == found.count)
        return found
    }

    private func object(_ entity: String, _ name: String) throws -> NSManagedObject {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = NSPredicate(format: "name == %@", name)
        return try #require(Self.container.get().viewContext.fetch(request).first)
    }

    @Test(
        arguments: [
            // Comparisons
            ("age > 30", ["Ada", "bob"]), ("age BETWEEN {20, 36}", ["Ada", "Émile"]),
            ("age BETWEEN {10 + 10, 18 * 2}", ["Ada", "Émile"]), ("age IN {20, 52}", ["bob", "Émile"]),
            ("NOT age IN {20, 52}", ["Ada", "Zoë"]), ("age != 36", ["Zoë", "bob", "Émile"]), ("age == nil", ["Zoë"]),
            ("age != nil AND mail != nil", ["Ada", "Émile"]), ("active", ["Ada", "bob"]),
            ("NOT active", ["Zoë", "Émile"]),
            ("TRUEPREDICATE", ["Ada", "Zoë", "bob", "Émile"]), ("FALSEPREDICATE", []),
            ("age > 30 AND active OR name == 'Zoë'", ["Ada", "Zoë", "bob"]),
            // Text
            ("name BEGINSWITH[cd] 'e'", ["Émile"]), ("name ==[c] 'BOB'", ["bob"]),
            ("name CONTAINS 'o'", ["Zoë", "bob"]),
            ("name ENDSWITH[d] 'oe'", ["Zoë"]), ("name LIKE[c] '?O*'", ["Zoë", "bob"]),
            ("mail LIKE '*@x.org'", ["Ada", "Zoë"]),
            ("mail MATCHES '[a-e]+@.*'", ["Ada"]), ("name ==[n] 'bob'", ["bob"]), ("name ==[l] 'bob'", ["bob"]),
            ("uppercase:(name) == 'BOB'", ["bob"]), ("lowercase:(name) == 'ada'", ["Ada"]),
            ("canonical:(name) == 'emile'", ["Émile"]), ("length:(name) == 3", ["Ada", "Zoë", "bob"]),
            // Over relationships
            ("shop.name == 'Nord'", ["Ada", "Émile"]), ("shop == nil", ["Zoë"]),
            ("shop.size > 5 AND shop.size < 15", ["Ada", "Émile"]),
            ("ANY sales.amount > 6", ["Ada", "Zoë"]), ("SOME sales.amount == 1", ["Émile"]),
            ("NONE sales.amount > 6", ["bob", "Émile"]), ("ALL sales.amount >= 2", ["Ada", "Zoë", "bob"]),
            ("ANY sales.amount == 9 AND ANY sales.amount == 2", ["Zoë"]), ("sales.@count == 0", ["bob"]),
            ("sales.@count > 1", ["Ada", "Zoë"]), ("sales.@sum.amount == 12", ["Ada"]),
            ("sales.@avg.amount > 6", ["Zoë"]),
            ("sales.@max.amount == 7", ["Ada"]), ("sales.@min.amount == 2", ["Zoë"]),
            ("SUBQUERY(sales, $s, $s.amount > 4).@count == 2", ["Ada", "Zoë"]),
            ("SUBQUERY(sales, $s, $s.amount > 4).@count == sales.@count", ["Ada", "bob"]),
            (
                "SUBQUERY(shop.staff, $p, SUBQUERY($p.sales, $s, $s.amount == 1).@count > 0).@count == 1",
                ["Ada", "Émile"]
            ),
            // Collection operators that return collections
            ("ANY sales.@distinctUnionOfObjects.amount == 9", ["Zoë"]),
            ("sales.@unionOfObjects.amount CONTAINS 7", ["Ada"]),
            ("7 IN sales.@distinctUnionOfObjects.amount", ["Ada"]),
            ("NONE sales.@unionOfObjects.amount > 6", ["bob", "Émile"]),
            ("count:(sales.@distinctUnionOfObjects.amount) == 2", ["Ada", "Zoë"]),
            ("count:(sales.@unionOfObjects.amount) == 3", ["Zoë"]),
            ("sum:(sales.@distinctUnionOfObjects.amount) == 11", ["Zoë"]),
            ("count:(shop.staff.@distinctUnionOfSets.sales) == 3", ["Ada", "Émile"]),
            ("ANY shop.staff.@unionOfSets.sales.amount == 1", ["Ada", "Émile"]),
            ("count:(shop.staff.sales.@unionOfArrays.amount) == 3", ["Ada", "Émile"]),
            ("max:(shop.staff.@distinctUnionOfObjects.age) == 52", ["bob"]),

            // Computed values
            ("TERNARY(active, 1, 0) > 0", ["Ada", "bob"]),
            ("TERNARY(active, age, 0) IN {36, 0}", ["Ada", "Zoë", "Émile"]),
            ("age + 4 == 40", ["Ada"]), ("age - shop.size > 20", ["Ada", "bob"]), ("age * 2 / 4 == 26", ["bob"]),
            ("modulus:by:(age, 10) == 6", ["Ada"]), ("abs:(0 - age) == 20", ["Émile"]), ("sqrt:(age) == 6", ["Ada"]),
            ("age & 4 == 4", ["Ada", "bob", "Émile"]), ("age | 1 == 37", ["Ada"]), ("age ^ 4 == 16", ["Émile"]),
            ("age << 1 == 72", ["Ada"]), ("age >> 2 == 9", ["Ada"]), ("~age == -21", ["Émile"]),
            ("age ** 2 == 400", ["Émile"]),
            ("since < now()", ["Ada", "Zoë", "bob", "Émile"]), ("since == CAST('2001-01-21', 'NSDate')", ["Émile"]),
            ("since >= CAST(3110400, 'NSDate')", ["Ada", "bob"]), ("noindex:(age) == 36", ["Ada"]),
            ("CAST(age, 'NSString') == '52'", ["bob"]), ("floor:(age / 10.0) == 3", ["Ada"]),
            // Evaluated in memory
            ("{1, 2} INTERSECT {2, 3} == {2} AND age == 20", ["Émile"]),
            ("SELF.name == 'bob'", ["bob"]), ("#name == 'bob'", ["bob"]), ("'o' IN name", ["Zoë", "bob"]),
        ] as [(String, [String])])
    func findsTheRecordsOfThePredicate(_ format: String, _ expected: [String]) throws {
        #expect(try names(NSPredicate.parse(format: format)) == expected)
        // The printed form is equivalent.
        let printed = NSPredicate(format: NSPredicate(format: format).formatString)
        #expect(try names(printed) == expected, "\(printed.formatString)")
    }

    @Test func objectsAreFoundByThemselves() throws {
        let (nord, bob) = (try object("Shop", "Nord"), try object("Person", "bob"))
        let ids = [nord.objectID, bob.objectID]
        #expect(try names(NSPredicate(format: "shop == %@", ids[0])) == ["Ada", "Émile"])
        #expect(try names(NSPredicate(format: "shop IN %@", [ids[0]])) == ["Ada", "Émile"])
        #expect(try names(NSPredicate(format: "SELF == %@", ids[1])) == ["bob"])
        #expect(try names(NSPredicate(format: "SELF IN %@", [ids[1]])) == ["bob"])
        #expect(try names(NSPredicate(format: "objectID IN %@", [ids[1]])) == ["bob"])
        #expect(try names(NSPredicate(format: "NOT (SELF IN %@)", Set([ids[1]]))) == ["Ada", "Zoë", "Émile"])
        let sale = try #require((object("Person", "Émile").value(forKey: "sales") as? Set<NSManagedObject>)?.first)
        #expect(try names(NSPredicate(format: "sales CONTAINS %@", sale.objectID)) == ["Émile"])
    }

    @Test func collectionsKeysAndVariablesAreGivenAsArguments() throws {
        #expect(try names(NSPredicate(format: "%K IN %@", "age", Set([36, 52]))) == ["Ada", "bob"])
        #expect(try names(NSPredicate(format: "%K.%K ==[cd] %@", "shop", "name", "sud")) == ["bob"])
        #expect(try names(NSPredicate(format: "age BETWEEN %@", [20, 40])) == ["Ada", "Émile"])
        #expect(try names(NSPredicate(format: "age IN {%@, %d}", NSNumber(value: 36), 20)) == ["Ada", "Émile"])
        #expect(try names(NSPredicate(format: "ANY sales.amount IN %@", [1, 7] as NSArray)) == ["Ada", "Émile"])
        let template = NSPredicate(format: "age > $LEAST AND shop.name == $SHOP AND ANY sales.amount IN $AMOUNTS")
        let filled = template.withSubstitutionVariables(["LEAST": 18, "SHOP": "Nord", "AMOUNTS": [1, 2]])
        #expect(try names(filled) == ["Émile"])
        #expect(throws: (any Error).self) { try names(template) }
        let error = #expect(throws: (any Error).self) { try NSPredicate.parse(format: "age IN %@") }
        #expect(error?.localizedDescription.contains("placeholder number 1") == true)
    }

    @Test(arguments: [
        ("nickname == 'x'", "keypath nickname not found in entity Person"),
        ("shop.nickname == 'x'", "nickname"), ("FUNCTION(name, 'length') == 5", "selectors need Objective-C"),
        ("age == 'old'", "age"), ("name MATCHES '['", "regular expression"),
        ("sales.@median.amount > 1", "@median"),
    ])
    func refusesWhatHasNoMeaning(_ format: String, _ words: String) throws {
        let error = #expect(throws: (any Error).self) { try names(NSPredicate.parse(format: format)) }
        #expect(error?.localizedDescription.contains(words) == true, "\(error?.localizedDescription ?? "")")
    }

    /// Apple's store rejects them too.
    @Test func blocksAreForObjects() throws {
        let predicate = NSPredicate { object, _ in
            ((object as? NSManagedObject)?.value(forKey: "age") as? Int).map { $0 > 30 } ?? false
        }
        let error = #expect(throws: (any Error).self) { try names(predicate) }
        #expect(error?.localizedDescription.hasPrefix("Problem with subpredicate BLOCKPREDICATE") == true)
        let all = try Self.container.get().viewContext.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
        #expect(all.filtered(using: predicate).count == 2)
    }
}
