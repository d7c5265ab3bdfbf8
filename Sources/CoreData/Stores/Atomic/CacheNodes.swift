import Foundation

/// The nodes of an atomic store, and their state before a save.
struct CacheNodes {
    private var byID: [NSManagedObjectID: NSAtomicStoreCacheNode] = [:]
    private var kept: [(node: NSAtomicStoreCacheNode, values: NSMutableDictionary?)] = []

    var all: some Collection<NSAtomicStoreCacheNode> { byID.values }

    subscript(id: NSManagedObjectID) -> NSAtomicStoreCacheNode? { byID[id] }

    mutating func add(_ nodes: Set<NSAtomicStoreCacheNode>) { for node in nodes { byID[node.objectID] = node } }

    mutating func remove(_ nodes: Set<NSAtomicStoreCacheNode>) { for node in nodes { byID[node.objectID] = nil } }

    /// The nodes by ID, for ``restore(_:)``. Reading it begins a new record: ``keepState(of:)`` records values from now
    /// on.
    var state: [NSManagedObjectID: NSAtomicStoreCacheNode] {
        mutating get {
            kept = []
            return byID
        }
    }

    /// Removes references to deleted nodes from the relationships that have no inverse.
    mutating func dropReferences(to removed: Set<NSAtomicStoreCacheNode>) {
        var dangling: [Int: [NSRelationshipDescription]] = [:]
        for node in byID.values {
            let entity = node.objectID.entity
            let relationships =
                dangling[entity.layout.index]
                ?? entity.relationshipsByName.values.filter { $0.mayDangle && !$0.isTransient }
            dangling[entity.layout.index] = relationships
            for relationship in relationships {
                let value = node.value(forKey: relationship.name)
                let members = relationship.isToMany ? Self.members(of: value) : [value].compactMap { $0 }
                let kept = members.filter { member in
                    !((member as? NSAtomicStoreCacheNode).map(removed.contains) ?? false)
                }
                guard kept.count < members.count else { continue }
                keepState(of: node)
                node.setValue(
                    relationship.isToMany ? Self.collection(of: kept, like: value) : nil, forKey: relationship.name)
            }
        }
    }

    /// Records the values of a node before it changes.
    mutating func keepState(of node: NSAtomicStoreCacheNode) {
        kept.append((node, node.propertyCache?.mutableCopy() as? NSMutableDictionary))
    }

    mutating func restore(_ state: [NSManagedObjectID: NSAtomicStoreCacheNode]) {
        byID = state
        for (node, values) in kept.reversed() { node.propertyCache = values }
        kept = []
    }

    /// Returns a collection of the type that the store's class set in the node.
    private static func collection(of members: [Any], like value: Any?) -> Any {
        switch value {
        case is NSOrderedSet: NSOrderedSet(array: members)
        case is NSArray, is [Any]: members
        default: NSSet(array: members)
        }
    }

    /// Returns the members of a set or list of any type.
    static func members(of value: Any?) -> [Any] {
        switch value {
        case let list as NSOrderedSet: list.array
        case let set as NSSet: set.allObjects
        case let list as NSArray: Array(list)
        case let list as [Any]: list
        case let set as Set<AnyHashable>: set.map(\.base)
        default: []
        }
    }
}

/// A row to insert into the tables in which an atomic store's rows are searched.
struct AtomicRow {
    let id: NSManagedObjectID
    var values: [SlotValue]
    /// The members of to-many relationships, by the relationship's number in the layout.
    var lists: [Int: [NSManagedObjectID]] = [:]
}

/// Converts nodes to rows.
struct NodeReader {
    /// The path of the store, for errors.
    let store: String
    let nodes: CacheNodes

    /// Converts all nodes to rows.
    ///
    /// - Throws: 259 for a value that its attribute cannot have, and for a relationship to a row that does not exist.
    func read() throws -> [AtomicRow] { try nodes.all.map(row) }

    private func row(of node: NSAtomicStoreCacheNode) throws -> AtomicRow {
        let layout = node.objectID.entity.layout
        var row = AtomicRow(id: node.objectID, values: [])
        for property in layout.slots {
            let value = property.isTransient ? nil : node.value(forKey: property.name)
            guard let attribute = property as? NSAttributeDescription else {
                row.values.append(try value.map { .reference(try destination($0, property, node)) } ?? .null)
                continue
            }
            guard let slot = AttributeCoercion.slotValue(value, for: attribute) else {
                throw refusal(
                    property, node, "has a value of the wrong type \(value.map { "\(type(of: $0))" } ?? "nil")")
            }
            row.values.append(slot)
        }
        for (number, relationship) in layout.toManyRelationships.enumerated() where !relationship.isTransient {
            let members = CacheNodes.members(of: node.value(forKey: relationship.name))
            if !members.isEmpty { row.lists[number] = try members.map { try destination($0, relationship, node) } }
        }
        return row
    }

    private func destination(
        _ value: Any, _ property: NSPropertyDescription, _ node: NSAtomicStoreCacheNode
    ) throws -> NSManagedObjectID {
        guard let id = (value as? NSAtomicStoreCacheNode)?.objectID ?? (value as? NSManagedObjectID), nodes[id] != nil
        else { throw refusal(property, node, "refers to \(value), which is not a row of the store") }
        return id
    }

    private func refusal(
        _ property: NSPropertyDescription, _ node: NSAtomicStoreCacheNode, _ what: String
    ) -> NSError {
        CoreDataError.make(
            259, "Cannot open the store \(store): '\(property.name)' of \(node.objectID) \(what).",
            userInfo: [NSFilePathErrorKey: store])
    }
}
