import CoreData
import Foundation
import SQLiteAccess
import Testing

// Point 5: a store without a column or a join table opens without the property and loses nothing.
extension NeverHarmTests {
    /// A store whose schema other programs change between two openings.
    final class Depot: Sendable {
        let world: World
        let url: URL

        /// Two items in a box, both with the tag, and a history.
        init() throws {
            world = try World()
            url = world.url("depot.sqlite")
            let (coordinator, context) = try open([NSPersistentHistoryTrackingKey: true])
            try context.performAndWait {
                func insert(_ entity: String, _ name: String) -> NSManagedObject {
                    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                    object.setValue(name, forKey: "name")
                    return object
                }
                let (box, tag) = (insert("Box", "box"), insert("Tag", "tag"))
                for (number, name) in ["a", "b"].enumerated() {
                    let item = insert("Item", name)
                    item.setValue(number + 1, forKey: "size")
                    item.setValue(box, forKey: "box")
                    item.mutableSetValue(forKey: "tags").add(tag)
                }
                try context.save()
            }
            try close(coordinator)
        }

        static func model(version: String? = nil) -> NSManagedObjectModel {
            func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
                let attribute = NSAttributeDescription()
                (attribute.name, attribute.attributeType) = (name, type)
                return attribute
            }
            let (item, box, tag) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
            (item.name, box.name, tag.name) = ("Item", "Box", "Tag")
            func relate(_ name: String, _ source: NSEntityDescription, _ destination: NSEntityDescription, _ most: Int)
                -> NSRelationshipDescription
            {
                let relationship = NSRelationshipDescription()
                (relationship.name, relationship.destinationEntity) = (name, destination)
                relationship.maxCount = most
                source.properties.append(relationship)
                return relationship
            }
            let size = attribute("size", .integer64AttributeType)
            (size.isOptional, size.defaultValue) = (false, 0)
            item.properties = [attribute("name", .stringAttributeType), size]
            for entity in [box, tag] { entity.properties = [attribute("name", .stringAttributeType)] }
            for (there, back) in [
                (relate("box", item, box, 1), relate("items", box, item, 0)),
                (relate("tags", item, tag, 0), relate("items", tag, item, 0)),
            ] {
                (there.inverseRelationship, back.inverseRelationship) = (back, there)
            }
            box.relationshipsByName["items"]?.isOrdered = true
            tag.versionHashModifier = version
            let model = NSManagedObjectModel()
            model.entities = [item, box, tag]
            return model
        }

        func open(
            _ options: [AnyHashable: Any]? = nil, _ model: NSManagedObjectModel = model(), at place: URL? = nil
        ) throws -> (NSPersistentStoreCoordinator, NSManagedObjectContext) {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(type: .sqlite, at: place ?? url, options: options)
            return (coordinator, coordinator.context())
        }

        func close(_ coordinator: NSPersistentStoreCoordinator) throws {
            try coordinator.remove(coordinator.persistentStores[0])
        }

        func rows(_ sql: String) throws -> [[SQLiteValue]] {
            let connection = try Connection(path: url.path, access: .readWrite)
            defer { connection.close() }
            return try connection.rows(sql)
        }

        func objects(_ entity: String, _ context: NSManagedObjectContext) throws -> [NSManagedObject] {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            return try context.fetch(request)
        }

