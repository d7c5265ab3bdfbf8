/// What the SQL translation asks of a store's tables. SQLite's table layout answers it.
protocol SQLSchema: AnyObject {
    /// The table that holds the rows of `entity`, unquoted.
    func table(of entity: NSEntityDescription) -> String

    /// The column of a persistent attribute or of a to-one relationship, unquoted; `nil` for a transient property.
    func column(of property: NSPropertyDescription, in entity: NSEntityDescription) -> String?

    /// The column that holds the destination's entity number, where the destination is an entity family.
    func entityColumn(of relationship: NSRelationshipDescription, in entity: NSEntityDescription) -> String?

    /// The `Z_ENT` values of `entity`, with those of its descendants on request.
    func entityNumbers(of entity: NSEntityDescription, includingSubentities: Bool) -> [Int64]

    /// Whether the table holds rows of several entities, so that a query has to compare `Z_ENT`.
    func sharesTable(_ entity: NSEntityDescription) -> Bool

    /// Where a to-many relationship is kept.
    func storage(of relationship: NSRelationshipDescription) -> SQLToManyStorage
}

/// Where a to-many relationship is kept. Names are unquoted.
enum SQLToManyStorage: Equatable {
    /// In a column of the destination's table that holds the owner's `Z_PK`.
    case foreignKey(column: String, orderColumn: String?)
    /// In a table of pairs.
    case joinTable(String, ownerColumn: String, destinationColumn: String, orderColumn: String?)
}
