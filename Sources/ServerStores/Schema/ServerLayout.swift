import CoreData
import Foundation

/// The tables and columns of a model on a server: one table for each entity hierarchy, with the names of the model.
///
/// Immutable. Each lookup costs one hash.
final class ServerLayout: SQLSchema {
    let dialect: SQLDialect
    let schemaName: String
    /// Sorted by number.
    let entities: [NSEntityDescription]
    let tables: [ServerTable]
    let joinTables: [ServerJoinTable]
    /// The meaning of each unique constraint of the database.
    let constraints: [String: (entity: NSEntityDescription, names: [String])]
    private let numbers: [ObjectIdentifier: Int64]
    private let entitiesByNumber: [Int64: NSEntityDescription]
    private let tableIndexes: [ObjectIdentifier: Int]
    private let columns: [ObjectIdentifier: PropertyColumns]
    private let composites: [ObjectIdentifier: [[String]: String]]
    private let storages: [ObjectIdentifier: SQLToManyStorage]
    let derivations: ServerDerivations
    private let texts: [ServerTextKey: String]
    /// The tables and join tables that derived values of other rows depend on or are in.
    private(set) var derivingTables: Set<String> = []

    private struct PropertyColumns {
        var value: String?
        var entity: String?
        var position: String?
    }

    /// - Parameter stored: the entity numbers of an existing store.
    /// - Throws: 134020 if the store lacks an entity of the model; 134060 for an attribute that cannot be derived.
    init(
        entities: [NSEntityDescription], dialect: SQLDialect, schema: String, stored: [String: Int64]? = nil,
        name: String
    ) throws {
        let numbering =
            try stored.map { try EntityOrder(of: entities, stored: $0, name: name) } ?? EntityOrder(freshFor: entities)
        self.dialect = dialect
        schemaName = schema
        self.entities = numbering.entries.map(\.entity)
        numbers = Dictionary(
            numbering.entries.map { (ObjectIdentifier($0.entity), $0.number) }, uniquingKeysWith: { first, _ in first })
        entitiesByNumber = Dictionary(
            numbering.entries.map { ($0.number, $0.entity) }, uniquingKeysWith: { first, _ in first })
        var planning = ServerNames()
        derivations = try ServerDerivations(self.entities)
        tables = planning.tables(of: self.entities, derivations)
        joinTables = planning.joinTables(of: self.entities)
        constraints = planning.constraints
        var tableIndexes: [ObjectIdentifier: Int] = [:]
        var columns: [ObjectIdentifier: PropertyColumns] = [:]
        var composites: [ObjectIdentifier: [[String]: String]] = [:]
        var storages: [ObjectIdentifier: SQLToManyStorage] = [:]
        var texts: [ServerTextKey: String] = [:]
        for (index, table) in tables.enumerated() {
            for entity in table.entities { tableIndexes[ObjectIdentifier(entity)] = index }
            for column in table.columns {
                switch column.content {
                case .attribute(let attribute):
                    columns[ObjectIdentifier(attribute), default: PropertyColumns()].value = column.name
                case .text(let text, let functions):
                    texts[ServerTextKey(text: ObjectIdentifier(text), functions: functions)] = column.name
                case .element(let composite, let leaf):
                    composites[ObjectIdentifier(composite), default: [:]][leaf.path] = column.name
                case .toOne(let toOne):
                    columns[ObjectIdentifier(toOne), default: PropertyColumns()].value = column.name
                case .destinationEntity(let toOne):
                    columns[ObjectIdentifier(toOne), default: PropertyColumns()].entity = column.name
                case .position(let toOne):
                    columns[ObjectIdentifier(toOne), default: PropertyColumns()].position = column.name
                }
            }
        }
        for case let toMany as NSRelationshipDescription in self.entities.flatMap(\.ownProperties) where toMany.isToMany
        {
            guard let inverse = toMany.inverseRelationship, !inverse.isToMany,
                let known = columns[ObjectIdentifier(inverse)], let column = known.value
            else { continue }
            storages[ObjectIdentifier(toMany)] = .foreignKey(column: column, orderColumn: known.position)
        }
        for table in joinTables {
            storages[ObjectIdentifier(table.relationship)] = .joinTable(
                table.name, ownerColumn: table.owner, destinationColumn: table.destination,
                orderColumn: table.order)
            guard let inverse = table.relationship.inverseRelationship, inverse !== table.relationship else { continue }
            storages[ObjectIdentifier(inverse)] = .joinTable(
                table.name, ownerColumn: table.destination, destinationColumn: table.owner,
                orderColumn: table.inverseOrder)
        }
        self.tableIndexes = tableIndexes
        self.columns = columns
        self.composites = composites
        self.storages = storages
        self.texts = texts
        derivingTables = Set(
            derivations.all.filter { $0.isKept && !$0.hops.isEmpty }.flatMap {
                ServerDerivedPath(derivation: $0, layout: self).tables
            })
    }

