/// Fills one join table of the new version.
struct JoinMigration {
    let table: JoinTable
    let source: MigrationSource

    private var relationship: NSRelationshipDescription { table.first.relationship }

    /// True if the table already exists under its name, with the same columns for the same relationship.
    var isUnchanged: Bool {
        guard let found = was, found.isToMany, found.inverseRelationship?.isToMany == true,
            let kept = source.old.joinTables.first(where: { table in
                table.table.first.relationship === found || table.table.second.relationship === found
            })?.table
        else { return false }
        return kept.name == table.name && kept.columns == table.columns && kept.first.relationship === found
            && source.difference.removed.isEmpty
    }

    /// The join table of the old version with the pairs, if there is one.
    var formerName: String? {
        source.old.joinTables.first { $0.table.first.relationship === was || $0.table.second.relationship === was }?
            .table.name
    }

    private var was: NSRelationshipDescription? {
        source.difference.source(of: relationship, in: relationship.entity) as? NSRelationshipDescription
    }

    func statements() -> [String] {
        let (first, second) = (table.first, table.second)
        let inverse = second.relationship
        var seen: Set<String> = []
        // Both ends list the same pairs, but each end has the position in one of the two lists only.
        let own = source.pairs(ofNew: relationship).map {
            "SELECT owner AS a, member AS b, place AS pb, NULL AS pa FROM (\($0))"
        }
        let far = source.pairs(ofNew: inverse).map {
            "SELECT member AS a, owner AS b, NULL AS pb, place AS pa FROM (\($0))"
        }
        let parts = (table.isReflexive ? [own] : [own, far]).compactMap(\.self).filter { seen.insert($0).inserted }
        guard !parts.isEmpty else { return [] }
        let firstTable = SQLName.quoted(source.new.table(of: first.relationship.entity))
        let secondTable = SQLName.quoted(
            source.new.table(of: table.isReflexive ? first.relationship.entity : inverse.entity))
        var names = [SQLName.quoted(first.column), SQLName.quoted(second.column)]
        var values = ["a", "b"]
        if let place = first.positionColumn {
            names.append(SQLName.quoted(place))
            values.append("IFNULL(MAX(pa), (ROW_NUMBER() OVER (PARTITION BY b ORDER BY a) + 1) * 1024)")
        }
        if let place = second.positionColumn {
            names.append(SQLName.quoted(place))
            values.append("IFNULL(MAX(pb), (ROW_NUMBER() OVER (PARTITION BY a ORDER BY b) + 1) * 1024)")
        }
        return [
            "INSERT INTO \(SQLName.quoted(table.name)) (\(names.joined(separator: ", "))) "
                + "SELECT \(values.joined(separator: ", ")) FROM (\(parts.joined(separator: " UNION ALL "))) "
                + "WHERE a IN (SELECT Z_PK FROM \(firstTable)) AND b IN (SELECT Z_PK FROM \(secondTable)) GROUP BY a, b"
        ]
    }
}
