import CoreData
import Foundation

/// The properties of one entity in two models.
struct EntityComparison {
    /// The entity in the old and in the new model.
    let old: NSEntityDescription
    let new: NSEntityDescription
    let key: RecordKey
    /// Names of the properties that are compared: attributes, then relationships.
    let names: [String]
    /// Properties that only one model has, or that have another type in the other one.
    let changedProperties: [(change: RecordChange.Kind, name: String)]

    init(_ old: NSEntityDescription, _ new: NSEntityDescription) {
        (self.old, self.new) = (old, new)
        key = RecordKey(of: old, and: new)
        let (all, others) = (Self.properties(of: old), Self.properties(of: new))
        let (names, newNames) = (all.map(\.name), others.map(\.name))
        self.names = names.filter { newNames.contains($0) }
        changedProperties =
            names.filter { !newNames.contains($0) }.map { (.removed, $0) }
            + newNames.filter { !names.contains($0) }.map { (.added, $0) }
            + self.names.filter { name in
                guard let property = old.propertiesByName[name], let other = new.propertiesByName[name] else {
                    return false
                }
                return Self.type(of: property) != Self.type(of: other)
            }.map { (.changed, $0) }
    }

    private static func properties(of entity: NSEntityDescription) -> [NSPropertyDescription] {
        entity.storedAttributes.filter { !$0.isOfTheMoment } + entity.storedRelationships
    }

    private static func type(of property: NSPropertyDescription) -> [String] {
        switch property {
        case let attribute as NSAttributeDescription: ["\(attribute.attributeType.rawValue)"]
        case let relationship as NSRelationshipDescription:
            [relationship.destinationEntity?.name ?? "", "\(relationship.isToMany)", "\(relationship.isOrdered)"]
        default: []
        }
    }
}

/// The records of one side of a comparison, one after the other.
final class ComparedRecords {
    struct Record {
        let key: RecordKey.Value
        /// The values of the compared properties.
        let values: [JSONValue]
    }

    private let session: StoreSession
    private let walk: RecordWalk
    private let key: RecordKey
    private let properties: [NSPropertyDescription?]
    private var missing: UnreadableValues
    /// The keys of entities that relationships lead to.
    private var keys: [ObjectIdentifier: RecordKey] = [:]
    /// The records of the last batch, in reverse order.
    private var batch: [Record] = []
    private var last: RecordKey.Value?
    private let interruption: any Interruption

    init(
        of entity: NSEntityDescription, _ comparison: EntityComparison, in session: StoreSession,
        _ surroundings: CommandSurroundings
    ) throws {
        self.session = session
        key = comparison.key
        interruption = surroundings.interruption
        properties = comparison.names.map { entity.propertiesByName[$0] }
        missing = UnreadableValues(session.coordinator, countingUncoded: false)
        walk = try session.perform { [key] in try RecordWalk(of: entity, by: key.keyPaths, in: session.context) }
    }

    var count: Int { walk.count }
    var position: Int { walk.position - batch.count }

    /// One line about values that cannot be read; `nil` if there are none.
    func missingLine() throws -> String? { try session.perform { try missing.line() } }

    /// The next record; `nil` after the last.
    ///
    /// - Throws: ``CommandError`` if the store returns the records in another order than that of their keys.
    func next() throws -> Record? {
        while batch.isEmpty {
            if interruption.isRaised { throw CommandError.interrupted }
            let read = try session.perform {
                try walk.nextBatch { batch in
                    try batch.objects.map { try record($0, batch.uncoded[$0.objectID] ?? [:]) }
                }
            }
            guard let read else { return nil }
            batch = read.reversed()
        }
        let next = batch.removeLast()
        if let last, next.key < last {
            throw CommandError.failure(
                "\(session.name) does not sort its records by their keys, so they cannot be compared"
            )
        }
        last = next.key
        return next
    }

    private func record(_ object: NSManagedObject, _ uncoded: [String: Data]) throws -> Record {
        try missing.look(at: object)
        return Record(
            key: key.value(of: object),
            values: properties.map { property in
                guard let property else { return .null }
                if let data = uncoded[property.name] { return .string(data.base64EncodedString()) }
                return value(of: property, in: object)
            })
    }

    /// A property's value, with related records by their keys.
    private func value(of property: NSPropertyDescription, in object: NSManagedObject) -> JSONValue {
        let value = object.value(forKey: property.name)
        switch property {
        case let attribute as NSAttributeDescription: return ValueText.json(value, of: attribute)
        case let relationship as NSRelationshipDescription where relationship.isToMany:
            let members = (value as? NSOrderedSet)?.array ?? (value as? NSSet)?.allObjects ?? []
            let names = members.compactMap { ($0 as? NSManagedObject).map(name) }
            return .array(relationship.isOrdered ? names : names.sorted { $0.text < $1.text })
        default: return (value as? NSManagedObject).map(name) ?? .null
        }
    }

    private func name(of object: NSManagedObject) -> JSONValue {
        let id = ObjectIdentifier(object.entity)
        let key = keys[id] ?? RecordKey(of: object.entity)
        keys[id] = key
        return key.value(of: object).name
    }
}
