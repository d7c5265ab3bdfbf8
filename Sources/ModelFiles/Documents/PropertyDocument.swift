/// A property as a plain value: what all kinds have, and what makes the kind.
package struct PropertyDocument: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        case attribute(AttributeDocument)
        case relationship(RelationshipDocument)
        /// A fetched property, with its request where it has one.
        case fetched(FetchRequestDocument?)
    }

    package var name: String
    package var kind: Kind
    package var isOptional = false
    package var isTransient = false
    /// `nil` while it is the name.
    package var renamingIdentifier: String?
    package var versionHashModifier: String?
    package var userInfo: [String: ValueDocument] = [:]
    /// What a value must meet, in the order of the file.
    package var validations: [ValidationDocument] = []
    /// The mark of old models for an index of the one property.
    package var isIndexed = false
    package var isIndexedBySpotlight = false
    /// Kept from source models: whether the value is also kept in the system's record of the object.
    package var isStoredInExternalRecord = false
    /// Kept from source models; nothing reads it.
    package var isSyncable = false
    package var unknown = UnknownParts()

    package init(name: String, kind: Kind) {
        self.name = name
        self.kind = kind
    }

    package var attribute: AttributeDocument? {
        if case .attribute(let attribute) = kind { attribute } else { nil }
    }

    package var relationship: RelationshipDocument? {
        if case .relationship(let relationship) = kind { relationship } else { nil }
    }
}

/// What makes a property an attribute.
package struct AttributeDocument: Equatable, Sendable {
    package var type: AttributeKind
    package var defaultValue: ValueDocument?
    package var valueTransformerName: String?
    /// The class of the values, where it is not the one that follows from the type.
    package var valueClassName: String?
    package var allowsExternalBinaryDataStorage = false
    package var allowsCloudEncryption = false
    package var preservesValueInHistoryOnDeletion = false
    /// What the value is computed from; makes the attribute a derived one.
    package var derivation: ExpressionDocument?
    /// Which related objects count for the derivation.
    package var derivationFilter: PredicateDocument?
    /// Whether the attribute is a derived one of which it is not known what it is computed from.
    package var hasUnknownDerivation = false
    /// The kind of composite, in a source model.
    package var compositeName: String?
    /// The parts of a composite attribute.
    package var elements: [PropertyDocument] = []
    /// Whether generated classes have a plain number; source models only.
    package var usesScalarValueType: Bool?

    package init(type: AttributeKind) { self.type = type }

    package var isDerived: Bool { derivation != nil || hasUnknownDerivation }
}

/// What makes a property a relationship.
package struct RelationshipDocument: Equatable, Sendable {
    package var destinationName: String
    package var inverseName: String?
    /// 1 makes a to-one relationship, 0 means no limit.
    package var maxCount = 0
    package var minCount = 0
    package var deleteRule = DeleteRuleKind.nullify
    package var isOrdered = false

    package init(destinationName: String) { self.destinationName = destinationName }
}

/// What a deletion does to the far end, with the raw values of the archives.
package enum DeleteRuleKind: Int, Sendable, CaseIterable {
    case noAction = 0
    case nullify = 1
    case cascade = 2
    case deny = 3
}

/// The type of an attribute, with the raw values of the archives.
package enum AttributeKind: UInt, Sendable, CaseIterable {
    case undefined = 0
    case integer16 = 100
    case integer32 = 200
    case integer64 = 300
    case decimal = 400
    case double = 500
    case float = 600
    case string = 700
    case boolean = 800
    case date = 900
    case binary = 1000
    case uuid = 1100
    case uri = 1200
    case transformable = 1800
    case objectID = 2000
    case composite = 2100

    /// The class that a compiled model gives to the values of the type.
    package var valueClassName: String? {
        switch self {
        case .integer16, .integer32, .integer64, .double, .float, .boolean: "NSNumber"
        case .decimal: "NSDecimalNumber"
        case .string: "NSString"
        case .date: "NSDate"
        case .binary: "NSData"
        case .uuid: "NSUUID"
        case .uri: "NSURL"
        case .composite: "NSDictionary"
        case .objectID: "NSManagedObjectID"
        case .undefined, .transformable: nil
        }
    }
}

/// One condition on a value, as plain as it can be said.
package enum ValidationDocument: Equatable, Sendable {
    case minimum(ValueDocument)
    case maximum(ValueDocument)
    case minimumLength(Int)
    case maximumLength(Int)
    /// A regular expression that the whole string matches.
    case pattern(String)
    /// Any other condition, evaluated with the value itself, and what is wrong with a value that fails it.
    case predicate(PredicateDocument, warning: ValidationWarning)

    /// The code of the error of a value of that type that fails; `nil` for the conditions that have their own warning.
    package func errorCode(for type: AttributeKind) -> Int? {
        switch self {
        case .minimum: type == .date ? 1640 : 1620
        case .maximum: type == .date ? 1630 : 1610
        case .minimumLength: 1670
        case .maximumLength: 1660
        case .pattern: 1680
        case .predicate: nil
        }
    }
}

/// What is wrong with a value that fails a condition.
package enum ValidationWarning: Equatable, Sendable {
    case code(Int)
    case message(String)
}
