/// The columns of a query for whole rows, and the position of each slot's value in a result row.
///
/// The first three columns are the primary key, the entity and the version. The columns of the table follow, each once. A query for an entity with descendants selects the columns of all of them,
/// because the result may have rows of each; each concrete entity maps its slots to columns.
package struct RowColumns {
    /// The position of one slot's value; `-1` if it is not in the table.
    package struct SlotColumn: Hashable {
        /// The column of the value: an attribute's, the first of a composite attribute's adjacent columns, or a to-one
        /// relationship's foreign key.
        package var value: Int
        /// The column of the destination's entity, for a to-one relationship to several entities.
        package var entity: Int
    }

    /// One concrete entity that a result row can have.
    package struct EntityColumns {
        package let entity: NSEntityDescription
        /// The columns in the order of the layout's slots.
        package let slots: [SlotColumn]
    }

    package static let primaryKeyColumn = 0
    package static let entityColumn = 1
    package static let versionColumn = 2

    /// The unquoted names of the columns in the order of the result, the first three included.
    let names: [String]
    /// The concrete entities by their numbers in the entity column.
    package let entities: [Int64: EntityColumns]
    private let dialect: SQLDialect

    /// Plans the columns of `entity`, and of its descendants if requested. Cost: one step per property.
    package init(entity: NSEntityDescription, includingSubentities: Bool, schema: any SQLSchema) {
        var names = [schema.dialect.key, schema.dialect.entity, schema.dialect.version]
        var positions: [String: Int] = [:]
        func position(of column: String?) -> Int {
            guard let column else { return -1 }
            if let known = positions[column] { return known }
            positions[column] = names.count
            names.append(column)
            return names.count - 1
        }
        var entities: [Int64: EntityColumns] = [:]
        for concrete in includingSubentities ? entity.family : [entity] {
            guard let number = schema.entityNumbers(of: concrete, includingSubentities: false).first else { continue }
            let slots = concrete.layout.slots.map { property in
                if let composite = property as? NSCompositeAttributeDescription {
                    let places = schema.columns(of: composite).map { position(of: $0) }
                    return SlotColumn(value: places.first ?? -1, entity: -1)
                }
                let relationship = property as? NSRelationshipDescription
                return SlotColumn(
                    value: position(of: schema.column(of: property, in: concrete)),
                    entity: position(of: relationship.flatMap { schema.entityColumn(of: $0, in: concrete) }))
            }
            entities[number] = EntityColumns(entity: concrete, slots: slots)
        }
        self.names = names
        dialect = schema.dialect
        self.entities = entities
    }

    /// Returns the select list of the columns of the table `alias`.
    package func selectList(alias: String) -> String {
        names.map { "\(alias).\(dialect.quoted($0))" }.joined(separator: ", ")
    }
}
