/// A property as a plain value: the parts that all kinds have, and those of its kind.
package struct PropertyDocument: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        case attribute(AttributeDocument)
        case relationship(RelationshipDocument)
        /// A fetched property, with its request if it has one.
        case fetched(FetchRequestDocument?)
    }

    package var name: String
    package var kind: Kind
    package var isOptional = false
    package var isTransient = false
    /// The renaming identifier; `nil` if it is the property's name.
    package var renamingIdentifier: String?
    package var versionHashModifier: String?
    package var userInfo: [String: ValueDocument] = [:]
    /// The conditions for a value, in the order of the file.
    package var validations: [ValidationDocument] = []
    /// The mark of old models for an index of this property.
    package var isIndexed = false
    package var isIndexedBySpotlight = false
    /// Kept from source models: true if the value is also kept in the system's record of the object.
    package var isStoredInExternalRecord = false
    /// A setting of source models that is kept but not used.
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

/// The parts that only attributes have.
package struct AttributeDocument: Equatable, Sendable {
    package var type: AttributeKind
    package var defaultValue: ValueDocument?
    package var valueTransformerName: String?
    /// The class of the values, if it is not the default of the type.
    package var valueClassName: String?
    package var allowsExternalBinaryDataStorage = false
    package var allowsCloudEncryption = false
    package var preservesValueInHistoryOnDeletion = false
    /// The expression that a derived attribute is computed from; `nil` for others.
    package var derivation: ExpressionDocument?
    /// Selects the related objects that the derivation uses.
    package var derivationFilter: PredicateDocument?
    /// True for a derived attribute whose derivation is unknown.
    package var hasUnknownDerivation = false
    /// The kind of composite, in a source model.
    package var compositeName: String?
    /// The parts of a composite attribute.
    package var elements: [PropertyDocument] = []
    /// True if generated classes use a plain number; source models only.
    package var usesScalarValueType: Bool?

    package init(type: AttributeKind) { self.type = type }

    package var isDerived: Bool { derivation != nil || hasUnknownDerivation }
}

/// The parts that only relationships have.
package struct RelationshipDocument: Equatable, Sendable {
    package var destinationName: String
    package var inverseName: String?
    /// 1 for a to-one relationship, 0 for no limit.
    package var maxCount = 0
    package var minCount = 0
    package var deleteRule = DeleteRuleKind.nullify
    package var isOrdered = false

    package init(destinationName: String) { self.destinationName = destinationName }
}

/// The effect of a deletion on the destination, with the raw values of the archives.
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

    /// The class that compiled models use for values of the type.
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

/// One condition on a value, in the plainest form.
package enum ValidationDocument: Equatable, Sendable {
    case minimum(ValueDocument)
    case maximum(ValueDocument)
    case minimumLength(Int)
    case maximumLength(Int)
    /// A regular expression that the whole string matches.
    case pattern(String)
    /// Any other condition, evaluated with the value itself, and the warning for a value that fails it.
    case predicate(PredicateDocument, warning: ValidationWarning)

    /// The error code for a value of that type that fails; `nil` for conditions with their own warning.
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

/// The warning for a value that fails a condition.
package enum ValidationWarning: Equatable, Sendable {
    case code(Int)
    case message(String)
}
