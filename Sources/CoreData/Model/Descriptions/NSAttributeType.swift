/// The type of an attribute's value. The raw values are stored in model files and used in version hashes.
public enum NSAttributeType: UInt, Sendable {
    /// No type. Valid for transient attributes only.
    case undefinedAttributeType = 0
    /// A whole number of 16 bits.
    case integer16AttributeType = 100
    /// A whole number of 32 bits.
    case integer32AttributeType = 200
    /// A whole number of 64 bits.
    case integer64AttributeType = 300
    /// A decimal number: `NSDecimalNumber`.
    case decimalAttributeType = 400
    /// A floating-point number of 64 bits.
    case doubleAttributeType = 500
    /// A floating-point number of 32 bits.
    case floatAttributeType = 600
    /// A text.
    case stringAttributeType = 700
    /// A Boolean.
    case booleanAttributeType = 800
    /// A date, stored as seconds since 2001.
    case dateAttributeType = 900
    /// Bytes.
    case binaryDataAttributeType = 1000
    /// A `UUID`.
    case UUIDAttributeType = 1100
    /// A `URL`, stored as text.
    case URIAttributeType = 1200
    /// Any object, stored as the data that a value transformer makes of it.
    case transformableAttributeType = 1800
    /// An object ID: the type of an expression's result, or of a transient attribute.
    case objectIDAttributeType = 2000
    /// Named values, stored in separate columns.
    case compositeAttributeType = 2100

    /// The name of the class of the values, as in Apple's model files; `nil` if any class is allowed.
    var valueClassName: String? {
        switch self {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
            .floatAttributeType, .booleanAttributeType:
            "NSNumber"
        case .decimalAttributeType: "NSDecimalNumber"
        case .stringAttributeType: "NSString"
        case .dateAttributeType: "NSDate"
        case .binaryDataAttributeType: "NSData"
        case .UUIDAttributeType: "NSUUID"
        case .URIAttributeType: "NSURL"
        case .objectIDAttributeType: "NSManagedObjectID"
        case .compositeAttributeType: "NSDictionary"
        case .undefinedAttributeType, .transformableAttributeType: nil
        }
    }
}

extension NSAttributeDescription {
    /// The type of an attribute, under its newer names.
    public struct AttributeType: RawRepresentable, Hashable, Sendable {
        /// The older form of the type.
        public let rawValue: NSAttributeType
        /// Wraps the older form of a type.
        public init(rawValue: NSAttributeType) { self.rawValue = rawValue }

        /// No type, for transient attributes of any value.
        public static let undefined = AttributeType(rawValue: .undefinedAttributeType)
        /// A whole number of 16 bits.
        public static let integer16 = AttributeType(rawValue: .integer16AttributeType)
        /// A whole number of 32 bits.
        public static let integer32 = AttributeType(rawValue: .integer32AttributeType)
        /// A whole number of 64 bits.
        public static let integer64 = AttributeType(rawValue: .integer64AttributeType)
        /// A decimal number: `NSDecimalNumber`.
        public static let decimal = AttributeType(rawValue: .decimalAttributeType)
        /// A floating-point number of 64 bits.
        public static let double = AttributeType(rawValue: .doubleAttributeType)
        /// A floating-point number of 32 bits.
        public static let float = AttributeType(rawValue: .floatAttributeType)
        /// A text.
        public static let string = AttributeType(rawValue: .stringAttributeType)
        /// A Boolean.
        public static let boolean = AttributeType(rawValue: .booleanAttributeType)
        /// A date, stored as seconds since 2001.
        public static let date = AttributeType(rawValue: .dateAttributeType)
        /// Bytes.
        public static let binaryData = AttributeType(rawValue: .binaryDataAttributeType)
        /// A `UUID`.
        public static let uuid = AttributeType(rawValue: .UUIDAttributeType)
        /// A `URL`, stored as text.
        public static let uri = AttributeType(rawValue: .URIAttributeType)
        /// Any object, stored as the data that a value transformer makes of it.
        public static let transformable = AttributeType(rawValue: .transformableAttributeType)
        /// The ID of an object. Transient attributes only.
        public static let objectID = AttributeType(rawValue: .objectIDAttributeType)
        /// A dictionary of named values: ``NSCompositeAttributeDescription``.
        public static let composite = AttributeType(rawValue: .compositeAttributeType)
    }
}

extension NSAttributeType {
    var isNumber: Bool {
        switch self {
        case .doubleAttributeType, .floatAttributeType, .decimalAttributeType: true
        default: isWholeNumber
        }
    }

    /// True if values are whole numbers or Booleans.
    var isWholeNumber: Bool {
        switch self {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .booleanAttributeType: true
        default: false
        }
    }

    /// True if values are reals and `number` is in their range.
    func holds(_ number: Double) -> Bool {
        switch self {
        case .doubleAttributeType: true
        case .floatAttributeType: !number.isFinite || Float(number).isFinite
        default: false
        }
    }

    /// The type's name as Xcode's model editor shows it. An addition to Apple's interface.
    public var editorName: String {
        switch self {
        case .integer16AttributeType: "Integer 16"
        case .integer32AttributeType: "Integer 32"
        case .integer64AttributeType: "Integer 64"
        case .decimalAttributeType: "Decimal"
        case .doubleAttributeType: "Double"
        case .floatAttributeType: "Float"
        case .stringAttributeType: "String"
        case .booleanAttributeType: "Boolean"
        case .dateAttributeType: "Date"
        case .binaryDataAttributeType: "Binary Data"
        case .UUIDAttributeType: "UUID"
        case .URIAttributeType: "URI"
        case .transformableAttributeType: "Transformable"
        case .objectIDAttributeType: "Object ID"
        case .compositeAttributeType: "Composite"
        case .undefinedAttributeType: "Undefined"
        }
    }
}
