import Foundation
import ModelFiles

/// Makes one model of several.
enum ModelMerging {
    /// Fills an empty model with copies of all entities, configurations and templates of `models`.
    ///
    /// Entities that several models have with equal version hashes are taken once.
    ///
    /// - Returns: `false` where two models have different entities of one name.
    static func fill(_ model: NSManagedObjectModel, merging models: [NSManagedObjectModel]) -> Bool {
        merge(models, into: model) { _ in true }
    }

    /// Fills an empty model with copies of those entities of `models` whose version hashes stand in a store's metadata.
    ///
    /// - Returns: `false` where an entity of the store is in none of the models in that version.
    static func fill(
        _ model: NSManagedObjectModel, merging models: [NSManagedObjectModel], forStoreMetadata metadata: [String: Any]
    ) -> Bool {
        guard let wanted = versionHashes(in: metadata) else { return false }
        let merged = merge(models, into: model) { entity in
            entity.name.map { wanted[$0] == entity.versionHash } ?? false
        }
        return merged && Set(model.entities.compactMap(\.name)) == Set(wanted.keys)
    }

    /// The version hashes that a store's metadata has, by entity.
    static func versionHashes(in metadata: [String: Any]) -> [String: Data]? {
        guard let kept = metadata["NSStoreModelVersionHashes"] as? [String: Any] else { return nil }
        return kept.compactMapValues { $0 as? Data }
    }

    private static func merge(
        _ models: [NSManagedObjectModel], into model: NSManagedObjectModel,
        where isWanted: (NSEntityDescription) -> Bool
    ) -> Bool {
        var kept: [String: NSEntityDescription] = [:]
        var originals: [NSEntityDescription] = []
        var twins: [(twin: NSEntityDescription, of: NSEntityDescription)] = []
        for entity in models.flatMap(\.entities) where isWanted(entity) {
            guard let name = entity.name else { continue }
            if let known = kept[name] {
                guard known.versionHash == entity.versionHash else { return false }
                twins.append((entity, known))
            } else {
                kept[name] = entity
                originals.append(entity)
            }
        }
        model.entities = ModelCopying.copies(of: originals, twins: twins)
        let copies = model.entitiesByName
        for source in models {
            for (name, members) in source.configurationMembers {
                let all = Set((model.configurationMembers[name] ?? []) + members).sorted()
                model.setEntities(all.compactMap { copies[$0] }, forConfigurationName: name)
            }
            for (name, template) in ModelCopying.templates(of: source, among: copies) {
                model.setFetchRequestTemplate(template, forName: name)
            }
            model.versionIdentifiers.formUnion(source.versionIdentifiers)
            model.classModules += source.classModules.filter { !model.classModules.contains($0) }
        }
        for entity in model.entities {
            entity.writtenVersionHash = entity.name.flatMap { kept[$0]?.writtenVersionHash }
        }
        return true
    }

    /// The models among the resources of `bundles`; for `nil` those of the program. Files that are no models are left out.
    static func models(in bundles: [Bundle]?) -> [NSManagedObjectModel] {
        let folders = bundles?.compactMap(\.resourceURL) ?? ModelResources.mainFolders
        var seen: Set<String> = []
        return folders.filter { seen.insert($0.resolvingSymlinksInPath().path).inserted }
            .flatMap(ModelResources.models).compactMap(NSManagedObjectModel.init(contentsOf:))
    }

    /// The checksum of each version of the model at `url`.
    static func checksums(ofVersionsAt url: URL) throws -> [String: String] {
        var checksums: [String: String] = [:]
        let versions: [URL]
        do {
            switch url.pathExtension {
            case "momd":
                let known = try? CompiledModelBundle.versionInfo(of: url).checksums
                if let known, !known.isEmpty { return known }
                versions = try CompiledModelBundle.versions(of: url)
            case "xcdatamodeld": versions = try SourceModelBundle.versions(of: url)
            default: versions = [url]
            }
        } catch let error as ModelFileError {
            throw CoreDataError.make(CocoaError.fileReadCorruptFile.rawValue, "Cannot read the model \(error)")
        }
        for version in versions {
            let name = version.deletingPathExtension().lastPathComponent
            checksums[name] = try NSManagedObjectModel(validContentsOf: version).versionChecksum
        }
        return checksums
    }
}
