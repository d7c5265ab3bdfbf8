import CoreData
import Foundation

/// The attributes by which objects are looked up, and the topmost entity that has them. Shared by all look-ups by the
/// same attributes.
final class ImportKey {
    let number: Int
    let entity: NSEntityDescription
    let attributes: [NSAttributeDescription]

    fileprivate init(number: Int, entity: NSEntityDescription, attributes: [NSAttributeDescription]) {
        self.number = number
        self.entity = entity
        self.attributes = attributes
    }

    /// True if a store has an index of the attributes, because they are unique together.
    var isUnique: Bool {
        let names = Set(attributes.map(\.name))
        return entity.uniquenessConstraints.contains { constraint in
            names == Set(constraint.compactMap { ($0 as? String) ?? ($0 as? NSPropertyDescription)?.name })
        }
    }

    /// The values of the key in an object; `nil` if one of them is null.
    func identity(of object: NSManagedObject) -> ImportIdentity? {
        var parts: [SlotValue] = []
        for attribute in attributes {
            guard case .attribute(let slot) = object.layout.place(of: attribute.name) else { return nil }
            let value = object.slotValue(slot)
            if value.isNull { return nil }
            parts.append(value)
        }
        return parts.count == 1 ? .one(parts[0]) : .several(parts)
    }
}

final class ImportKeys {
    private(set) var all: [ImportKey] = []

    /// The key for these attributes; `nil` if there are none.
    func key(_ attributes: [NSAttributeDescription], of entity: NSEntityDescription?) -> ImportKey? {
        guard var root = entity, !attributes.isEmpty else { return nil }
        while let parent = root.superentity, attributes.allSatisfy({ parent.attributesByName[$0.name] != nil }) {
            root = parent
        }
        let names = attributes.map(\.name)
        if let known = all.first(where: { $0.entity === root && $0.attributes.map(\.name) == names }) { return known }
        all.append(ImportKey(number: all.count, entity: root, attributes: attributes))
        return all[all.count - 1]
    }
}

/// The values of a key, which identify an object.
enum ImportIdentity: Hashable {
    case one(SlotValue)
    case several([SlotValue])

    func part(_ index: Int) -> SlotValue {
        switch self {
        case .one(let value): value
        case .several(let values): values[index]
        }
    }
}

/// The objects to which the records of a batch refer, found by one fetch per key.
struct ImportLookUp {
    private struct Table {
        var wanted: [ImportIdentity] = []
        var seen: Set<ImportIdentity> = []
        var found: [ImportIdentity: [NSManagedObject]] = [:]
    }

    private let keys: ImportKeys
    /// The wanted and the found objects: one table for each key, by the key's number.
    private var tables: [Table]

    /// The maximum number of values in one query. SQLite limits a statement to 32,766 values, and the depth of
    /// expressions.
    private static let most = 10_000
    private static let mostAlternatives = 400

    init(_ keys: ImportKeys) {
        self.keys = keys
        tables = keys.all.map { _ in Table() }
    }

    /// Adds tables for keys that were added since.
    private mutating func makeRoom(_ key: ImportKey) {
        while tables.count <= key.number { tables.append(Table()) }
    }

    mutating func want(_ identity: ImportIdentity, _ key: ImportKey) {
        makeRoom(key)
        if tables[key.number].seen.insert(identity).inserted { tables[key.number].wanted.append(identity) }
    }

    mutating func register(_ object: NSManagedObject, as identity: ImportIdentity, _ key: ImportKey) {
        makeRoom(key)
        tables[key.number].found[identity, default: []].append(object)
    }

    /// The object of `entity`, or of a descendant, with this identity.
    func object(_ identity: ImportIdentity, _ key: ImportKey, of entity: NSEntityDescription) -> NSManagedObject? {
        guard key.number < tables.count, let objects = tables[key.number].found[identity] else { return nil }
        return objects.first { ($0.entity === entity || $0.entity.isKindOf(entity: entity)) && !$0.isDeleted }
    }

    /// Fetches the wanted objects that were not fetched yet.
    /// - Throws: The errors of the context's fetch.
    mutating func fetch(from context: NSManagedObjectContext) throws {
        for (key, index) in zip(keys.all, tables.indices) {
            let wanted = tables[index].wanted
            tables[index].wanted = []
            for predicate in Self.predicates(key, wanted) {
                let request = NSFetchRequest<NSManagedObject>()
                request.entity = key.entity
                request.predicate = predicate
                for object in try context.fetch(request) {
                    guard let identity = key.identity(of: object), tables[index].seen.contains(identity) else {
                        continue
                    }
                    tables[index].found[identity, default: []].append(object)
                }
            }
        }
    }

    /// Predicates that together find these objects. Of several attributes, the one with the most values is listed for
    /// each combination of the others. If that takes several predicates and there is no index, they list the values of
    /// each attribute separately instead: fast to evaluate, but they find additional objects.
    private static func predicates(_ key: ImportKey, _ identities: [ImportIdentity]) -> [NSPredicate] {
        guard key.attributes.count > 1 else {
            return pieces(of: identities, most).map { isIn($0.map { $0.part(0) }, key.attributes[0]) }
        }
        let counts = key.attributes.indices.map { place in Set(identities.map { $0.part(place) }).count }
        let wide = key.attributes.indices.max { counts[$0] < counts[$1] } ?? 0
        let others = key.attributes.indices.filter { $0 != wide }
        let groups = Array(Dictionary(grouping: identities) { identity in others.map(identity.part) })
        let parts = pieces(of: groups, mostAlternatives)
        if parts.count > 1, !key.isUnique {
            return parts.flatMap { pieces(of: $0.flatMap(\.value), most) }.map { identities in
                NSCompoundPredicate(
                    andPredicateWithSubpredicates: key.attributes.enumerated().map { place, attribute in
                        isIn(identities.map { $0.part(place) }, attribute)
                    })
            }
        }
        return parts.flatMap { groups -> [NSPredicate] in
            let alternatives = groups.flatMap { values, identities in
                pieces(of: identities, most / groups.count).map { identities in
                    NSCompoundPredicate(
                        andPredicateWithSubpredicates: zip(others, values).map { isIn([$1], key.attributes[$0]) }
                            + [isIn(identities.map { $0.part(wide) }, key.attributes[wide])])
                }
            }
            return pieces(of: alternatives, mostAlternatives).map(
                NSCompoundPredicate.init(orPredicateWithSubpredicates:))
        }
    }

    private static func isIn(_ values: [SlotValue], _ attribute: NSAttributeDescription) -> NSPredicate {
        let values = Set(values).compactMap { AttributeCoercion.value($0, type: attribute.attributeType) }
        return NSPredicate(format: "%K IN %@", attribute.name, values)
    }

    private static func pieces<Element>(of list: [Element], _ count: Int) -> [[Element]] {
        stride(from: 0, to: list.count, by: count).map { Array(list[$0..<min($0 + count, list.count)]) }
    }
}
