import Foundation
import TestSupport
import Testing

@testable import CoreData

/// The classes of a model, as used by programs.
@Suite struct ModelTests {
    @Test func propertiesAreInherited() throws {
        let model = TestModel.library()
        let item = try #require(model.entitiesByName["Item"])
        let book = try #require(model.entitiesByName["Book"])
        #expect(model.entities.count == 3, "subentities come along with their parent")
        #expect(book.superentity === item && book.managedObjectModel === model)
        #expect(book.properties.map(\.name) == ["added", "title", "author"])
        #expect(Set(book.attributesByName.keys) == ["added", "title"])
        #expect(book.propertiesByName["added"]?.entity === item)
        #expect(book.isKindOf(entity: item) && !item.isKindOf(entity: book))
        #expect(item.subentitiesByName["Book"] === book)
        #expect(item.family.map(\.name) == ["Item", "Book"])
        #expect(book.root === item)
        let author = try #require(model.entitiesByName["Author"])
        #expect(book.relationships(forDestination: author).map(\.name) == ["author"])
    }

    @Test func defaultsAreApples() {
        let entity = NSEntityDescription()
        #expect(entity.managedObjectClassName == "NSManagedObject")
        entity.managedObjectClassName = "Thing"
        #expect(entity.managedObjectClassName == "Thing")
        entity.managedObjectClassName = nil
        #expect(entity.managedObjectClassName == "NSManagedObject")
        entity.name = "Thing"
        #expect(entity.renamingIdentifier == "Thing")
        let attribute = TestModel.attribute("a", .dateAttributeType)
        #expect(attribute.isOptional && !attribute.isTransient && attribute.renamingIdentifier == "a")
        #expect(attribute.attributeValueClassName == "NSDate" && attribute.type == .date)
        let relationship = NSRelationshipDescription()
        #expect(relationship.isToMany && relationship.deleteRule == .nullifyDeleteRule && relationship.maxCount == 0)
        #expect(NSFetchedPropertyDescription().isTransient)
    }

    @Test func constraintsReadBackAsNames() {
        let entity = NSEntityDescription()
        let attribute = TestModel.attribute("code", .stringAttributeType)
        entity.properties = [attribute]
        entity.uniquenessConstraints = [[attribute], ["code"]]
        #expect(entity.uniquenessConstraints as? [[String]] == [["code"], ["code"]])
    }

    @Test func changesShowInWhatIsComputed() throws {
        let model = TestModel.library()
        let item = try #require(model.entitiesByName["Item"])
        let book = try #require(model.entitiesByName["Book"])
        let before = book.layout
        #expect(book.layout === before)
        item.properties += [TestModel.attribute("code", .stringAttributeType)]
        #expect(book.attributesByName["code"] != nil)
        #expect(book.layout.place(of: "code") != nil && before.place(of: "code") == nil)
        book.attributesByName["title"]?.name = "heading"
        #expect(book.attributesByName["heading"] != nil && book.attributesByName["title"] == nil)
        item.subentities = []
        #expect(book.superentity == nil && book.attributesByName["code"] == nil)
    }

