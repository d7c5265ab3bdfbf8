/// The table of a many-to-many relationship: one row per pair.
struct JoinTable {
    /// One end: a column that holds the `Z_PK`s of the objects that have `relationship`.
    struct End {
        let relationship: NSRelationshipDescription
        let column: String
        /// The place of this end's object in the other end's list, where that is ordered.
        let positionColumn: String?
    }

    let name: String
    /// In the order of the columns. For a relationship that is its own inverse both have the same relationship.
    let first: End
    let second: End

    /// The relationship is its own inverse: every pair is in the table twice, once from each side.
    var isReflexive: Bool { first.relationship === second.relationship }

    var columns: [String] {
        [first.column, second.column] + [first.positionColumn, second.positionColumn].compactMap(\.self)
    }

    /// The storage as seen from `relationship`, one of the two ends.
    func storage(of relationship: NSRelationshipDescription) -> SQLToManyStorage {
        let (owner, destination) = relationship === first.relationship ? (first, second) : (second, first)
        return .joinTable(
            name, ownerColumn: owner.column, destinationColumn: destination.column,
            orderColumn: destination.positionColumn)
    }
}

/// Plans the join tables of a store.
struct JoinTablePlanning {
    /// In the order of their numbers.
    let entities: [NSEntityDescription]
    let numbers: [ObjectIdentifier: Int64]

    /// The tables in the order in which Apple's framework makes them: by the entity that names them.
    ///
    /// - Parameters:
    ///   - file: an existing store, whose tables may be named from the other end.
    ///   - unreadable: gets the relationships whose table the store does not have, or has with other columns.
    func tables(
        in file: StoredSchema?, noting unreadable: inout UnreadableProperties
    ) -> [(namer: NSEntityDescription, table: JoinTable)] {
        let columnNames = columnNames()
        var seen: Set<ObjectIdentifier> = []
        var tables: [(namer: NSEntityDescription, table: JoinTable)] = []
        for entity in entities {
            for relationship in manyToMany(of: entity) where !seen.contains(ObjectIdentifier(relationship)) {
                guard let inverse = relationship.inverseRelationship else { continue }
                seen.insert(ObjectIdentifier(relationship))
                seen.insert(ObjectIdentifier(inverse))
                let namer = names(relationship, inverse) ? relationship : inverse
                let table = table(namedBy: namer, columnNames)
                switch file.map({ stored(table, namedBy: namer, columnNames, in: $0) }) ?? .found(table) {
                case .found(let table): tables.append((namer.entity, table))
                case .missing(let reason): unreadable.add(namer, because: reason)
                }
            }
        }
        return tables
    }

    private func manyToMany(of entity: NSEntityDescription) -> [NSRelationshipDescription] {
        entity.ownProperties.sorted { $0.name < $1.name }.compactMap { property in
            guard let relationship = property as? NSRelationshipDescription, relationship.isToMany,
                !relationship.isTransient, relationship.inverseRelationship?.isToMany == true
            else { return nil }
            return relationship
        }
    }

    /// The column that holds the keys of each relationship's owners: named after the inverse, and with a number behind it
    /// where two relationships of one entity want the same name.
    private func columnNames() -> [ObjectIdentifier: String] {
        var columns: [ObjectIdentifier: String] = [:]
        for entity in entities {
            var names = UniqueNames()
            for relationship in manyToMany(of: entity) {
                let inverse = relationship.inverseRelationship?.name ?? ""
                columns[ObjectIdentifier(relationship)] = names.claim("Z_\(number(entity))\(inverse.uppercased())")
            }
        }
        return columns
    }

    private func number(_ entity: NSEntityDescription) -> Int64 { numbers[ObjectIdentifier(entity)] ?? 0 }

    /// Whether `relationship` names the table, and not `inverse`: the entity with the lower number, but one of a family
    /// before one that stands alone.
    private func names(_ relationship: NSRelationshipDescription, _ inverse: NSRelationshipDescription) -> Bool {
        let (mine, other) = (relationship.entity, inverse.entity)
        if mine === other { return relationship.name >= inverse.name }
        let mineIsLower = number(mine) < number(other)
        let (lower, higher) = mineIsLower ? (mine, other) : (other, mine)
        let higherNames = !isInFamily(lower) && isInFamily(higher)
        return mineIsLower != higherNames
    }

