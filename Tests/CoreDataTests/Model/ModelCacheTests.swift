import Foundation
import ModelFiles
import Testing

@testable import CoreData

/// The models that Apple's framework stored in its files.
@Suite(.enabled(if: ModelCorpus.isPresent, "no corpus: set ROSTER_CORPUS")) struct ModelCacheTests {
    @Test(arguments: ModelCorpus.stores) func decodesAndIsWrittenBack(_ store: ModelCorpus.StoredModel) throws {
        let (document, notes) = try ModelFile.readCached(store.cachedModel, store: store.url.path)
        #expect(notes.allSatisfy { $0.text.contains("class") }, "\(notes.map(\.text))")
        let model = try NSManagedObjectModel(cachedModelData: store.cachedModel, store: store.url.path)
        #expect(Set(store.hashes.keys).isSubset(of: names(of: model)))

        let data = try model.cachedModelData()
        let again = try ModelFile.readCached(data, store: "written").model
        #expect(withoutUnknown(again) == withoutUnknown(document))
        #expect(
            try NSManagedObjectModel(cachedModelData: data).entityVersionHashesByName == model.entityVersionHashesByName
        )
        #expect(data.count < store.cachedModel.count * 2)
    }

    /// Names and renaming identifiers, because a store may have the old names after a migration.
    private func names(of model: NSManagedObjectModel) -> Set<String> {
        Set(model.entities.flatMap { [$0.name, $0.renamingIdentifier].compactMap { $0 } })
    }

    /// Removes defaults of unknown classes, which cannot be decoded.
    private func withoutUnknown(_ document: ModelDocument) -> ModelDocument {
        var document = document
        for entity in document.entities.indices {
            for property in document.entities[entity].properties.indices {
                guard case .attribute(var attribute) = document.entities[entity].properties[property].kind else {
                    continue
                }
                if case .unknown = attribute.defaultValue { attribute.defaultValue = nil }
                document.entities[entity].properties[property].kind = .attribute(attribute)
            }
        }
        return document
    }

    /// A compiled model agrees with its source.
    @Test(arguments: ModelCorpus.compiledFolders) func compiledModelsAgreeWithTheirSources(_ folder: URL) throws {
        let source = folder.deletingPathExtension().appendingPathExtension("xcdatamodeld")
        guard FileManager.default.fileExists(atPath: source.path) else { return }
        for compiled in try CompiledModelBundle.versions(of: folder) {
            let name = compiled.deletingPathExtension().lastPathComponent
            let contents = source.appendingPathComponent("\(name).xcdatamodel/contents")
            guard FileManager.default.fileExists(atPath: contents.path) else { continue }
            let fromSource = try ModelDisassembly.document(of: NSManagedObjectModel(validContentsOf: contents))
            let fromCompiled = try ModelDisassembly.document(of: NSManagedObjectModel(validContentsOf: compiled))
            let (left, right) = (normalised(fromSource), normalised(fromCompiled))
            #expect(left.entities.map(\.name) == right.entities.map(\.name))
            for (left, right) in zip(left.entities, right.entities) {
                #expect(left == right, "\(ModelCorpus.name(compiled)) \(left.name)")
            }
            #expect(left.configurations == right.configurations)
            #expect(left.versionIdentifiers == right.versionIdentifiers)
        }
    }

    /// The compiler converts index marks to indexes and changes some orders, and one compiled model is older than a
    /// transformable class name in its source.
    private func normalised(_ document: ModelDocument) -> ModelDocument {
        var document = ModelAssemblyTests.sorted(document)
        ModelAssemblyTests.dropWhatArchivesLack(&document)
        document.versionIdentifiers.removeAll { $0.isEmpty }
        for entity in document.entities.indices {
            document.entities[entity].fetchIndexes = []
            document.entities[entity].compoundIndexes = []
            for property in document.entities[entity].properties.indices {
                document.entities[entity].properties[property].isIndexed = false
                if case .attribute(var attribute) = document.entities[entity].properties[property].kind {
                    attribute.valueClassName = nil
                    document.entities[entity].properties[property].kind = .attribute(attribute)
                }
            }
        }
        return document
    }
}
