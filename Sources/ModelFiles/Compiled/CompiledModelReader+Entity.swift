extension CompiledModelReader {
    mutating func readEntity(_ object: KeyedArchive.Object) throws -> EntityDocument {
        let fields = object.fields
        var entity = EntityDocument(name: archive.text(fields["NSEntityName"]) ?? "")
        entity.unknown = try unknownParts(of: object)
        entity.className = archive.text(fields["NSClassNameForEntity"])
        if entity.className == "NSManagedObject" { entity.className = nil }
        entity.isAbstract = archive.flag(fields["NSIsAbstract"])
        entity.parentName = archive.object(fields["NSSuperentity"]).flatMap { archive.text($0.fields["NSEntityName"]) }
        entity.renamingIdentifier = renamingIdentifier(fields, name: entity.name)
        entity.versionHashModifier = archive.text(fields["NSVersionHashModifier"])
        entity.userInfo = try readUserInfo(fields["NSUserInfo"], keeping: &entity.unknown)
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
            if let read = try readFetchIndex(index, of: entity.name) {
                entity.fetchIndexes.append(read)
            } else {
                try keepElement(index, of: "NSFetchIndexDescriptions", in: &entity.unknown)
            }
        }
        // Indexes of several elements are stored a second time, for old readers.
        let repeated = Set(entity.fetchIndexes.compactMap(\.compoundForm))
        entity.compoundIndexes.removeAll(where: repeated.contains)
        return entity
    }

    /// A renaming identifier that equals the name is redundant.
    func renamingIdentifier(_ fields: [String: PropertyListValue], name: String) -> String? {
        let identifier = archive.text(fields["NSRenamingIdentifier"])
        return identifier == name ? nil : identifier
    }

    /// The names of the properties of all ancestors. Ends also if the ancestors form a circle.
    ///
    /// Each entity of a store's archive has its ancestors' properties as well: the names of each are read once.
    private mutating func inheritedNames(of object: KeyedArchive.Object) throws -> Set<String> {
        var unread: [KeyedArchive.Object] = []
        var passed: Set<Int> = [object.number]
        var parent = archive.object(object.fields["NSSuperentity"])
        while let current = parent, propertyNames[current.number] == nil, passed.insert(current.number).inserted {
            unread.append(current)
            parent = archive.object(current.fields["NSSuperentity"])
        }
        var names = parent.flatMap { propertyNames[$0.number] } ?? []
        for ancestor in unread.reversed() {
            let entries = archive.entries(ancestor.fields["NSProperties"]) ?? []
            names.formUnion(entries.compactMap { archive.text($0.key) })
            try spend(max(entries.count, names.count))
            propertyNames[ancestor.number] = names
        }
        return names
    }

    /// Reads lists of names, or of the properties with these names.
    private mutating func readNameLists(_ value: PropertyListValue?) throws -> [[String]] {
        try (archive.elements(value) ?? []).map { list in
            let items = archive.elements(list) ?? []
            try spend(items.count)
            return items.compactMap { item in
                archive.text(item) ?? archive.object(item).flatMap { archive.text($0.fields["NSPropertyName"]) }
            }
        }
    }

    /// Reads a user info dictionary.
    ///
    /// - Parameter unknown: Receives the entries with unknown parts.
    mutating func readUserInfo(
        _ value: PropertyListValue?, keeping unknown: inout UnknownParts
    ) throws -> [String: ValueDocument] {
        var result: [String: ValueDocument] = [:]
        for entry in archive.entries(value) ?? [] {
            let key = archive.text(entry.key)
            if key == nil { note("an entry of a user info has a key that is not text; it was kept") }
            if let key, let value = try readKnownValue(entry.value) {
                result[key] = value
            } else {
                try keepElement(entry.value, under: entry.key, of: "NSUserInfo", in: &unknown)
            }
        }
        return result
    }

    private mutating func readFetchIndex(_ value: PropertyListValue, of entity: String) throws -> FetchIndexDocument? {
        guard let object = archive.object(value), let name = archive.text(object.fields["NSIndexName"]) else {
            note("an index of '\(entity)' has no name; it was kept")
            return nil
        }
        var index = FetchIndexDocument(name: name, elements: [])
        index.unknown = try unknownParts(of: object)
        for item in archive.elements(object.fields["NSIndexElements"]) ?? [] {
            try spend()
            guard let element = archive.object(item) else { continue }
            guard let read = try readFetchIndexElement(element, of: "\(entity).\(name)") else { return nil }
            index.elements.append(read)
        }
        let predicate = object.fields["NSPartialIndexPredicate"]
        index.partialPredicate = try readPredicate(predicate, of: "\(entity).\(name)", keeping: &index.unknown)
        if index.partialPredicate == nil, archive.object(predicate) != nil { return nil }
        return index
    }

    /// - Returns: `nil` if an expression has unknown parts, which is noted.
    private mutating func readFetchIndexElement(
        _ element: KeyedArchive.Object, of path: String
    ) throws -> FetchIndexElementDocument? {
        let fields = element.fields
        guard let propertyName = archive.text(fields["NSPropertyName"]) else {
            throw error("the index '\(path)' has an element without a property")
        }
        var read = FetchIndexElementDocument(
            content: .property(propertyName), isRTree: archive.integer(fields["NSFetchIndexElementType"]) == 1,
            isAscending: archive.flag(fields["NSAscending"]))
        read.unknown = try unknownParts(of: element)
        if let indexed = archive.object(fields["NSIndexedProperty"]), indexed.className == "NSExpressionDescription" {
            var unknown = try unknownParts(of: indexed)
            let value = indexed.fields["NSExpression"]
            guard let expression = try readExpression(value, of: path, keeping: &unknown) else { return nil }
            let type = UInt(clamping: archive.integer(indexed.fields["NSExpressionType"]) ?? 0)
            read.content = .expression(expression, name: propertyName, resultType: type)
            read.unknown[part: indexed.className] = unknown
        }
        return read
    }
}
