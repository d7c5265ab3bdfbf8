/// The join table of a many-to-many relationship: one row per pair.
struct JoinTable {
    /// One end: a column with the `Z_PK`s of the objects that have `relationship`.
    struct End {
        let relationship: NSRelationshipDescription
        let column: String
        /// The position of this end's object in the other end's list, if that is ordered.
        let positionColumn: String?
    }

    let name: String
    /// The end whose column is first. Both ends have the same relationship if it is its own inverse.
    let first: End
    let second: End

    /// True if the relationship is its own inverse. Each pair is then in the table twice, once for each direction.
    var isReflexive: Bool { first.relationship === second.relationship }

    var columns: [String] {
        [first.column, second.column] + [first.positionColumn, second.positionColumn].compactMap(\.self)
    }

    /// Returns the storage seen from `relationship`, one of the two ends.
    func storage(of relationship: NSRelationshipDescription) -> SQLToManyStorage {
        let (owner, destination) = relationship === first.relationship ? (first, second) : (second, first)
        return .joinTable(
            name, ownerColumn: owner.column, destinationColumn: destination.column,
            orderColumn: destination.positionColumn)
    }
}

/// Plans the join tables of a store.
struct JoinTablePlanning {
    /// The model's entities, sorted by number.
    let entities: [NSEntityDescription]
    let numbers: [ObjectIdentifier: Int64]

    /// Returns the tables in the order of Apple's framework: by the entity after which they are named.
    ///
    /// - Parameters:
    ///   - file: an existing store, whose tables may be named after the other end.
    ///   - unreadable: receives the relationships whose table is missing or has other columns.
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

    /// Returns the column with the keys of each relationship's owners. It is named after the inverse, with a number
    /// appended if two relationships of one entity have the same inverse name.
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

    /// Returns true if the table is named after `relationship`, false if after `inverse`. The entity with the lower
    /// number gives the name, except that one in a hierarchy precedes one that is not.
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
        /// There is no join table; the text is the reason, as a clause of a message.
        case missing(String)
    }

    /// Returns the table in the file: with the planned name or that of the other end, and its actual columns.
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
            return .missing("the table \(planned.name) does not exist")
        }
        return .missing(
            "the table \(present.name) has the columns \(file.columns(of: present.name).joined(separator: ", ")), not "
                + present.columns.joined(separator: ", "))
    }

    /// Returns the table with the column names in the file. They are the planned ones except for their number suffix,
    /// which differs between files if relationships of one entity share a name.
    ///
    /// - Returns: none if the file's columns have other names; two tables if the file does not show which column
    ///   belongs to which end.
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
