import ModelFiles

/// Adds inferred relationships and their inverses to a model.
struct RelationshipPlan {
    let traces: StoreTraces
    private(set) var document: ModelDocument
    private(set) var notes: [String] = []

    /// A to-one relationship without an inverse so far.
    private struct Open {
        let column: ToOneTraces.Column
        let owner: StoreTraces.Entity
        let name: String
    }
    private var open: [Open] = []

    init(traces: StoreTraces, document: ModelDocument) {
        self.traces = traces
        self.document = document
    }

    // MARK: To-one columns

    mutating func addToOne(_ column: ToOneTraces.Column, of owner: StoreTraces.Entity) {
        guard let destination = traces.entity(numbered: column.destination) else { return }
        let name = freeName(column.column.dropFirst().lowercased(), for: owner)
        var relationship = RelationshipDocument(destinationName: destination.name)
        relationship.maxCount = 1
        add(name, relationship, to: owner)
        open.append(Open(column: column, owner: owner, name: name))
    }

    /// Gives each to-one relationship its inverse: the matching to-one of the other table, otherwise a to-many. Its
    /// name is made from the entity's, because it is not in the file.
    mutating func addInverses(
        areInverse: (ToOneTraces.Column, ToOneTraces.Column) throws -> Bool
    ) rethrows {
        var done: Set<Int> = []
        for index in open.indices where !done.contains(index) {
            let one = open[index]
            var partners: [Int] = []
            for other in open.indices where other > index && !done.contains(other) {
                let far = open[other]
                guard !one.column.isPlaced, !far.column.isPlaced, one.column.destinationTable == far.column.table,
                    far.column.destinationTable == one.column.table, try areInverse(one.column, far.column)
                else { continue }
                partners.append(other)
            }
            if partners.count == 1, let partner = partners.first {
                done.insert(partner)
                setInverse(of: one.name, in: one.owner, to: open[partner].name)
                setInverse(of: open[partner].name, in: open[partner].owner, to: one.name)
            } else {
                addToMany(back: one)
            }
        }
    }

    private mutating func addToMany(back one: Open) {
        guard let destination = traces.entity(numbered: one.column.destination) else { return }
        let base = Self.lowercasedFirst(one.owner.name) + "s"
        let rivals = open.count {
            $0.owner.number == one.owner.number && $0.column.destination == one.column.destination
        }
        let wanted = rivals > 1 ? base + "By" + one.name.prefix(1).uppercased() + one.name.dropFirst() : base
        let name = freeName(wanted, for: destination)
        var relationship = RelationshipDocument(destinationName: one.owner.name)
        relationship.inverseName = one.name
        relationship.isOrdered = one.column.isPlaced
        add(name, relationship, to: destination)
        setInverse(of: one.name, in: one.owner, to: name)
    }

    private static func lowercasedFirst(_ text: String) -> String { text.prefix(1).lowercased() + text.dropFirst() }

    // MARK: One-way relationships

    /// `Z3BOOKS` in the table of `destination`: entity 3 has a to-many `books` without an inverse.
    mutating func addOneWay(of destination: StoreTraces.Entity) {
        let table = traces.table(of: destination)
        for column in traces.columns[table] ?? [] where column.type == "INTEGER" {
            guard let (number, rest) = ColumnName.numbered(column.name), !rest.hasPrefix("_"),
                let owner = traces.entity(numbered: number)
            else { continue }
            let name = freeName(rest.lowercased(), for: owner)
            // With another name the relationship would be read from another column.
            guard name == rest.lowercased() else { continue }
            var relationship = RelationshipDocument(destinationName: destination.name)
            relationship.isOrdered = traces.columnNames(of: table).contains("Z_FOK_\(number)\(rest)")
            add(name, relationship, to: owner)
        }
    }

    // MARK: Join tables

    /// Adds the to-many relationships that join tables show. `Z_1BOOKS (Z_1AUTHORS, Z_2BOOKS)`: entity 1 has a to-many
    /// `books` to entity 2, with the inverse `authors`.
    mutating func addJoinTables() {
        for table in traces.columns.keys.sorted() {
            guard let (number, rest) = ColumnName.joined(table), let owner = traces.entity(numbered: number) else {
                continue
            }
            if !addJoinTable(table, owner, String(rest)) {
                notes.append("the table \(table) joins entities in an unknown way and was skipped")
            }
        }
    }

    private mutating func addJoinTable(_ table: String, _ owner: StoreTraces.Entity, _ rest: String) -> Bool {
        let columns = (traces.columns[table] ?? []).map(\.name)
        let keys = columns.filter { !$0.hasPrefix("Z_FOK_") }
        let isOrdered = { (column: String) in columns.contains("Z_FOK_" + column.dropFirst(2)) }
        let name = rest.lowercased()
        guard keys.count == 2, isFree(name, for: owner) else { return false }
        if keys[1] == "REFLEXIVE" {
            var relationship = RelationshipDocument(destinationName: owner.name)
            relationship.inverseName = name
            relationship.isOrdered = columns.contains("Z_FOK_REFLEXIVE")
            add(name, relationship, to: owner)
            return true
        }
        for (far, own) in [(keys[1], keys[0]), (keys[0], keys[1])] {
            guard let (farNumber, farRest) = ColumnName.joined(far), farRest == rest,
                let (ownNumber, ownRest) = ColumnName.joined(own), ownNumber == owner.number,
                let destination = traces.entity(numbered: farNumber)
            else { continue }
            let inverse = ownRest.lowercased()
            guard isFree(inverse, for: destination), owner.number != farNumber || inverse != name else { continue }
            var there = RelationshipDocument(destinationName: destination.name)
            there.inverseName = inverse
            there.isOrdered = isOrdered(far)
            var back = RelationshipDocument(destinationName: owner.name)
            back.inverseName = name
            back.isOrdered = isOrdered(own)
            add(name, there, to: owner)
            add(inverse, back, to: destination)
            return true
        }
        return false
    }

    // MARK: The document

    private func place(of entity: StoreTraces.Entity) -> Int? {
        document.entities.firstIndex { $0.name == entity.name }
    }

    private mutating func add(_ name: String, _ relationship: RelationshipDocument, to entity: StoreTraces.Entity) {
        guard let place = place(of: entity) else { return }
        var property = PropertyDocument(name: name, kind: .relationship(relationship))
        property.isOptional = true
        document.entities[place].properties.append(property)
    }

    private mutating func setInverse(of name: String, in entity: StoreTraces.Entity, to inverse: String) {
        guard let place = place(of: entity),
            let index = document.entities[place].properties.firstIndex(where: { $0.name == name }),
            var relationship = document.entities[place].properties[index].relationship
        else { return }
        relationship.inverseName = inverse
        document.entities[place].properties[index].kind = .relationship(relationship)
    }

    /// Returns true if no entity of the hierarchy has a property with that name.
    private func isFree(_ name: String, for entity: StoreTraces.Entity) -> Bool {
        let root = traces.root(of: entity)?.number
        let family = traces.entities.filter { traces.root(of: $0)?.number == root }
        return !family.contains { member in
            place(of: member).map { document.entities[$0].property(named: name) != nil } ?? false
        }
    }

    private func freeName(_ wanted: String, for entity: StoreTraces.Entity) -> String {
        var name = wanted
        var number = 1
        while !isFree(name, for: entity) {
            number += 1
            name = "\(wanted)\(number)"
        }
        return name
    }
}
