extension CompiledModelReader {
    mutating func readProperty(
        _ value: PropertyListValue, name: String, of entity: String
    ) throws -> PropertyDocument {
        guard let object = archive.object(value) else {
            throw error("the property '\(entity).\(name)' is not an object")
        }
        let fields = object.fields
        var unknown = try unknownParts(of: object)
        let kind: PropertyDocument.Kind
        switch object.className {
        case "NSAttributeDescription", "NSDerivedAttributeDescription", "NSCompositeAttributeDescription":
            kind = .attribute(try readAttribute(object, path: "\(entity).\(name)", keeping: &unknown))
        case "NSRelationshipDescription":
            kind = .relationship(try readRelationship(object, path: "\(entity).\(name)"))
        case "NSFetchedPropertyDescription":
            let request = try readFetchRequest(fields["NSFetchRequest"], name: "fetchedPropertyFetchRequest")
            if request == nil { try keepField("NSFetchRequest", of: object, in: &unknown) }
            kind = .fetched(request)
        default:
            throw error("the property '\(entity).\(name)' has the unknown class \(object.className)")
        }
        var property = PropertyDocument(name: name, kind: kind)
        let bits = archive.integer(fields["_P"]) ?? 0
        property.isOptional = archive.flag(fields["NSIsOptional"])
        property.isTransient = archive.flag(fields["NSIsTransient"])
        property.renamingIdentifier = renamingIdentifier(fields, name: name)
        property.versionHashModifier = archive.text(fields["NSVersionHashModifier"])
        property.userInfo = try readUserInfo(fields["NSUserInfo"], keeping: &unknown)
        property.isIndexed = archive.flag(fields["NSIsIndexed"])
        property.isIndexedBySpotlight = archive.flag(fields[OwnKeys.isIndexedBySpotlight])
        property.isStoredInExternalRecord = archive.flag(fields[OwnKeys.isStoredInExternalRecord])
        property.validations = try readValidations(
            fields, type: property.attribute?.type, of: "\(entity).\(name)", keeping: &unknown)
        property.unknown = unknown
        if case .attribute(var attribute) = property.kind {
            attribute.allowsCloudEncryption = archive.flag(fields["NSAllowsCloudEncryption"]) || bits & 0x800 != 0
            property.kind = .attribute(attribute)
        }
        return property
    }

    private mutating func readAttribute(
        _ object: KeyedArchive.Object, path: String, keeping unknown: inout UnknownParts
    ) throws -> AttributeDocument {
        let fields = object.fields
        let code = UInt(clamping: archive.integer(fields["NSAttributeType"]) ?? 0)
        guard let type = AttributeKind(rawValue: code) else {
            throw error("the attribute '\(path)' has the unknown type \(code)")
        }
        var attribute = AttributeDocument(type: type)
        let className = archive.text(fields["NSAttributeValueClassName"])
        if className != type.valueClassName { attribute.valueClassName = className }
        attribute.defaultValue = try fields["NSDefaultValue"].flatMap { archive.resolve($0) == nil ? nil : $0 }
            .flatMap { try readDefaultValue($0, type: type) }
        if attribute.defaultValue == nil, archive.object(fields["NSDefaultValue"]) != nil {
            try keepField("NSDefaultValue", of: object, in: &unknown)
        }
        attribute.valueTransformerName = archive.text(fields["NSValueTransformerName"])
        let flags = archive.integer(fields["NSFlagsKey"]) ?? 0
        attribute.allowsExternalBinaryDataStorage = flags & 4 != 0
        attribute.preservesValueInHistoryOnDeletion = flags & 16 != 0
        if object.className == "NSDerivedAttributeDescription" {
            try readDerivation(object, of: &attribute, path: path, keeping: &unknown)
        }
        if type == .composite {
            // In older stores our own elements determine the columns, even if the archive also has Apple's.
            let elements = fields[OwnKeys.elements] ?? fields["NSCompositeElements"]
            attribute.elements = try readElements(elements, path: path)
        }
        return attribute
    }

    /// Reads the derivation of a derived attribute. Omits it if a part is unknown: without its filter it would compute
    /// other values.
    private mutating func readDerivation(
        _ object: KeyedArchive.Object, of attribute: inout AttributeDocument, path: String,
        keeping unknown: inout UnknownParts
    ) throws {
        let expression = object.fields["NSDerivationExpression"]
        let filter = object.fields["NSFilteringPredicate"]
        if archive.object(expression) != nil {
            attribute.derivation = try readExpression(expression, of: path, keeping: &unknown)
        }
        attribute.derivationFilter = try readPredicate(filter, of: path, keeping: &unknown)
        let isFilterLost = attribute.derivationFilter == nil && archive.object(filter) != nil
        guard attribute.derivation == nil || isFilterLost else { return }
        (attribute.derivation, attribute.derivationFilter) = (nil, nil)
        attribute.hasUnknownDerivation = true
        for key in ["NSDerivationExpression", "NSFilteringPredicate"] { try keepField(key, of: object, in: &unknown) }
        note("the derivation of '\(path)' is unknown: only the triggers of the store set its value")
    }

