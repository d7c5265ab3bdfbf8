import Foundation
import SQLiteAccess
import Testing

@testable import CoreData

/// Inference of models for stores that contain none, from their tables.
@Suite struct ModelInferenceTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("inferred-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    /// A copy of a store without its model.
    private func copyWithoutModel(_ url: URL) throws -> URL {
        let copy = folder.appendingPathComponent("Store.sqlite")
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: url.path + suffix) {
            try Data(contentsOf: URL(fileURLWithPath: url.path + suffix)).write(
                to: URL(fileURLWithPath: copy.path + suffix))
        }
        let connection = try Connection(path: copy.path, access: .readWrite)
        try connection.execute("DROP TABLE IF EXISTS Z_MODELCACHE")
        connection.close()
        return copy
    }

    private func open(_ url: URL, _ model: NSManagedObjectModel) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            type: .sqlite, at: url, options: [NSReadOnlyPersistentStoreOption: true])
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private func count(_ context: NSManagedObjectContext, _ entity: String) throws -> Int {
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.includesSubentities = false
            return try context.count(for: request)
        }
    }

    /// For each store without its model: entities, rows and attributes are found, and relationships have the correct
    /// destinations.
    @Test(.enabled(if: ModelCorpus.isPresent, "no corpus: set ROSTER_CORPUS"), arguments: ModelCorpus.stores)
    func inferredModelsAgreeWithStoredOnes(_ stored: ModelCorpus.StoredModel) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = try copyWithoutModel(stored.url)
        let known = try NSManagedObjectModel(
            cachedModelData: stored.cachedModel, store: stored.url.path, metadata: stored.metadata)
        let inferred = try NSPersistentStoreCoordinator.inferredModelForPersistentStore(at: url)
        #expect(inferred.isInferred)
        let context = try open(url, inferred)
        var told = 0, wrong: [String] = [], all = 0
        for entity in known.entities where stored.hashes[entity.name ?? ""] != nil {
            guard let name = entity.name, let twin = inferred.entitiesByName[name] else {
                // A store keeps old names after some migrations.
                #expect(
                    inferred.entitiesByName[entity.renamingIdentifier ?? ""] != nil, "\(stored) \(entity.name ?? "")")
                continue
            }
            #expect(twin.superentity?.name == entity.superentity?.name)
            let properties = Dictionary(
                twin.properties.map { ($0.name.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
            for attribute in entity.attributesByName.values where !attribute.isTransient {
                let found = properties[attribute.name.lowercased()]
                #expect(
                    found != nil || attribute is NSCompositeAttributeDescription, "\(stored) \(name).\(attribute.name)")
                if found is NSRelationshipDescription { wrong.append("\(name).\(attribute.name)") }
            }
            for relationship in entity.relationshipsByName.values where !relationship.isTransient {
                all += 1
                guard let found = properties[relationship.name.lowercased()] as? NSRelationshipDescription,
                    let destination = found.destinationEntity
                else { continue }
                if found.isToMany == relationship.isToMany,
                    relationship.destinationEntity?.root.name == destination.root.name
                {
                    told += 1
                } else {
                    wrong.append("\(name).\(relationship.name)")
                }
            }
        }
        print("\(stored): \(told) of \(all) relationships told by name, wrong: \(wrong)")
        #expect(wrong == [])
        let connection = try Connection(path: url.path, access: .readWrite)
        for row in try connection.rows("SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY WHERE Z_ENT < 16000") {
            guard case .integer(let number) = row[0], case .text(let name) = row[1],
                let entity = inferred.entitiesByName[name]
            else { continue }
            let table = SQLName.quoted("Z" + (entity.rootName ?? "").uppercased())
            let rows = try connection.integer("SELECT COUNT(*) FROM \(table) WHERE Z_ENT = \(number)")
            #expect(try count(context, name) == Int(rows ?? -1), "\(stored) \(name)")
        }
        connection.close()
        try readAll(context, of: inferred)
    }

    /// Reads all properties of some objects of each entity.
    private func readAll(_ context: NSManagedObjectContext, of model: NSManagedObjectModel) throws {
        try context.performAndWait {
            for entity in model.entities where !entity.isAbstract {
                let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
                request.fetchLimit = 20
                for object in try context.fetch(request) {
                    for name in entity.propertiesByName.keys { _ = object.value(forKey: name) }
                }
            }
        }
    }

    /// A store written by Apple's framework before stores contained models.
    @Test(.enabled(if: ModelCorpus.isPresent, "no corpus: set ROSTER_CORPUS"))
    func aStoreOfAnOldFramework() throws {
        let root = try #require(ModelCorpus.root)
        let url = root.appendingPathComponent("stores/bookmigration-model1/Model1.sqlite")
        let missing = try #require(throws: CocoaError.self) {
            try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)
        }
        #expect(missing.code.rawValue == 134_130)
        let model = try NSPersistentStoreCoordinator.inferredModelForPersistentStore(at: url)
        let book = try #require(model.entitiesByName["Book"])
        #expect(Set(book.attributesByName.keys) == ["authorname", "title", "fileurl"])
        #expect(book.relationshipsByName["user"]?.destinationEntity?.name == "User")
        #expect(model.entitiesByName["User"]?.relationshipsByName["books"]?.inverseRelationship?.name == "user")
        let context = try open(url, model)
        #expect(try count(context, "Book") == 4)
        try context.performAndWait {
            let user = try #require(
                try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")).first?.value(forKey: "user")
                    as? NSManagedObject)
            #expect((user.value(forKey: "books") as? Set<NSManagedObject>)?.isEmpty == false)
        }
        try? FileManager.default.removeItem(at: folder)
    }

    /// All forms of relationships, in a store written here.
    @Test func relationshipsOfAllForms() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let harness = try StoreHarness(StoreModels.league())
        try harness.open().close()
        let model = try NSPersistentStoreCoordinator.inferredModelForPersistentStore(at: copyWithoutModel(harness.url))
        for entity in harness.model.entities {
            let twin = try #require(model.entitiesByName[entity.name ?? ""])
            #expect(twin.superentity?.name == entity.superentity?.name)
            for relationship in entity.relationshipsByName.values where !relationship.isTransient {
                guard
                    let found = twin.relationshipsByName.first(where: {
                        $0.key.lowercased() == relationship.name.lowercased()
                    })?.value
                else { continue }
                #expect(found.isToMany == relationship.isToMany && found.isOrdered == relationship.isOrdered)
                #expect(found.destinationEntity?.root.name == relationship.destinationEntity?.root.name)
            }
        }
    }

    @Test func nothingIsWrittenWithAnInferredModel() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let harness = try StoreHarness(StoreModels.league())
        try harness.open().close()
        let url = try copyWithoutModel(harness.url)
        let model = try NSPersistentStoreCoordinator.inferredModelForPersistentStore(at: url)
        let error = try #require(throws: CocoaError.self) {
            try NSPersistentStoreCoordinator(managedObjectModel: model).addPersistentStore(type: .sqlite, at: url)
        }
        #expect(error.code.rawValue == 134_080 && error.localizedDescription.contains("inferred"))
        let copy = try #require(model.copy() as? NSManagedObjectModel)
        #expect(copy.isInferred)
    }

    /// Entities with cyclic parents, repeated names, and no entities at all.
    @Test func damagedEntitiesAreAnError() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        for damage in [
            "UPDATE Z_PRIMARYKEY SET Z_SUPER = Z_ENT", "UPDATE Z_PRIMARYKEY SET Z_NAME = 'Same'",
            "UPDATE Z_PRIMARYKEY SET Z_SUPER = 999", "DROP TABLE Z_PRIMARYKEY",
        ] {
            let harness = try StoreHarness(StoreModels.league())
            try harness.open().close()
            let url = try copyWithoutModel(harness.url)
            let connection = try Connection(path: url.path, access: .readWrite)
            try connection.execute(damage)
            connection.close()
            let error = try #require(throws: CocoaError.self) {
                try NSPersistentStoreCoordinator.inferredModelForPersistentStore(at: url)
            }
            #expect(error.code == .fileReadCorruptFile && error.localizedDescription.contains(url.path), "\(damage)")
        }
    }
}
