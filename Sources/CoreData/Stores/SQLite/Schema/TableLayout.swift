/// The tables and columns of a model: with Apple's names for a new store, or as found in an existing one.
///
/// Immutable. Each lookup costs one hash.
final class TableLayout: SQLSchema {
    let dialect = SQLDialect.sqlite
    /// The entities, sorted by number.
    let entities: [NSEntityDescription]
    /// The entity tables, sorted by the numbers of their root entities.
    let tables: [EntityTable]
    let joinTables: [(namer: NSEntityDescription, table: JoinTable)]
    /// The properties whose columns or join tables an existing store lacks.
    let unreadable: UnreadableProperties
    /// The tables according to the model.
    private let plannedTables: [EntityTable]
    private let numbers: [ObjectIdentifier: Int64]
    private let entitiesByNumber: [Int64: NSEntityDescription]
    private let tableIndexes: [ObjectIdentifier: Int]
    private let columnsOfProperties: [ObjectIdentifier: PropertyColumns]
    private let columnsOfComposites: [ObjectIdentifier: [[String]: String]]
    private let toManyStorages: [ObjectIdentifier: SQLToManyStorage]
    /// The columns of each table for which the file has a default. They must not be omitted from an INSERT.
    private(set) var columnsWithDefault: [String: [String]] = [:]
    /// True if the store has decimals that do not fit a number in SQLite. Never reset.
    var keepsLongDecimals = false
    /// True if values are archived if their transformer is missing.
    var archivesWithoutTransformer = false
    /// The derived attributes of the store.
    private(set) var derivedSums = DerivedSums()
    var hasDerivedAttributes: Bool { derivedSums.hasDerivedAttributes }

    /// The columns of an attribute or a to-one relationship.
    struct PropertyColumns {
        var value: String?
        var entity: String?
        var position: String?
    }

    /// - Parameter file: the schema of an existing store. It must have every table; other missing parts make properties
    ///   ``unreadable``.
    /// - Throws: 134020 if the file lacks an entity's table.
    init(numbering: EntityNumbering, file: StoredSchema? = nil) throws {
        let entities = numbering.entries.map(\.entity)
        let numbers = Dictionary(
            numbering.entries.map { (ObjectIdentifier($0.entity), $0.number) }, uniquingKeysWith: { first, _ in first })
        try Self.checkDestinations(of: entities, numbers)
        self.entities = entities
        self.numbers = numbers
        self.entitiesByNumber = Dictionary(
            numbering.entries.map { ($0.number, $0.entity) }, uniquingKeysWith: { first, _ in first })
        var unreadable = UnreadableProperties(store: file?.path ?? "")
        let planned = Self.plannedTables(entities, numbers)
        self.plannedTables = planned
        self.joinTables = JoinTablePlanning(entities: entities, numbers: numbers).tables(in: file, noting: &unreadable)
        self.tables = try file.map { try StoredColumns(file: $0).tables(planned, noting: &unreadable) } ?? planned
        self.unreadable = unreadable
        var tableIndexes: [ObjectIdentifier: Int] = [:]
        var columns: [ObjectIdentifier: PropertyColumns] = [:]
        var composites: [ObjectIdentifier: [[String]: String]] = [:]
        var storages: [ObjectIdentifier: SQLToManyStorage] = [:]
        for (index, table) in tables.enumerated() {
            for entity in table.entities { tableIndexes[ObjectIdentifier(entity)] = index }
            Self.collect(table, into: &columns, &storages)
            for column in table.columns {
                guard case .element(let composite, let leaf) = column.content else { continue }
                composites[ObjectIdentifier(composite), default: [:]][leaf.path] = column.name
            }
        }
        for (_, table) in joinTables {
            for end in [table.first, table.second] {
                storages[ObjectIdentifier(end.relationship)] = table.storage(of: end.relationship)
            }
        }
        Self.collectInverses(entities, columns, &storages)
        self.tableIndexes = tableIndexes
        self.columnsOfProperties = columns
        self.columnsOfComposites = composites
        self.toManyStorages = storages
        if let file {
            // Includes the remaining columns of an unreadable composite attribute.
            for table in planned {
                let names = table.columns.map(\.name).filter { file.hasDefault($0, in: table.name) }
                if !names.isEmpty { columnsWithDefault[table.name] = names }
            }
        }
        derivedSums = DerivedSums(layout: self)
    }

    // MARK: Look-ups

    func number(of entity: NSEntityDescription) -> Int64 { numbers[ObjectIdentifier(entity)] ?? 0 }

    func entity(numbered number: Int64) -> NSEntityDescription? { entitiesByNumber[number] }

    func entityTable(of entity: NSEntityDescription) -> EntityTable {
        guard let index = tableIndexes[ObjectIdentifier(entity)] else {
            preconditionFailure("The entity '\(entity.name ?? "")' is not in the store's configuration.")
        }
        return tables[index]
    }

    /// Returns the columns of the entity's table in the model, including those that an existing store lacks.
    func plannedColumns(of entity: NSEntityDescription) -> [TableColumn] {
        tableIndexes[ObjectIdentifier(entity)].map { plannedTables[$0].columns } ?? []
    }

