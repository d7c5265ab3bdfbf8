import Foundation
import PredicateSyntax

/// The related objects that a list's predicate, sort descriptors and section key path depend on.
///
/// When one of them changes, the objects that depend on it count as touched, although they did not change themselves.
/// They are found by one query of the store for each key path, and by checking each of the context's unsaved objects.
struct RelatedObjects {
    /// A step of a key path: the list depends on objects of `entity` at `keyPath`.
    struct Link {
        let keyPath: [String]
        let entity: NSEntityDescription
        let isToMany: Bool
        /// The properties that the list depends on; `nil` for any, empty if only the membership counts.
        var keys: Set<String>?
    }

    private(set) var links: [Link] = []
    private let plan: FetchPlan

    /// - Returns: `nil` if the list depends only on properties of its own objects.
    init?(_ definition: ListDefinition) {
        plan = definition.plan
        var paths = plan.sortDescriptors.map(\.storeSortKey.keyPath)
        if let sectionKey = definition.sectionKey { paths.append(sectionKey.keys) }
        if let rule = definition.rule { paths += rule.paths }
        if let aggregates = definition.aggregates { paths += aggregates.paths }
        if let tree = plan.predicate?.syntaxTree { paths += tree.keyPaths }
        for path in paths { add(path) }
        if links.isEmpty { return nil }
    }

    private mutating func add(_ keys: [String]) {
        var entity = plan.entity
        var isToMany = false
        for (index, key) in keys.enumerated() {
            guard let relationship = entity.property(named: key) as? NSRelationshipDescription,
                let destination = relationship.destinationEntity
            else { return }
            isToMany = isToMany || relationship.isToMany
            let next = keys.dropFirst(index + 1).first
            let looked = Self.looked(at: next)
            if looked?.isEmpty != true || Self.isKeptByMembers(relationship) {
                add(Array(keys[...index]), destination, isToMany, looksAt: looked)
            }
            entity = destination
        }
    }

    /// The properties of the destination that the list depends on; `nil` for any, empty if only the membership counts.
    private static func looked(at next: String?) -> Set<String>? {
        guard let next, next != "@count" else { return [] }
        return next.hasPrefix("@") ? nil : [next]
    }

    /// True if the foreign key is in the member's row: a batch can change that, and reports the member alone. A change
    /// of any other membership changes both ends.
    private static func isKeptByMembers(_ relationship: NSRelationshipDescription) -> Bool {
        relationship.isToMany && relationship.inverseRelationship?.isToMany == false
    }

    private mutating func add(
        _ keyPath: [String], _ entity: NSEntityDescription, _ isToMany: Bool, looksAt keys: Set<String>?
    ) {
        guard let known = links.firstIndex(where: { $0.keyPath == keyPath }) else {
            return links.append(Link(keyPath: keyPath, entity: entity, isToMany: isToMany, keys: keys))
        }
        if let keys, let all = links[known].keys {
            links[known].keys = all.union(keys)
        } else {
            links[known].keys = nil
        }
    }

    /// True if the list depends on objects of `entity`.
    func looks(at entity: NSEntityDescription) -> Bool { links.contains { entity.isKindOf(entity: $0.entity) } }

    /// Adds the objects that depend on touched ones.
    ///
    /// - Throws: the store's errors.
    func addObjects(
        thatLookAt touched: TouchedObjects, to result: inout TouchedObjects, context: NSManagedObjectContext
    ) throws {
        for link in links {
            let ids = Self.touchedIDs(touched, over: link)
            if !ids.isEmpty { try addObjects(looking: link, at: ids, to: &result, context) }
        }
    }

