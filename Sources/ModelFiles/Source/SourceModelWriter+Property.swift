extension SourceModelWriter {
    static func write(_ property: PropertyDocument, to output: inout XMLOutput) {
        switch property.kind {
        case .attribute(let attribute):
            output.open(
                "attribute", common(property) + attributes(of: attribute, in: property) + trailing(property),
                property.unknown)
            write(property.userInfo, property.unknown, to: &output)
            output.close("attribute")
        case .relationship(let relationship):
            output.open(
                "relationship", common(property) + attributes(of: relationship) + trailing(property), property.unknown)
            write(property.userInfo, property.unknown, to: &output)
            output.close("relationship")
        case .fetched(let request):
            output.open(
                "fetchedProperty",
                [("name", property.name), flag("optional", property.isOptional)] + trailing(property),
                property.unknown)
            if let request { write(request, to: &output) }
            write(property.userInfo, property.unknown, to: &output)
            output.close("fetchedProperty")
        }
    }

    private static func common(_ property: PropertyDocument) -> [(String, String?)] {
        [
            ("name", property.name), flag("optional", property.isOptional), flag("transient", property.isTransient),
        ]
    }

    private static func trailing(_ property: PropertyDocument) -> [(String, String?)] {
        [
            ("versionHashModifier", property.versionHashModifier), flag("indexed", property.isIndexed),
            flag("spotlightIndexingEnabled", property.isIndexedBySpotlight),
            flag("storedInTruthFile", property.isStoredInExternalRecord), ("elementID", property.renamingIdentifier),
            flag("syncable", property.isSyncable),
        ]
    }

    private static func attributes(
        of attribute: AttributeDocument, in property: PropertyDocument
    ) -> [(String, String?)] {
        let isDate = attribute.type == .date
        let value = attribute.defaultValue.map { SourceValues.text(of: $0) }
        return [
            ("attributeType", attribute.type == .undefined ? nil : SourceValues.name(of: attribute.type)),
            ("composite", attribute.compositeName),
        ] + limits(property.validations, isDate: isDate) + [
            (isDate ? "defaultDateTimeInterval" : "defaultValueString", value),
            ("valueTransformerName", attribute.valueTransformerName),
            ("customClassName", attribute.valueClassName),
            flag("allowsExternalBinaryDataStorage", attribute.allowsExternalBinaryDataStorage),
            flag("allowsCloudEncryption", attribute.allowsCloudEncryption),
            flag("preserveAfterDeletion", attribute.preservesValueInHistoryOnDeletion),
            ("usesScalarValueType", attribute.usesScalarValueType.map { $0 ? "YES" : "NO" }),
            flag("derived", attribute.isDerived),
            ("derivationExpression", attribute.derivation.map(SyntaxPrinter.text)),
        ]
    }

    /// The limits that a source model supports; it cannot contain other conditions.
    private static func limits(_ validations: [ValidationDocument], isDate: Bool) -> [(String, String?)] {
        validations.compactMap { validation in
            switch validation {
            case .minimum(let value):
                (isDate ? "minDateTimeInterval" : "minValueString", SourceValues.limitText(of: value))
            case .maximum(let value):
                (isDate ? "maxDateTimeInterval" : "maxValueString", SourceValues.limitText(of: value))
            case .minimumLength(let length): ("minValueString", String(length))
            case .maximumLength(let length): ("maxValueString", String(length))
            case .pattern(let pattern): ("regularExpressionString", pattern)
            case .predicate: nil
            }
        }
    }

    private static func attributes(of relationship: RelationshipDocument) -> [(String, String?)] {
        let isToMany = relationship.maxCount != 1
        return [
            flag("toMany", isToMany),
            ("minCount", relationship.minCount == 0 ? nil : String(relationship.minCount)),
            ("maxCount", relationship.maxCount == 0 ? nil : String(relationship.maxCount)),
            flag("ordered", relationship.isOrdered),
            ("deletionRule", SourceValues.name(of: relationship.deleteRule)),
            ("destinationEntity", relationship.destinationName), ("inverseName", relationship.inverseName),
            ("inverseEntity", relationship.inverseName == nil ? nil : relationship.destinationName),
        ]
    }
}

extension SourceValues {
    /// The text of a limit: whole numbers without a fraction, as users type them.
    static func limitText(of value: ValueDocument) -> String {
        if case .real(let number) = value, let whole = Int64(exactly: number) { return String(whole) }
        return text(of: value)
    }

    /// The text of a value in an attribute of a source model.
    static func text(of value: ValueDocument) -> String {
        switch value {
        case .boolean(let flag): flag ? "YES" : "NO"
        case .integer(let number): String(number)
        case .real(let number): "\(number)"
        case .decimal(let number): "\(number)"
        case .string(let text), .uri(let text): text
        case .date(let seconds): Int64(exactly: seconds).map { String($0) } ?? "\(seconds)"
        case .uuid(let uuid): uuid.uuidString
        case .null, .data, .array, .set, .dictionary, .unknown: ""
        }
    }
}
