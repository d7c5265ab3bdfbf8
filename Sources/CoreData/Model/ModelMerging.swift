import Foundation
import ModelFiles

/// Merges several models into one.
enum ModelMerging {
    /// Fills an empty model with copies of all entities, configurations and templates of `models`.
    ///
    /// Entities of several models with equal version hashes are copied once.
    ///
    /// - Returns: `false` if two models have different entities with the same name.
    static func fill(_ model: NSManagedObjectModel, merging models: [NSManagedObjectModel]) -> Bool {
        merge(models, into: model) { _ in true }
    }

    /// Fills an empty model with copies of the entities of `models` whose version hashes are in a store's metadata.
    ///
    /// - Returns: `false` if an entity of the store is not in any of the models in that version.
    static func fill(
        _ model: NSManagedObjectModel, merging models: [NSManagedObjectModel], forStoreMetadata metadata: [String: Any]
    ) -> Bool {
        guard let wanted = versionHashes(in: metadata) else { return false }
        let merged = merge(choose(wanted, from: models), into: model) { isWanted($0, wanted) }
        return merged && Set(model.entities.compactMap(\.name)) == Set(wanted.keys)
    }

    /// The models that together have a store's entities. Each step chooses the model with the most missing entities,
    /// and among equals the one with the fewest others.
    ///
    /// If one version alone matches the store, only that version is chosen, without other versions' configurations
    /// and requests.
    private static func choose(_ wanted: [String: Data], from models: [NSManagedObjectModel]) -> [NSManagedObjectModel]
    {
        let candidates = models.map { model in
            Candidate(
                found: Set(model.entities.filter { isWanted($0, wanted) }.compactMap(\.name)),
                count: model.entities.count)
        }
        return choose(wanted, among: candidates).chosen.map { models[$0] }
    }

    /// True if `wanted` has the entity's name with the entity's version hash. Looks up the name first, because hashing
    /// is slow.
    private static func isWanted(_ entity: NSEntityDescription, _ wanted: [String: Data]) -> Bool {
        guard let hash = entity.name.flatMap({ wanted[$0] }) else { return false }
        return VersionHash.fits(hash, entity)
    }

    /// Chooses in the same way among the version hashes of models.
    ///
    /// - Returns: their indexes, and whether they are complete.
    static func choose(
        _ wanted: [String: Data], from models: [[String: Data]]
    ) -> (chosen: [Int], isComplete: Bool) {
        let candidates = models.map { hashes in
            Candidate(found: Set(hashes.keys.filter { hashes[$0] == wanted[$0] }), count: hashes.count)
        }
        return choose(wanted, among: candidates)
    }

    /// A model's entities that match the store, and its number of entities.
    private struct Candidate {
        let found: Set<String>
        let count: Int
        var others: Int { count - found.count }
    }

    private static func choose(
        _ wanted: [String: Data], among candidates: [Candidate]
    ) -> (chosen: [Int], isComplete: Bool) {
        var missing = Set(wanted.keys)
        var chosen: Set<Int> = []
        while !missing.isEmpty {
            let ranks = candidates.enumerated().map { index, candidate in
                (candidate.found.intersection(missing).count, -candidate.others, -index)
            }
            guard let best = ranks.indices.max(by: { ranks[$0] < ranks[$1] }), ranks[best].0 > 0 else { break }
            missing.subtract(candidates[best].found)
            chosen.insert(best)
        }
        return (chosen.sorted(), missing.isEmpty)
    }

    /// The version hashes in a store's metadata, by entity.
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
        var others: [NSEntityDescription] = []
        for entity in models.flatMap(\.entities) {
            guard let name = entity.name else { continue }
            guard isWanted(entity) else {
                others.append(entity)
                continue
            }
            if let known = kept[name] {
                guard known.versionHash == entity.versionHash else { return false }
                twins.append((entity, known))
            } else {
                kept[name] = entity
                originals.append(entity)
            }
        }
        // An entity may come from a model version with other versions of its destinations.
        for entity in others {
            if let known = entity.name.flatMap({ kept[$0] }) { twins.append((entity, known)) }
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
            model.readingNotes += source.readingNotes
            model.unknownParts.merge(source.unknownParts)
            if let texts = source.localizationDictionary {
                let known = model.localizationDictionary ?? [:]
                model.localizationDictionary = known.merging(texts) { first, _ in first }
            }
            model.classModules += source.classModules.filter { !model.classModules.contains($0) }
        }
        for entity in model.entities {
            entity.writtenVersionHash = entity.name.flatMap { kept[$0]?.writtenVersionHash }
        }
        return true
    }

    /// The models among the resources of `bundles`, or of the program if `nil`. Skips files that are not models.
    static func models(in bundles: [Bundle]?) -> [NSManagedObjectModel] {
        files(in: bundles).compactMap(NSManagedObjectModel.init(contentsOf:))
    }

    /// The model files among the resources of `bundles`, or of the program if `nil`.
    static func files(in bundles: [Bundle]?) -> [URL] {
        let folders = bundles?.compactMap(\.resourceURL) ?? ModelResources.mainFolders
        var seen: Set<String> = []
        return folders.filter { seen.insert($0.resolvingSymlinksInPath().path).inserted }.flatMap(ModelResources.models)
    }

    /// The versions of the model at `url` except the current one, which is read from `url` itself.
    static func otherVersions(of url: URL) -> [URL] {
        let (versions, current): ([URL]?, URL?) =
            switch url.pathExtension {
            case "momd": (try? CompiledModelBundle.versions(of: url), try? CompiledModelBundle.currentVersion(of: url))
            case "xcdatamodeld":
                (try? SourceModelBundle.versions(of: url), try? SourceModelBundle.currentVersion(of: url))
            default: (nil, nil)
            }
        return (versions ?? []).filter { $0.lastPathComponent != current?.lastPathComponent }
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