    // MARK: Look-ups

    func number(of entity: NSEntityDescription) -> Int64 { numbers[ObjectIdentifier(entity)] ?? 0 }
    func entity(numbered number: Int64) -> NSEntityDescription? { entitiesByNumber[number] }
    func contains(_ entity: NSEntityDescription) -> Bool { tableIndexes[ObjectIdentifier(entity)] != nil }

    func serverTable(of entity: NSEntityDescription) -> ServerTable {
        guard let index = tableIndexes[ObjectIdentifier(entity)] else {
            preconditionFailure("The entity '\(entity.name ?? "")' is not in the store's configuration.")
        }
        return tables[index]
    }

    func table(of entity: NSEntityDescription) -> String { serverTable(of: entity).name }

    func tableText(_ name: String) -> String { dialect.quoted(schemaName) + "." + dialect.quoted(name) }

    func tableText(of entity: NSEntityDescription) -> String { tableText(table(of: entity)) }

    func column(of property: NSPropertyDescription, in entity: NSEntityDescription) -> String? {
        columns[ObjectIdentifier(property)]?.value
    }

    /// Returns the column with the result of functions on a text, in the text's table.
    func column(of text: NSAttributeDescription, by functions: [TextFunction]) -> String? {
        texts[ServerTextKey(text: ObjectIdentifier(text), functions: functions)]
    }

    func column(of composite: NSCompositeAttributeDescription, at path: [String]) -> String? {
        composites[ObjectIdentifier(composite)]?[path]
    }

    func entityColumn(of relationship: NSRelationshipDescription, in entity: NSEntityDescription) -> String? {
        columns[ObjectIdentifier(relationship)]?.entity
    }

    func positionColumn(of relationship: NSRelationshipDescription) -> String? {
        columns[ObjectIdentifier(relationship)]?.position
    }

    func entityNumbers(of entity: NSEntityDescription, includingSubentities: Bool) -> [Int64] {
        (includingSubentities ? entity.family : [entity]).compactMap { numbers[ObjectIdentifier($0)] }
    }

    func sharesTable(_ entity: NSEntityDescription) -> Bool { serverTable(of: entity).entities.count > 1 }

    func valueText(of attribute: NSAttributeDescription, in column: String) -> String {
        attribute.attributeType == .booleanAttributeType ? "(\(column))::int4" : column
    }

    func storage(of relationship: NSRelationshipDescription) -> SQLToManyStorage {
        guard let storage = storages[ObjectIdentifier(relationship)] else {
            preconditionFailure("The relationship '\(relationship.name)' is not a to-many relationship of the store.")
        }
        return storage
    }
}

/// The table of an entity hierarchy.
struct ServerTable {
    let name: String
    /// The sequence for blocks of keys.
    let sequence: String
    let root: NSEntityDescription
    let entities: [NSEntityDescription]
    let columns: [ServerColumn]
}

/// A column, except those that every table has.
struct ServerColumn {
    enum Content {
        case attribute(NSAttributeDescription)
        /// The result of functions on a text of the row, from which another attribute is derived.
        case text(NSAttributeDescription, [TextFunction])
        case element(NSCompositeAttributeDescription, NSCompositeAttributeDescription.Leaf)
        case toOne(NSRelationshipDescription)
        /// The entity number of a to-one relationship's destination.
        case destinationEntity(NSRelationshipDescription)
        /// The position in the ordered inverse of a to-one relationship.
        case position(NSRelationshipDescription)
    }

