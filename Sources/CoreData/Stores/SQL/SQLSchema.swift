/// The facts about a store's tables that the SQL translation needs.
package protocol SQLSchema: AnyObject {
    /// The database's own SQL.
    var dialect: SQLDialect { get }

    /// The name of a table, as written in a statement.
    func tableText(_ name: String) -> String

    /// The value of an attribute, whose column is `column`, as one of the kind of the attribute.
    func valueText(of attribute: NSAttributeDescription, in column: String) -> String

    /// The table that holds the rows of `entity`, unquoted.
    func table(of entity: NSEntityDescription) -> String

    /// The column of a persistent attribute or of a to-one relationship, unquoted; `nil` for a transient property.
    func column(of property: NSPropertyDescription, in entity: NSEntityDescription) -> String?

    /// The column of a value of a composite attribute; `nil` for a transient one.
    func column(of composite: NSCompositeAttributeDescription, at path: [String]) -> String?

    /// The columns of a composite attribute, in the order of its leaves; empty for a transient one.
    func columns(of composite: NSCompositeAttributeDescription) -> [String]

    /// True if decimal columns may hold values that SQL does not treat as numbers. They are compared in memory.
    var keepsLongDecimals: Bool { get }

    /// The column that holds the destination's entity number, where the destination is an entity family.
    func entityColumn(of relationship: NSRelationshipDescription, in entity: NSEntityDescription) -> String?

    /// The numbers of `entity` in the column of entities, with those of its descendants on request.
    func entityNumbers(of entity: NSEntityDescription, includingSubentities: Bool) -> [Int64]

    /// True if the table holds rows of several entities. A query then has to compare the entity column.
    func sharesTable(_ entity: NSEntityDescription) -> Bool

    /// Returns the storage of a to-many relationship.
    func storage(of relationship: NSRelationshipDescription) -> SQLToManyStorage
}

extension SQLSchema {
    func tableText(_ name: String) -> String { dialect.quoted(name) }

    func valueText(of attribute: NSAttributeDescription, in column: String) -> String { column }

    /// The column of the key, as written in a statement.
    package var keyText: String { dialect.quoted(dialect.key) }

    package var keepsLongDecimals: Bool { false }

    /// The kind of the values in an attribute's column.
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
    /// In a column of the destination's table that holds the owner's primary key.
    case foreignKey(column: String, orderColumn: String?)
    /// In a table of pairs.
    case joinTable(String, ownerColumn: String, destinationColumn: String, orderColumn: String?)
}
