import CoreData
import Foundation

/// A step of a migration as lines for a person: what becomes of each entity and its properties.
struct MigrationPlanText {
    let step: MigrationStep
    /// The records of each entity of the step's source; empty where they are not known beforehand.
    let counts: [String: Int]

    /// What changes; entities that stay as they are have no line.
    var lines: [String] {
        (step.mapping.entityMappings ?? []).compactMap { mapping in
            switch mapping.mappingType {
            case .addEntityMappingType: return "+ \(mapping.destinationEntityName ?? "")"
            case .removeEntityMappingType: return "− \(mapping.sourceEntityName ?? "")" + count(mapping)
            case .copyEntityMappingType: return nil
            default: return changes(of: mapping)
            }
        }
    }

    private func count(_ mapping: NSEntityMapping) -> String {
        guard let number = mapping.sourceEntityName.flatMap({ counts[$0] }) else { return "" }
        return number == 1 ? " (1 record)" : " (\(number) records)"
    }

    private func changes(of mapping: NSEntityMapping) -> String? {
        guard let source = mapping.sourceEntityName.flatMap({ step.source.model.entitiesByName[$0] }),
            let destination = mapping.destinationEntityName.flatMap({ step.destination.model.entitiesByName[$0] })
        else { return nil }
        var parts: [String] = []
        var taken: Set<String> = []
        for property in destination.properties.sorted(by: { $0.name < $1.name }) {
            let former = [property.renamingIdentifier, property.name].compactMap { $0 }
                .lazy.compactMap { source.propertiesByName[$0] }.first
            guard let former else {
                parts.append("+ \(property.name)")
                continue
            }
            taken.insert(former.name)
            if former.name != property.name {
                parts.append("\(former.name) → \(property.name)")
            } else if former.versionHash != property.versionHash {
                parts.append("~ \(property.name)")
            }
        }
        parts += source.propertiesByName.keys.filter { !taken.contains($0) }.sorted().map { "− \($0)" }
        if let policy = mapping.entityMigrationPolicyClassName { parts.append("by \(policy)") }
        let oldName = source.name ?? ""
        let name = oldName == destination.name ? oldName : "\(oldName) → \(destination.name ?? "")"
        if parts.isEmpty && oldName == destination.name { return nil }
        return "~ \(name)\(count(mapping))" + (parts.isEmpty ? "" : ": " + parts.joined(separator: ", "))
    }
}
