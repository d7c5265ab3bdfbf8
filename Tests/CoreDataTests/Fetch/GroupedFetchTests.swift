import CoreData
import Foundation
import Testing

/// Sums, counts and groups, as requested by a program written for Apple's framework.
@Suite struct GroupedFetchTests {
    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        return attribute
    }

    private static func model() -> NSManagedObjectModel {
        let employee = NSEntityDescription()
        employee.name = "Employee"
        employee.properties = [
            attribute("name", .stringAttributeType), attribute("age", .integer32AttributeType),
            attribute("salary", .decimalAttributeType), attribute("rating", .doubleAttributeType),
            attribute("badge", .integer64AttributeType), attribute("hired", .dateAttributeType),
        ]
        let manager = NSEntityDescription()
        manager.name = "Manager"
        employee.subentities = [manager]
        let department = NSEntityDescription()
        department.name = "Department"
        department.properties = [attribute("name", .stringAttributeType)]
        let home = NSRelationshipDescription()
        home.name = "department"
        home.destinationEntity = department
        home.maxCount = 1
        let staff = NSRelationshipDescription()
        staff.name = "employees"
        staff.destinationEntity = employee
        home.inverseRelationship = staff
        staff.inverseRelationship = home
        employee.properties += [home]
        department.properties += [staff]
        let model = NSManagedObjectModel()
        model.entities = [employee, manager, department]
        return model
    }

    /// Runs `body` with a store of three departments (the last one empty) and seven employees, one of them a manager and
    /// one without a department.
    private func withStaff(_ body: @escaping (NSManagedObjectContext) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Groups-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let container = NSPersistentContainer(name: "Groups", managedObjectModel: Self.model())
        container.persistentStoreDescriptions = [
            NSPersistentStoreDescription(url: folder.appendingPathComponent("groups.sqlite"))
        ]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let names = ["Research", "销售", "Empty 🏝"]
            let departments = names.map { name in
                let department = NSEntityDescription.insertNewObject(forEntityName: "Department", into: context)
                department.setValue(name, forKey: "name")
                return department
            }
            let people: [(String, Int?, String?, Double?, Int?)] = [
                ("Ada", 36, "100.10", 1.5, 0), ("Bob", 41, "200.20", 2.5, 0),
                ("Cem", 23, "0.0000000000000000001", nil, 1),
                ("ada", nil, nil, 4, 1), ("Dora", 41, "300.30", 2.5, 1), ("نور", 50, "12345678901234567890.12", 9, nil),
            ]
            for (index, person) in people.enumerated() {
                let entity = index == 4 ? "Manager" : "Employee"
                let employee = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                employee.setValue(person.0, forKey: "name")
                employee.setValue(person.1, forKey: "age")
                employee.setValue(person.2.map { NSDecimalNumber(string: $0) }, forKey: "salary")
                employee.setValue(person.3, forKey: "rating")
                employee.setValue(Int64.max / 4 + Int64(index), forKey: "badge")
                employee.setValue(Date(timeIntervalSinceReferenceDate: Double(index) * 86400), forKey: "hired")
                employee.setValue(person.4.map { departments[$0] }, forKey: "department")
            }
            try context.save()
            try body(context)
        }
    }

    private func expression(
        _ name: String, _ function: String, _ keyPath: String, _ type: NSAttributeType = .undefinedAttributeType
    ) -> NSExpressionDescription {
        let description = NSExpressionDescription()
        description.name = name
        description.expression = NSExpression(forFunction: function, arguments: [NSExpression(forKeyPath: keyPath)])
        description.expressionResultType = type
        return description
    }

    private func request(_ properties: [Any], entity: String = "Employee") -> NSFetchRequest<NSDictionary> {
        let request = NSFetchRequest<NSDictionary>(entityName: entity)
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = properties
        return request
    }

    @Test func aggregatesGoOverAllRows() throws {
        try withStaff { context throws in
            let fetch = request([
                expression("sum", "sum:", "age", .integer32AttributeType),
                expression("count", "count:", "age", .integer64AttributeType), expression("min", "min:", "age"),
                expression("max", "max:", "name", .stringAttributeType),
                expression("average", "average:", "age", .doubleAttributeType),
                expression("last", "max:", "hired", .dateAttributeType),
            ])
            let row = try #require(try context.fetch(fetch).first)
            #expect(row["sum"] as? Int == 191)
            #expect(row["count"] as? Int == 5, "values that are not set do not count")
            #expect(row["min"] as? Int == 23)
            #expect(row["max"] as? String == "نور")
            #expect(row["average"] as? Double == 38.2)
            #expect(row["last"] as? Date == Date(timeIntervalSinceReferenceDate: 5 * 86400))
            fetch.predicate = NSPredicate(format: "age > 1000")
            let none = try #require(try context.fetch(fetch).first)
            #expect(none["sum"] as? Int == 0)
            #expect(none["count"] as? Int == 0)
            #expect(none["min"] == nil)
        }
    }

    @Test func inexactAggregatesOfSQLiteAreComputedInMemory() throws {
        try withStaff { context throws in
            let fetch = request([
                expression("sum", "sum:", "salary", .decimalAttributeType),
                expression("median", "median:", "age", .doubleAttributeType), expression("mode", "mode:", "age"),
                expression("deviation", "stddev:", "rating", .doubleAttributeType),
                expression("badges", "sum:", "badge", .doubleAttributeType),
            ])
            let row = try #require(try context.fetch(fetch).first)
            #expect(
                row["sum"] as? NSDecimalNumber == NSDecimalNumber(string: "12345678901234568490.7200000000000000001"))
            #expect(row["median"] as? Double == 41)
            #expect(row["mode"] as? [Int] == [41])
            let deviation = try #require(row["deviation"] as? Double)
            #expect(abs(deviation - 2.6720778) < 1e-6)
            let badges = try #require(row["badges"] as? Double)
            #expect(badges > 0x1p63, "more than a 64-bit integer holds")
        }
    }

    @Test func employeesAreCountedPerDepartment() throws {
        try withStaff { context throws in
            let count = expression("headcount", "count:", "name", .integer64AttributeType)
            let fetch = request(["department.name", count])
            fetch.propertiesToGroupBy = ["department.name"]
            fetch.sortDescriptors = [NSSortDescriptor(key: "headcount", ascending: false)]
            let rows = try context.fetch(fetch)
            #expect(rows.map { $0["headcount"] as? Int } == [3, 2, 1])
            #expect(rows.map { $0["department.name"] as? String } == ["销售", "Research", nil])
            #expect(try context.count(for: fetch) == 3)
            fetch.fetchOffset = 1
            fetch.fetchLimit = 1
            #expect(try context.fetch(fetch).map { $0["headcount"] as? Int } == [2])
            fetch.includesSubentities = false
            fetch.fetchOffset = 0
            fetch.fetchLimit = 0
            fetch.havingPredicate = NSPredicate(format: "headcount > 1 AND department.name != nil")
            #expect(try context.fetch(fetch).map { $0["headcount"] as? Int } == [2, 2])
            fetch.havingPredicate = NSPredicate(format: "count:(name) < 2")
            #expect(try context.fetch(fetch).map { $0["headcount"] as? Int } == [1])
        }
    }

    /// The usual way to find duplicates: the name of an expression is a variable of the predicate.
    @Test func groupsAreChosenByAVariableWithTheNameOfAnExpression() throws {
        try withStaff { context throws in
            let fetch = request(["age", expression("count", "count:", "age", .integer32AttributeType)])
            fetch.propertiesToGroupBy = ["age"]
            fetch.havingPredicate = NSPredicate(format: "%@ > 1", NSExpression(forVariable: "count"))
            #expect(try context.fetch(fetch) == [["age": 41, "count": 2]])
            fetch.havingPredicate = NSPredicate(format: "$count == 1 AND age > 40")
            #expect(try context.fetch(fetch) == [["age": 50, "count": 1]])
            fetch.havingPredicate = NSPredicate(format: "$number > 1")
            #expect(throws: CocoaError.self) { try context.fetch(fetch) }
        }
    }

    @Test func groupsByRelationshipGiveIDs() throws {
        try withStaff { context throws in
            let fetch = request(["department", expression("oldest", "max:", "age", .integer16AttributeType)])
            fetch.propertiesToGroupBy = ["department"]
            fetch.predicate = NSPredicate(format: "department != nil")
            let rows = try context.fetch(fetch)
            #expect(rows.count == 2)
            for row in rows {
                let id = try #require(row["department"] as? NSManagedObjectID)
                let name = try context.existingObject(with: id).value(forKey: "name") as? String
                #expect(row["oldest"] as? Int == 41)
                #expect(name == "Research" || name == "销售")
            }
        }
    }

    @Test func eachRowIsComputed() throws {
        try withStaff { context throws in
            let upper = expression("upper", "uppercase:", "name", .stringAttributeType)
            let own = NSExpressionDescription()
            own.name = "id"
            own.expression = NSExpression.expressionForEvaluatedObject()
            own.resultType = .objectID
            let doubled = NSExpressionDescription()
            doubled.name = "doubled"
            doubled.expression = NSExpression(format: "age * 2 + 1")
            doubled.resultType = .integer32
            let fetch = request([upper, own, doubled])
            fetch.sortDescriptors = [
                NSSortDescriptor(key: "doubled", ascending: false), NSSortDescriptor(key: "upper", ascending: true),
            ]
            let rows = try context.fetch(fetch)
            #expect(rows.map { $0["upper"] as? String } == ["نور", "BOB", "DORA", "ADA", "CEM", "ADA"])
            #expect(rows.map { $0["doubled"] as? Int } == [101, 83, 83, 73, 47, nil])
            #expect(rows.allSatisfy { $0["id"] is NSManagedObjectID })
            let staff = NSExpressionDescription()
            staff.name = "staff"
            staff.expression = NSExpression(forKeyPath: "employees.@count")
            staff.expressionResultType = .integer32AttributeType
            let departments = request(["name", staff], entity: "Department")
            departments.sortDescriptors = [NSSortDescriptor(key: "staff", ascending: true)]
            #expect(try context.fetch(departments).map { $0["staff"] as? Int } == [0, 2, 3])
        }
    }

    @Test func unsavedChangesAreNotCounted() throws {
        try withStaff { context throws in
            let employee = NSEntityDescription.insertNewObject(forEntityName: "Employee", into: context)
            employee.setValue(1000, forKey: "age")
            let fetch = request([expression("max", "max:", "age", .integer32AttributeType)])
            #expect(try context.fetch(fetch).first?["max"] as? Int == 50)
        }
    }

    @Test func invalidGroupingsAreRefused() throws {
        try withStaff { context throws in
            func refusal(_ change: (NSFetchRequest<NSDictionary>) -> Void) throws -> NSError {
                let fetch = request(["department.name", expression("n", "count:", "name")])
                fetch.propertiesToGroupBy = ["department.name"]
                change(fetch)
                return try #require(throws: NSError.self) { try context.fetch(fetch) }
            }
            let errors = [
                try refusal { $0.propertiesToFetch = ["name"] },
                try refusal { $0.havingPredicate = NSPredicate(format: "age > 3") },
                try refusal { $0.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)] },
                try refusal { $0.propertiesToGroupBy = [expression("n", "count:", "name")] },
                try refusal { $0.propertiesToGroupBy = ["nothing"] },
                try refusal { fetch in
                    fetch.propertiesToGroupBy = nil
                    fetch.havingPredicate = NSPredicate(format: "n > 3")
                },
            ]
            for error in errors { #expect(error.code == 134060, "\(error.localizedDescription)") }
            #expect(errors[0].localizedDescription.contains("name"))
            #expect(errors[4].localizedDescription.contains("nothing"))
        }
    }

    // MARK: Results

    @Test func collectionsAreCountedInGroups() throws {
        try withStaff { (context) throws in
            let request = NSFetchRequest<NSDictionary>(entityName: "Department")
            request.resultType = .dictionaryResultType
            request.propertiesToGroupBy = ["name"]
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            for (keys, counts) in [
                ("employees.name.@count", [0, 2, 3]), ("employees.@count", [0, 2, 3]),
                ("employees.age.@count", [0, 2, 2]),
                ("employees.@sum.age", [0, 77, 64]),
            ] {
                let description = NSExpressionDescription()
                description.name = "number"
                description.expression = NSExpression(forKeyPath: keys)
                description.expressionResultType = .integer64AttributeType
                request.propertiesToFetch = ["name", description]
                #expect(try context.fetch(request).map { $0["number"] as? Int } == counts, "\(keys)")
            }
            let plain = NSFetchRequest<NSManagedObject>(entityName: "Department")
            plain.predicate = NSPredicate(format: "employees.age.@count == 2")
            #expect(try context.count(for: plain) == 2)
        }
    }

    @Test func anExpressionDescriptionWithoutAnExpressionAnswers() throws {
        try withStaff { (context) throws in
            let request = NSFetchRequest<NSDictionary>(entityName: "Employee")
            request.resultType = .dictionaryResultType
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            request.fetchLimit = 1
            for (name, value) in [("name", "Ada"), ("other", nil)] {
                let description = NSExpressionDescription()
                description.name = name
                request.propertiesToFetch = [description]
                let found = try context.fetch(request).first
                #expect(found?[name] as? String == value)
            }
        }
    }
}
