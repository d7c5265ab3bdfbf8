import Foundation

/// Which destination objects were made of which source objects, for each mapping.
///
/// Objects that were not saved yet are held; of all others only the keys of their rows are kept.
final class MigrationAssociations {
    private struct Unsaved {
        let source: NSManagedObject
        let destination: NSManagedObject
        let mapping: String
    }

    private let sources: MigratedObjects
    private let destinations: MigratedObjects
    private var byMapping: [String: RowPairs] = [:]
    /// The mappings in the order in which they made their first objects.
    private var names: [String] = []
    private var unsaved: [Unsaved] = []

    init(sources: MigratedObjects, destinations: MigratedObjects) {
        self.sources = sources
        self.destinations = destinations
    }

    func add(_ source: NSManagedObject, _ destination: NSManagedObject, mapping: String) {
        unsaved.append(Unsaved(source: source, destination: destination, mapping: mapping))
    }

    /// Lets the objects go that have rows by now, and those that were deleted before they had any.
    func settle() {
        for pair in unsaved {
            guard let source = pair.source.rowKey, let destination = pair.destination.rowKey else { continue }
            if byMapping[pair.mapping] == nil { names.append(pair.mapping) }
            byMapping[pair.mapping, default: RowPairs()].add(source, destination)
        }
        unsaved = []
    }

    func reset() {
        byMapping = [:]
        names = []
        unsaved = []
    }

    /// The pairs of a mapping whose objects are saved.
    func pairs(of mapping: String) -> RowPairs { byMapping[mapping] ?? RowPairs() }

    /// The objects that were made of others, saved ones first.
    ///
    /// - Parameters:
    ///   - mapping: `nil` means all mappings.
    ///   - sources: `nil` means all.
    func destinations(mapping: String?, of sources: [NSManagedObject]?) -> [NSManagedObject] {
        let wanted = mapping.map { [$0] } ?? names
        let fresh = unsaved.filter { mapping == nil || $0.mapping == mapping }
        guard let sources else {
            return wanted.flatMap { name in
                let pairs = pairs(of: name)
                return pairs[0..<pairs.count].map { destinations.object($0.destination) }
            } + fresh.map(\.destination)
        }
        return sources.flatMap { source in
            let saved = source.rowKey.map { key in wanted.flatMap { byMapping[$0]?.destinations(of: key) ?? [] } }
            return (saved ?? []).map(destinations.object) + fresh.filter { $0.source === source }.map(\.destination)
        }
    }

    func sources(mapping: String, of destinations: [NSManagedObject]?) -> [NSManagedObject] {
        let fresh = unsaved.filter { $0.mapping == mapping }
        guard let destinations else {
            let pairs = pairs(of: mapping)
            return pairs[0..<pairs.count].map { sources.object($0.source) } + fresh.map(\.source)
        }
        return destinations.flatMap { destination in
            let saved = destination.rowKey.flatMap { byMapping[mapping]?.sources(of: $0) }
            return (saved ?? []).map(sources.object) + fresh.filter { $0.destination === destination }.map(\.source)
        }
    }
}
