/// The columns that a query for whole rows selects, and the position of each slot's value in a result row.
///
/// The first three columns are the primary key, the entity and the version; the others follow from ``firstValueColumn`` on, each column of
/// the table once. A query for an entity with descendants selects the columns of all of them, since one result may hold
/// rows of each; every concrete entity has its own map from slots to columns.
package struct RowColumns {
    /// The position of one slot's value; `-1` if it is not in the table.
    package struct SlotColumn: Hashable {
        /// The column of the value: an attribute's, the first of a composite attribute's, which stand side by side, or a
        /// to-one relationship's foreign key.
        package var value: Int
        /// The column of the destination's entity, for a to-one relationship to an entity family.
        package var entity: Int
    }

    /// One concrete entity that a result row may belong to.
    package struct EntityColumns {
        package let entity: NSEntityDescription
        /// As many as the layout has slots.
        package let slots: [SlotColumn]
    }

    package static let primaryKeyColumn = 0
    package static let entityColumn = 1
    package static let versionColumn = 2
    static let firstValueColumn = 3

    /// The unquoted names of the columns in the order of the result, the first three included.
    let names: [String]
    /// By the number in the column of entities.
    package let entities: [Int64: EntityColumns]
    private let dialect: SQLDialect

    /// Plans the columns of `entity`, and those of its descendants on request. Cost: one step per property.
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

    /// The columns as a select list over the table `alias`.
    package func selectList(alias: String) -> String {
        names.map { "\(alias).\(dialect.quoted($0))" }.joined(separator: ", ")
    }
}