    /// Returns true if the store's configuration has `entity`.
    func contains(_ entity: NSEntityDescription) -> Bool { tableIndexes[ObjectIdentifier(entity)] != nil }

    func table(of entity: NSEntityDescription) -> String { entityTable(of: entity).name }

    func column(of property: NSPropertyDescription, in entity: NSEntityDescription) -> String? {
        columnsOfProperties[ObjectIdentifier(property)]?.value
    }

    func column(of composite: NSCompositeAttributeDescription, at path: [String]) -> String? {
        columnsOfComposites[ObjectIdentifier(composite)]?[path]
    }

    func entityColumn(of relationship: NSRelationshipDescription, in entity: NSEntityDescription) -> String? {
        columnsOfProperties[ObjectIdentifier(relationship)]?.entity
    }

    /// Returns the column of the row's position in the ordered inverse of a to-one relationship.
    func positionColumn(of relationship: NSRelationshipDescription) -> String? {
        columnsOfProperties[ObjectIdentifier(relationship)]?.position
    }

    func entityNumbers(of entity: NSEntityDescription, includingSubentities: Bool) -> [Int64] {
        (includingSubentities ? entity.family : [entity]).compactMap { numbers[ObjectIdentifier($0)] }
    }

    func sharesTable(_ entity: NSEntityDescription) -> Bool { entityTable(of: entity).entities.count > 1 }

    func storage(of relationship: NSRelationshipDescription) -> SQLToManyStorage {
        guard let storage = toManyStorages[ObjectIdentifier(relationship)] else {
            preconditionFailure("The relationship '\(relationship.name)' is not a to-many relationship of the store.")
        }
        return storage
    }

    // MARK: Planning

    private static func plannedTables(
        _ entities: [NSEntityDescription], _ numbers: [ObjectIdentifier: Int64]
    ) -> [EntityTable] {
        let oneWay = entities.flatMap(oneWayRelationships)
        return entities.filter { $0.superentity == nil }.map { root in
            let family = entities.filter { $0.root === root }
            let planning = ColumnPlanning(entities: family, oneWayRelationships: oneWay, numbers: numbers)
            return EntityTable(
                name: "Z" + (root.name ?? "").uppercased(), entities: family, columns: planning.columns())
        }
    }

    private static func oneWayRelationships(of entity: NSEntityDescription) -> [NSRelationshipDescription] {
        entity.ownProperties.sorted { $0.name < $1.name }.compactMap { property in
            guard let relationship = property as? NSRelationshipDescription, relationship.isToMany,
                !relationship.isTransient, relationship.inverseRelationship == nil
            else { return nil }
            return relationship
        }
    }

    private static func collect(
        _ table: EntityTable, into columns: inout [ObjectIdentifier: PropertyColumns],
        _ storages: inout [ObjectIdentifier: SQLToManyStorage]
    ) {
        for column in table.columns {
            switch column.content {
            case .attribute(let attribute):
                columns[ObjectIdentifier(attribute), default: PropertyColumns()].value = column.name
            case .toOne(let toOne): columns[ObjectIdentifier(toOne), default: PropertyColumns()].value = column.name
            case .destinationEntity(let toOne):
                columns[ObjectIdentifier(toOne), default: PropertyColumns()].entity = column.name
            case .position(let toOne):
                columns[ObjectIdentifier(toOne), default: PropertyColumns()].position = column.name
            case .owner(let toMany):
                let position = table.columns.first {
                    if case .ownerPosition(let other) = $0.content { other === toMany } else { false }
                }
                storages[ObjectIdentifier(toMany)] = .foreignKey(column: column.name, orderColumn: position?.name)
            case .ownerPosition, .element: break
            }
        }
    }

    /// Adds the storage of to-many relationships with a to-one inverse: the inverse's columns.
    private static func collectInverses(
        _ entities: [NSEntityDescription], _ columns: [ObjectIdentifier: PropertyColumns],
        _ storages: inout [ObjectIdentifier: SQLToManyStorage]
    ) {
        for case let toMany as NSRelationshipDescription in entities.flatMap(\.ownProperties) where toMany.isToMany {
            guard let inverse = toMany.inverseRelationship, !inverse.isToMany,
                let known = columns[ObjectIdentifier(inverse)], let column = known.value
            else { continue }
            storages[ObjectIdentifier(toMany)] = .foreignKey(column: column, orderColumn: known.position)
        }
    }

    // MARK: Checks

    private static func checkDestinations(
        of entities: [NSEntityDescription], _ numbers: [ObjectIdentifier: Int64]
    ) throws {
        for case let relationship as NSRelationshipDescription in entities.flatMap(\.ownProperties)
        where !relationship.isTransient {
            guard let destination = relationship.destinationEntity, numbers[ObjectIdentifier(destination)] != nil else {
                throw CoreDataError.make(
                    134020,
                    "The destination of the relationship \(relationship.entity.name ?? "").\(relationship.name) is an entity "
                        + "that is not in the store's configuration.")
            }
        }
    }
}
