import CoreData
import Foundation
import TestSupport
import Testing

/// Migrates stores with rows between the versions of real models if a mapping model can be inferred (issue 21, "done
/// when" 3).
@MainActor @Suite(.needs(.campaign)) struct CorpusVersionTests {
    /// Folders of the corpus with several versions of a model.
    nonisolated static let bundles: [URL] = {
        guard let folder = ModelCorpus.root?.appendingPathComponent("models") else { return [] }
        let all = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        return all.flatMap {
            (try? FileManager.default.contentsOfDirectory(at: $0, includingPropertiesForKeys: nil)) ?? []
        }
        .filter { $0.pathExtension == "xcdatamodeld" && versions(of: $0).count > 1 }
        .sorted { $0.path < $1.path }
    }()

    nonisolated private static func versions(of bundle: URL) -> [URL] {
        ((try? FileManager.default.contentsOfDirectory(at: bundle, includingPropertiesForKeys: nil)) ?? [])
            .filter { $0.pathExtension == "xcdatamodel" }
            .sorted { name($0).compare(name($1), options: .numeric) == .orderedAscending }
    }

    /// Name without the extension, which would sort after a number.
    nonisolated private static func name(_ url: URL) -> String { url.deletingPathExtension().lastPathComponent }

    private let desk: MigrationDesk

    init() throws { desk = try MigrationDesk() }

    /// A cache of models: most versions are both a source and a destination.
    private static var models: [URL: NSManagedObjectModel] = [:]

    private func load(_ url: URL) throws -> NSManagedObjectModel {
        if let known = Self.models[url] { return known }
        let model = try NSManagedObjectModel(validContentsOf: url)
        for entity in model.entities { entity.managedObjectClassName = "NSManagedObject" }
        Self.models[url] = model
        return model
    }

    /// Inserts three rows of each entity that has no required relationships.
    private func fill(_ container: NSPersistentContainer) throws {
        let context = container.viewContext
        for entity in container.managedObjectModel.entities where !entity.isAbstract {
            let needs = entity.relationshipsByName.values.contains {
                !$0.isOptional && ($0.minCount > 0 || !$0.isToMany)
            }
            // No value of an unknown transformer can be made here.
            let needsMore = entity.attributesByName.values.contains {
                !$0.isOptional && $0.defaultValue == nil && $0.attributeType == .transformableAttributeType
            }
            for number in 0..<3 where !needs && !needsMore {
                let object = NSManagedObject(entity: entity, insertInto: context)
                for attribute in entity.attributesByName.values where !(attribute is NSDerivedAttributeDescription) {
                    if let value = Self.value(attribute, number, entity.name ?? "") {
                        object.setValue(value, forKey: attribute.name)
                    }
                }
            }
        }
        try context.save()
    }

    private static func value(_ attribute: NSAttributeDescription, _ number: Int, _ entity: String) -> Any? {
        switch attribute.attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: number
        case .doubleAttributeType, .floatAttributeType: Double(number) / 2
        case .decimalAttributeType: NSDecimalNumber(value: number)
        case .booleanAttributeType: number == 1
        case .stringAttributeType: "值 \(entity) \(number)"
        case .dateAttributeType: Date(timeIntervalSinceReferenceDate: Double(number))
        case .binaryDataAttributeType: Data([UInt8(number)])
        case .UUIDAttributeType: UUID()
        case .URIAttributeType: URL(string: "https://example.com/\(number)")
        default: nil
        }
    }

    /// Values by entity, of the attributes that both versions have with the same name and type.
    private func values(_ container: NSPersistentContainer, alsoIn other: NSManagedObjectModel) throws -> [String: Set<
        String
    >] {
        var result: [String: Set<String>] = [:]
        for (name, entity) in container.managedObjectModel.entitiesByName {
            guard let twin = other.entitiesByName[name] else { continue }
            let keys = entity.attributesByName.keys.filter { key in
                let (own, its) = (entity.attributesByName[key], twin.attributesByName[key])
                return own?.attributeType == its?.attributeType && own?.isTransient == false
                    && its?.isTransient == false
                    && own?.isOptional == its?.isOptional && !(own is NSDerivedAttributeDescription)
            }.sorted()
            let request = NSFetchRequest<NSManagedObject>(entityName: name)
            result[name] = Set(
                try container.viewContext.fetch(request).map { object in
                    let values = keys.map { "\($0)=\(object.value(forKey: $0).map { "\($0)" } ?? "nil")" }
                    return object.objectID.uriRepresentation().lastPathComponent + values.joined(separator: ",")
                })
        }
        return result
    }

    /// - Returns: true if the mapping could be inferred.
    private func migrate(_ source: URL, _ destination: URL) throws -> Bool {
        let (old, new) = (try load(source), try load(destination))
        let url = desk.folder.appendingPathComponent("\(UUID().uuidString).sqlite")
        let before = try desk.open(old, at: url)
        try fill(before)
        let expected = try values(before, alsoIn: new)
        try desk.close(before)
        do {
            _ = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        } catch let error as CocoaError {
            #expect(error.code.rawValue == 134190)
            return false
        }
        let after = try desk.open(new, at: url)
        let found = try values(after, alsoIn: old)
        #expect(found == expected, "\(source.lastPathComponent) to \(destination.lastPathComponent)")
        #expect(expected.values.contains { !$0.isEmpty } || old.entities.isEmpty)
        let store = try #require(after.persistentStoreCoordinator.persistentStores.first)
        #expect(try after.persistentStoreCoordinator.findings(in: store).isEmpty)
        try desk.close(after)
        return true
    }

    @Test(.enabled(if: !bundles.isEmpty, "set ROSTER_CORPUS to the folder with models"), arguments: bundles)
    func versionsMigrateIntoTheNext(bundle: URL) throws {
        let versions = Self.versions(of: bundle)
        var migrated = 0
        for (source, destination) in zip(versions, versions.dropFirst()) where try migrate(source, destination) {
            migrated += 1
        }
        if let first = versions.first, let last = versions.last, versions.count > 2 { _ = try migrate(first, last) }
        #expect(migrated > 0)
    }

    // MARK: Stores of Apple's

    /// A store written by Apple's framework, with the version of its model and the later ones.
    struct AppleStore: CustomTestStringConvertible, Sendable {
        let url: URL
        let version: URL
        let later: [URL]
        var testDescription: String { url.lastPathComponent }
    }

    /// Stores of the corpus with a newer version of their model in the same folder.
    nonisolated static let appleStores: [AppleStore] = ModelCorpus.files { url in
        (try? FileHandle(forReadingFrom: url).read(upToCount: 15)) == Data("SQLite format 3".utf8)
    }.compactMap { url in
        let folder = url.deletingLastPathComponent().appendingPathComponent("model")
        guard
            let bundle = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil))?
                .first(where: { $0.pathExtension == "xcdatamodeld" && versions(of: $0).count > 1 }),
            let metadata = try? NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        else { return nil }
        let all = versions(of: bundle)
        let own = all.firstIndex { version in
            (try? NSManagedObjectModel(validContentsOf: version))?
                .isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) ?? false
        }
        return own.map { AppleStore(url: url, version: all[$0], later: Array(all[($0 + 1)...])) }
    }.filter { !$0.later.isEmpty }

    /// Migrates to the next version and to the last one.
    @Test(.enabled(if: !appleStores.isEmpty, "set ROSTER_CORPUS to the folder with stores"), arguments: appleStores)
    func storesOfApplesMigrate(store: AppleStore) throws {
        var migrated = 0
        for version in Set([store.later[0], store.later[store.later.count - 1]]) {
            let (old, new) = (try load(store.version), try load(version))
            do {
                _ = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
            } catch let error as CocoaError {
                #expect(error.code.rawValue == 134190)
                continue
            }
            migrated += 1
            let url = desk.folder.appendingPathComponent("\(UUID().uuidString).sqlite")
            try NSPersistentStoreCoordinator(managedObjectModel: old).replacePersistentStore(
                at: url, withPersistentStoreFrom: store.url, type: .sqlite)
            let before = try desk.open(old, at: url)
            let expected = try values(before, alsoIn: new)
            try desk.close(before)
            let keepsModel = (try? NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)) != nil
            let made = keepsModel ? url : try migrateByManager(url, old, new)
            let after = try desk.open(new, at: made)
            let found = try values(after, alsoIn: old)
            if keepsModel {
                #expect(found == expected, "to \(version.lastPathComponent)")
            } else {
                // The rows have other keys.
                #expect(found.mapValues(\.count) == expected.mapValues(\.count))
            }
            let opened = try #require(after.persistentStoreCoordinator.persistentStores.first)
            #expect(try after.persistentStoreCoordinator.findings(in: opened) == [])
            try desk.close(after)
            if keepsModel {
                let fresh = desk.folder.appendingPathComponent("\(UUID().uuidString).sqlite")
                try desk.close(try desk.open(new, at: fresh))
                #expect(
                    try StoreSchema.text(of: url).filter(Self.isOfRows)
                        == StoreSchema.text(of: fresh).filter(Self.isOfRows))
            }
        }
        // In this store's model, every later version changes a text to a date.
        #expect(migrated > 0 || store.url.lastPathComponent == "XCServerCoreData_1.2.0.sqlite")
    }

    /// Stores of old frameworks contain no model.
    private func migrateByManager(_ url: URL, _ old: NSManagedObjectModel, _ new: NSManagedObjectModel) throws -> URL {
        let made = desk.folder.appendingPathComponent("\(UUID().uuidString).sqlite")
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        try NSMigrationManager(sourceModel: old, destinationModel: new).migrateStore(
            from: url, type: .sqlite, mapping: mapping, to: made, type: .sqlite)
        return made
    }

    /// True if a line of the schema describes a table of entities. Indexes of older frameworks have other names and are
    /// kept.
    private static func isOfRows(_ line: String) -> Bool { line.hasPrefix("Z") && line.contains(": [") }
}
