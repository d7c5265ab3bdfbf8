extension CompiledModelReader {
    mutating func readEntity(_ object: KeyedArchive.Object) throws -> EntityDocument {
        noteUnknownKeys(of: object)
        let fields = object.fields
        var entity = EntityDocument(name: archive.text(fields["NSEntityName"]) ?? "")
        entity.className = archive.text(fields["NSClassNameForEntity"])
        if entity.className == "NSManagedObject" { entity.className = nil }
        entity.isAbstract = archive.flag(fields["NSIsAbstract"])
        entity.parentName = archive.object(fields["NSSuperentity"]).flatMap { archive.text($0.fields["NSEntityName"]) }
        entity.renamingIdentifier = renamingIdentifier(fields, name: entity.name)
        entity.versionHashModifier = archive.text(fields["NSVersionHashModifier"])
        entity.userInfo = try readUserInfo(fields["NSUserInfo"])
        let inherited = try inheritedNames(of: object)
        for entry in archive.entries(fields["NSProperties"]) ?? [] {
            try spend()
            guard let name = archive.text(entry.key) else { throw error("a property of '\(entity.name)' has no name") }
            if inherited.contains(name) { continue }
            entity.properties.append(try readProperty(entry.value, name: name, of: entity.name))
        }
        entity.properties.sort { $0.name < $1.name }
        entity.uniquenessConstraints = try readNameLists(fields["NSUniqueTuples"])
        entity.compoundIndexes = try readNameLists(fields["NSCompoundIndexes"])
        for index in archive.elements(fields["NSFetchIndexDescriptions"]) ?? [] {
            if let read = try readFetchIndex(index, of: entity.name) { entity.fetchIndexes.append(read) }
        }
        // Indexes of several elements stand there a second time, for old readers.
        let repeated = Set(entity.fetchIndexes.compactMap(\.compoundForm))
        entity.compoundIndexes.removeAll(where: repeated.contains)
        return entity
    }

    /// A renaming identifier that is the name says nothing.
    func renamingIdentifier(_ fields: [String: PropertyListValue], name: String) -> String? {
        let identifier = archive.text(fields["NSRenamingIdentifier"])
        return identifier == name ? nil : identifier
    }

    /// The names of the properties of all ancestors. Ends also where the ancestors go in a circle.
    private mutating func inheritedNames(of object: KeyedArchive.Object) throws -> Set<String> {
        var names: Set<String> = []
        var passed: Set<Int> = [object.number]
        var parent = archive.object(object.fields["NSSuperentity"])
        while let current = parent, passed.insert(current.number).inserted {
            let entries = archive.entries(current.fields["NSProperties"]) ?? []
            try spend(entries.count)
            names.formUnion(entries.compactMap { archive.text($0.key) })
            parent = archive.object(current.fields["NSSuperentity"])
        }
        return names
    }

    /// Lists of names, or of the properties that have them.
    private mutating func readNameLists(_ value: PropertyListValue?) throws -> [[String]] {
        try (archive.elements(value) ?? []).map { list in
            let items = archive.elements(list) ?? []
            try spend(items.count)
            return items.compactMap { item in
                archive.text(item) ?? archive.object(item).flatMap { archive.text($0.fields["NSPropertyName"]) }
            }
        }
    }

    mutating func readUserInfo(_ value: PropertyListValue?) throws -> [String: ValueDocument] {
        var result: [String: ValueDocument] = [:]
        for entry in archive.entries(value) ?? [] {
            guard let key = archive.text(entry.key) else {
                note("an entry of a user info whose key is no text was passed over")
                continue
            }
            result[key] = try readValue(entry.value)
        }
        return result
    }

    private mutating func readFetchIndex(_ value: PropertyListValue, of entity: String) throws -> FetchIndexDocument? {
        guard let object = archive.object(value), let name = archive.text(object.fields["NSIndexName"]) else {
            note("an index of '\(entity)' without a name was passed over")
            return nil
        }
        noteUnknownKeys(of: object)
        var elements: [FetchIndexElementDocument] = []
        for item in archive.elements(object.fields["NSIndexElements"]) ?? [] {
            try spend()
            guard let element = archive.object(item) else { continue }
            let fields = element.fields
            guard let propertyName = archive.text(fields["NSPropertyName"]) else {
                throw error("the index '\(name)' of '\(entity)' has an element without a property")
            }
            var content = FetchIndexElementDocument.Content.property(propertyName)
            if let indexed = archive.object(fields["NSIndexedProperty"]), indexed.className == "NSExpressionDescription"
            {
                guard let expression = try readExpression(indexed.fields["NSExpression"], of: "\(entity).\(name)")
                else {
                    return nil
                }
                let type = UInt(clamping: archive.integer(indexed.fields["NSExpressionType"]) ?? 0)
                content = .expression(expression, name: propertyName, resultType: type)
            }
            elements.append(
                FetchIndexElementDocument(
                    content: content, isRTree: archive.integer(fields["NSFetchIndexElementType"]) == 1,
                    isAscending: archive.flag(fields["NSAscending"])))
        }
        let predicate = try readPredicate(object.fields["NSPartialIndexPredicate"], of: "\(entity).\(name)")
        if predicate == nil, archive.object(object.fields["NSPartialIndexPredicate"]) != nil { return nil }
        return FetchIndexDocument(name: name, elements: elements, partialPredicate: predicate)
    }
}