    private func addObjects(
        looking link: Link, at ids: Set<NSManagedObjectID>, to result: inout TouchedObjects,
        _ context: NSManagedObjectContext
    ) throws {
        addUnsaved(looking: link, at: ids, to: &result, context)
        try addSaved(looking: link, at: ids, to: &result, context)
        // Intermediate objects with unsaved relationships, which the store does not know. There is a link for each step
        // of a path.
        for way in links where way.keyPath.count < link.keyPath.count && link.keyPath.starts(with: way.keyPath) {
            let between = Self.unsaved(
                of: way.entity, looking: link.keyPath.dropFirst(way.keyPath.count), at: ids, context)
            if !between.isEmpty { try addObjects(looking: way, at: between, to: &result, context) }
        }
    }

    /// The objects with an unsaved relationship that reaches one of `ids`.
    private static func unsaved(
        of entity: NSEntityDescription, looking keyPath: ArraySlice<String>, at ids: Set<NSManagedObjectID>,
        _ context: NSManagedObjectContext
    ) -> Set<NSManagedObjectID> {
        let path = keyPath.joined(separator: ".")
        let changed = context.changes.updated.all.filter { object in
            object.entity.isKindOf(entity: entity) && keyPath.first.map { object.changedValues()[$0] != nil } ?? false
        }
        let new = context.changes.inserted.all.filter { $0.entity.isKindOf(entity: entity) }
        return Set((changed + new).filter { isLooking($0, over: path, at: ids) }.map(\.objectID))
    }

    private static func isLooking(
        _ object: NSManagedObject, over path: String, at ids: Set<NSManagedObjectID>
    ) -> Bool {
        leads(object.value(forKeyPath: path), to: ids)
    }

    /// True if `value`, the result of a key path, is or contains an object in `ids`. A path over several to-many
    /// relationships results in nested collections.
    private static func leads(_ value: Any?, to ids: Set<NSManagedObjectID>) -> Bool {
        switch value {
        case let far as NSManagedObject: ids.contains(far.objectID)
        case let far as NSSet: far.contains(where: { leads($0, to: ids) })
        case let far as NSOrderedSet: far.contains(where: { leads($0, to: ids) })
        case let far as [Any]: far.contains(where: { leads($0, to: ids) })
        default: false
        }
    }

    private static func touchedIDs(_ touched: TouchedObjects, over link: Link) -> Set<NSManagedObjectID> {
        var ids: Set<NSManagedObjectID> = []
        for touch in touched.touches where touch.object.entity.isKindOf(entity: link.entity) {
            if let keys = touch.keys, let looked = link.keys, keys.isDisjoint(with: looked) { continue }
            ids.insert(touch.object.objectID)
        }
        for id in touched.changedIDs where id.entity.isKindOf(entity: link.entity) { ids.insert(id) }
        return ids
    }

    /// Adds unsaved objects: their saved values in the store do not count.
    private func addUnsaved(
        looking link: Link, at ids: Set<NSManagedObjectID>, to result: inout TouchedObjects,
        _ context: NSManagedObjectContext
    ) {
        let path = link.keyPath.joined(separator: ".")
        for object in context.changes.inserted.all + context.changes.updated.all where plan.includes(object.entity) {
            if Self.isLooking(object, over: path, at: ids) { result.note(object) }
        }
    }

    private func addSaved(
        looking link: Link, at ids: Set<NSManagedObjectID>, to result: inout TouchedObjects,
        _ context: NSManagedObjectContext
    ) throws {
        let saved = ids.filter { !$0.isTemporaryID }
        guard !saved.isEmpty else { return }
        let request = NSFetchRequest<NSFetchRequestResult>()
        request.entity = plan.entity
        request.includesSubentities = plan.includesSubentities
        request.affectedStores = plan.stores
        request.includesPendingChanges = false
        request.resultType = .managedObjectIDResultType
        request.predicate = NSPredicate.make(
            .comparison(
                ComparisonTree(
                    left: .keyPath(link.keyPath), right: .constant(Array(saved)), comparison: .in,
                    modifier: link.isToMany ? .any : .direct)))
        let found = try context.fetchPipeline.fetch(request).compactMap { $0 as? NSManagedObjectID }
        result.noteChanged(
            found.filter { id in
                guard let object = context.registry.registered(id) else { return true }
                return !object.hasChanges
            })
    }
}
