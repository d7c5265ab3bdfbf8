/// The known keys in archives of models, by the class of the object. Other keys are noted and kept: a later framework
/// may have stored something important there.
enum KnownKeys {
    static let byClass: [String: Set<String>] = [
        "NSManagedObjectModel": [
            "NSEntities", "NSFetchRequestTemplates", "NSVersionIdentifiers", "NSConfigurations",
            "CDMCompilerToolVersion", "CDMCompilerXcodeVersion",
        ],
        "NSEntityDescription": [
            "NSEntityName", "NSClassNameForEntity", "NSManagedObjectModel", "NSSuperentity", "NSSubentities",
            "NSProperties", "NSIsAbstract", "NSRenamingIdentifier", "NSVersionHashModifier", "NSUserInfo",
            "NSUniqueTuples", "NSFetchIndexDescriptions", "NSCompoundIndexes",
        ],
        "NSAttributeDescription": attribute,
        "NSDerivedAttributeDescription": attribute.union(["NSDerivationExpression", "NSFilteringPredicate"]),
        "NSCompositeAttributeDescription": attribute.union(["NSCompositeElements", OwnKeys.elements]),
        "NSRelationshipDescription": property.union([
            "NSDestinationEntity", "_NSDestinationEntityName", "NSInverseRelationship", "_NSInverseRelationshipName",
            "NSMinCount", "NSMaxCount", "NSDeleteRule", "NSIsOrdered",
        ]),
        "NSFetchedPropertyDescription": property.union(["NSFetchRequest", "_NSFetchRequestEntityName"]),
        "NSFetchIndexDescription": ["NSIndexName", "NSEntity", "NSIndexElements", "NSPartialIndexPredicate"],
        "NSFetchRequest": [
            "NSEntity", "NSEntityName", "NSPredicate", "NSSortDescriptors", "NSFetchLimit", "NSFetchOffset",
            "NSBatchSize", "NSResultType", "NSAllocationType", "NSFetchRequestFlags", "NSHasFetchRequestFlags",
            "NSHavingPredicate", "NSValuesToFetch", "NSValuesToGroupBy", "NSRelationshipKeyPathsForPrefetching",
            OwnKeys.excludesSubentities, OwnKeys.excludesPropertyValues, OwnKeys.excludesPendingChanges,
            OwnKeys.returnsNoFaults, OwnKeys.returnsDistinctResults,
        ],
        "NSFetchIndexElementDescription": [
            "NSPropertyName", "NSFetchIndexElementType", "NSFetchIndexDescription", "NSAscending", "NSIndexedProperty",
        ],
        "NSExpressionDescription": property.union(["NSExpression", "NSExpressionType"]),
        "NSSortDescriptor": ["NSKey", "NSAscending", "NSSelector", "NSReverseNullOrder"],
    ]

    /// The known keys of the parts of predicates and expressions.
    static let bySyntaxClass: [String: Set<String>] = [
        "NSTruePredicate": [], "NSFalsePredicate": [],
        "NSCompoundPredicate": ["NSCompoundPredicateType", "NSSubpredicates"],
        "NSComparisonPredicate": ["NSLeftExpression", "NSRightExpression", "NSPredicateOperator"],
        "NSComparisonPredicateOperator": comparison.union(["NSVariant"]),
        "NSEqualityPredicateOperator": comparison.union(["NSNegate"]),
        "NSInPredicateOperator": comparison, "NSMatchingPredicateOperator": comparison,
        "NSLikePredicateOperator": comparison, "NSSubstringPredicateOperator": comparison,
        "NSBetweenPredicateOperator": comparison, "NSCustomPredicateOperator": comparison,
        "NSSelfExpression": expression, "NSVariableExpression": expression.union(["NSVariable"]),
        "NSKeyPathSpecifierExpression": expression.union(["NSKeyPath"]),
        "NSConstantValueExpression": expression.union(["NSConstantValue", "NSConstantValueClassName"]),
        "NSKeyPathExpression": function, "NSFunctionExpression": function,
        "NSAggregateExpression": expression.union(["NSCollection"]),
        OwnKeys.textExpression: [OwnKeys.expressionText],
    ]

    /// Known keys that are not read, with their default: a number, or no object at all. Other values are kept.
    static let unread: [String: [(key: String, usual: Int64?)]] = [
        "NSFetchRequest": [
            ("NSAllocationType", 0), ("NSFetchRequestFlags", 30), ("NSHavingPredicate", nil), ("NSValuesToFetch", nil),
            ("NSValuesToGroupBy", nil), ("NSRelationshipKeyPathsForPrefetching", nil),
        ],
        "NSSortDescriptor": [("NSReverseNullOrder", 0)],
    ]

    private static let comparison: Set = ["NSOperatorType", "NSModifier", "NSOptions", "NSFlags"]
    private static let expression: Set = ["NSExpressionType"]
    private static let function = expression.union(["NSOperand", "NSSelectorName", "NSArguments"])

    private static let property: Set = [
        "_P", "NSEntity", "NSPropertyName", "NSRenamingIdentifier", "NSIsOptional", "NSIsTransient", "NSIsReadOnly",
        "NSIsIndexed", "NSUserInfo", "NSVersionHashModifier", "NSValidationPredicates", "NSValidationWarnings",
        OwnKeys.isIndexedBySpotlight, OwnKeys.isStoredInExternalRecord,
    ]

    private static let attribute = property.union([
        "NSAttributeType", "NSAttributeValueClassName", "NSDefaultValue", "NSValueTransformerName", "NSFlagsKey",
        "NSAllowsCloudEncryption",
    ])
}

extension CompiledModelReader {
    /// The unknown parts of an object; its unknown keys are noted, each once for the whole model.
    mutating func unknownParts(of object: KeyedArchive.Object) throws -> UnknownParts {
        var unknown = UnknownParts()
        guard let known = KnownKeys.byClass[object.className] else { return unknown }
        for key in unknownKeys(of: object, known) {
            noteOnce(key, of: object)
            try keepField(key, of: object, in: &unknown)
        }
        for (key, usual) in KnownKeys.unread[object.className] ?? [] {
            guard let value = object.fields[key], archive.resolve(value) != nil else { continue }
            if usual == nil || archive.integer(value) != usual { try keepField(key, of: object, in: &unknown) }
        }
        return unknown
    }

    /// Notes and counts the unknown keys of a part of a predicate or an expression.
    mutating func noteUnknownSyntax(of object: KeyedArchive.Object) {
        guard let known = KnownKeys.bySyntaxClass[object.className] else { return }
        for key in unknownKeys(of: object, known) {
            noteOnce(key, of: object)
            unknownSyntaxCount += 1
        }
    }

    /// The keys of an object that the reader does not know, sorted.
    private func unknownKeys(of object: KeyedArchive.Object, _ known: Set<String>) -> [String] {
        object.fields.keys.filter { $0 != "$class" && !known.contains($0) }.sorted()
    }

    private mutating func noteOnce(_ key: String, of object: KeyedArchive.Object) {
        guard unknownKeys.insert("\(object.className).\(key)").inserted else { return }
        note("unknown key '\(key)' of \(object.className)")
    }
}
