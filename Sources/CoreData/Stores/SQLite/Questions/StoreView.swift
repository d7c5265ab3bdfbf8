import SQLiteAccess

/// A table that questions in SQL can name: the rows of an entity, the pairs of a to-many relationship, or a table of a
/// file that is not a store.
package struct StoreView {
    package struct Column {
        /// The name, unquoted.
        package let name: String
        /// The contents, for people: a type, or the entity whose key it is.
        package let contents: String
        /// The value, as an expression.
        var sql = ""
    }

    /// The name, unquoted.
    package let name: String
    package internal(set) var columns: [Column] = []
    /// The text after `FROM`.
    var source = ""

    /// `name` as a statement has to contain it.
    package static func written(_ name: String) -> String {
        SQLWord.isKeyword(name) ? SQLText.enclosed(name, in: "\"") : SQLName.quoted(name)
    }

    /// Creates the view for one connection only.
    var creation: String {
        let values = columns.map { "\($0.sql) AS \(Self.always($0.name))" }.joined(separator: ", ")
        return "CREATE TEMP VIEW \(Self.always(name)) AS SELECT \(values) FROM \(source)"
    }

    private static func always(_ name: String) -> String { SQLText.enclosed(name, in: "\"") }
}

/// Plans the views of a store's entities, with the names of the model.
///
/// SQL ignores case and the model does not: the second of two names gets a number.
struct StoreViewPlanning {
    private let layout: TableLayout
    /// Names by which the model does not know them.
    private(set) var notes: [String] = []
    private var names = DistinctNames()

    init(_ layout: TableLayout) { self.layout = layout }

    /// One view for each entity, sorted by name, then those of the relationships.
    mutating func views() -> [StoreView] {
        let entities = layout.entities.sorted { ($0.name ?? "") < ($1.name ?? "") }
        let ofEntities = entities.map { view(of: $0) }
        return ofEntities + entities.flatMap { entity in pairs(of: entity) }
    }

    private mutating func claim(_ name: String, in names: inout DistinctNames, of owner: String = "") -> String {
        let claimed = names.claim(name)
        if claimed != name {
            notes.append("\(owner)\(name) is called \(claimed), since SQL does not tell capitals from small letters")
        }
        return claimed
    }

    private mutating func view(of entity: NSEntityDescription) -> StoreView {
        let owner = entity.name ?? ""
        var all = names
        var view = StoreView(name: claim(owner, in: &all))
        names = all
        var taken = DistinctNames()
        var columns: [StoreView.Column] = []
        for property in entity.properties where !property.isTransient && !layout.unreadable.contains(property) {
            for column in self.columns(of: property, in: entity) {
                let name = claim(column.name, in: &taken, of: owner + ".")
                columns.append(StoreView.Column(name: name, contents: column.contents, sql: column.sql))
            }
        }
        var leading = [
            StoreView.Column(name: claim("pk", in: &taken, of: owner + "."), contents: "key", sql: "t.Z_PK")
        ]
        if !entity.subentities.isEmpty {
            let cases = entity.family.map { member in
                "WHEN \(layout.number(of: member)) THEN \(SQLText.enclosed(member.name ?? "", in: "'"))"
            }
            leading.append(
                StoreView.Column(
                    name: claim("entity", in: &taken, of: owner + "."), contents: "entity",
                    sql: "CASE t.Z_ENT \(cases.joined(separator: " ")) END"))
        }
        view.columns = leading + columns
        view.source = "main.\(SQLName.quoted(layout.table(of: entity))) AS t"
        if entity.superentity != nil {
            let numbers = layout.entityNumbers(of: entity, includingSubentities: true).map(String.init)
            view.source += " WHERE t.Z_ENT IN (\(numbers.joined(separator: ", ")))"
        }
        return view
    }