    /// The elements of a composite attribute, in the order of declaration.
    private mutating func readElements(_ value: PropertyListValue?, path: String) throws -> [PropertyDocument] {
        try spend()
        var elements: [PropertyDocument] = []
        for item in archive.elements(value) ?? [] {
            try spend()
            guard let object = archive.object(item), let name = archive.text(object.fields["NSPropertyName"]) else {
                throw error("an element of the composite attribute '\(path)' is not an attribute")
            }
            // One level of nesting per dot: a circle of elements ends here.
            guard path.split(separator: ".").count < 16 else { throw error("the composite '\(path)' contains itself") }
            elements.append(try readProperty(item, name: name, of: path))
        }
        return elements
    }

    /// Reads a default value. Archives have some of them in a wider type than that of the attribute.
    ///
    /// - Returns: `nil` if a part of the value is unknown.
    private mutating func readDefaultValue(_ value: PropertyListValue, type: AttributeKind) throws -> ValueDocument? {
        guard let read = try readKnownValue(value) else { return nil }
        switch (type, read) {
        case (.double, .integer(let number)), (.float, .integer(let number)): return .real(Double(number))
        case (.decimal, .integer(let number)): return .decimal(.init(number))
        case (.decimal, .real(let number)): return .decimal(.init(number))
        case (.boolean, .integer(let number)): return .boolean(number != 0)
        case (.integer16, .real(let number)), (.integer32, .real(let number)), (.integer64, .real(let number)):
            return Int64(exactly: number).map(ValueDocument.integer) ?? read
        case (.integer16, .boolean(let flag)), (.integer32, .boolean(let flag)), (.integer64, .boolean(let flag)):
            return .integer(flag ? 1 : 0)
        case (.uri, .string(let text)): return .uri(text)
        default: return read
        }
    }

    private func readRelationship(_ object: KeyedArchive.Object, path: String) throws -> RelationshipDocument {
        let fields = object.fields
        let destination =
            archive.text(fields["_NSDestinationEntityName"])
            ?? archive.object(fields["NSDestinationEntity"]).flatMap { archive.text($0.fields["NSEntityName"]) }
        guard let destination else { throw error("the relationship '\(path)' has no destination") }
        var relationship = RelationshipDocument(destinationName: destination)
        relationship.inverseName =
            archive.text(fields["_NSInverseRelationshipName"])
            ?? archive.object(fields["NSInverseRelationship"]).flatMap { archive.text($0.fields["NSPropertyName"]) }
        relationship.maxCount = Int(Int32(clamping: archive.integer(fields["NSMaxCount"]) ?? 0))
        relationship.minCount = Int(Int32(clamping: archive.integer(fields["NSMinCount"]) ?? 0))
        relationship.isOrdered = archive.flag(fields["NSIsOrdered"])
        let rule = Int(Int32(clamping: archive.integer(fields["NSDeleteRule"]) ?? 1))
        guard let deleteRule = DeleteRuleKind(rawValue: rule) else {
            throw error("the relationship '\(path)' has the unknown delete rule \(rule)")
        }
        relationship.deleteRule = deleteRule
        return relationship
    }

    mutating func readFetchRequest(_ value: PropertyListValue?, name: String) throws -> FetchRequestDocument? {
        guard let object = archive.object(value) else { return nil }
        let fields = object.fields
        let entity = archive.object(fields["NSEntity"]).flatMap { archive.text($0.fields["NSEntityName"]) }
        guard let entity = entity ?? archive.text(fields["NSEntityName"]) else {
            note("the fetch request '\(name)' has no entity: it is kept in the file but not used")
            return nil
        }
        func count(_ key: String) -> Int { Int(Int32(clamping: max(0, archive.integer(fields[key]) ?? 0))) }
        var request = FetchRequestDocument(name: name, entityName: entity)
        request.unknown = try unknownParts(of: object)
        request.predicate = try readPredicate(fields["NSPredicate"], of: name, keeping: &request.unknown)
        // Without its predicate a request would find everything.
        if request.predicate == nil, archive.object(fields["NSPredicate"]) != nil { return nil }
        request.fetchLimit = count("NSFetchLimit")
        request.fetchOffset = count("NSFetchOffset")
        request.fetchBatchSize = count("NSBatchSize")
        request.resultType = UInt(count("NSResultType"))
        request.includesSubentities = !archive.flag(fields[OwnKeys.excludesSubentities])
        request.includesPropertyValues = !archive.flag(fields[OwnKeys.excludesPropertyValues])
        request.includesPendingChanges = !archive.flag(fields[OwnKeys.excludesPendingChanges])
        request.returnsObjectsAsFaults = !archive.flag(fields[OwnKeys.returnsNoFaults])
        request.returnsDistinctResults = archive.flag(fields[OwnKeys.returnsDistinctResults])
        for item in archive.elements(fields["NSSortDescriptors"]) ?? [] {
            guard let sort = archive.object(item), let key = archive.text(sort.fields["NSKey"]) else { continue }
            var read = SortKeyDocument(
                key: key, isAscending: archive.flag(sort.fields["NSAscending"]),
                selector: archive.text(sort.fields["NSSelector"]))
            read.unknown = try unknownParts(of: sort)
            request.sortKeys.append(read)
        }
        return request
    }
}
