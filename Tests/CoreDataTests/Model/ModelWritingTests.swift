import Foundation
import ModelFiles
import PredicateSyntax
import TestSupport
import Testing

@testable import CoreData

/// Models written from their classes.
@Suite struct ModelWritingTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("models-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    private func document(_ model: NSManagedObjectModel) throws -> ModelDocument {
        ModelAssemblyTests.sorted(try ModelDisassembly.document(of: model))
    }

    /// Source → model → source → model: both models are equal, and both sources are.
    @Test func sourcesComeBackFromTheClasses() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        for url in [ModelAssemblyTests.sample] + ModelCorpus.someSources(from: 2) {
            let model = try NSManagedObjectModel(validContentsOf: url)
            let target = folder.appendingPathComponent("X.xcdatamodeld")
            let omissions = try model.write(to: target)
            #expect(omissions.isEmpty, "\(url.path): \(omissions)")
            let again = try NSManagedObjectModel(validContentsOf: target)
            #expect(try normalised(document(again)) == normalised(document(model)), "\(url.path)")
            #expect(again.entityVersionHashesByName == model.entityVersionHashesByName)
            #expect(try again.sourceContents().data == model.sourceContents().data)
        }
    }

    /// Removes differences without meaning: an empty identifier is an absent one, and YES in a predicate is 1.
    private func normalised(_ document: ModelDocument) -> ModelDocument {
        var document = document
        for index in document.entities.indices {
            for place in document.entities[index].properties.indices {
                guard case .fetched(var request?) = document.entities[index].properties[place].kind else { continue }
                request.predicate = request.predicate.flatMap { try? PredicateTranslation.tree($0) }.map {
                    .format(FormatPrinter.string($0))
                }
                document.entities[index].properties[place].kind = .fetched(request)
            }
        }
        document.versionIdentifiers.removeAll(where: \.isEmpty)
        for index in document.entities.indices where document.entities[index].className == "NSManagedObject" {
            document.entities[index].className = nil
        }
        return document
    }

    @Test func compiledModelsComeBackFromTheClasses() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        for url in [ModelAssemblyTests.sample] + ModelCorpus.someSources(from: 0) {
            let model = try NSManagedObjectModel(validContentsOf: url)
            let target = folder.appendingPathComponent("X.momd")
            #expect(try model.write(to: target).isEmpty)
            let again = try NSManagedObjectModel(validContentsOf: target)
            var expected = try normalised(document(model))
            ModelAssemblyTests.dropWhatArchivesLack(&expected)
            let found = try normalised(document(again))
            #expect(found == expected, "\(url.path)")
            #expect(again.entityVersionHashesByName == model.entityVersionHashesByName)
        }
    }

    /// The model in a store can be written as a source model with the same hashes and properties.
    @Test(.enabled(if: ModelCorpus.isPresent, "no corpus: set ROSTER_CORPUS"), arguments: ModelCorpus.stores)
    func modelsOfStoresBecomeSources(_ store: ModelCorpus.StoredModel) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let model = try NSManagedObjectModel(cachedModelData: store.cachedModel, store: store.url.path)
        let target = folder.appendingPathComponent("X.xcdatamodel")
        let omissions = try model.write(to: target)
        let again = try NSManagedObjectModel(validContentsOf: target)
        #expect(again.entityVersionHashesByName == model.entityVersionHashesByName, "\(store)")
        let (left, right) = try (comparable(model), comparable(again))
        #expect(left.map(\.name) == right.map(\.name))
        for (left, right) in zip(left, right) { #expect(left == right, "\(store) \(left.name); \(omissions)") }
    }

    /// The parts that both forms support: without unknown parts, index marks (which indexes imply), and values of user
    /// info.
    private func comparable(_ model: NSManagedObjectModel) throws -> [EntityDocument] {
        try normalised(document(model)).entities.map { entity in
            var entity = entity
            entity.userInfo = entity.userInfo.mapValues { _ in .null }
            entity.fetchIndexes = []
            entity.unknown = UnknownParts()
            for index in entity.properties.indices {
                entity.properties[index].isIndexed = false
                entity.properties[index].userInfo = [:]
                entity.properties[index].unknown = UnknownParts()
                entity.properties[index].validations.removeAll {
                    if case .predicate = $0 { true } else { false }
                }
                if case .fetched(var request?) = entity.properties[index].kind {
                    request.sortKeys = []
                    entity.properties[index].kind = .fetched(request)
                }
                guard case .attribute(var attribute) = entity.properties[index].kind else { continue }
                switch attribute.defaultValue {
                case .unknown, .data, .array, .set, .dictionary: attribute.defaultValue = nil
                default: break
                }
                entity.properties[index].kind = .attribute(attribute)
            }
            return entity
        }
    }

    @Test func aModelMadeInCodeBecomesASource() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let model = TestModel.library()
        let text = String(decoding: try model.sourceContents().data, as: UTF8.self)
        #expect(text.contains("<entity name=\"Item\" isAbstract=\"YES\" syncable=\"YES\">"))
        #expect(text.contains("parentEntity=\"Item\"") && text.contains("<fetchIndex name=\"byTitle\">"))
        let other = folder.appendingPathComponent("X.txt")
        let error = try #require(throws: CocoaError.self) { try model.write(to: other) }
        #expect(error.code.rawValue == 134_060)
        try Data().write(to: folder.appendingPathComponent("X.momd"))
        let stands = try #require(throws: CocoaError.self) {
            try model.write(to: folder.appendingPathComponent("X.momd"))
        }
        #expect(stands.code == .fileWriteUnknown && stands.localizedDescription.contains("not replaced"))
    }
}

