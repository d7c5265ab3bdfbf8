import Foundation

/// The attributes by which objects are looked up, and the entity above which there are none that have them. One for all who
/// look up by the same.
final class ImportKey {
    let number: Int
    let entity: NSEntityDescription
    let attributes: [NSAttributeDescription]

    fileprivate init(number: Int, entity: NSEntityDescription, attributes: [NSAttributeDescription]) {
        self.number = number
        self.entity = entity
        self.attributes = attributes
    }

    /// The values of the key in an object; `nil` where one has none.
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

/// All keys of an importer.
final class ImportKeys {
    private(set) var all: [ImportKey] = []

    /// The key of these attributes; `nil` without any.
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

/// The values of a key, which tell objects apart.
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

/// The objects that the records of a batch name, found by one fetch for each key.
struct ImportLookUp {
    private struct Table {
        var wanted: [ImportIdentity] = []
        var seen: Set<ImportIdentity> = []
        var found: [ImportIdentity: [NSManagedObject]] = [:]
    }

    private let keys: ImportKeys
    /// By the keys' numbers.
    private var tables: [Table]

    /// SQLite takes 32,766 values in a statement.
    private static let most = 10_000

    init(_ keys: ImportKeys) {
        self.keys = keys
        tables = keys.all.map { _ in Table() }
    }

    /// Room for keys that came since.
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

    /// The object of `entity`, or of a descendant, that has this identity.
    func object(_ identity: ImportIdentity, _ key: ImportKey, of entity: NSEntityDescription) -> NSManagedObject? {
        guard key.number < tables.count, let objects = tables[key.number].found[identity] else { return nil }
        return objects.first { ($0.entity === entity || $0.entity.isKindOf(entity: entity)) && !$0.isDeleted }
    }

    /// Fetches what is wanted and not there yet.
    /// - Throws: what the context's fetch throws.
    mutating func fetch(from context: NSManagedObjectContext) throws {
        for (key, index) in zip(keys.all, tables.indices) {
            let wanted = tables[index].wanted
            tables[index].wanted = []
            for start in stride(from: 0, to: wanted.count, by: Self.most) {
                let request = NSFetchRequest<NSManagedObject>()
                request.entity = key.entity
                request.predicate = Self.predicate(key, wanted[start..<min(start + Self.most, wanted.count)])
                for object in try context.fetch(request) {
                    guard let identity = key.identity(of: object), tables[index].seen.contains(identity) else {
                        continue
                    }
                    tables[index].found[identity, default: []].append(object)
                }
            }
        }
    }

    /// Those that have any of the values in each attribute: for a key of several attributes that is more than is wanted.
    private static func predicate(_ key: ImportKey, _ identities: ArraySlice<ImportIdentity>) -> NSPredicate {
        let parts = key.attributes.enumerated().map { place, attribute in
            let values = Set(identities.map { $0.part(place) })
                .compactMap { AttributeCoercion.value($0, type: attribute.attributeType) }
            return NSPredicate(format: "%K IN %@", attribute.name, values)
        }
        return parts.count == 1 ? parts[0] : NSCompoundPredicate(andPredicateWithSubpredicates: parts)
    }
}
