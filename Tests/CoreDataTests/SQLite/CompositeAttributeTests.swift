import Foundation
import SQLiteAccess
import Testing

@testable import CoreData

/// Composite attributes are dictionaries in objects, columns in the file, and key paths in queries.
@Suite struct CompositeAttributeTests {
    private static func composite(_ name: String, _ elements: [NSAttributeDescription])
        -> NSCompositeAttributeDescription
    {
        let composite = NSCompositeAttributeDescription()
        composite.name = name
        composite.elements = elements
        return composite
    }

    /// Shop (name, address and depot {street, number, place {latitude, longitude}, opened}, chain → Chain), Chain (seat {street}).
    private static func model() -> NSManagedObjectModel {
        let attribute = StoreModels.attribute
        let place = composite(
            "place", [attribute("latitude", .doubleAttributeType), attribute("longitude", .doubleAttributeType)])
        // Both composites have the same elements.
        let elements = [
            attribute("street", .stringAttributeType), attribute("number", .integer16AttributeType), place,
            attribute("opened", .dateAttributeType), attribute("plan", .UUIDAttributeType),
        ]
        let shop = StoreModels.entity(
            "Shop",
            [attribute("name", .stringAttributeType), composite("address", elements), composite("depot", elements)])
        let chain = StoreModels.entity("Chain", [composite("seat", [attribute("street", .stringAttributeType)])])
        let (there, back) = (StoreModels.relationship("chain"), StoreModels.relationship("shops", toMany: true))
        shop.properties.append(there)
        chain.properties.append(back)
        StoreModels.connect(there, to: chain, inverse: back)
        StoreModels.connect(back, to: shop, inverse: there)
        return StoreModels.model([shop, chain])
    }

    private static let opened = Date(timeIntervalSinceReferenceDate: 123.25)
    private static let plan = UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF")!

    private func insert(
        _ context: NSManagedObjectContext, _ name: String, _ street: String?, _ number: Int?, _ latitude: Double?
    ) -> NSManagedObject {
        let shop = NSEntityDescription.insertNewObject(forEntityName: "Shop", into: context)
        shop.setValue(name, forKey: "name")
        var address: [String: Any] = ["opened": Self.opened, "plan": Self.plan]
        if let street { address["street"] = street }
        if let number { address["number"] = number }
        if let latitude { address["place"] = ["latitude": latitude] }
        shop.setValue(address, forKey: "address")
        return shop
    }

