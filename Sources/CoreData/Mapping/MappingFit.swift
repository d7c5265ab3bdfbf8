import Foundation

/// Compares mappings with their source and destination models.
struct MappingFit {
    let source: NSManagedObjectModel
    let destination: NSManagedObjectModel

    init(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) {
        self.source = source
        self.destination = destination
    }

    /// True if each entity of both models has a mapping with its version hash.
    func isExact(_ mappings: [NSEntityMapping]) -> Bool {
        let sources = Set(mappings.compactMap(\.sourceEntityVersionHash))
        let destinations = Set(mappings.compactMap(\.destinationEntityVersionHash))
        return problem(of: mappings) == nil
            && source.entities.allSatisfy { $0.isAbstract || Self.isNamed($0, in: sources) }
            && destination.entities.allSatisfy { $0.isAbstract || Self.isNamed($0, in: destinations) }
    }

    private static func isNamed(_ entity: NSEntityDescription, in hashes: Set<Data>) -> Bool {
        hashes.contains(entity.versionHash) || VersionHash.earlier(entity).map(hashes.contains) ?? false
    }

    /// The mismatch as a clause for a message; `nil` if all named entities exist with their hashes.
    func problem(of mappings: [NSEntityMapping]) -> String? {
        var names: Set<String> = []
        for mapping in mappings {
            guard names.insert(mapping.name).inserted else { return "it has two mappings named \(mapping.name ?? "")" }
            if let problem = problem(
                source, "source", mapping.sourceEntityName, mapping.sourceEntityVersionHash)
                ?? problem(
                    destination, "destination", mapping.destinationEntityName, mapping.destinationEntityVersionHash)
            {
                return "its mapping \(mapping.name ?? "") \(problem)"
            }
        }
        return nil
    }

    private func problem(_ model: NSManagedObjectModel, _ side: String, _ name: String?, _ hash: Data?) -> String? {
        guard let name else { return nil }
        guard let entity = model.entitiesByName[name] else {
            return "names \(name), which the \(side) model does not have"
        }
        guard let hash, !VersionHash.fits(hash, entity) else { return nil }
        return "was made for a version of \(name) that the \(side) model does not have"
    }
}
