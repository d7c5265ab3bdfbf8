extension CompiledModelWriter {
    /// Writes a property of `entity`, own or inherited, in its reserved place.
    mutating func write(_ property: PropertyDocument, of entity: EntityDocument) throws {
        let reference = properties[entity.name]?[property.name] ?? builder.null
        try write(property, at: reference, entity: self.reference(toEntity: entity.name))
    }

    private mutating func write(
        _ property: PropertyDocument, at reference: PropertyListValue, entity: PropertyListValue
    ) throws {
        let kept = kept(property.unknown)
        var fields = try commonFields(of: property, entity: entity, kept)
        switch property.kind {
        case .attribute(let attribute):
            fields.merge(try self.fields(of: attribute, entity: entity, kept)) { $1 }
            kept.add(to: &fields, without: attribute.derivation == nil ? [] : ["NSFilteringPredicate"])
            builder.define(reference, className(of: attribute), fields)
        case .relationship(let relationship):
            fields.merge(self.fields(of: relationship)) { $1 }
            kept.add(to: &fields)
            builder.define(reference, ["NSRelationshipDescription", "NSPropertyDescription", "NSObject"], fields)
        case .fetched(let request):
            fields["NSFetchRequest"] = try request.map { try write($0) } ?? builder.null
            fields["_NSFetchRequestEntityName"] = builder.string(request?.entityName)
            kept.add(to: &fields)
            builder.define(reference, ["NSFetchedPropertyDescription", "NSPropertyDescription", "NSObject"], fields)
        }
    }

    private func className(of attribute: AttributeDocument) -> [String] {
        let base = ["NSAttributeDescription", "NSPropertyDescription", "NSObject"]
        if attribute.isDerived { return ["NSDerivedAttributeDescription"] + base }
        return attribute.type == .composite ? ["NSCompositeAttributeDescription"] + base : base
    }

    private mutating func commonFields(
        of property: PropertyDocument, entity: PropertyListValue, _ kept: KeptArchive
    ) throws -> [String: PropertyListValue] {
        let isReadOnly = isReadOnly(property)
        var fields: [String: PropertyListValue] = [
            "NSPropertyName": builder.string(property.name), "NSEntity": entity,
            "NSRenamingIdentifier": builder.string(property.renamingIdentifier ?? property.name),
            "_P": .integer(bits(of: property)),
        ]
        if property.isOptional { fields["NSIsOptional"] = .boolean(true) }
        if property.isTransient { fields["NSIsTransient"] = .boolean(true) }
        if isReadOnly { fields["NSIsReadOnly"] = .boolean(true) }
        if property.isIndexed { fields["NSIsIndexed"] = .boolean(true) }
        if property.isIndexedBySpotlight { fields[OwnKeys.isIndexedBySpotlight] = .boolean(true) }
        if property.isStoredInExternalRecord { fields[OwnKeys.isStoredInExternalRecord] = .boolean(true) }
        if hasUserInfo(property) { fields["NSUserInfo"] = try write(property.userInfo, kept) }
        if let modifier = property.versionHashModifier { fields["NSVersionHashModifier"] = builder.string(modifier) }
        if hasValidations(property) {
            var predicates: [PropertyListValue] = []
            var warnings: [PropertyListValue] = []
            for validation in property.validations {
                predicates.append(try write(validation.predicate, kept))
                warnings.append(write(validation.warning(for: property.attribute?.type ?? .undefined)))
            }
            fields["NSValidationPredicates"] = builder.array(predicates + kept.elements(of: "NSValidationPredicates"))
            fields["NSValidationWarnings"] = builder.array(warnings + kept.elements(of: "NSValidationWarnings"))
        }
        return fields
    }

    private func hasUserInfo(_ property: PropertyDocument) -> Bool {
        !property.userInfo.isEmpty || property.unknown.archived.elements["NSUserInfo"] != nil
    }

    private func hasValidations(_ property: PropertyDocument) -> Bool {
        !property.validations.isEmpty || property.unknown.archived.elements["NSValidationPredicates"] != nil
    }

    private func isReadOnly(_ property: PropertyDocument) -> Bool {
        switch property.kind {
        case .attribute(let attribute): attribute.isDerived
        case .relationship: false
        case .fetched: true
        }
    }

    /// The bit field `_P`, which repeats the flags and marks absent parts.
    private func bits(of property: PropertyDocument) -> Int64 {
        var bits: Int64 = 0x001
        if property.isOptional { bits |= 0x002 }
        if isReadOnly(property) { bits |= 0x004 }
        if property.isTransient { bits |= 0x008 }
        if !hasValidations(property) { bits |= 0x030 }
        if !hasUserInfo(property) { bits |= 0x040 }
        if property.versionHashModifier == nil { bits |= 0x080 }
        if property.relationship?.isOrdered == true { bits |= 0x400 }
        if property.attribute?.allowsCloudEncryption == true { bits |= 0x800 }
        return bits
    }

    private mutating func write(_ warning: ValidationWarning) -> PropertyListValue {
        switch warning {
        case .code(let code): builder.value(.integer(Int64(code)))
        case .message(let text): builder.string(text)
        }
    }

    private mutating func fields(
        of attribute: AttributeDocument, entity: PropertyListValue, _ kept: KeptArchive
    ) throws -> [String: PropertyListValue] {
        var flags: Int64 = 0
        if attribute.allowsExternalBinaryDataStorage { flags |= 4 }
        if attribute.preservesValueInHistoryOnDeletion { flags |= 16 }
        let defaultValue = try attribute.defaultValue.map { (value: ValueDocument) in try write(value) }
        var fields: [String: PropertyListValue] = [
            "NSAttributeType": .integer(Int64(attribute.type.rawValue)), "NSFlagsKey": .integer(flags),
            "NSAttributeValueClassName": builder.string(attribute.valueClassName ?? attribute.type.valueClassName),
            "NSDefaultValue": defaultValue ?? builder.null,
            "NSValueTransformerName": builder.string(attribute.valueTransformerName),
        ]
        if attribute.allowsCloudEncryption { fields["NSAllowsCloudEncryption"] = .boolean(true) }
        if let derivation = attribute.derivation {
            fields["NSDerivationExpression"] = try write(derivation, kept)
            fields["NSFilteringPredicate"] = try attribute.derivationFilter.map { try write($0, kept) } ?? builder.null
        }
        if attribute.type == .composite {
            var elements: [PropertyListValue] = []
            for element in attribute.elements {
                let reference = builder.reserve()
                try write(element, at: reference, entity: entity)
                elements.append(reference)
            }
            fields["NSCompositeElements"] = builder.array(elements)
        }
        return fields
    }

    private mutating func fields(of relationship: RelationshipDocument) -> [String: PropertyListValue] {
        let inverse = relationship.inverseName.flatMap { declaredProperty(named: $0, in: relationship.destinationName) }
        var fields: [String: PropertyListValue] = [
            "NSDestinationEntity": reference(toEntity: relationship.destinationName),
            "_NSDestinationEntityName": builder.string(relationship.destinationName),
            "NSInverseRelationship": inverse ?? builder.null,
            "_NSInverseRelationshipName": builder.string(relationship.inverseName),
            "NSMaxCount": .integer(Int64(relationship.maxCount)), "NSMinCount": .integer(Int64(relationship.minCount)),
            "NSDeleteRule": .integer(Int64(relationship.deleteRule.rawValue)),
        ]
        if relationship.isOrdered { fields["NSIsOrdered"] = .boolean(true) }
        return fields
    }

    /// The property with that name, declared by the entity or an ancestor.
    func declaredProperty(named name: String, in entity: String) -> PropertyListValue? {
        var current = documents[entity]
        while let level = current {
            if level.property(named: name) != nil { return properties[level.name]?[name] }
            current = level.parentName.flatMap { documents[$0] }
        }
        return nil
    }

    mutating func write(_ request: FetchRequestDocument) throws -> PropertyListValue {
        let kept = kept(request.unknown)
        var sorts: [PropertyListValue] = []
        for sort in request.sortKeys {
            var fields: [String: PropertyListValue] = [
                "NSKey": builder.string(sort.key), "NSAscending": .boolean(sort.isAscending),
                "NSSelector": builder.string(sort.selector ?? "compare:"), "NSReverseNullOrder": .boolean(false),
            ]
            self.kept(sort.unknown).replace(in: &fields)
            sorts.append(builder.object(["NSSortDescriptor", "NSObject"], fields))
        }
        var fields: [String: PropertyListValue] = [
            "NSEntity": reference(toEntity: request.entityName),
            "NSPredicate": try request.predicate.map { try write($0, kept) } ?? builder.null,
            "NSSortDescriptors": sorts.isEmpty ? builder.null : builder.array(sorts),
            "NSFetchLimit": .integer(Int64(request.fetchLimit)), "NSFetchOffset": .integer(Int64(request.fetchOffset)),
            "NSBatchSize": .integer(Int64(request.fetchBatchSize)), "NSResultType": .integer(Int64(request.resultType)),
            "NSAllocationType": .integer(0), "NSFetchRequestFlags": .integer(30),
            "NSHasFetchRequestFlags": .boolean(true),
            "NSHavingPredicate": builder.null, "NSValuesToFetch": builder.null, "NSValuesToGroupBy": builder.null,
            "NSRelationshipKeyPathsForPrefetching": builder.null,
        ]
        let marks = [
            OwnKeys.excludesSubentities: !request.includesSubentities,
            OwnKeys.excludesPropertyValues: !request.includesPropertyValues,
            OwnKeys.excludesPendingChanges: !request.includesPendingChanges,
            OwnKeys.returnsNoFaults: !request.returnsObjectsAsFaults,
            OwnKeys.returnsDistinctResults: request.returnsDistinctResults,
        ]
        for (key, isSet) in marks where isSet { fields[key] = .boolean(true) }
        kept.replace(in: &fields)
        return builder.object(["NSFetchRequest", "NSPersistentStoreRequest", "NSObject"], fields)
    }
}

extension ValidationDocument {
    /// The validation rule as a predicate; `SELF` is the attribute's value.
    package var predicate: PredicateDocument {
        switch self {
        case .minimum(let value): Self.comparison(.evaluatedObject, 3, value)
        case .maximum(let value): Self.comparison(.evaluatedObject, 1, value)
        case .minimumLength(let length): Self.comparison(.keyPath("length"), 3, .integer(Int64(length)))
        case .maximumLength(let length): Self.comparison(.keyPath("length"), 1, .integer(Int64(length)))
        case .pattern(let pattern): Self.comparison(.evaluatedObject, 6, .string(pattern))
        case .predicate(let predicate, _): predicate
        }
    }

    private static func comparison(
        _ left: ExpressionDocument, _ type: UInt, _ right: ValueDocument
    ) -> PredicateDocument {
        .comparison(PredicateDocument.Comparison(left: left, right: .constant(right), operatorType: type))
    }

    /// The warning for a value of that type that fails.
    package func warning(for type: AttributeKind) -> ValidationWarning {
        if case .predicate(_, let warning) = self { return warning }
        return .code(errorCode(for: type) ?? 1550)
    }
}