        /// Error codes of fetches with the given formats.
        func codes(_ entity: String, _ formats: [String], _ context: NSManagedObjectContext) -> [Int?] {
            formats.map { format in
                let request = NSFetchRequest<NSManagedObject>(entityName: entity)
                request.predicate = NSPredicate(format: format)
                let codes = [
                    thrownCode { _ = try context.fetch(request) }, thrownCode { _ = try context.count(for: request) },
                ]
                return codes[0] == codes[1] ? codes[0] : -1
            }
        }
    }

    /// Expects these notes about a store's property each time they are read.
    private func expectNote(_ parts: [String], _ coordinator: NSPersistentStoreCoordinator) {
        for part in parts {
            #expect(coordinator.readingNotes.count { $0.contains(part) } == 1, "\(coordinator.readingNotes): \(part)")
        }
        #expect(coordinator.readingNotes.count == parts.count)
    }

    @Test func aPropertyWithoutItsColumnIsNilAndReported() throws {
        let depot = try Depot()
        _ = try depot.rows("ALTER TABLE ZITEM DROP COLUMN ZSIZE")
        let (coordinator, context) = try depot.open()
        expectNote(["Item.size: the table ZITEM has no column ZSIZE"], coordinator)
        try context.performAndWait {
            let items = try depot.objects("Item", context)
            #expect(items.map { $0.value(forKey: "name") as? String } == ["a", "b"])
            #expect(items.allSatisfy { $0.value(forKey: "size") == nil })
            #expect((items[0].value(forKey: "tags") as? NSSet)?.count == 1)
            #expect((items[0].value(forKey: "box") as? NSManagedObject)?.value(forKey: "name") as? String == "box")

            // Predicates that use the property are refused: in SQL, in memory, through relationships and in a child
            // context.
            let formats = [
                "size > 1", "name == 'a' OR size == nil", "size + 1 == 2", "name MATCHES 'a' AND size == 1",
                "ANY box.items.size > 0", "box.items.@max.size > 0",

                "TERNARY(name == 'a', box, box).items.@max.size == 1",
                "SUBQUERY(tags, $t, ANY $t.items.size > 0).@count > 0",
            ]
            #expect(depot.codes("Item", formats, context) == formats.map { _ in 134020 })
            #expect(depot.codes("Box", ["items.@sum.size > 0"], context) == [134020])
            #expect(depot.codes("Item", ["box.name == 'box' AND ANY tags.name == 'tag'"], context) == [nil])
            let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            child.parent = context
            #expect(child.performAndWait { depot.codes("Item", ["size > 1"], child) } == [134020])
            let sorted = NSFetchRequest<NSManagedObject>(entityName: "Item")
            sorted.sortDescriptors = [NSSortDescriptor(key: "size", ascending: true)]
            #expect(thrownCode { _ = try context.fetch(sorted) } == 134020)
            try dictionaries(context)

            // Other properties can be saved, even if the unreadable one is required.
            items[0].setValue("c", forKey: "name")
            try context.save()
            // A value that would be lost is not saved, and neither is the rest of that save.
            items[0].setValue("d", forKey: "name")
            items[0].setValue(7, forKey: "size")
            let error = try #require(throws: CocoaError.self) { try context.save() }
            #expect(error.code.rawValue == 134020)
            for part in ["Item.size", depot.url.path, "ZSIZE"] { #expect(error.localizedDescription.contains(part)) }
            #expect(items[0].changedValues().keys.sorted() == ["name", "size"])
            #expect(try depot.rows("SELECT ZNAME FROM ZITEM ORDER BY Z_PK") == [[.text("c")], [.text("b")]])
            context.rollback()

            // A new object's default is left out; an explicit value is refused.
            let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
            item.setValue("e", forKey: "name")
            try context.save()
            #expect(item.value(forKey: "size") == nil)
            item.setValue("f", forKey: "name")
            context.delete(items[1])
            try context.save()
            let other = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
            other.setValue(5, forKey: "size")
            #expect(thrownCode { try context.save() } == 134020)
            context.rollback()
            #expect(try depot.objects("Item", context).map { $0.value(forKey: "name") as? String } == ["c", "f"])
            try history(context)
        }
        expectNote(["Item.size: the table ZITEM has no column ZSIZE"], coordinator)
        let findings = try coordinator.findings(in: coordinator.persistentStores[0])
        #expect(findings.map(\.kind) == [.schema])
        #expect(findings.first?.message == "Item.size cannot be read: the table ZITEM has no column ZSIZE")
        try depot.close(coordinator)
        let (reading, _) = try depot.open([NSReadOnlyPersistentStoreOption: true])
        expectNote(["Item.size"], reading)
    }

    /// A dictionary has no entry for the unreadable property; computed values of it are refused.
    private func dictionaries(_ context: NSManagedObjectContext) throws {
        let request = NSFetchRequest<NSDictionary>(entityName: "Item")
        request.resultType = .dictionaryResultType
        for properties in [nil, ["name", "size"]] {
            request.propertiesToFetch = properties
            #expect(try context.fetch(request).allSatisfy { $0["name"] != nil && $0["size"] == nil })
        }
        let sum = NSExpressionDescription()
        sum.name = "sum"
        sum.expression = NSExpression(format: "sum:(size)")
        sum.resultType = .integer64
        let more = NSExpressionDescription()
        more.name = "more"
        more.expression = NSExpression(format: "size + 1")
        more.resultType = .integer64
        for (properties, groups) in [
            ([sum], []), ([more], []), (["size"], ["size"]), (["name", sum], ["name"]),
        ] as [([Any], [Any])] {
            request.propertiesToFetch = properties
            request.propertiesToGroupBy = groups
            #expect(thrownCode { _ = try context.fetch(request) } == 134020, "\(properties)")
        }
    }

    /// The history contains the changes as if the column existed.
    private func history(_ context: NSManagedObjectContext) throws {
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
        let result = try context.execute(request) as? NSPersistentHistoryResult
        let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
        #expect(transactions.count == 4)
        let changes = transactions.flatMap { $0.changes ?? [] }
        let updates = changes.filter { $0.changeType == .update && $0.changedObjectID.entity.name == "Item" }
        let names: [[String]] = updates.map { update in (update.updatedProperties ?? []).map(\.name) }
        #expect(names == [["name"], ["name"]])
    }

    /// The ends of a pair cannot be told apart, or there are no pairs: both ends are empty, and the table is unchanged.
    @Test(arguments: [
        ("DROP TABLE Z_2TAGS", "the table Z_2TAGS does not exist"),
        ("ALTER TABLE Z_2TAGS RENAME TO Z_PAIRS", "the table Z_2TAGS does not exist"),
        (
            "ALTER TABLE Z_2TAGS RENAME COLUMN Z_2ITEMS TO Z_ITEM",
            "the table Z_2TAGS has the columns Z_ITEM, Z_3TAGS, not"
        ),
    ])
    func aRelationshipWithoutItsTableIsEmptyAndKept(statement: String, reason: String) throws {
        let depot = try Depot()
        _ = try depot.rows(statement)
        let pairs = try depot.rows("SELECT name FROM sqlite_master WHERE name IN ('Z_2TAGS', 'Z_PAIRS')").first?[0]
        func stored() throws -> [[SQLiteValue]] {
            guard case .text(let table)? = pairs else { return [] }
            return try depot.rows("SELECT * FROM \(table)")
        }
        let before = try stored()
        #expect(before.count == (pairs == nil ? 0 : 2))
        let (coordinator, context) = try depot.open()
        expectNote(["Item.tags: \(reason)", "Tag.items: \(reason)"], coordinator)
        try context.performAndWait {
            let (items, tags) = (try depot.objects("Item", context), try depot.objects("Tag", context))
            #expect((items[0].value(forKey: "tags") as? NSSet)?.count == 0)
            #expect((tags[0].value(forKey: "items") as? NSSet)?.count == 0)
            #expect(items.map { $0.value(forKey: "size") as? Int } == [1, 2])
            #expect(depot.codes("Item", ["ANY tags.name == 'tag'", "tags.@count == 0"], context) == [134020, 134020])
            #expect(depot.codes("Tag", ["items.@count > 0", "ANY items.size > 0"], context) == [134020, 134020])
            #expect(depot.codes("Item", ["ANY box.items.size > 1"], context) == [nil])

            items[0].setValue("c", forKey: "name")
            tags[0].setValue("other", forKey: "name")
            try context.save()
            items[0].mutableSetValue(forKey: "tags").add(tags[0])
            #expect(thrownCode { try context.save() } == 134020)
            context.rollback()
            // A deletion is refused, because the pairs that it affects cannot be read.
            for object in [items[0], tags[0]] {
                context.delete(object)
                #expect(thrownCode { try context.save() } == 134020)
                context.rollback()
            }
            let all = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSFetchRequestResult>(entityName: "Item"))
            #expect(thrownCode { try context.execute(all) } == 134020)
            context.delete(try #require(depot.objects("Box", context).first))
            try context.save()
            #expect(try depot.rows("SELECT ZNAME, ZBOX FROM ZITEM") == [[.text("c"), .null], [.text("b"), .null]])
        }
        #expect(try stored() == before)
        try depot.close(coordinator)
    }

    /// A relationship is unreadable together with its inverse, and its other columns are not changed.
    @Test(arguments: ["ZBOX", "Z_FOK_BOX"])
    func aToOneWithoutItsColumnIsNotChanged(column: String) throws {
        let depot = try Depot()
        _ = try depot.rows("ALTER TABLE ZITEM RENAME COLUMN \(column) TO ZOTHER")
        let other = column == "ZBOX" ? "Z_FOK_BOX" : "ZBOX"
        let before = try depot.rows("SELECT ZOTHER, \(other) FROM ZITEM")
        #expect(before.count == 2 && !before.joined().contains(.null))
        let (coordinator, context) = try depot.open()
        let reason = "the table ZITEM has no column \(column)"
        expectNote(["Item.box: \(reason)", "Box.items: \(reason)"], coordinator)
        try context.performAndWait {
            let (items, boxes) = (try depot.objects("Item", context), try depot.objects("Box", context))
            #expect(items[0].value(forKey: "box") == nil)
            #expect((boxes[0].value(forKey: "items") as? NSOrderedSet)?.count == 0)
            #expect(depot.codes("Item", ["box.name == 'box'", "box == nil"], context) == [134020, 134020])
            items[0].setValue("c", forKey: "name")
            items[0].mutableSetValue(forKey: "tags").removeAllObjects()
            try context.save()
            items[0].setValue(boxes[0], forKey: "box")
            #expect(thrownCode { try context.save() } == 134020)
            context.rollback()
            context.delete(boxes[0])
            #expect(thrownCode { try context.save() } == 134020)
            context.rollback()
        }
        #expect(try depot.rows("SELECT ZOTHER, \(other) FROM ZITEM") == before)
        try depot.close(coordinator)
    }

    @Test func batchesDoNotChangeUnreadableProperties() throws {
        let depot = try Depot()
        _ = try depot.rows("ALTER TABLE ZITEM DROP COLUMN ZSIZE")
        let (coordinator, context) = try depot.open()
        context.performAndWait {
            func update(_ values: [String: Any], _ format: String = "TRUEPREDICATE") -> Int? {
                let request = NSBatchUpdateRequest(entityName: "Item")
                request.propertiesToUpdate = values
                request.predicate = NSPredicate(format: format)
                return thrownCode { try context.execute(request) }
            }
            #expect(update(["size": 3]) == 134020)
            #expect(update(["name": "z", "size": 3]) == 134020)
            #expect(update(["name": NSExpression(format: "uppercase(box.items.@max.size)")]) == 134020)
            #expect(update(["name": "z"], "size == 1") == 134020)
            #expect(update(["name": "z"], "name == 'a'") == nil)
            func insert(_ rows: [[String: Any]]) -> Int? {
                thrownCode { try context.execute(NSBatchInsertRequest(entityName: "Item", objects: rows)) }
            }
            #expect(insert([["name": "x"], ["name": "y", "size": 9]]) == 134020)
            #expect(insert([["name": "x"]]) == nil)
            let some = NSFetchRequest<NSFetchRequestResult>(entityName: "Item")
            some.predicate = NSPredicate(format: "name == 'b'")
            #expect(thrownCode { try context.execute(NSBatchDeleteRequest(fetchRequest: some)) } == nil)
            some.predicate = NSPredicate(format: "size == 1")
            #expect(thrownCode { try context.execute(NSBatchDeleteRequest(fetchRequest: some)) } == 134020)
        }
        #expect(try depot.rows("SELECT ZNAME FROM ZITEM ORDER BY ZNAME") == [[.text("x")], [.text("z")]])
        try depot.close(coordinator)
    }

    /// Migrating to a new store would lose the unreadable values. A copy of the file keeps them.
    @Test func unreadablePropertiesAreNotLostByMigrations() throws {
        let depot = try Depot()
        _ = try depot.rows("ALTER TABLE Z_2TAGS RENAME TO Z_PAIRS")
        let newer = Depot.model(version: "2")
        let before = try Data(contentsOf: depot.url)
        for infers in [true, false] {
            let error = try #require(throws: CocoaError.self) {
                guard infers else {
                    let manager = NSMigrationManager(sourceModel: Depot.model(), destinationModel: newer)
                    let mapping = try NSMappingModel.inferredMappingModel(
                        forSourceModel: Depot.model(), destinationModel: newer)
                    return try manager.migrateStore(
                        from: depot.url, type: .sqlite, mapping: mapping, to: depot.world.url("new.sqlite"),
                        type: .sqlite)
                }
                _ = try depot.open(
                    [
                        NSMigratePersistentStoresAutomaticallyOption: true,
                        NSInferMappingModelAutomaticallyOption: true,
                    ], newer)
            }
            #expect(error.code.rawValue == 134110)
            for part in ["Item.tags", "Z_2TAGS", "would be lost"] { #expect(error.localizedDescription.contains(part)) }
        }
        #expect(try Data(contentsOf: depot.url) == before)
        #expect(!FileManager.default.fileExists(atPath: depot.world.url("new.sqlite").path))

        let (coordinator, _) = try depot.open()
        let store = coordinator.persistentStores[0]
        #expect(
            thrownCode {
                _ = try coordinator.migratePersistentStore(
                    store, to: depot.world.url("a.xml"), options: nil, type: .xml)
            } == 134110)
        let copy = try coordinator.migratePersistentStore(
            store, to: depot.world.url("copy.sqlite"), options: nil, type: .sqlite)
        expectNote(["Item.tags", "Tag.items"], coordinator)
        try coordinator.remove(copy)
        let connection = try Connection(path: depot.world.url("copy.sqlite").path, access: .readOnly)
        #expect(try connection.integer("SELECT COUNT(*) FROM Z_PAIRS") == 2)
        connection.close()
    }

    /// A store without the table, or without hashes that match the model, is refused and not changed.
    @Test func aStoreOfAnotherModelIsRefused() throws {
        for (statement, options) in [
            ("DROP TABLE ZTAG", nil),
            ("ALTER TABLE ZITEM DROP COLUMN ZSIZE", [NSIgnorePersistentStoreVersioningOption: true]),
        ] as [(String, [String: Any]?)] {
            let depot = try Depot()
            _ = try depot.rows(statement)
            let before = try Data(contentsOf: depot.url)
            let model = Depot.model(version: options == nil ? nil : "2")
            #expect(thrownCode { _ = try depot.open(options, model) } == 134020)
            #expect(try Data(contentsOf: depot.url) == before)
        }
    }

    /// A derived value whose source is unreadable keeps the value that its triggers maintain.
    @Test func aDerivedValueOfAnUnreadableOneIsKept() throws {
        let depot = try Depot()
        let url = depot.world.url("derived.sqlite")
        let model = Depot.model()
        let total = NSDerivedAttributeDescription()
        (total.name, total.attributeType) = ("total", .doubleAttributeType)
        total.derivationExpression = NSExpression(format: "items.weight.@sum")
        let weight = NSAttributeDescription()
        (weight.name, weight.attributeType) = ("weight", .doubleAttributeType)
        model.entitiesByName["Box"]?.properties.append(total)
        model.entitiesByName["Item"]?.properties.append(weight)
        let (first, filling) = try depot.open(nil, model, at: url)
        try filling.performAndWait {
            let box = NSEntityDescription.insertNewObject(forEntityName: "Box", into: filling)
            let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: filling)
            item.setValue(2.5, forKey: "weight")
            item.setValue(box, forKey: "box")
            try filling.save()
        }
        try depot.close(first)
        let connection = try Connection(path: url.path, access: .readWrite)
        try connection.execute("ALTER TABLE ZITEM RENAME COLUMN ZWEIGHT TO ZMASS")
        connection.close()
        let (coordinator, context) = try depot.open(nil, model, at: url)
        expectNote(["Item.weight"], coordinator)
        try context.performAndWait {
            let box = try #require(depot.objects("Box", context).first)
            #expect(box.value(forKey: "total") as? Double == 2.5)
            let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
            item.setValue(box, forKey: "box")
            try context.save()
            #expect(box.value(forKey: "total") as? Double == 2.5)
        }
        try depot.close(coordinator)
    }
}
