import CoreData
import Testing

/// Composite attributes whose elements differ between two versions of a model, for every store type.
@MainActor
@Suite struct CompositeMigrationTests {
    private nonisolated static let types = [NSSQLiteStoreType, NSBinaryStoreType, NSXMLStoreType]

    /// A model of a shop whose address has these elements.
    private static func model(_ elements: [NSAttributeDescription]) -> NSManagedObjectModel {
        let address = NSCompositeAttributeDescription()
        address.name = "address"
        address.elements = elements
        let model = NSManagedObjectModel()
        model.entities = [MigrationDesk.entity("Shop", [address])]
        return model
    }

    private static func place(_ elements: [NSAttributeDescription], was: String? = nil) -> NSAttributeDescription {
        let place = NSCompositeAttributeDescription()
        place.name = was == nil ? "place" : "spot"
        place.elements = elements
        place.renamingIdentifier = was
        return place
    }

    private static func first() -> NSManagedObjectModel {
        let attribute = { (name: String, type: NSAttributeType) in MigrationDesk.attribute(name, type) }
        return model([
            attribute("street", .stringAttributeType), attribute("number", .integer16AttributeType),
            attribute("gone", .stringAttributeType),
            place([attribute("latitude", .doubleAttributeType), attribute("longitude", .doubleAttributeType)]),
        ])
    }

    /// Stores of other types keep no model and need a manager.
    private func migrate(_ desk: MigrationDesk, _ type: String, _ model: NSManagedObjectModel) throws {
        if type == NSSQLiteStoreType { return }
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: Self.first(), destinationModel: model)
        let made = desk.folder.appendingPathComponent("made")
        try NSMigrationManager(sourceModel: Self.first(), destinationModel: model).migrateStore(
            from: desk.url, sourceType: type, options: nil, with: mapping, toDestinationURL: made,
            destinationType: type, destinationOptions: nil)
        try FileManager.default.removeItem(at: desk.url)
        try FileManager.default.moveItem(at: made, to: desk.url)
    }

    private func open(
        _ desk: MigrationDesk, _ type: String, _ model: NSManagedObjectModel
    ) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: type, configurationName: nil, at: desk.url,
            options: [
                NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
            ])
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private func fill(_ desk: MigrationDesk, _ type: String) throws {
        let context = try open(desk, type, Self.first())
        let shop = NSEntityDescription.insertNewObject(forEntityName: "Shop", into: context)
        shop.setValue(
            [
                "street": "Main", "number": 7, "gone": "x", "place": ["latitude": 5.5, "longitude": 3.25],
            ] as [String: Any], forKey: "address")
        try context.save()
        for store in context.persistentStoreCoordinator?.persistentStores ?? [] {
            try context.persistentStoreCoordinator?.remove(store)
        }
    }

    @Test(arguments: types) func elementsAreAddedRemovedRenamedAndWidened(_ type: String) throws {
        let desk = try MigrationDesk()
        try fill(desk, type)
        let next = Self.model([
            MigrationDesk.attribute("road", .stringAttributeType, was: "street"),
            MigrationDesk.attribute("number", .doubleAttributeType),
            MigrationDesk.attribute("street", .stringAttributeType, was: "never"),
            Self.place([MigrationDesk.attribute("latitude", .doubleAttributeType)], was: "place"),
        ])
        try migrate(desk, type, next)
        let context = try open(desk, type, next)
        let shop = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Shop")).first)
        #expect(shop.value(forKeyPath: "address.road") as? String == "Main")
        #expect(shop.value(forKeyPath: "address.number") as? Double == 7)
        #expect(shop.value(forKeyPath: "address.spot.latitude") as? Double == 5.5)
        let address = try #require(shop.value(forKey: "address") as? [String: Any])
        #expect(address.keys.sorted() == ["number", "road", "spot"])
        shop.setValue("Yard", forKeyPath: "address.street")
        try context.save()
    }

    /// A text is not converted to a number silently.
    @Test(arguments: types) func anElementOfAnotherTypeIsRefused(_ type: String) throws {
        let desk = try MigrationDesk()
        try fill(desk, type)
        let other = Self.model([MigrationDesk.attribute("street", .integer64AttributeType)])
        let error = #expect(throws: NSError.self) {
            try migrate(desk, type, other)
            _ = try open(desk, type, other)
        }
        #expect(error?.localizedDescription.contains("address.street") == true)
        let context = try open(desk, type, Self.first())
        let shop = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Shop")).first)
        #expect(shop.value(forKeyPath: "address.street") as? String == "Main")
    }
}
