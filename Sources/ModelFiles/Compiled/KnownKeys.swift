/// The keys that the archives of models are known to have, by the class of the object. What is not among them is named in a
/// note: a later framework may have put something there that matters.
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
        "NSCompositeAttributeDescription": attribute.union(["NSElements"]),
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
    ]

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
    /// Notes the keys of an object that are not known, each once for the whole model.
    mutating func noteUnknownKeys(of object: KeyedArchive.Object) {
        guard let known = KnownKeys.byClass[object.className] else { return }
        // Few objects have any: what is known is not sorted.
        for key in object.fields.keys.filter({ $0 != "$class" && !known.contains($0) }).sorted() {
            guard unknownKeys.insert("\(object.className).\(key)").inserted else { continue }
            note("the key '\(key)' of \(object.className) is not known and was passed over")
        }
    }
}
