import Foundation
import Testing

@testable import CoreData

/// Merged models, and the model version that is chosen for a store.
@Suite final class ModelMergingTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Merging-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func shop() -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        let shop = NSEntityDescription()
        shop.name = "Shop"
        shop.properties = [TestModel.attribute("name", .stringAttributeType)]
        model.entities = [shop]
        return model
    }

    @Test func allPartsOfTheModelsAreMerged() throws {
        let (library, shop) = (TestModel.library(), shop())
        library.setEntities([try #require(library.entitiesByName["Author"])], forConfigurationName: "Local")
        shop.setEntities(shop.entities, forConfigurationName: "Local")
        let request = NSFetchRequest<NSFetchRequestResult>()
        request.entity = shop.entities[0]
        request.predicate = NSPredicate(format: "name == $NAME")
        shop.setFetchRequestTemplate(request, forName: "byName")
        library.localizationDictionary = ["Entity/Book": "Buch"]
        shop.localizationDictionary = ["Entity/Shop": "Laden", "Entity/Book": "Werk"]
        library.versionIdentifiers = ["1"]
        shop.versionIdentifiers = ["a", "1"]
        let merged = try #require(NSManagedObjectModel(byMerging: [library, shop]))
        #expect(merged.configurations == ["Local"])
        #expect(Set(merged.entities(forConfigurationName: "Local")?.compactMap(\.name) ?? []) == ["Author", "Shop"])
        #expect(merged.fetchRequestTemplate(forName: "byName")?.entity === merged.entitiesByName["Shop"])
        let filled = merged.fetchRequestFromTemplate(withName: "byName", substitutionVariables: ["NAME": "A"])
        #expect(filled?.predicate == NSPredicate(format: "name == 'A'"))
        #expect(merged.localizationDictionary == ["Entity/Book": "Buch", "Entity/Shop": "Laden"])
        #expect(merged.versionIdentifiers == ["1", "a"])
        // Merging copies entities: the originals can still be changed, and the merged model does not change with them.
        library.entitiesByName["Book"]?.name = "Volume"
        #expect(merged.entitiesByName["Book"]?.owningModel === merged)
    }

    /// A bundle with a model in two versions, the second one current, and another model.
    private func bundle() throws -> Bundle {
        let model = folder.appendingPathComponent("Library.xcdatamodeld")
        try TestModel.library().write(to: model.appendingPathComponent("Library.xcdatamodel"))
        let second = TestModel.library()
        second.entitiesByName["Author"]?.properties += [TestModel.attribute("born", .dateAttributeType)]
        second.versionIdentifiers = ["2"]
        try second.write(to: model.appendingPathComponent("Library 2.xcdatamodel"))
        let marker = ["_XCCurrentVersionName": "Library 2.xcdatamodel"]
        try PropertyListSerialization.data(fromPropertyList: marker, format: .xml, options: 0)
            .write(to: model.appendingPathComponent(".xccurrentversion"))
        _ = try NSManagedObjectModel.compileModel(at: model, to: folder.appendingPathComponent("Library.momd"))
        try FileManager.default.removeItem(at: model)
        try shop().write(to: folder.appendingPathComponent("Shop.mom"))
        try Data("no model".utf8).write(to: folder.appendingPathComponent("Broken.mom"))
        return try #require(Bundle(path: folder.path))
    }

    @Test func aStoreGetsTheVersionItHas() throws {
        let bundle = try bundle()
        let current = try #require(NSManagedObjectModel.mergedModel(from: [bundle]))
        #expect(Set(current.entitiesByName.keys) == ["Author", "Book", "Item", "Shop"])
        #expect(current.entitiesByName["Author"]?.attributesByName["born"] != nil)

        let old = TestModel.library().entityVersionHashesByName
        let metadata: [String: Any] = ["NSStoreModelVersionHashes": old]
        let found = try #require(NSManagedObjectModel.mergedModel(from: [bundle], forStoreMetadata: metadata))
        #expect(found.entityVersionHashesByName == old && !found.versionIdentifiers.contains("2"))
        #expect(found.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        #expect(!current.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))

        // Entities of two models.
        let both = old.merging(shop().entityVersionHashesByName) { $1 }
        let mixed = NSManagedObjectModel.mergedModel(
            from: [bundle], forStoreMetadata: ["NSStoreModelVersionHashes": both])
        #expect(mixed?.entityVersionHashesByName == both)
        let unknown = old.merging(["Shop": Data(count: 32)]) { $1 }
        #expect(
            NSManagedObjectModel.mergedModel(from: [bundle], forStoreMetadata: ["NSStoreModelVersionHashes": unknown])
                == nil)
        #expect(NSManagedObjectModel.mergedModel(from: []) == nil)
    }

    /// Only the versions that a store needs are merged; an exact match is preferred to one with more entities.
    @Test func otherVersionsStayOut() throws {
        func version(_ identifier: String, _ change: (NSManagedObjectModel) -> Void) -> NSManagedObjectModel {
            let model = TestModel.library()
            change(model)
            model.versionIdentifiers = [identifier]
            model.setEntities(model.entities, forConfigurationName: identifier)
            return model
        }
        let exact = version("exact") { _ in }
        let wider = version("wider") {
            let shelf = NSEntityDescription()
            shelf.name = "Shelf"
            $0.entities.append(shelf)
        }
        let later = version("later") {
            $0.entitiesByName["Author"]?.properties.append(TestModel.attribute("born", .dateAttributeType))
        }
        let shop = shop()
        let alone = exact.entityVersionHashesByName
        for wanted in [alone, alone.merging(shop.entityVersionHashesByName) { $1 }] {
            let merged = NSManagedObjectModel(
                byMerging: [later, wider, shop, exact], forStoreMetadata: ["NSStoreModelVersionHashes": wanted])
            #expect(merged?.entityVersionHashesByName == wanted)
            #expect(merged?.configurations == ["exact"] && merged?.versionIdentifiers == ["exact"])
        }
        // Each version is read once.
        let all = try bundle()
        #expect(
            StoreModelSearch(metadata: [:]).files(in: [all]).compactMap(NSManagedObjectModel.init(contentsOf:)).count
                == 3)
    }

    // MARK: Configurations

    /// Team and Venue, each in its own configuration and store.
    private func withTwoStores(_ body: (NSManagedObjectContext, [NSPersistentStore]) throws -> Void) throws {
        let entities = ["Team", "Venue"].map {
            StoreModels.entity($0, [StoreModels.attribute("name", .stringAttributeType)])
        }
        let model = StoreModels.model(entities)
        for entity in entities { model.setEntities([entity], forConfigurationName: (entity.name ?? "") + "s") }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let stores = try ["Teams", "Venues"].map { (name: String) in
            try coordinator.addPersistentStore(
                type: .sqlite, configuration: name, at: folder.appendingPathComponent("\(name).sqlite"))
        }
        defer { for store in stores { try? coordinator.remove(store) } }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { try body(context, stores) }
    }

    @Test func objectsGoToTheStoreOfTheirConfiguration() throws {
        try withTwoStores { context, stores in
            let (team, venue) = (context.make("Team", ["name": "Ghana"]), context.make("Venue", ["name": "Accra"]))
            try context.save()
            #expect(team.objectID.persistentStore === stores[0] && venue.objectID.persistentStore === stores[1])
            context.reset()
            for (name, number) in [("Team", 0), ("Venue", 1)] {
                let request = NSFetchRequest<NSManagedObject>(entityName: name)
                #expect(try context.count(for: request) == 1)
                // The other store does not have this entity.
                request.affectedStores = [stores[1 - number]]
                #expect(try context.fetch(request) == [])
            }
            for store in stores {
                let metadata = context.persistentStoreCoordinator?.metadata(for: store) ?? [:]
                let model = try #require(context.persistentStoreCoordinator?.managedObjectModel)
                #expect(
                    model.isConfiguration(
                        withName: store.configurationName, compatibleWithStoreMetadata: metadata))
                #expect(!model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
            }
        }
    }

    /// A fetch in a store without the entity returns nothing and does not crash.
    @Test func aStoreContainsOnlyItsOwnEntities() throws {
        try withTwoStores { context, stores in
            let coordinator = try #require(context.persistentStoreCoordinator)
            let uri = try #require(URL(string: "x-coredata://\(stores[1].identifier ?? "")/Team/p1"))
            #expect(coordinator.managedObjectID(forURIRepresentation: uri) == nil)
            let team = context.make("Team", ["name": "Ghana"])
            context.assign(team, to: stores[1])
            for number in 1...2 { context.assign(context.make("Venue", ["name": "V\(number)"]), to: stores[1]) }
            let error = #expect(throws: CocoaError.self) { try context.save() }
            let text = error?.localizedDescription ?? ""
            #expect(error?.code.rawValue == 134_020 && text.contains("Team") && text.contains("Venues"), "\(text)")
            #expect(error?.affectedStores?.first === stores[1])
            context.delete(team)
            try context.save()
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Venue")) == 2)
        }
    }

    /// An object assigned to a store of another coordinator is not saved to any other store.
    @Test func aRemovedStoreReceivesNoObjects() throws {
        try withTwoStores { context, stores in
            let coordinator = try #require(context.persistentStoreCoordinator)
            let venue = context.make("Venue", ["name": "Accra"])
            let other = NSPersistentStoreCoordinator(managedObjectModel: coordinator.managedObjectModel)
            let stranger = try other.addPersistentStore(
                type: .sqlite, at: folder.appendingPathComponent("Other.sqlite"))
            defer { try? other.remove(stranger) }
            for store in [stranger, stores[1]] {
                context.assign(venue, to: store)
                if store === stores[1] { try coordinator.remove(store) }
                let error = #expect(throws: CocoaError.self) { try context.obtainPermanentIDs(for: [venue]) }
                let text = error?.localizedDescription ?? ""
                #expect(error?.code.rawValue == 134_020 && text.contains("coordinator"), "\(text)")
                #expect(venue.objectID.isTemporaryID)
            }
        }
    }
}
