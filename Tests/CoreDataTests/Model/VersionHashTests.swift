import Foundation
import ModelFiles
import Testing

@testable import CoreData

@Suite struct VersionHashTests {
    /// An entity whose hashes are known from a file by Apple's framework.
    @Test func knownHashes() {
        let name = NSAttributeDescription()
        name.name = "name"
        name.attributeType = .stringAttributeType
        name.isOptional = false
        let petName = NSAttributeDescription()
        petName.name = "petName"
        petName.attributeType = .stringAttributeType
        let user = NSEntityDescription()
        user.name = "User"
        user.properties = [petName, name]
        #expect(hex(user.versionHash) == "6b31f4e97b691d16c4c820bae55f89408d47013bd42151ecfde1eac7fe4be798")
        #expect(hex(name.versionHash).hasPrefix("8cb9965c"))
        #expect(hex(petName.versionHash).hasPrefix("3600ceed"))
    }

    private func hex(_ data: Data) -> String { data.map { String(format: "%02x", $0) }.joined() }

    @Test func secureHashesOfKnownTexts() {
        var empty = SHA256()
        empty.update([])
        #expect(hex(Data(empty.finalize())) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        var short = SHA256()
        short.update("abc".utf8)
        #expect(hex(Data(short.finalize())) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        var long = SHA512()
        long.update(
            ("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                + "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu").utf8)
        #expect(
            hex(Data(long.finalize())) == "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018"
                + "501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909")
    }

    /// Changes that affect a column change the hash; others do not.
    @Test func coversWhatColumnsDependOn() throws {
        func hash(_ change: (NSManagedObjectModel) throws -> Void) rethrows -> Data? {
            let model = TestModel.library()
            try change(model)
            return model.entityVersionHashesByName["Book"]
        }
        let plain = hash { _ in }
        let book = { (model: NSManagedObjectModel) in try #require(model.entitiesByName["Book"]) }
        let title = { (model: NSManagedObjectModel) in try #require(try book(model).attributesByName["title"]) }
        let author = { (model: NSManagedObjectModel) in try #require(try book(model).relationshipsByName["author"]) }

        #expect(try hash { try title($0).isOptional.toggle() } != plain)
        #expect(try hash { try title($0).attributeType = .binaryDataAttributeType } != plain)
        #expect(try hash { try title($0).versionHashModifier = "2" } != plain)
        #expect(try hash { try title($0).preservesValueInHistoryOnDeletion = true } != plain)
        #expect(try hash { try author($0).minCount = 1 } != plain)
        #expect(try hash { try author($0).inverseRelationship = nil } != plain)
        #expect(try hash { try book($0).uniquenessConstraints = [["title"]] } != plain)
        #expect(try hash { try book($0).isAbstract = true } != plain)
        #expect(try hash { try #require($0.entitiesByName["Item"]).versionHashModifier = "2" } != plain)

        #expect(try hash { try title($0).defaultValue = "untitled" } == plain)
        #expect(try hash { try title($0).renamingIdentifier = "name" } == plain)
        #expect(try hash { try title($0).userInfo = ["a": "b"] } == plain)
        #expect(try hash { try author($0).deleteRule = .cascadeDeleteRule } == plain)
        #expect(try hash { try book($0).managedObjectClassName = "Book" } == plain)
        #expect(try hash { try book($0).indexes = [] } == plain)
    }

    /// A transient property has no column and does not change the hash.
    @Test func transientPropertiesDoNotCount() throws {
        let model = TestModel.library()
        let before = model.entityVersionHashesByName
        let book = try #require(model.entitiesByName["Book"])
        let mood = NSAttributeDescription()
        mood.name = "mood"
        mood.isTransient = true
        book.properties += [mood]
        #expect(model.entityVersionHashesByName == before)
        #expect(book.attributesByName["mood"] === mood)
        #expect(book.ownProperties.count == 3)
    }

    @Test(.enabled(if: ModelCorpus.isPresent, "no corpus: set ROSTER_CORPUS"), arguments: ModelCorpus.compiledFolders)
    func compiledModelsHaveTheHashesBesideThem(_ folder: URL) throws {
        let info = try CompiledModelBundle.versionInfo(of: folder)
        #expect(!info.hashes.isEmpty)
        for (version, hashes) in info.hashes {
            let file = folder.appendingPathComponent(version + ".mom")
            guard FileManager.default.fileExists(atPath: file.path) else { continue }
            let model = try NSManagedObjectModel(validContentsOf: file)
            #expect(model.entityVersionHashesByName == hashes, "\(ModelCorpus.name(file))")
            if let checksum = info.checksums[version] { #expect(model.versionChecksum == checksum) }
        }
    }

    /// Compares every hash of every store with its own model. Hashes of entities with derived attributes cannot be
    /// computed and are taken from the store.
    @Test(.enabled(if: ModelCorpus.isPresent, "no corpus: set ROSTER_CORPUS"), arguments: ModelCorpus.stores)
    func storesHaveTheHashesOfTheModelTheyKeep(_ store: ModelCorpus.StoredModel) throws {
        let model = try NSManagedObjectModel(cachedModelData: store.cachedModel, store: store.url.path)
        let computed = model.entityVersionHashesByName
        for (name, hash) in store.hashes {
            let entity = try #require(model.entitiesByName[name] ?? renamed(name, in: model))
            let isDerived = entity.attributesByName.values.contains { $0 is NSDerivedAttributeDescription }
            #expect((computed[name] == hash) == !isDerived, "\(store): \(name)")
        }
        let adopting = try NSManagedObjectModel(
            cachedModelData: store.cachedModel, store: store.url.path, metadata: store.metadata)
        #expect(adopting.entityVersionHashesByName.filter { store.hashes[$0.key] != nil } == store.hashes)
        if let digest = store.digest { #expect(VersionHash.digest(store.hashes) == digest) }
        if let checksum = store.checksum { #expect(VersionHash.checksum(store.hashes) == checksum) }
    }

    private func renamed(_ name: String, in model: NSManagedObjectModel) -> NSEntityDescription? {
        model.entities.first { $0.renamingIdentifier == name }
    }
}
