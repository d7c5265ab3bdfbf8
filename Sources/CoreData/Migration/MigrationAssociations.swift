import Foundation

/// Which destination objects were made of which source objects, for each mapping.
///
/// Objects that were not saved yet are held; of all others only the IDs are kept.
final class MigrationAssociations {
    private struct Pairs {
        var destinations: [NSManagedObjectID: [NSManagedObjectID]] = [:]
        var sources: [NSManagedObjectID: [NSManagedObjectID]] = [:]
        /// The destinations in the order in which they were made.
        var order: [NSManagedObjectID] = []
    }

    private struct Unsaved {
        let source: NSManagedObject
        let destination: NSManagedObject
        let mapping: String
    }

    private var byMapping: [String: Pairs] = [:]
    private var unsaved: [Unsaved] = []

    func add(_ source: NSManagedObject, _ destination: NSManagedObject, mapping: String) {
        unsaved.append(Unsaved(source: source, destination: destination, mapping: mapping))
    }

    /// Lets the objects go whose IDs are permanent by now.
    func settle() {
        for pair in unsaved {
            let (source, destination) = (pair.source.objectID, pair.destination.objectID)
            byMapping[pair.mapping, default: Pairs()].destinations[source, default: []].append(destination)
            byMapping[pair.mapping, default: Pairs()].sources[destination, default: []].append(source)
            byMapping[pair.mapping, default: Pairs()].order.append(destination)
        }
        unsaved = []
    }

    func reset() {
        byMapping = [:]
        unsaved = []
    }

    /// The destinations of a mapping, saved ones first.
    func order(of mapping: String) -> [NSManagedObjectID] { byMapping[mapping]?.order ?? [] }

    /// - Parameters:
    ///   - mapping: `nil` means all mappings.
    ///   - sources: `nil` means all.
    func destinations(
        mapping: String?, of sources: [NSManagedObject]?, in context: NSManagedObjectContext
    ) -> [NSManagedObject] {
        let wanted = mapping.map { [$0] } ?? Array(byMapping.keys)
        let fresh = unsaved.filter { mapping == nil || $0.mapping == mapping }
        guard let sources else {
            return wanted.flatMap { byMapping[$0]?.order ?? [] }.map(context.object(with:)) + fresh.map(\.destination)
        }
        return sources.flatMap { source in
            wanted.flatMap { byMapping[$0]?.destinations[source.objectID] ?? [] }.map(context.object(with:))
                + fresh.filter { $0.source === source }.map(\.destination)
        }
    }

    func sources(
        mapping: String, of destinations: [NSManagedObject]?, in context: NSManagedObjectContext
    ) -> [NSManagedObject] {
        let fresh = unsaved.filter { $0.mapping == mapping }
        guard let destinations else {
            return (byMapping[mapping]?.destinations.keys.map(context.object(with:)) ?? []) + fresh.map(\.source)
        }
        return destinations.flatMap { destination in
            (byMapping[mapping]?.sources[destination.objectID] ?? []).map(context.object(with:))
                + fresh.filter { $0.destination === destination }.map(\.source)
        }
    }
}
