// The columns of a table and their order.
//
// First the names: entities by number, properties by name, because a second column with the same name gets a number
// appended. Then the order, which is independent: by kind of value, then by entity, then by name, case-sensitive. In
// both, the elements of a composite attribute take its place, in the order of their declaration. Both rules were found
// from stores that Apple's framework wrote, and the tests compare them with such stores.

/// Plans the columns of one table.
struct ColumnPlanning {
    /// The table's entities, sorted by number.
    let entities: [NSEntityDescription]
    /// To-many relationships of any entity without an inverse, whose destination is one of `entities`.
    let oneWayRelationships: [NSRelationshipDescription]
    let numbers: [ObjectIdentifier: Int64]

    /// A column with its sort keys.
    private struct Placed {
        let column: TableColumn
        let rank: Int
        let entity: Int
        let part: Int
        /// The property's name.
        let name: String
        /// The index among the property's columns: the entity column (`Zn_…`) follows the value's.
        let place: Int

        func precedes(_ other: Placed) -> Bool {
            if rank != other.rank { return rank < other.rank }
            if entity != other.entity { return entity < other.entity }
            if part != other.part { return part < other.part }
            if name != other.name { return name.utf8.lexicographicallyPrecedes(other.name.utf8) }
            return place < other.place
        }
    }

    func columns() -> [TableColumn] {
        var names = UniqueNames(taken: ["Z_PK", "Z_ENT", "Z_OPT"])
        var placed: [Placed] = []
        for (index, entity) in entities.enumerated() {
            for property in entity.ownProperties.sorted(by: { $0.name < $1.name }) where !property.isTransient {
                if let attribute = property as? NSAttributeDescription {
                    placed += columns(of: attribute, entity: entity, index: index, names: &names)
                } else if let relationship = property as? NSRelationshipDescription, !relationship.isToMany {
                    placed += columns(of: relationship, entity: entity, index: index, names: &names)
                }
            }
            for relationship in oneWayRelationships where relationship.destinationEntity === entity {
                placed += ownerColumns(of: relationship, entity: entity, index: index, names: &names)
            }
        }
        return placed.sorted { $0.precedes($1) }.map(\.column)
    }

    private func columns(
        of attribute: NSAttributeDescription, entity: NSEntityDescription, index: Int, names: inout UniqueNames
    ) -> [Placed] {
        func place(_ value: NSAttributeDescription, _ content: TableColumn.Content, _ order: Int) -> Placed? {
            guard let coding = ValueCoding(value) else { return nil }
            let name = names.claim("Z" + value.name.uppercased())
            return Placed(
                column: TableColumn(name: name, content: content, entity: entity), rank: rank(of: coding, value),
                entity: index, part: 0, name: attribute.name, place: order)
        }
        guard let composite = attribute as? NSCompositeAttributeDescription else {
            return [place(attribute, .attribute(attribute), 0)].compactMap(\.self)
        }
        return composite.leaves.enumerated().compactMap { place($1.attribute, .element(composite, $1), $0) }
    }

    private func rank(of coding: ValueCoding, _ attribute: NSAttributeDescription) -> Int {
        switch coding {
        case .integer, .reference: 0
        case .real, .date: 2
        case .decimal: 3
        case .text: attribute.attributeType == .URIAttributeType ? 5 : 4
        case .uuid: 6
        case .transformable, .composite: 7
        case .data, .externalData: 8
        }
    }

    private func columns(
        of toOne: NSRelationshipDescription, entity: NSEntityDescription, index: Int, names: inout UniqueNames
    ) -> [Placed] {
        let base = toOne.name.uppercased()
        func place(_ name: String, _ content: TableColumn.Content, rank: Int, following: Int) -> Placed {
            Placed(
                column: TableColumn(name: name, content: content, entity: entity), rank: rank, entity: index, part: 1,
                name: toOne.name, place: following)
        }
        var placed = [place(names.claim("Z" + base), .toOne(toOne), rank: 0, following: 0)]
        if let destination = toOne.destinationEntity, !destination.subentities.isEmpty,
            let number = numbers[ObjectIdentifier(destination)]
        {
            placed.append(
                place(names.claim("Z\(number)_\(base)"), .destinationEntity(toOne), rank: 0, following: 1))
        }
        if let inverse = toOne.inverseRelationship, inverse.isToMany, inverse.isOrdered {
            placed.append(place(names.claim("Z_FOK_\(base)"), .position(toOne), rank: 1, following: 0))
        }
        return placed
    }

    private func ownerColumns(
        of relationship: NSRelationshipDescription, entity: NSEntityDescription, index: Int, names: inout UniqueNames
    ) -> [Placed] {
        let base = "\(numbers[ObjectIdentifier(relationship.entity)] ?? 0)\(relationship.name.uppercased())"
        let column = TableColumn(name: names.claim("Z" + base), content: .owner(relationship), entity: entity)
        var placed = [
            Placed(column: column, rank: 0, entity: index, part: 2, name: relationship.name, place: 0)
        ]
        if relationship.isOrdered {
            let position = TableColumn(
                name: names.claim("Z_FOK_" + base), content: .ownerPosition(relationship), entity: entity)
            placed.append(
                Placed(column: position, rank: 1, entity: index, part: 2, name: relationship.name, place: 0))
        }
        return placed
    }
}

/// Unique names: the second one gets the suffix 1, the third 2.
struct UniqueNames {
    private var taken: Set<String>

    init(taken: Set<String> = []) { self.taken = taken }

    mutating func claim(_ wanted: String) -> String {
        var name = wanted
        var number = 0
        while !taken.insert(name).inserted {
            number += 1
            name = "\(wanted)\(number)"
        }
        return name
    }
}
