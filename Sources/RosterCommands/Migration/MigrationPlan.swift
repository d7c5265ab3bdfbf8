import CoreData
import Foundation

/// The effects of one migration step: on each entity and, in an SQLite file, on each table, with the statements.
struct MigrationPlan {
    /// Change to one entity.
    struct EntityChange {
        enum Kind: String { case added, removed, changed }

        let kind: Kind
        /// Name after the step; the previous name of a removed entity.
        let name: String
        let formerName: String?
        /// Number of records before the step; `nil` if unknown.
        let records: Int?
        let properties: [PropertyChange]
        /// The class that creates its records.
        let policy: String?
    }

    /// Change to one property of an entity.
    struct PropertyChange {
        enum Kind: String { case added, renamed, changed, removed }

        let kind: Kind
        let name: String
        let formerName: String?
    }

    let number: Int
    let step: MigrationStep
    /// The entities that change.
    let entities: [EntityChange]
    /// The tables and statements; `nil` if the store has none or they cannot be determined.
    let file: LightweightMigrationPlan?
    /// Number of records of each source entity, if known.
    let counts: [String: Int]

    init(number: Int, step: MigrationStep, counts: [String: Int], file: LightweightMigrationPlan?) {
        (self.number, self.step, self.counts, self.file) = (number, step, counts, file)
        entities = (step.mapping.entityMappings ?? []).compactMap { Self.change(of: $0, in: step, counts) }
    }

    /// Number of records of each destination entity, if it follows from the source.
    var countsAfterwards: [String: Int] {
        var after: [String: Int] = [:]
        for mapping in step.mapping.entityMappings ?? [] {
            guard let name = mapping.destinationEntityName else { continue }
            if mapping.mappingType == .addEntityMappingType {
                after[name] = 0
            } else if step.isInferred, let former = mapping.sourceEntityName {
                after[name] = counts[former]
            }
        }
        return after
    }

    /// Number of rows of a table before the step.
    func rows(of table: LightweightMigrationPlan.Table) -> Int? {
        guard !table.formerEntityNames.isEmpty else { return nil }
        let known = table.formerEntityNames.compactMap { counts[$0] }
        return known.count == table.formerEntityNames.count ? known.reduce(0, +) : nil
    }

    private static func change(
        of mapping: NSEntityMapping, in step: MigrationStep, _ counts: [String: Int]
    ) -> EntityChange? {
        let former = mapping.sourceEntityName
        let records = former.flatMap { counts[$0] }
        switch mapping.mappingType {
        case .addEntityMappingType:
            return EntityChange(
                kind: .added, name: mapping.destinationEntityName ?? "", formerName: nil, records: nil, properties: [],
                policy: nil)
        case .removeEntityMappingType:
            return EntityChange(
                kind: .removed, name: former ?? "", formerName: former, records: records, properties: [], policy: nil)
        // An inferred step loses values of a property with an unknown renaming identifier, even if the hashes are
        // equal.
        case .copyEntityMappingType where !step.isInferred: return nil
        default: break
        }
        guard let source = former.flatMap({ step.source.model.entitiesByName[$0] }),
            let destination = mapping.destinationEntityName.flatMap({ step.destination.model.entitiesByName[$0] })
        else { return nil }
        let properties = properties(from: source, to: destination, isInferred: step.isInferred)
        let policy = mapping.entityMigrationPolicyClassName
        if properties.isEmpty, policy == nil, source.name == destination.name { return nil }
        return EntityChange(
            kind: .changed, name: destination.name ?? "", formerName: source.name, records: records,
            properties: properties, policy: policy)
    }

    private static func properties(
        from source: NSEntityDescription, to destination: NSEntityDescription, isInferred: Bool
    ) -> [PropertyChange] {
        var changes: [PropertyChange] = []
        var taken: Set<String> = []
        for property in destination.properties.sorted(by: { $0.name < $1.name }) where !property.isTransient {
            guard let former = isInferred ? property.source(in: source) : namesake(of: property, in: source) else {
                changes.append(PropertyChange(kind: .added, name: property.name, formerName: nil))
                continue
            }
            taken.insert(former.name)
            if former.name != property.name {
                changes.append(PropertyChange(kind: .renamed, name: property.name, formerName: former.name))
            } else if former.versionHash != property.versionHash {
                changes.append(PropertyChange(kind: .changed, name: property.name, formerName: former.name))
            }
        }
        return changes
            + source.properties.filter { !$0.isTransient && !taken.contains($0.name) }.map(\.name).sorted().map {
                PropertyChange(kind: .removed, name: $0, formerName: $0)
            }
    }

    /// The probable source property if a developer's mapping model decides.
    private static func namesake(
        of property: NSPropertyDescription, in source: NSEntityDescription
    ) -> NSPropertyDescription? {
        [property.renamingIdentifier, property.name].compactMap { $0 }
            .lazy.compactMap { source.propertiesByName[$0] }.first
    }
}
