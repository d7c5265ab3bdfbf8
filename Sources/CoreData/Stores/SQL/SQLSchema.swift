/// What the SQL translation asks of a store's tables.
package protocol SQLSchema: AnyObject {
    /// The database's own SQL.
    var dialect: SQLDialect { get }

    /// The name of a table as it stands in a statement.
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

    /// Whether decimal columns may hold values that are no numbers to SQL: then they are compared in memory.
    var keepsLongDecimals: Bool { get }

    /// The column that holds the destination's entity number, where the destination is an entity family.
    func entityColumn(of relationship: NSRelationshipDescription, in entity: NSEntityDescription) -> String?

    /// The numbers of `entity` in the column of entities, with those of its descendants on request.
    func entityNumbers(of entity: NSEntityDescription, includingSubentities: Bool) -> [Int64]

    /// Whether the table holds rows of several entities, so that a query has to compare the column of entities.
    func sharesTable(_ entity: NSEntityDescription) -> Bool

    /// Where a to-many relationship is kept.
    func storage(of relationship: NSRelationshipDescription) -> SQLToManyStorage
}

extension SQLSchema {
    func tableText(_ name: String) -> String { dialect.quoted(name) }

    func valueText(of attribute: NSAttributeDescription, in column: String) -> String { column }

    /// The column of the key as it stands in a statement.
    package var keyText: String { dialect.quoted(dialect.key) }

    package var keepsLongDecimals: Bool { false }

    /// What kind of values the column of an attribute gives.
    func kind(of attribute: NSAttributeDescription) -> SQLExpression.Kind {
        keepsLongDecimals && attribute.attributeType == .decimalAttributeType ? .opaque : .init(attribute)
    }

    /// Whether the column of an attribute gives the order of its values.
    func isOrdered(by attribute: NSAttributeDescription) -> Bool {
        SlotOrder(attribute) != nil && !(keepsLongDecimals && attribute.attributeType == .decimalAttributeType)
    }

    package func columns(of composite: NSCompositeAttributeDescription) -> [String] {
        composite.leaves.compactMap { column(of: composite, at: $0.path) }
    }

    func column(of composite: NSCompositeAttributeDescription, at path: [String]) -> String? { nil }
}

/// Where a to-many relationship is kept. Names are unquoted.
package enum SQLToManyStorage: Equatable {
    /// In a column of the destination's table that holds the owner's primary key.
    case foreignKey(column: String, orderColumn: String?)
    /// In a table of pairs.
    case joinTable(String, ownerColumn: String, destinationColumn: String, orderColumn: String?)
}
