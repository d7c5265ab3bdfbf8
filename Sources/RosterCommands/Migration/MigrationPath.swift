import CoreData
import Foundation

/// One step of a migration, from one version of a model to another.
struct MigrationStep {
    let source: ModelVersion
    let destination: ModelVersion
    let mapping: NSMappingModel
    /// True if the mapping model was inferred.
    let isInferred: Bool
    /// True if the step changes the store in place instead of copying objects into a new file.
    var isInPlace: Bool

    /// One sentence for each class that the mapping model names and this program does not have.
    var missingPolicies: [String] {
        let names = (mapping.entityMappings ?? []).compactMap(\.entityMigrationPolicyClassName)
        return Set(names).subtracting(["", "NSEntityMigrationPolicy"]).sorted().map {
            "the step to \(destination.name) needs the migration policy class \($0), which roster does not have"
        }
    }
}

/// The steps from the version of a store to the wanted version.
///
/// Intermediate versions are used if a mapping model leads to them. Otherwise one inferred step leads to the end or, if
/// it cannot be inferred, one step from each version to the next.
struct MigrationPath {
    let versions: ModelVersions

    /// - Throws: ``CommandError`` if there are no such steps.
    func steps(from source: ModelVersion) throws -> [MigrationStep] {
        let destination = versions.destination
        if let mapping = mapping(source, destination) { return [mapping] }
        try checkMappings()
        let chain = chain(from: source)
        let mapped = zip(chain, chain.dropFirst()).compactMap(mapping)
        let direct = Result { try inferred(source, destination) }
        if mapped.isEmpty, case .success(let step) = direct { return [step] }
        guard chain.count > 2 || !mapped.isEmpty else { return [try direct.get()] }
        return try zip(chain, chain.dropFirst()).map { try mapping($0, $1) ?? inferred($0, $1) }
    }

    /// The versions from the store's to the wanted one, in order; backwards if that is older.
    private func chain(from source: ModelVersion) -> [ModelVersion] {
        guard let start = versions.all.firstIndex(where: { $0.name == source.name }),
            let end = versions.all.firstIndex(where: { $0.name == versions.destination.name })
        else { return [source, versions.destination] }
        return start <= end ? Array(versions.all[start...end]) : Array(versions.all[end...start].reversed())
    }

    /// Throws if a compiled mapping model cannot be read: without it, a migration might lose records. A mapping source
    /// that cannot be read may refer to models of another program and is ignored.
    private func checkMappings() throws {
        for folder in versions.folders {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
            for name in names.sorted() where (name as NSString).pathExtension == "cdm" {
                do {
                    _ = try NSMappingModel.read(from: folder.appendingPathComponent(name))
                } catch {
                    throw CommandError.failure(
                        "\(CommandError.line(for: error)). This file may define the migration: repair it or move it away"
                    )
                }
            }
        }
    }

    private func mapping(_ source: ModelVersion, _ destination: ModelVersion) -> MigrationStep? {
        let found = NSMappingModel(
            from: versions.folders.compactMap { Bundle(url: $0) }, forSourceModel: source.model,
            destinationModel: destination.model)
        return found.map {
            MigrationStep(source: source, destination: destination, mapping: $0, isInferred: false, isInPlace: false)
        }
    }

    private func inferred(_ source: ModelVersion, _ destination: ModelVersion) throws -> MigrationStep {
        do {
            let mapping = try NSMappingModel.inferredMappingModel(
                forSourceModel: source.model, destinationModel: destination.model)
            return MigrationStep(
                source: source, destination: destination, mapping: mapping, isInferred: true, isInPlace: true)
        } catch {
            throw CommandError.failure(
                "cannot infer the step from \(source.name) to \(destination.name): \(CommandError.line(for: error)). Put a mapping model (.cdm) into the model's folder"
            )
        }
    }
}
