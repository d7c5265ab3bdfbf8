import Foundation

/// The destination objects created from each source object, by mapping.
///
/// Retains objects that are not saved yet; for saved objects only row keys are kept.
final class MigrationAssociations {
    private struct Unsaved {
        let source: NSManagedObject
        let destination: NSManagedObject
        let mapping: String
        /// The indexes of the previous pair with the same source, and with the same destination.
        let previous: (bySource: Int?, byDestination: Int?)
    }

    private let sources: MigratedObjects
    private let destinations: MigratedObjects
    private var byMapping: [String: RowPairs] = [:]
    /// The mappings, in the order in which they created their first objects.
    private var names: [String] = []
    private var unsaved: [Unsaved] = []
    /// The index of each object's last unsaved pair.
    private var lastBySource: [ObjectIdentifier: Int] = [:]
    private var lastByDestination: [ObjectIdentifier: Int] = [:]

    init(sources: MigratedObjects, destinations: MigratedObjects) {
        self.sources = sources
        self.destinations = destinations
    }

    func add(_ source: NSManagedObject, _ destination: NSManagedObject, mapping: String) {
        let place = unsaved.count
        let previous = (
            bySource: lastBySource.updateValue(place, forKey: ObjectIdentifier(source)),
            byDestination: lastByDestination.updateValue(place, forKey: ObjectIdentifier(destination))
        )
        unsaved.append(Unsaved(source: source, destination: destination, mapping: mapping, previous: previous))
    }

    /// The unsaved pairs of an object, in the order in which they were recorded.
    private func unsaved(from last: Int?, _ mapping: String?, _ previous: (Unsaved) -> Int?) -> [Unsaved] {
        guard var place = last else { return [] }
        var found: [Unsaved] = []
        while true {
            let pair = unsaved[place]
            if mapping == nil || pair.mapping == mapping { found.append(pair) }
            guard let next = previous(pair) else { return found.reversed() }
            place = next
        }
    }

    private func forgetUnsaved() {
        unsaved.removeAll(keepingCapacity: true)
        lastBySource.removeAll(keepingCapacity: true)
        lastByDestination.removeAll(keepingCapacity: true)
    }

    /// Releases objects that are now saved, and objects that were deleted before a save.
    func settle() {
        for pair in unsaved {
            guard let source = pair.source.rowKey, let destination = pair.destination.rowKey else { continue }
            if byMapping[pair.mapping] == nil { names.append(pair.mapping) }
            byMapping[pair.mapping, default: RowPairs()].add(source, destination)
        }
        forgetUnsaved()
    }

    func reset() {
        byMapping = [:]
        names = []
        forgetUnsaved()
    }

    /// The saved pairs of a mapping.
    func pairs(of mapping: String) -> RowPairs { byMapping[mapping] ?? RowPairs() }

    /// The destination objects created from `sources`, saved ones first.
    ///
    /// - Parameters:
    ///   - mapping: `nil` means all mappings.
    ///   - sources: `nil` means all sources.
    func destinations(mapping: String?, of sources: [NSManagedObject]?) -> [NSManagedObject] {
        let wanted = mapping.map { [$0] } ?? names
        guard let sources else {
            return wanted.flatMap { name in
                let pairs = pairs(of: name)
                return pairs[0..<pairs.count].map { destinations.object($0.destination) }
            } + unsaved.filter { mapping == nil || $0.mapping == mapping }.map(\.destination)
        }
        return sources.flatMap { source in
            let saved = source.rowKey.map { key in wanted.flatMap { byMapping[$0]?.destinations(of: key) ?? [] } }
            let fresh = unsaved(from: lastBySource[ObjectIdentifier(source)], mapping) { $0.previous.bySource }
            return (saved ?? []).map(destinations.object) + fresh.map(\.destination)
        }
    }

    func sources(mapping: String, of destinations: [NSManagedObject]?) -> [NSManagedObject] {
        guard let destinations else {
            let pairs = pairs(of: mapping)
            return pairs[0..<pairs.count].map { sources.object($0.source) }
                + unsaved.filter { $0.mapping == mapping }.map(\.source)
        }
        return destinations.flatMap { destination in
            let saved = destination.rowKey.flatMap { byMapping[mapping]?.sources(of: $0) }
            let fresh = unsaved(from: lastByDestination[ObjectIdentifier(destination)], mapping) {
                $0.previous.byDestination
            }
            return (saved ?? []).map(sources.object) + fresh.map(\.source)
        }
    }
}