    let name: String
    let type: ServerType
    let content: Content
    let entity: NSEntityDescription
}

/// The join table of a relationship that is to-many at both ends or has no inverse: one row per pair.
struct ServerJoinTable {
    let name: String
    let relationship: NSRelationshipDescription
    /// The column of the objects with the relationship.
    let owner: String
    let destination: String
    /// The position of the destination in the owner's list, and of the owner in the destination's list.
    let order: String?
    let inverseOrder: String?
}

extension ServerType {
    /// Creates the type of an attribute's column; `nil` for an attribute without one.
    init?(_ attribute: NSAttributeDescription) {
        switch attribute.attributeType {
        // A count or sum may be larger than the attribute's type, which must not make a save fail.
        case .integer16AttributeType where attribute is NSDerivedAttributeDescription,
            .integer32AttributeType where attribute is NSDerivedAttributeDescription:
            self = .bigint
        case .integer16AttributeType: self = .smallint
        case .integer32AttributeType: self = .integer
        case .integer64AttributeType: self = .bigint
        case .booleanAttributeType: self = .boolean
        // Dates are stored as in memory, because the server's timestamps have only microseconds.
        case .doubleAttributeType, .floatAttributeType, .dateAttributeType: self = .double
        case .decimalAttributeType: self = .numeric
        case .stringAttributeType, .URIAttributeType: self = .text
        case .UUIDAttributeType: self = .uuid
        case .binaryDataAttributeType, .transformableAttributeType: self = .bytes
        case .compositeAttributeType, .undefinedAttributeType, .objectIDAttributeType: return nil
        }
    }
}

/// The numbers of entities in a store. A new store numbers them by name, roots before descendants.
struct EntityOrder {
    let entries: [(entity: NSEntityDescription, number: Int64)]

    init(freshFor entities: [NSEntityDescription]) {
        let members = Self.withAncestors(entities)
        let known = Set(members.map(ObjectIdentifier.init))
        var ordered: [NSEntityDescription] = []
        func visit(_ siblings: [NSEntityDescription]) {
            for entity in siblings.sorted(by: { ($0.name ?? "") < ($1.name ?? "") })
            where known.contains(ObjectIdentifier(entity)) {
                ordered.append(entity)
                visit(entity.subentities)
            }
        }
        visit(members.filter { $0.superentity == nil })
        entries = ordered.enumerated().map { ($0.element, Int64($0.offset + 1)) }
    }

    /// - Throws: 134020 if the store does not have an entity.
    init(of entities: [NSEntityDescription], stored: [String: Int64], name: String) throws {
        entries = try Self.withAncestors(entities).map { entity in
            guard let number = stored[entity.name ?? ""] else {
                throw CoreDataError.make(
                    134020, "The store \(name) does not match the model: it has no entity \(entity.name ?? "").")
            }
            return (entity, number)
        }.sorted { $0.1 < $1.1 }
    }

    /// Returns the numbers after a migration. A kept entity keeps its number, so that programs with the old model never
    /// confuse entities.
    static func numbers(
        of entities: [NSEntityDescription], stored: [String: Int64], _ difference: ModelDifference
    ) -> [String: Int64] {
        let own = Set(entities.map(ObjectIdentifier.init))
        var next = (stored.values.max() ?? 0) + 1
        var numbers: [String: Int64] = [:]
        for entity in withAncestors(EntityOrder(freshFor: entities).entries.map(\.entity)) {
            let was = own.contains(ObjectIdentifier(entity)) ? difference.source(of: entity)?.name : entity.name
            if let number = was.flatMap({ stored[$0] }) {
                numbers[entity.name ?? ""] = number
            } else {
                numbers[entity.name ?? ""] = next
                next += 1
            }
        }
        return numbers
    }

    private static func withAncestors(_ entities: [NSEntityDescription]) -> [NSEntityDescription] {
        var seen: Set<ObjectIdentifier> = []
        return entities.flatMap { entity in
            sequence(first: entity, next: \.superentity).filter { seen.insert(ObjectIdentifier($0)).inserted }
        }
    }
}
