extension CompiledModelWriter {
    mutating func write(_ entity: EntityDocument) throws {
        let reference = reference(toEntity: entity.name)
        let kept = kept(entity.unknown)
        var fields: [String: PropertyListValue] = [
            "NSEntityName": builder.string(entity.name),
            "NSClassNameForEntity": builder.string(entity.className ?? "NSManagedObject"),
            "NSManagedObjectModel": root,
            "NSSuperentity": self.reference(toEntity: entity.parentName),
            "NSSubentities": subentities(of: entity),
            "NSRenamingIdentifier": builder.string(entity.renamingIdentifier ?? entity.name),
            "NSVersionHashModifier": builder.string(entity.versionHashModifier),
            "NSUserInfo": try write(entity.userInfo, kept),
            "NSProperties": try writeProperties(of: entity),
        ]
        if entity.isAbstract { fields["NSIsAbstract"] = .boolean(true) }
        if !entity.uniquenessConstraints.isEmpty {
            fields["NSUniqueTuples"] = nameLists(entity.uniquenessConstraints)
        }
        let compounds = entity.fetchIndexes.filter { !leadsElsewhere($0, of: entity) }.compactMap(\.compoundForm)
        let others = entity.compoundIndexes.filter { !compounds.contains($0) }
        if !entity.fetchIndexes.isEmpty || !others.isEmpty {
            fields["NSCompoundIndexes"] = nameLists(compounds + others)
        }
        var indexes: [PropertyListValue] = []
        for index in entity.fetchIndexes { indexes.append(try write(index, of: entity)) }
        indexes += kept.elements(of: "NSFetchIndexDescriptions")
        if !indexes.isEmpty { fields["NSFetchIndexDescriptions"] = builder.array(indexes, isMutable: true) }
        kept.add(to: &fields)
        builder.define(reference, ["NSEntityDescription", "NSObject"], fields)
    }

    /// True if an index orders by a relationship, which the old form does not support.
    private func leadsElsewhere(_ index: FetchIndexDocument, of entity: EntityDocument) -> Bool {
        index.elements.contains { element in
            guard case .property(let name) = element.content else { return false }
            var level: EntityDocument? = entity
            while let current = level {
                if let property = current.property(named: name) { return property.relationship != nil }
                level = current.parentName.flatMap { documents[$0] }
            }
            return false
        }
    }

    private mutating func subentities(of entity: EntityDocument) -> PropertyListValue {
        var entries: [(key: PropertyListValue, value: PropertyListValue)] = []
        for child in subentities[entity.name] ?? [] {
            entries.append((builder.string(child.name), reference(toEntity: child.name)))
        }
        return builder.dictionary(entries, isMutable: true)
    }

    private mutating func writeProperties(of entity: EntityDocument) throws -> PropertyListValue {
        var entries: [(key: PropertyListValue, value: PropertyListValue)] = []
        for property in allProperties(of: entity) {
            try write(property, of: entity)
            let reference = properties[entity.name]?[property.name] ?? builder.null
            entries.append((builder.string(property.name), reference))
        }
        return builder.dictionary(entries, isMutable: true)
    }

    private mutating func nameLists(_ lists: [[String]]) -> PropertyListValue {
        var written: [PropertyListValue] = []
        for list in lists {
            let names = list.map { builder.string($0) }
            written.append(builder.array(names, isMutable: true))
        }
        return builder.array(written, isMutable: true)
    }

    private mutating func write(_ index: FetchIndexDocument, of entity: EntityDocument) throws -> PropertyListValue {
        let reference = builder.reserve()
        let kept = kept(index.unknown)
        var elements: [PropertyListValue] = []
        for element in index.elements { elements.append(try write(element, of: reference)) }
        var fields: [String: PropertyListValue] = [
            "NSIndexName": builder.string(index.name), "NSEntity": self.reference(toEntity: entity.name),
            "NSIndexElements": builder.array(elements),
            "NSPartialIndexPredicate": try index.partialPredicate.map { try write($0, kept) } ?? builder.null,
        ]
        kept.add(to: &fields)
        builder.define(reference, ["NSFetchIndexDescription", "NSObject"], fields)
        return reference
    }

    private mutating func write(
        _ element: FetchIndexElementDocument, of index: PropertyListValue
    ) throws -> PropertyListValue {
        var fields: [String: PropertyListValue] = [
            "NSFetchIndexElementType": .integer(element.isRTree ? 1 : 0), "NSAscending": .boolean(element.isAscending),
            "NSFetchIndexDescription": index,
        ]
        switch element.content {
        case .property(let name): fields["NSPropertyName"] = builder.string(name)
        case .expression(let expression, let name, let resultType):
            let nameReference = builder.string(name)
            let kept = kept(element.unknown[part: "NSExpressionDescription"])
            fields["NSPropertyName"] = nameReference
            var description: [String: PropertyListValue] = [
                "NSExpression": try write(expression, kept), "NSExpressionType": .integer(Int64(resultType)),
                "NSPropertyName": nameReference, "NSRenamingIdentifier": nameReference, "NSEntity": builder.null,
                "NSIsOptional": .boolean(true), "NSIsReadOnly": .boolean(true), "_P": .integer(247),
            ]
            kept.add(to: &description)
            fields["NSIndexedProperty"] = builder.object(
                ["NSExpressionDescription", "NSPropertyDescription", "NSObject"], description)
        }
        kept(element.unknown).add(to: &fields)
        return builder.object(["NSFetchIndexElementDescription", "NSObject"], fields)
    }
}
