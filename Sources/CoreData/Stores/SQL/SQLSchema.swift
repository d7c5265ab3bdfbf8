/// The facts about a store's tables that translation to SQL needs.
package protocol SQLSchema: AnyObject {
    /// The SQL of the database.
    var dialect: SQLDialect { get }

    /// Returns the name of a table for a statement.
    func tableText(_ name: String) -> String

    /// Returns SQL for the value of an attribute stored in `column`.
    func valueText(of attribute: NSAttributeDescription, in column: String) -> String

    /// Returns the table of the rows of `entity`, unquoted.
    func table(of entity: NSEntityDescription) -> String

    /// Returns the column of a persistent attribute or to-one relationship, unquoted; `nil` for a transient property.
    func column(of property: NSPropertyDescription, in entity: NSEntityDescription) -> String?

    /// Returns the column of a composite attribute's value; `nil` for a transient one.
    func column(of composite: NSCompositeAttributeDescription, at path: [String]) -> String?

    /// Returns the columns of a composite attribute in the order of its leaves; none for a transient one.
    func columns(of composite: NSCompositeAttributeDescription) -> [String]

    /// True if decimal columns may hold values that SQL does not treat as numbers. They are compared in memory.
    var keepsLongDecimals: Bool { get }

    /// Returns the column with the destination's entity number, if the destination has several entities.
    func entityColumn(of relationship: NSRelationshipDescription, in entity: NSEntityDescription) -> String?

    /// Returns the number of `entity` in the entity column, with those of its descendants if requested.
    func entityNumbers(of entity: NSEntityDescription, includingSubentities: Bool) -> [Int64]

    /// True if the table holds rows of several entities. A query then has to compare the entity column.
    func sharesTable(_ entity: NSEntityDescription) -> Bool

    /// Returns the storage of a to-many relationship.
    func storage(of relationship: NSRelationshipDescription) -> SQLToManyStorage
}

extension SQLSchema {
    func tableText(_ name: String) -> String { dialect.quoted(name) }

    func valueText(of attribute: NSAttributeDescription, in column: String) -> String { column }

    /// The key column's name for a statement.
    package var keyText: String { dialect.quoted(dialect.key) }

    package var keepsLongDecimals: Bool { false }

    /// Returns the kind of the values in an attribute's column.
    func kind(of attribute: NSAttributeDescription) -> SQLExpression.Kind {
        keepsLongDecimals && attribute.attributeType == .decimalAttributeType ? .opaque : .init(attribute)
    }

    /// True if the column of an attribute sorts as its values do.
    func isOrdered(by attribute: NSAttributeDescription) -> Bool {
        SlotOrder(attribute) != nil && !(keepsLongDecimals && attribute.attributeType == .decimalAttributeType)
    }

    package func columns(of composite: NSCompositeAttributeDescription) -> [String] {
        composite.leaves.compactMap { column(of: composite, at: $0.path) }
    }

    func column(of composite: NSCompositeAttributeDescription, at path: [String]) -> String? { nil }
}

/// The storage of a to-many relationship. Names are unquoted.
package enum SQLToManyStorage: Equatable {
    /// The members are rows of the destination's table with the owner's primary key in a column.
    case foreignKey(column: String, orderColumn: String?)
    /// The members are pairs of keys in a join table.
    case joinTable(String, ownerColumn: String, destinationColumn: String, orderColumn: String?)
}
