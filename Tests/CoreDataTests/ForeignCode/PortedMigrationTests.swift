import CoreData
import Testing

/// Migrations as programs written for Apple's framework expect them.
@MainActor @Suite struct PortedMigrationTests {
    private let desk: MigrationDesk

    init() throws { desk = try MigrationDesk() }

    private func crates(_ version: Int, className: String = "NSManagedObject") -> NSManagedObjectModel {
        var attributes = [MigrationDesk.attribute("label")]
        if version == 2 { attributes.append(MigrationDesk.attribute("note")) }
        let crate = MigrationDesk.entity("Crate", attributes)
        crate.managedObjectClassName = className
        return MigrationDesk.model([crate])
    }

    private func mapping(_ models: [NSManagedObjectModel]) throws -> NSMappingModel {
        try NSMappingModel.inferredMappingModel(forSourceModel: models[0], destinationModel: models[1])
    }

    @Test func inferredMappingsHaveApplesNames() throws {
        let kept = MigrationDesk.entity("Kept", [MigrationDesk.attribute("name")])
        let old = MigrationDesk.model([
            kept, MigrationDesk.entity("Gone", []), MigrationDesk.entity("Changed", []),
        ])
        let next = MigrationDesk.model([
            MigrationDesk.entity("Kept", [MigrationDesk.attribute("name")]),
            MigrationDesk.entity("Changed", [MigrationDesk.attribute("name")]), MigrationDesk.entity("New", []),
        ])
        let names = try mapping([old, next]).entityMappings.compactMap(\.name)
        #expect(Set(names) == ["IEM_Copy_Kept", "IEM_Transform_Changed", "IEM_Add_New", "IEM_Remove_Gone"])
    }

    @Test func twoReadsOfOneMappingModelAreEqual() throws {
        let models = [crates(1), crates(2)]
        let file = desk.folder.appendingPathComponent("Crates.cdm")
        try mapping(models).write(to: file)
        let first = try #require(NSMappingModel(contentsOf: file))
        let second = try #require(NSMappingModel(contentsOf: file))
        #expect(first == second && first.hash == second.hash)
        #expect(first.entityMappings == second.entityMappings)
        second.entityMappings.first?.attributeMappings?.first?.valueExpression = NSExpression(forConstantValue: "x")
        #expect(first != second)
    }

    /// The new property has the old one's name but another kind: the old values are removed, and the new ones are
    /// empty.
    @Test(arguments: [false, true]) func anAttributeBecomesARelationship(isThroughManager: Bool) throws {
        func model(_ isRelation: Bool) -> NSManagedObjectModel {
            let title = MigrationDesk.attribute("title")
            let book = MigrationDesk.entity("Book", isRelation ? [title] : [title, MigrationDesk.attribute("author")])
            let author = MigrationDesk.entity("Author", [MigrationDesk.attribute("name")])
            if isRelation { MigrationDesk.relate(author, "books", many: true, book, "author") }
            return MigrationDesk.model([book, author])
        }
        let models = [model(false), model(true)]
        try desk.make(models[0]) { context in
            _ = desk.insert("Book", ["title": "Dune", "author": "Herbert"], context)
            _ = desk.insert("Author", ["name": "Frank"], context)
        }
        var url = desk.url
        if isThroughManager {
            url = desk.folder.appendingPathComponent("Made.sqlite")
            try NSMigrationManager(sourceModel: models[0], destinationModel: models[1]).migrateStore(
                from: desk.url, type: .sqlite, mapping: mapping(models), to: url, type: .sqlite)
        }
        let container = try desk.open(models[1], at: url)
        let book = try #require(try desk.all("Book", container.viewContext, by: "title").first)
        let author = try #require(try desk.all("Author", container.viewContext, by: "name").first)
        #expect(book.value(forKey: "title") as? String == "Dune" && book.value(forKey: "author") == nil)
        book.setValue(author, forKey: "author")
        try container.viewContext.save()
        #expect((author.value(forKey: "books") as? Set<NSManagedObject>) == [book])
        try desk.close(container)
    }

    /// Classes of the program and their hooks are not used in a migration. The created objects stay registered.
    @Test func destinationObjectsArePlainAndStayRegistered() throws {
        let name = NSStringFromClass(PortedCrate.self)
        let models = [crates(1, className: name), crates(2, className: name)]
        try desk.make(models[0]) { context in
            for number in 0..<1_200 { _ = desk.insert("Crate", ["label": "\(number)"], context) }
        }
        let mapping = try mapping(models)
        mapping.entityMappings.first?.entityMigrationPolicyClassName = NSStringFromClass(CratePolicy.self)
        let manager = NSMigrationManager(sourceModel: models[0], destinationModel: models[1])
        let seen = CratePolicy.Seen()
        manager.userInfo = ["seen": seen]
        let made = desk.folder.appendingPathComponent("Made.sqlite")
        try manager.migrateStore(from: desk.url, type: .sqlite, mapping: mapping, to: made, type: .sqlite)
        #expect(seen.classes == ["NSManagedObject"] && seen.registered == 1_200)
        let container = try desk.open(models[1], at: made)
        let crates = try container.viewContext.fetch(NSFetchRequest<PortedCrate>(entityName: "Crate"))
        #expect(crates.count == 1_200 && crates.allSatisfy { $0.value(forKey: "note") == nil })
        try desk.close(container)
    }
}

/// Sets a note in each new object.
final class PortedCrate: NSManagedObject {
    override func awakeFromInsert() {
        super.awakeFromInsert()
        if entity.attributesByName["note"] != nil { setPrimitiveValue("from a hook", forKey: "note") }
    }
}

/// Records the classes of created objects and the number of registered objects at the end.
final class CratePolicy: NSEntityMigrationPolicy {
    final class Seen {
        var classes: Set<String> = []
        var registered = 0
    }

    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance])
        let seen = manager.userInfo?["seen"] as? Seen
        for object in made { seen?.classes.insert("\(type(of: object))") }
    }

    override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        (manager.userInfo?["seen"] as? Seen)?.registered = manager.destinationContext.registeredObjects.count
    }
}