    @Test func theElementsAreColumns() throws {
        let harness = try StoreHarness(Self.model())
        let open = try harness.open()
        let session = try #require(open.store.openSession)
        #expect(
            try session.connection.columns(of: "ZSHOP") == [
                "Z_PK", "Z_ENT", "Z_OPT", "ZNUMBER", "ZNUMBER1", "ZCHAIN", "ZLATITUDE", "ZLONGITUDE", "ZOPENED",
                "ZLATITUDE1", "ZLONGITUDE1", "ZOPENED1", "ZSTREET", "ZSTREET1", "ZNAME", "ZPLAN", "ZPLAN1",
            ])
    }

    @Test func valuesComeBack() throws {
        let stack = try ClubStack(model: Self.model())
        let context = stack.context()
        try context.performAndWait {
            let shop = insert(context, "a", "Main", 7, 5.5)
            shop.setValue(["street": "Yard"], forKey: "depot")
            let empty = insert(context, "b", nil, nil, nil)
            empty.setValue([String: Any](), forKey: "address")
            try context.save()
            let fresh = stack.context()
            try fresh.performAndWait {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Shop")
                request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
                let shops = try fresh.fetch(request)
                let address = try #require(shops[0].value(forKey: "address") as? [String: Any])
                #expect(address["street"] as? String == "Main" && address["number"] as? Int == 7)
                #expect(address["opened"] as? Date == Self.opened && address["plan"] as? UUID == Self.plan)
                #expect((address["place"] as? [String: Any])?["latitude"] as? Double == 5.5)
                #expect((address["place"] as? [String: Any])?.count == 1)
                #expect((shops[0].value(forKey: "depot") as? NSDictionary) == ["street": "Yard"])
                #expect(shops[0].value(forKeyPath: "address.place.latitude") as? Double == 5.5)
                #expect(shops[1].value(forKey: "address") == nil)
                // One element is changed by its key path; the others are kept.
                shops[0].setValue(9, forKeyPath: "address.number")
                shops[0].setValue(nil, forKeyPath: "address.place.latitude")
                shops[1].setValue("New", forKeyPath: "depot.street")
                try fresh.save()
                #expect((shops[1].value(forKey: "depot") as? NSDictionary) == ["street": "New"])
            }
            context.refreshAllObjects()
            #expect(shop.value(forKeyPath: "address.number") as? Int == 9)
            #expect(shop.value(forKeyPath: "address.street") as? String == "Main")
            #expect(shop.value(forKeyPath: "address.place") == nil)
        }
    }

    @Test func keyPathsAreQueriedInSQL() throws {
        let harness = try StoreHarness(Self.model())
        let open = try harness.open()
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = open.coordinator
        try context.performAndWait {
            let chain = NSEntityDescription.insertNewObject(forEntityName: "Chain", into: context)
            chain.setValue(["street": "Ring"], forKey: "seat")
            let shops = [("a", "Main", 7, 5.5), ("b", "main", 3, -1), ("c", "Lane", 5, 90)].map {
                insert(context, $0.0, $0.1, $0.2, $0.3)
            }
            shops[1].setValue(chain, forKey: "chain")
            for isSaved in [false, true] {
                if isSaved { try context.save() }
                func names(_ predicate: NSPredicate?, _ key: String, ascending: Bool = true) throws -> [String] {
                    let request = NSFetchRequest<NSManagedObject>(entityName: "Shop")
                    request.predicate = predicate
                    request.sortDescriptors = [NSSortDescriptor(key: key, ascending: ascending)]
                    return try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }
                }
                #expect(try names(nil, "address.number") == ["b", "c", "a"])
                #expect(try names(nil, "address.place.latitude", ascending: false) == ["c", "a", "b"])
                #expect(try names(NSPredicate(format: "address.street ==[c] 'MAIN'"), "address.number") == ["b", "a"])
                #expect(
                    try names(NSPredicate(format: "address.number > 3 AND address.place.latitude < 10"), "name") == [
                        "a"
                    ])
                #expect(
                    try names(NSPredicate(format: "address.opened == %@", Self.opened as NSDate), "name").count == 3)
                #expect(try names(NSPredicate(format: "address.plan == %@", Self.plan as NSUUID), "name").count == 3)
                #expect(try names(NSPredicate(format: "chain.seat.street BEGINSWITH 'R'"), "name") == ["b"])
                #expect(try names(NSPredicate(format: "depot.street == nil"), "name") == ["a", "b", "c"])
            }
            let entity = try open.entity("Shop")
            let predicate = NSPredicate(format: "address.number > 3 AND chain.seat.street != 'x'")
            var query = StoreQuery(entity: entity, predicate: predicate.syntaxTree)
            query.sortKeys = [NSSortDescriptor(key: "address.place.latitude", ascending: true).storeSortKey]
            #expect(try open.store.fetch(query).unsupported.isEmpty)
            let request = NSFetchRequest<NSDictionary>(entityName: "Shop")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["address.street", "name"]
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            #expect(try context.fetch(request).first == ["address.street": "Main", "name": "a"])
        }
    }

    /// Key paths of elements in aggregates, groups, sections, batch requests and collections.
    @Test func elementsAreUsedWhereverAKeyPathIs() throws {
        let harness = try StoreHarness(Self.model())
        let open = try harness.open()
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = open.coordinator
        try context.performAndWait {
            let batch = NSBatchInsertRequest(
                entityName: "Shop",
                objects: [
                    ["name": "a", "address": ["street": "Main", "number": 7]],
                    ["name": "b", "address": ["street": "Main", "number": 3]],
                    ["name": "c", "address": ["street": "Lane", "place": ["latitude": 1.5]]],
                ])
            try context.execute(batch)
            let update = NSBatchUpdateRequest(entityName: "Shop")
            update.predicate = NSPredicate(format: "address.street == 'Lane'")
            update.propertiesToUpdate = ["address": ["street": "Lane", "number": 5, "place": ["latitude": 2.5]]]
            try context.execute(update)
            #expect(
                try harness.sql("SELECT ZNAME, ZNUMBER, ZSTREET, ZLATITUDE FROM ZSHOP ORDER BY ZNAME") == [
                    [.text("a"), .integer(7), .text("Main"), .null], [.text("b"), .integer(3), .text("Main"), .null],
                    [.text("c"), .integer(5), .text("Lane"), .real(2.5)],
                ])

            let sum = NSExpressionDescription()
            sum.name = "sum"
            sum.expression = NSExpression(
                forFunction: "sum:", arguments: [NSExpression(forKeyPath: "address.number")])
            sum.expressionResultType = .integer64AttributeType
            let groups = NSFetchRequest<NSDictionary>(entityName: "Shop")
            groups.resultType = .dictionaryResultType
            groups.propertiesToGroupBy = ["address.street"]
            groups.propertiesToFetch = ["address.street", sum]
            groups.sortDescriptors = [NSSortDescriptor(key: "address.street", ascending: true)]
            #expect(
                try context.fetch(groups) == [
                    ["address.street": "Lane", "sum": 5], ["address.street": "Main", "sum": 10],
                ])

            let request = NSFetchRequest<NSManagedObject>(entityName: "Shop")
            request.sortDescriptors = ["address.street", "address.number"].map {
                NSSortDescriptor(key: $0, ascending: true)
            }
            let list = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "address.street",
                cacheName: nil)
            try list.performFetch()
            #expect(list.sections?.map(\.name) == ["Lane", "Main"] && list.sections?.map(\.numberOfObjects) == [1, 2])
            let all = try context.fetch(request)
            #expect((all as NSArray).value(forKeyPath: "address.street") as? [String] == ["Lane", "Main", "Main"])
            #expect((all as NSArray).value(forKeyPath: "@sum.address.number") as? Int == 15)

            let whole = NSFetchRequest<NSDictionary>(entityName: "Shop")
            whole.resultType = .dictionaryResultType
            whole.predicate = NSPredicate(format: "name == 'c'")
            let row = try #require(try context.fetch(whole).first)
            #expect(row["address"] as? NSDictionary == ["street": "Lane", "number": 5, "place": ["latitude": 2.5]])
            #expect(row["depot"] == nil)
        }
    }

    @Test func unknownElementsAreErrors() throws {
        let stack = try ClubStack(model: Self.model())
        let context = stack.context()
        context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Shop")
            request.predicate = NSPredicate(format: "address.streat == 'a'")
            #expect { _ = try context.fetch(request) } throws: { code($0) == 134060 && "\($0)".contains("streat") }
        }
    }

    /// The store contains its model, so it opens without one.
    @Test func theStoreHasItsComposites() throws {
        let harness = try StoreHarness(Self.model())
        let first = try harness.open()
        let entity = try first.entity("Shop")
        let slot = try #require(entity.layout.slots.firstIndex { $0.name == "address" })
        let value = SlotValue.object(["street": "Main"] as NSDictionary)
        let id = try first.insert("Shop", ["address": value])
        try first.close()
        let data = try #require(try SQLiteStore.cachedModelData(at: harness.url, options: nil))
        let metadata = try SQLiteStore.metadataForPersistentStore(with: harness.url)
        let model = try NSManagedObjectModel(cachedModelData: data, store: harness.url.path, metadata: metadata)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let added = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: harness.url)
        let store = try #require(added as? SQLiteStore)
        let rows = try store.operations.rows(for: [store.operations.objectID(for: try #require(id.rowKey))])
        #expect(rows.values.first?.values[slot] == value)
    }
}
