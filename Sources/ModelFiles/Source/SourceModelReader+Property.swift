extension SourceModelReader {
    /// Reads an `attribute` element, of an entity or of a composite.
    mutating func readAttribute(_ tree: XMLTree) throws -> PropertyDocument {
        var element = SourceElement(tree, file: file)
        let name = try element.requiredText("name")
        let kind = try element.choice("attributeType", of: SourceValues.attributeKinds) ?? .undefined
        var attribute = AttributeDocument(type: kind)
        attribute.valueTransformerName = element.text("valueTransformerName")
        attribute.valueClassName = element.text("customClassName")
        attribute.allowsExternalBinaryDataStorage = try element.flag("allowsExternalBinaryDataStorage") ?? false
        attribute.allowsCloudEncryption = try element.flag("allowsCloudEncryption") ?? false
        attribute.preservesValueInHistoryOnDeletion = try element.flag("preserveAfterDeletion") ?? false
        attribute.usesScalarValueType = try element.flag("usesScalarValueType")
        attribute.compositeName = element.text("composite") ?? element.text("elementType")
        if try element.flag("derived") ?? false {
            guard let expression = element.text("derivationExpression") else {
                throw element.error("the derived attribute '\(name)' has no 'derivationExpression'")
            }
            attribute.derivation = .format(expression)
        }
        do {
            attribute.defaultValue = try SourceValues.defaultValue(&element, type: kind, name: name)
        } catch let error as ModelFileError {
            // Existing models have invalid defaults. They are read with a note, and the attribute has no default.
            notes.append(ModelNote(line: error.line, "\(error.reason); the attribute has no default value"))
        }
        let validations = try SourceValues.validations(&element, type: kind, name: name)
        var property = PropertyDocument(name: name, kind: .attribute(attribute))
        property.validations = validations
        try readCommon(&element, into: &property)
        return property
    }

    /// Reads a `relationship` element.
    mutating func readRelationship(_ tree: XMLTree) throws -> PropertyDocument {
        var element = SourceElement(tree, file: file)
        let name = try element.requiredText("name")
        var relationship = RelationshipDocument(destinationName: try element.requiredText("destinationEntity"))
        relationship.inverseName = element.text("inverseName")
        _ = element.text("inverseEntity")
        let isToMany = try element.flag("toMany") ?? false
        relationship.maxCount = try element.number("maxCount") ?? (isToMany ? 0 : 1)
        relationship.minCount = try element.number("minCount") ?? 0
        relationship.isOrdered = try element.flag("ordered") ?? false
        relationship.deleteRule = try element.choice("deletionRule", of: SourceValues.deleteRules) ?? .nullify
        var property = PropertyDocument(name: name, kind: .relationship(relationship))
        try readCommon(&element, into: &property)
        return property
    }

    /// Reads a `fetchedProperty` element with its request.
    mutating func readFetchedProperty(_ tree: XMLTree) throws -> PropertyDocument {
        var element = SourceElement(tree, file: file)
        let name = try element.requiredText("name")
        let request = try tree.children.first { $0.name == "fetchRequest" }.map { try readFetchRequest($0) }
        var property = PropertyDocument(name: name, kind: .fetched(request))
        try readCommon(&element, into: &property)
        property.isTransient = true
        return property
    }

    private mutating func readCommon(_ element: inout SourceElement, into property: inout PropertyDocument) throws {
        property.isOptional = try element.flag("optional") ?? false
        property.isTransient = try element.flag("transient") ?? false
        property.renamingIdentifier = element.text("elementID") ?? element.text("renamingIdentifier")
        property.versionHashModifier = element.text("versionHashModifier")
        property.isIndexed = try element.flag("indexed") ?? false
        property.isIndexedBySpotlight = try element.flag("spotlightIndexingEnabled") ?? false
        property.isStoredInExternalRecord = try element.flag("storedInTruthFile") ?? false
        property.isSyncable = try element.flag("syncable") ?? false
        keepAttributes(of: element, in: &property.unknown)
        let tree = element.tree
        let request = tree.name == "fetchedProperty" ? tree.children.firstIndex { $0.name == "fetchRequest" } : nil
        for (position, child) in tree.children.enumerated() where position != request {
            if child.name == "userInfo" {
                property.userInfo = readUserInfo(child, keeping: &property.unknown[part: child.name])
            } else {
                keep(child, at: position, of: tree.name, in: &property.unknown)
            }
        }
    }

    /// Reads a `fetchRequest` element.
    mutating func readFetchRequest(_ tree: XMLTree) throws -> FetchRequestDocument {
        var element = SourceElement(tree, file: file)
        var request = FetchRequestDocument(
            name: try element.requiredText("name"), entityName: try element.requiredText("entity"))
        if let format = element.text("predicateString"), !format.isEmpty { request.predicate = .format(format) }
        request.fetchLimit = try element.number("fetchLimit") ?? 0
        request.fetchOffset = try element.number("fetchOffset") ?? 0
        request.fetchBatchSize = try element.number("fetchBatchSize") ?? 0
        request.resultType = UInt(clamping: try element.number("resultType") ?? 0)
        request.includesSubentities =
            try element.flag("includeSubentities") ?? element.flag("includesSubentities") ?? true
        request.includesPropertyValues =
            try element.flag("includePropertyValues") ?? element.flag("includesPropertyValues") ?? true
        request.includesPendingChanges = try element.flag("includesPendingChanges") ?? true
        request.returnsObjectsAsFaults =
            try element.flag("returnObjectsAsFaults") ?? element.flag("returnsObjectsAsFaults") ?? true
        request.returnsDistinctResults =
            try element.flag("returnDistinctResults") ?? element.flag("returnsDistinctResults") ?? false
        keepAll(of: element, in: &request.unknown)
        return request
    }
}