    private func isInFamily(_ entity: NSEntityDescription) -> Bool {
        entity.superentity != nil || !entity.subentities.isEmpty
    }

    private func table(
        namedBy relationship: NSRelationshipDescription, _ columnNames: [ObjectIdentifier: String]
    ) -> JoinTable {
        let inverse = relationship.inverseRelationship ?? relationship
        let name = "Z_\(number(relationship.entity))\(relationship.name.uppercased())"
        let own = columnNames[ObjectIdentifier(relationship)] ?? name
        if inverse === relationship {
            return JoinTable(
                name: name, first: JoinTable.End(relationship: relationship, column: own, positionColumn: nil),
                second: JoinTable.End(
                    relationship: relationship, column: "REFLEXIVE",
                    positionColumn: relationship.isOrdered ? "Z_FOK_REFLEXIVE" : nil))
        }
        let far = columnNames[ObjectIdentifier(inverse)] ?? name
        let ownEnd = JoinTable.End(
            relationship: relationship, column: own, positionColumn: inverse.isOrdered ? Self.position(of: own) : nil)
        let farEnd = JoinTable.End(
            relationship: inverse, column: far, positionColumn: relationship.isOrdered ? Self.position(of: far) : nil)
        let isSwapped = relationship.entity === inverse.entity && far < own
        return JoinTable(name: name, first: isSwapped ? farEnd : ownEnd, second: isSwapped ? ownEnd : farEnd)
    }

    private static func position(of column: String) -> String { "Z_FOK_" + column.dropFirst(2) }

    private enum Stored {
        case found(JoinTable)
        /// Why there is no such table, as a clause.
        case missing(String)
    }

    /// The table as it is in the file: under the planned name or that of the other end, with the columns that it has.
    private func stored(
        _ planned: JoinTable, namedBy relationship: NSRelationshipDescription,
        _ columnNames: [ObjectIdentifier: String], in file: StoredSchema
    ) -> Stored {
        let inverse = relationship.inverseRelationship ?? relationship
        let other = JoinTable(
            name: table(namedBy: inverse, columnNames).name, first: planned.first, second: planned.second)
        for candidate in [planned, other] {
            if file.table(candidate.name, hasColumns: candidate.columns) { return .found(candidate) }
            let read = withColumns(of: candidate, in: file)
            if let only = read.first, read.count == 1 { return .found(only) }
        }
        guard let present = [planned, other].first(where: { file.hasTable($0.name) }) else {
            return .missing("there is no table \(planned.name)")
        }
        return .missing(
            "the table \(present.name) has the columns \(file.columns(of: present.name).joined(separator: ", ")), and not "
                + present.columns.joined(separator: ", "))
    }

    /// The table with the names that its columns have in the file: the planned ones but for the number at their end, which
    /// differs from file to file where relationships of one entity share a name.
    ///
    /// - Returns: no table where the file's columns have other names; two where the file does not tell which column belongs to
    ///   which end.
    private func withColumns(of planned: JoinTable, in file: StoredSchema) -> [JoinTable] {
        let columns = file.columns(of: planned.name)
        let keys = columns.filter { !$0.hasPrefix("Z_FOK_") }
        guard keys.count == 2 else { return [] }
        return [(keys[0], keys[1]), (keys[1], keys[0])].compactMap { one, two in
            guard let first = end(planned.first, named: one, among: columns),
                let second = end(planned.second, named: two, among: columns)
            else { return nil }
            return JoinTable(name: planned.name, first: first, second: second)
        }
    }

    private func end(_ planned: JoinTable.End, named column: String, among columns: [String]) -> JoinTable.End? {
        let relationship = planned.relationship
        let inverse = relationship.inverseRelationship?.name ?? ""
        let plain =
            planned.column == "REFLEXIVE" ? "REFLEXIVE" : "Z_\(number(relationship.entity))\(inverse.uppercased())"
        guard column.hasPrefix(plain.uppercased()), column.dropFirst(plain.count).allSatisfy(\.isNumber) else {
            return nil
        }
        guard planned.positionColumn != nil else {
            return JoinTable.End(relationship: relationship, column: column, positionColumn: nil)
        }
        let position = column == "REFLEXIVE" ? "Z_FOK_REFLEXIVE" : Self.position(of: column)
        guard columns.contains(position.uppercased()) else { return nil }
        return JoinTable.End(relationship: relationship, column: column, positionColumn: position)
    }
}