    @Test func copiesAreIndependent() throws {
        let model = TestModel.library()
        model.setEntities([try #require(model.entitiesByName["Author"])], forConfigurationName: "People")
        model.freeze()
        let copy = try #require(model.copy() as? NSManagedObjectModel)
        #expect(!copy.isFrozen)
        #expect(copy.entityVersionHashesByName == model.entityVersionHashesByName)
        #expect(copy.configurations == ["People"])
        let book = try #require(copy.entitiesByName["Book"])
        let author = try #require(copy.entitiesByName["Author"])
        #expect(book !== model.entitiesByName["Book"] && book.superentity === copy.entitiesByName["Item"])
        #expect(book.relationshipsByName["author"]?.destinationEntity === author)
        #expect(book.relationshipsByName["author"]?.inverseRelationship === author.relationshipsByName["books"])
        #expect(book.indexes.first?.elements.first?.property === book.propertiesByName["title"])
        book.name = "Volume"
        #expect(model.entitiesByName["Book"] != nil)
    }

    @Test func frozenModelsGiveTheSameAnswersWithoutComputing() throws {
        let model = TestModel.library()
        let hashes = model.entityVersionHashesByName
        model.freeze()
        #expect(model.isFrozen && model.entityVersionHashesByName == hashes)
        let book = try #require(model.entitiesByName["Book"])
        #expect(book.layout === book.layout)
        #expect(model.entitiesInLayoutOrder.map(\.name) == ["Author", "Book", "Item"])
        #expect(model.entitiesInLayoutOrder.map(\.layout.index) == [0, 1, 2])
    }

    /// Every part of a model that a coordinator uses reports that it cannot be changed.
    @Test(.needs(.process)) func frozenModelsCannotBeChanged() async {
        let property = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let model = TestModel.library()
            _ = NSPersistentStoreCoordinator(managedObjectModel: model)
            model.entitiesByName["Book"]?.attributesByName["title"]?.isOptional = false
        }
        #expect(property.text.contains("Can't modify an immutable model."))
        let index = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let model = TestModel.library()
            model.freeze()
            model.entitiesByName["Book"]?.indexes.first?.elements.first?.isAscending = false
        }
        #expect(index.text.contains("Can't modify an immutable model."))
        let configuration = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let model = TestModel.library()
            model.freeze()
            model.setEntities([], forConfigurationName: "None")
        }
        #expect(configuration.text.contains("Can't modify an immutable model."))
    }

    @Test(.needs(.process)) func mixedIndexesAreRefused() async {
        await #expect(processExitsWith: .failure) {
            let property = TestModel.attribute("a", .doubleAttributeType)
            _ = NSFetchIndexDescription(
                name: "mixed",
                elements: [
                    NSFetchIndexElementDescription(property: property, collationType: .binary),
                    NSFetchIndexElementDescription(property: property, collationType: .rTree),
                ])
        }
    }

    @Test func configurationsAndStoresAreCompared() throws {
        let model = TestModel.library()
        model.setEntities([try #require(model.entitiesByName["Author"])], forConfigurationName: "People")
        let hashes = model.entityVersionHashesByName
        let people = hashes.filter { $0.key == "Author" }
        func fits(_ configuration: String?, _ hashes: [String: Data]) -> Bool {
            model.isConfiguration(
                withName: configuration, compatibleWithStoreMetadata: ["NSStoreModelVersionHashes": hashes])
        }
        #expect(fits(nil, hashes) && fits("PF_DEFAULT_CONFIGURATION_NAME", hashes))
        #expect(fits("People", people) && !fits(nil, people) && !fits("People", hashes) && !fits("None", hashes))
        #expect(!model.isConfiguration(withName: nil, compatibleWithStoreMetadata: [:]))
        #expect(model.entities(forConfigurationName: "None") == nil)
        #expect(model.entities(forConfigurationName: "People")?.map(\.name) == ["Author"])
    }

    @Test func mergingTakesEqualEntitiesOnce() throws {
        let other = NSManagedObjectModel()
        let shop = NSEntityDescription()
        shop.name = "Shop"
        let twin = try #require(TestModel.library().copy() as? NSManagedObjectModel)
        other.entities = twin.entities + [shop]
        let merged = try #require(NSManagedObjectModel(byMerging: [TestModel.library(), other]))
        #expect(Set(merged.entitiesByName.keys) == ["Author", "Book", "Item", "Shop"])
        let book = try #require(merged.entitiesByName["Book"])
        #expect(book.relationshipsByName["author"]?.destinationEntity === merged.entitiesByName["Author"])

        let changed = TestModel.library()
        changed.entitiesByName["Book"]?.isAbstract = true
        #expect(NSManagedObjectModel(byMerging: [TestModel.library(), changed]) == nil)
        let metadata = ["NSStoreModelVersionHashes": changed.entityVersionHashesByName]
        let chosen = try #require(
            NSManagedObjectModel(byMerging: [TestModel.library(), changed], forStoreMetadata: metadata))
        #expect(chosen.entitiesByName["Book"]?.isAbstract == true)
        #expect(NSManagedObjectModel(byMerging: [TestModel.library()], forStoreMetadata: metadata) == nil)
    }

    @Test func unreadableModelsReportTheReason() throws {
        let missing = URL(fileURLWithPath: "/nowhere/x.xcdatamodeld")
        #expect(NSManagedObjectModel(contentsOf: missing) == nil)
        let error = try #require(throws: CocoaError.self) { try NSManagedObjectModel(validContentsOf: missing) }
        #expect(error.code == .fileReadNoSuchFile)
        #expect(error.localizedDescription.contains("/nowhere/x.xcdatamodeld"))

        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).xcdatamodel")
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("<model>\n<entity/></model>".utf8).write(to: file.appendingPathComponent("contents"))
        let broken = try #require(throws: CocoaError.self) { try NSManagedObjectModel(validContentsOf: file) }
        #expect(broken.code == .fileReadCorruptFile)
        #expect(broken.localizedDescription.contains("contents:2:"))
        #expect(!broken.localizedDescription.contains("\n"))
    }

    /// A description can be used after its model was released.
    @Test func descriptionsOutliveTheirModel() throws {
        var model: NSManagedObjectModel? = TestModel.library()
        let book = try #require(model?.entitiesByName["Book"])
        let author = try #require(book.relationshipsByName["author"])
        model = nil
        #expect(book.owningModel == nil && book.superentity == nil && author.destinationEntity == nil)
        #expect(book.attributesByName["title"] != nil)
    }

    @Test func checksumsOfVersions() throws {
        let checksums = try NSManagedObjectModel.__checksumsForVersionedModel(at: ModelAssemblyTests.sample)
        let model = try NSManagedObjectModel(validContentsOf: ModelAssemblyTests.sample)
        #expect(checksums == ["WorldCup": model.versionChecksum])
    }
}