/// Descriptions in keyed archives.
@Suite struct DescriptionCodingTests {
    private func coded<Description: NSObject & NSCoding>(_ description: Description) throws -> Description {
        let data = try NSKeyedArchiver.archivedData(withRootObject: description, requiringSecureCoding: false)
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
        unarchiver.requiresSecureCoding = false
        return try #require(unarchiver.decodeObject(forKey: NSKeyedArchiveRootObjectKey) as? Description)
    }

    @Test func wholeModels() throws {
        let model = try NSManagedObjectModel(validContentsOf: ModelAssemblyTests.sample)
        model.localizationDictionary = ["Entity/Team": "Mannschaft"]
        let again = try coded(model)
        #expect(
            try ModelDisassembly.document(of: again) == ModelAssemblyTests.sorted(ModelDisassembly.document(of: model)))
        #expect(again.entityVersionHashesByName == model.entityVersionHashesByName)
        #expect(again.localizationDictionary == ["Entity/Team": "Mannschaft"])
    }

    @Test func singleDescriptions() throws {
        let model = TestModel.library()
        let book = try #require(model.entitiesByName["Book"])
        let entity = try coded(book)
        #expect(entity.name == "Book" && entity.superentity?.name == "Item" && entity.attributesByName["added"] != nil)
        #expect(entity.relationshipsByName["author"]?.destinationEntity?.name == "Author")
        #expect(entity.versionHash == book.versionHash)

        let author = try coded(try #require(book.relationshipsByName["author"]))
        #expect(author.destinationEntity?.name == "Author" && author.inverseRelationship?.name == "books")
        #expect(author.maxCount == 1)
        let index = try coded(try #require(book.indexes.first))
        #expect(index.name == "byTitle" && index.elements.map(\.propertyName) == ["title"])
        let element = try coded(try #require(book.indexes.first?.elements.first))
        #expect(element.propertyName == "title" && element.isAscending)
    }

    @Test func descriptionsWithoutAModel() throws {
        let attribute = TestModel.attribute("n", .integer32AttributeType)
        attribute.defaultValue = 7
        attribute.userInfo = ["a": "b"]
        attribute.setValidationPredicates([NSPredicate(format: "SELF > 3")], withValidationWarnings: ["too small"])
        let again = try coded(attribute)
        #expect(again.name == "n" && again.attributeType == .integer32AttributeType && again.defaultValue as? Int == 7)
        #expect(again.userInfo?["a"] as? String == "b" && again.validationWarnings.first as? String == "too small")
        let derived = NSDerivedAttributeDescription()
        derived.name = "total"
        derived.attributeType = .integer64AttributeType
        derived.derivationExpression = NSExpression(format: "kids.@count")
        #expect(try coded(derived).derivationExpression?.description == "kids.@count")
        let composite = NSCompositeAttributeDescription()
        composite.name = "place"
        composite.elements = [TestModel.attribute("city", .stringAttributeType)]
        #expect(try coded(composite).elements.map(\.name) == ["city"])
        let index = NSFetchIndexDescription(
            name: "i", elements: [NSFetchIndexElementDescription(property: attribute, collationType: .binary)])
        #expect(try coded(index).elements.first?.propertyName == "n")
        #expect(try coded(NSEntityDescription.named("Lone")).name == "Lone")
    }

    @Test(.needs(.process)) func codeCannotBeArchived() async {
        await #expect(processExitsWith: .failure) {
            let attribute = TestModel.attribute("n", .integer32AttributeType)
            attribute.setValidationPredicates([NSPredicate { _, _ in true }], withValidationWarnings: ["no"])
            _ = try NSKeyedArchiver.archivedData(withRootObject: attribute, requiringSecureCoding: false)
        }
    }
}

extension NSEntityDescription {
    fileprivate static func named(_ name: String) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        return entity
    }
}
