// A derived attribute is an ordinary column that triggers update. They set it when a row is inserted (SOURCE_INSERT),
// when the row's relationship changes (SOURCE_UPDATE), and when a row at the other end is inserted, changed or deleted
// (PARAMETER_…). Each trigger then calls a function that reports the touched rows to the framework.
//
// Counts over a relationship and copies over one to-one relationship have the text of Apple's triggers. Apple's other
// triggers are not known: longer paths are computed again for the touched rows, sums are updated like counts.

/// The triggers of one derived attribute.
struct DerivedTriggers {
    let derivation: Derivation
    let layout: TableLayout

    func statements() -> [String] {
        var writer = TriggerWriter(derivation: derivation, layout: layout)
        let hops = derivation.hops
        switch derivation.source {
        case .now: writer.now()
        case .value(let attribute, let function):
            let path = DerivedPath(derivation: derivation, layout: layout)
            let value = { (row: String) in path.applied(function, to: "\(row).\(path.column(attribute))") }
            switch hops.count {
            case 0: writer.ownValue(attribute, value("NEW"))
            case 1: writer.oneStep(path, attribute, function)
            default: writer.general(path, result: value("t\(hops.count)"), watched: attribute)
            }
        case .count:
            let path = DerivedPath(derivation: derivation, layout: layout)
            if hops.count == 1 {
                writer.counted(path.children(0), summed: nil)
            } else {
                writer.general(path, result: "COUNT(*)", watched: nil)
            }
        case .sum(let attribute):
            let path = DerivedPath(derivation: derivation, layout: layout)
            if hops.count == 1, !path.children(0).isJoinTable {
                writer.counted(path.children(0), summed: path.column(attribute))
            } else {
                writer.general(
                    path, result: "IFNULL(SUM(t\(hops.count).\(path.column(attribute))), 0)", watched: attribute)
            }
        }
        return writer.statements
    }
}

/// The tables from the rows of a derived attribute to its source: `t0`, `t1` …
package struct DerivedPath {
    let derivation: Derivation
    let layout: TableLayout

    private var hops: [NSRelationshipDescription] { derivation.hops }

    /// The table of a to-many hop, either the destination's table or the join table, and its column for the owner.
    package struct Children {
        /// The name of the table with the rows of this step, unquoted.
        package let table: String
        /// The column that refers to the owner, quoted.
        package let owner: String
        /// The column of a join table that refers to the destination, quoted; `nil` without a join table.
        package let destination: String?

        package init(table: String, owner: String, destination: String?) {
            self.table = table
            self.owner = owner
            self.destination = destination
        }

        package var isJoinTable: Bool { destination != nil }
    }

    func entity(_ level: Int) -> NSEntityDescription {
        level == 0 ? derivation.entity : hops[level - 1].destinationEntity ?? derivation.entity
    }

    /// The name of the table after `level` relationships, unquoted.
    func table(_ level: Int) -> String { layout.table(of: entity(level)) }

    func column(_ property: NSPropertyDescription) -> String {
        SQLName.quoted(layout.column(of: property, in: entity(hops.count)) ?? "NULL")
    }

    func applied(_ function: TextFunction?, to text: String) -> String {
        function.map { SQLFunctions.call($0, SQLFragment(text)).text } ?? text
    }

    func children(_ hop: Int) -> Children {
        switch layout.storage(of: hops[hop]) {
        case .foreignKey(let column, _):
            return Children(table: table(hop + 1), owner: SQLName.quoted(column), destination: nil)
        case .joinTable(let table, let owner, let destination, _):
            return Children(table: table, owner: SQLName.quoted(owner), destination: SQLName.quoted(destination))
        }
    }

    /// Returns `T AS t0 JOIN … AS t1 …` up to `level`.
    func joined(upTo level: Int) -> String {
        var text = "\(SQLName.quoted(table(0))) AS t0"
        for hop in 0..<level {
            let (near, far) = ("t\(hop)", "t\(hop + 1)")
            let table = SQLName.quoted(table(hop + 1))
            if hops[hop].isToMany {
                let children = children(hop)
                if let destination = children.destination {
                    text +=
                        " JOIN \(SQLName.quoted(children.table)) AS p\(hop) ON p\(hop).\(children.owner) = \(near).Z_PK"
                    text += " JOIN \(table) AS \(far) ON \(far).Z_PK = p\(hop).\(destination)"
                } else {
                    text += " JOIN \(table) AS \(far) ON \(far).\(children.owner) = \(near).Z_PK"
                }
            } else {
                text += " JOIN \(table) AS \(far) ON \(far).Z_PK = \(near).\(column(ofHop: hop))"
            }
        }
        return text
    }

    /// Returns the column of a to-one hop in the table before it.
    func column(ofHop hop: Int) -> String {
        SQLName.quoted(layout.column(of: hops[hop], in: entity(hop)) ?? "NULL")
    }

    /// Returns the condition for the rows of the attribute whose path reaches the row `key` of a level.
    func rows(leadingTo key: String, at level: Int) -> String {
        level == 0
            ? "Z_PK = \(key)" : "Z_PK IN (SELECT t0.Z_PK FROM \(joined(upTo: level)) WHERE t\(level).Z_PK = \(key))"
    }
}
