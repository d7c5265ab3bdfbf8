import CoreData
import SQLiteAccess
import Testing

/// An app with a new version of its model: a container opens the users' stores. Uses only the public interface.
@MainActor @Suite struct LightweightMigrationTests {
    private let folder: URL
    private var url: URL { folder.appendingPathComponent("App.sqlite") }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("migration-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    // MARK: Models

    private func attribute(
        _ name: String, _ type: NSAttributeType = .stringAttributeType, optional: Bool = true, value: Any? = nil,
        was: String? = nil
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = optional
        attribute.defaultValue = value
        attribute.renamingIdentifier = was
        return attribute
    }

    private func entity(
        _ name: String, _ properties: [NSPropertyDescription], was: String? = nil, children: [NSEntityDescription] = []
    ) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.properties = properties
        entity.renamingIdentifier = was
        entity.subentities = children
        return entity
    }

    private func relate(
        _ from: NSEntityDescription, _ name: String, many: Bool = false, ordered: Bool = false,
        _ to: NSEntityDescription, _ back: String, manyBack: Bool = false, orderedBack: Bool = false
    ) {
        let there = NSRelationshipDescription()
        there.name = name
        there.destinationEntity = to
        there.maxCount = many ? 0 : 1
        there.isOrdered = ordered
        there.isOptional = true
        let inverse = NSRelationshipDescription()
        inverse.name = back
        inverse.destinationEntity = from
        inverse.maxCount = manyBack ? 0 : 1
        inverse.isOrdered = orderedBack
        inverse.isOptional = true
        there.inverseRelationship = inverse
        inverse.inverseRelationship = there
        from.properties += [there]
        to.properties += [inverse]
    }