    private func columns(of property: NSPropertyDescription, in entity: NSEntityDescription) -> [StoreView.Column] {
        if let composite = property as? NSCompositeAttributeDescription {
            return composite.leaves.compactMap { leaf in
                guard let column = layout.column(of: composite, at: leaf.path) else { return nil }
                return StoreView.Column(
                    name: ([composite.name] + leaf.path).joined(separator: "."),
                    contents: leaf.attribute.attributeType.editorName, sql: value(of: leaf.attribute, in: column))
            }
        }
        guard let column = layout.column(of: property, in: entity) else { return [] }
        if let attribute = property as? NSAttributeDescription {
            return [
                StoreView.Column(
                    name: attribute.name, contents: attribute.attributeType.editorName,
                    sql: value(of: attribute, in: column))
            ]
        }
        guard let toOne = property as? NSRelationshipDescription, !toOne.isToMany else { return [] }
        return [
            StoreView.Column(
                name: toOne.name, contents: "key of \(toOne.destinationEntity?.name ?? "")",
                sql: "t.\(SQLName.quoted(column))")
        ]
    }

    /// Values as `list` shows them where a column keeps another form. Numbers, Booleans and texts stay columns, so that
    /// indexes are used.
    private func value(of attribute: NSAttributeDescription, in column: String) -> String {
        let column = "t.\(SQLName.quoted(column))"
        switch ValueCoding(attribute) {
        case .date: return "\(QuestionFunctions.date)(\(column)) COLLATE \(QuestionFunctions.date)"
        case .uuid: return "\(QuestionFunctions.uuid)(\(column))"
        case .externalData: return "\(QuestionFunctions.externalData)(\(column))"
        case .decimal where layout.keepsLongDecimals:
            return "CASE typeof(\(column)) WHEN 'blob' THEN CAST(\(column) AS TEXT) ELSE \(column) END"
        default: return column
        }
    }

    // MARK: To-many relationships

    /// Views of the relationships that no column of an entity shows: many-to-many, ordered and one-way ones.
    private mutating func pairs(of entity: NSEntityDescription) -> [StoreView] {
        entity.ownProperties.compactMap { property in
            guard let relationship = property as? NSRelationshipDescription, relationship.isToMany,
                !relationship.isTransient, !layout.unreadable.contains(relationship)
            else { return nil }
            return view(of: relationship)
        }
    }

    private mutating func view(of relationship: NSRelationshipDescription) -> StoreView? {
        let source: String
        let columns: (owner: String, destination: String, position: String?)
        switch layout.storage(of: relationship) {
        case .foreignKey(_, nil) where relationship.inverseRelationship != nil: return nil
        case .foreignKey(let column, let position):
            guard let destination = relationship.destinationEntity else { return nil }
            source =
                "main.\(SQLName.quoted(layout.table(of: destination))) AS t WHERE t.\(SQLName.quoted(column)) "
                + "IS NOT NULL"
            columns = (column, "Z_PK", position)
        case .joinTable(let table, let owner, let destination, let position):
            source = "main.\(SQLName.quoted(table)) AS t"
            columns = (owner, destination, position)
        }
        let owner = relationship.entity.name ?? ""
        var all = names
        var view = StoreView(name: claim("\(owner)_\(relationship.name)", in: &all))
        names = all
        view.source = source
        view.columns = [
            StoreView.Column(
                name: "source", contents: "key of \(owner)", sql: "t.\(SQLName.quoted(columns.owner))"),
            StoreView.Column(
                name: "destination", contents: "key of \(relationship.destinationEntity?.name ?? "")",
                sql: "t.\(SQLName.quoted(columns.destination))"),
        ]
        if let position = columns.position {
            view.columns.append(
                StoreView.Column(name: "position", contents: "order", sql: "t.\(SQLName.quoted(position))"))
        }
        return view
    }
}

/// Names that differ by more than case: the second gets the suffix 2.
struct DistinctNames {
    private var taken: Set<String>

    init(taken: Set<String> = []) { self.taken = Set(taken.map { $0.uppercased() }) }

    mutating func claim(_ wanted: String) -> String {
        var name = wanted
        var number = 1
        while !taken.insert(name.uppercased()).inserted {
            number += 1
            name = "\(wanted)\(number)"
        }
        return name
    }
}