    private func model(_ entities: [NSEntityDescription]) -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        model.entities = entities.flatMap(Self.family)
        return model
    }

    private static func family(_ entity: NSEntityDescription) -> [NSEntityDescription] {
        [entity] + entity.subentities.flatMap(family)
    }

    // MARK: Stores

    private func open(_ model: NSManagedObjectModel, history: Bool = false, at url: URL? = nil) throws
        -> NSPersistentContainer
    {
        let container = NSPersistentContainer(name: "App", managedObjectModel: model)
        let description = NSPersistentStoreDescription(url: url ?? self.url)
        if history { description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey) }
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        return container
    }

    private func close(_ container: NSPersistentContainer) throws {
        let coordinator = container.persistentStoreCoordinator
        container.viewContext.reset()
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    /// Creates the store with a version of the model, fills it and closes it.
    private func make(
        _ model: NSManagedObjectModel, history: Bool = false, _ fill: (NSManagedObjectContext) throws -> Void
    ) throws {
        let container = try open(model, history: history)
        try fill(container.viewContext)
        try container.viewContext.save()
        try close(container)
    }

    @discardableResult
    private func insert(_ name: String, _ values: [String: Any], _ context: NSManagedObjectContext) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    private func all(_ name: String, _ context: NSManagedObjectContext, by key: String) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: name)
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
        return try context.fetch(request)
    }

    /// Expects the schema of a store that was created with the model.
    private func expectSchemaOfANewStore(_ model: NSManagedObjectModel, location: SourceLocation = #_sourceLocation)
        throws
    {
        let fresh = folder.appendingPathComponent("Fresh-\(UUID().uuidString).sqlite")
        let copy = try #require(model.copy() as? NSManagedObjectModel)
        try close(try open(copy, at: fresh))
        #expect(try StoreSchema.text(of: url) == StoreSchema.text(of: fresh), sourceLocation: location)
        let connection = try Connection(path: url.path, access: .readWrite)
        defer { connection.close() }
        let sound = try connection.rows("PRAGMA integrity_check")
        #expect(sound.count == 1 && sound[0] == [.text("ok")], sourceLocation: location)
    }

    // MARK: Attributes

    @Test func attributesAreAddedRemovedAndRenamed() throws {
        let first = model([
            entity(
                "Team",
                [
                    attribute("name"), attribute("wins", .integer16AttributeType, value: 0), attribute("motto"),
                    attribute("city"),
                ])
        ])
        try make(first) { context in
            insert("Team", ["name": "Ajax", "wins": 36, "motto": "old", "city": "Amsterdam"], context)
            insert("Team", ["name": "李宁", "wins": 3], context)
        }
        let second = model([
            entity(
                "Team",
                [
                    attribute("teamName", optional: false, was: "name"),
                    attribute("wins", .integer64AttributeType, value: 0),
                    attribute("city", optional: false, value: "unknown"),
                    attribute("titles", .integer32AttributeType, value: 7),
                    attribute("founded", .dateAttributeType),
                    attribute("budget", .decimalAttributeType, value: NSDecimalNumber(string: "1.10")),
                    attribute("token", .UUIDAttributeType),
                ])
        ])
        let container = try open(second)
        let teams = try all("Team", container.viewContext, by: "teamName")
        #expect(teams.map { $0.value(forKey: "teamName") as? String } == ["Ajax", "李宁"])
        #expect(teams.map { $0.value(forKey: "wins") as? Int } == [36, 3])
        #expect(teams.map { $0.value(forKey: "city") as? String } == ["Amsterdam", "unknown"])
        #expect(teams.map { $0.value(forKey: "titles") as? Int } == [7, 7])
        #expect(teams.map { $0.value(forKey: "budget") as? NSDecimalNumber } == [1.1, 1.1])
        #expect(teams.allSatisfy { $0.value(forKey: "founded") == nil })
        insert("Team", ["teamName": "New"], container.viewContext)
        try container.viewContext.save()
        try close(container)
        try expectSchemaOfANewStore(second)
        // A second migration has nothing to do.
        let again = try open(second)
        #expect(try again.viewContext.count(for: NSFetchRequest<NSManagedObject>(entityName: "Team")) == 3)
    }

    @Test func aRequiredAttributeWithoutAValueIsAnErrorAndChangesNothing() throws {
        let first = model([entity("Team", [attribute("name")])])
        try make(first) { context in
            insert("Team", ["name": "Ajax"], context)
            insert("Team", [:], context)
        }
        let before = try Data(contentsOf: url)
        let second = model([entity("Team", [attribute("name", optional: false)])])
        let error = #expect(throws: CocoaError.self) { try open(second) }
        #expect(
            error?.code.rawValue == 134_110
                && error?.localizedDescription.contains("1 objects have no value for Team.name") == true)
        #expect(try Data(contentsOf: url) == before)
        let container = try open(first)
        #expect(try container.viewContext.count(for: NSFetchRequest<NSManagedObject>(entityName: "Team")) == 2)
    }

    @Test func withoutTheOptionNothingIsMigrated() throws {
        try make(model([entity("Team", [attribute("name")])])) { _ in }
        let second = model([entity("Team", [attribute("name"), attribute("city")])])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: second)
        func add(_ options: [AnyHashable: Any]?) throws {
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
        }
        #expect((#expect(throws: CocoaError.self) { try add(nil) })?.code.rawValue == 134_100)
        #expect(
            (#expect(throws: CocoaError.self) { try add([NSMigratePersistentStoresAutomaticallyOption: true]) })?.code
                .rawValue == 134_140)
        try add([NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true])
        #expect(coordinator.persistentStores.count == 1)
    }

    @Test func migrationsThatCannotBeInferredAreReported() throws {
        try make(model([entity("Team", [attribute("name"), attribute("wins")])])) { _ in }
        let typed = model([entity("Team", [attribute("name"), attribute("wins", .integer32AttributeType)])])
        let error = #expect(throws: CocoaError.self) { try open(typed) }
        #expect(error?.code.rawValue == 134_190)
        #expect(error?.localizedDescription.contains("Team.wins changed from String to Integer 32") == true)
    }

    // MARK: Entities

    @Test func entitiesAreAddedRemovedRenamedAndRenumbered() throws {
        let city = entity("City", [attribute("name")])
        let team = entity("Team", [attribute("name")])
        let extra = entity("Zone", [attribute("name")])
        relate(team, "home", city, "teams", manyBack: true)
        relate(team, "rivals", many: true, team, "rivalOf", manyBack: true)
        let first = model([city, team, extra])
        try make(first) { context in
            let home = insert("City", ["name": "Rome"], context)
            let roma = insert("Team", ["name": "Roma", "home": home], context)
            let lazio = insert("Team", ["name": "Lazio", "home": home], context)
            roma.mutableSetValue(forKey: "rivals").add(lazio)
            insert("Zone", ["name": "UEFA"], context)
        }
        let academy = entity("Academy", [attribute("name")])
        let club = entity("Club", [attribute("name")], was: "Team")
        let town = entity("Town", [attribute("name"), attribute("country")], was: "City")
        relate(club, "home", town, "teams", manyBack: true)
        relate(club, "rivals", many: true, club, "rivalOf", manyBack: true)
        let second = model([academy, club, town])
        let container = try open(second)
        let clubs = try all("Club", container.viewContext, by: "name")
        #expect(clubs.map { $0.value(forKey: "name") as? String } == ["Lazio", "Roma"])
        #expect(clubs.map { $0.value(forKeyPath: "home.name") as? String } == ["Rome", "Rome"])
        #expect((clubs[1].value(forKey: "rivals") as? Set<NSManagedObject>) == [clubs[0]])
        #expect((clubs[0].value(forKey: "rivalOf") as? Set<NSManagedObject>) == [clubs[1]])
        insert("Academy", ["name": "New"], container.viewContext)
        insert("Club", ["name": "Inter"], container.viewContext)
        try container.viewContext.save()
        #expect(try container.viewContext.count(for: NSFetchRequest<NSManagedObject>(entityName: "Club")) == 3)
        try close(container)
        try expectSchemaOfANewStore(second)
    }

    @Test func hierarchiesChangeAndAttributesMoveInThem() throws {
        let dog = entity("Dog", [attribute("name"), attribute("bark")])
        let cat = entity("Cat", [attribute("name"), attribute("purr")])
        let animal = entity("Animal", [attribute("age", .integer16AttributeType, value: 0)], children: [dog, cat])
        let keeper = entity("Keeper", [attribute("name")])
        relate(keeper, "pet", animal, "keeper")
        try make(model([animal, keeper])) { context in
            let rex = insert("Dog", ["name": "Rex", "bark": "wuff", "age": 3], context)
            insert("Cat", ["name": "Tom", "purr": "rrr", "age": 5], context)
            insert("Keeper", ["name": "Ann", "pet": rex], context)
        }
        // The name moves to the parent entity, the age to the children; a child entity is new.
        let newDog = entity("Dog", [attribute("bark"), attribute("age", .integer16AttributeType, value: 0)])
        let newCat = entity("Cat", [attribute("purr"), attribute("age", .integer16AttributeType, value: 0)])
        let bird = entity("Bird", [attribute("song")])
        let newAnimal = entity("Animal", [attribute("name")], children: [newDog, newCat, bird])
        let newKeeper = entity("Keeper", [attribute("name")])
        relate(newKeeper, "pet", newAnimal, "keeper")
        let second = model([newAnimal, newKeeper])
        let container = try open(second)
        let animals = try all("Animal", container.viewContext, by: "name")
        #expect(animals.map { $0.entity.name } == ["Dog", "Cat"])
        #expect(animals.map { $0.value(forKey: "name") as? String } == ["Rex", "Tom"])
        #expect(animals.map { $0.value(forKey: "age") as? Int } == [3, 5])
        #expect(animals[0].value(forKey: "bark") as? String == "wuff")
        let ann = try all("Keeper", container.viewContext, by: "name")[0]
        #expect((ann.value(forKey: "pet") as? NSManagedObject) === animals[0])
        try close(container)
        try expectSchemaOfANewStore(second)
    }

    // MARK: Relationships

    @Test func toOneBecomesToManyAndListsGetAnOrder() throws {
        let author = entity("Author", [attribute("name")])
        let book = entity("Book", [attribute("title")])
        relate(book, "author", author, "books", manyBack: true)
        try make(model([author, book])) { context in
            let ann = insert("Author", ["name": "Ann"], context)
            for title in ["A", "B", "C"] { insert("Book", ["title": title, "author": ann], context) }
            insert("Book", ["title": "D"], context)
        }
        // The list becomes ordered.
        let author2 = entity("Author", [attribute("name")])
        let book2 = entity("Book", [attribute("title")])
        relate(book2, "author", author2, "books", manyBack: true, orderedBack: true)
        let second = model([author2, book2])
        var container = try open(second)
        var ann = try all("Author", container.viewContext, by: "name")[0]
        #expect((ann.value(forKey: "books") as? NSOrderedSet)?.count == 3)
        try close(container)
        try expectSchemaOfANewStore(second)
        // The relationship becomes many-to-many.
        let author3 = entity("Author", [attribute("name")])
        let book3 = entity("Book", [attribute("title")])
        relate(book3, "author", many: true, author3, "books", manyBack: true, orderedBack: true)
        let third = model([author3, book3])
        container = try open(third)
        ann = try all("Author", container.viewContext, by: "name")[0]
        let titles = (ann.value(forKey: "books") as? NSOrderedSet)?.array.compactMap {
            ($0 as? NSManagedObject)?.value(forKey: "title") as? String
        }
        #expect(titles?.sorted() == ["A", "B", "C"])
        let books = try all("Book", container.viewContext, by: "title")
        #expect(books.map { ($0.value(forKey: "author") as? Set<NSManagedObject>)?.count } == [1, 1, 1, 0])
        try close(container)
        try expectSchemaOfANewStore(third)
    }

    @Test func toManyToOneIsRefused() throws {
        let author = entity("Author", [attribute("name")])
        let book = entity("Book", [attribute("title")])
        relate(book, "authors", many: true, author, "books", manyBack: true)
        try make(model([author, book])) { _ in }
        let author2 = entity("Author", [attribute("name")])
        let book2 = entity("Book", [attribute("title")])
        relate(book2, "authors", author2, "books", manyBack: true)
        let error = #expect(throws: CocoaError.self) { try open(model([author2, book2])) }
        #expect(error?.code.rawValue == 134_190)
    }

    // MARK: Other contents of the file

    @Test func constraintsAreMadeOrRefused() throws {
        try make(model([entity("Team", [attribute("name")])])) { context in
            insert("Team", ["name": "Ajax"], context)
            insert("Team", ["name": "Ajax"], context)
        }
        func unique() -> NSManagedObjectModel {
            let team = entity("Team", [attribute("name")])
            team.uniquenessConstraints = [["name"]]
            // The constraints are part of the version hash.
            return model([team])
        }
        let error = #expect(throws: CocoaError.self) { try open(unique()) }
        #expect(error?.code.rawValue == 134_110)
        let container = try open(model([entity("Team", [attribute("name")])]))
        container.viewContext.delete(try all("Team", container.viewContext, by: "name")[0])
        try container.viewContext.save()
        try close(container)
        let migrated = try open(unique())
        insert("Team", ["name": "Ajax"], migrated.viewContext)
        #expect(throws: CocoaError.self) { try migrated.viewContext.save() }
        try close(migrated)
        try expectSchemaOfANewStore(unique())
    }

    @Test func bigValuesMoveBetweenColumnsAndFiles() throws {
        func photo(external: Bool) -> NSManagedObjectModel {
            let data = attribute("data", .binaryDataAttributeType)
            data.allowsExternalBinaryDataStorage = external
            // The option alone is not part of the version hash.
            return model([entity("Photo", [attribute("name"), data, attribute(external ? "isOutside" : "isInside")])])
        }
        let small = Data([0, 1, 2, 0])
        let big = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) })
        try make(photo(external: false)) { context in
            insert("Photo", ["name": "big", "data": big], context)
            insert("Photo", ["name": "small", "data": small], context)
        }
        func check(_ model: NSManagedObjectModel, adding name: String?) throws {
            let container = try open(model)
            let photos = try all("Photo", container.viewContext, by: "name")
            #expect(photos[0].value(forKey: "data") as? Data == big)
            #expect(photos.last?.value(forKey: "data") as? Data == small)
            if let name { insert("Photo", ["name": name, "data": big], container.viewContext) }
            try container.viewContext.save()
            try close(container)
        }
        try check(photo(external: true), adding: "outside")
        try check(photo(external: false), adding: nil)
        let container = try open(photo(external: false))
        #expect(
            try all("Photo", container.viewContext, by: "name").map { ($0.value(forKey: "data") as? Data)?.count } == [
                300_000, 300_000, 4,
            ])
    }

    @Test func derivedValuesAreComputedAgain() throws {
        try make(model([entity("Team", [attribute("name")])])) { insert("Team", ["name": "Çelik"], $0) }
        let derived = NSDerivedAttributeDescription()
        derived.name = "upper"
        derived.attributeType = .stringAttributeType
        derived.derivationExpression = NSExpression(format: "uppercase:(name)")
        let second = model([entity("Team", [attribute("name"), derived])])
        let container = try open(second)
        let team = try all("Team", container.viewContext, by: "name")[0]
        #expect(team.value(forKey: "upper") as? String == "ÇELIK")
        team.setValue("ajax", forKey: "name")
        try container.viewContext.save()
        container.viewContext.refresh(team, mergeChanges: false)
        #expect(team.value(forKey: "upper") as? String == "AJAX")
        try close(container)
        try expectSchemaOfANewStore(second)
    }

    @Test func theHistoryStays() throws {
        try make(model([entity("Team", [attribute("name")]), entity("Alpha", [attribute("name")])]), history: true) {
            context in
            insert("Team", ["name": "Ajax"], context)
            insert("Alpha", ["name": "gone"], context)
        }
        let container = try open(model([entity("Team", [attribute("name"), attribute("city")])]), history: true)
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
        let result = try container.viewContext.execute(request) as? NSPersistentHistoryResult
        let transactions = try #require(result?.result as? [NSPersistentHistoryTransaction])
        #expect(transactions.count == 1)
        #expect(transactions[0].changes?.map { $0.changedObjectID.entity.name } == ["Team"])
        insert("Team", ["name": "PSV", "city": "Eindhoven"], container.viewContext)
        try container.viewContext.save()
    }

    @Test func aCompiledModelWithVersionsIsNotNeeded() throws {
        // The store contains its own model, so the program does not need the old version.
        try make(model([entity("Team", [attribute("name")])])) { insert("Team", ["name": "Ajax"], $0) }
        let container = try open(model([entity("Team", [attribute("name"), attribute("city", value: "here")])]))
        #expect(try all("Team", container.viewContext, by: "name")[0].value(forKey: "city") as? String == "here")
    }
}
