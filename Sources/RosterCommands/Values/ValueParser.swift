import CoreData
import Foundation

/// Why a value does not fit an attribute: the end of a sentence that begins with the key and the value.
package struct ValueProblem: Error {
    package let reason: String
    /// Whether what was written can be no value at all, whatever the store holds.
    var isMalformed = false
}

/// Makes an attribute's value of what stands in a file or on the command line, strictly by the attribute's type.
package enum ValueParser {
    /// - Returns: the value in the form that the framework takes; `nil` for NULL.
    /// - Throws: ``ValueProblem`` when it is of the wrong type or out of the type's range.
    package static func value(from json: JSONValue, for attribute: NSAttributeDescription) throws -> Any? {
        switch json {
        case .null: return nil
        case .string(let text): return try value(fromText: text, for: attribute)
        case .number(let digits): return try value(fromNumber: digits, for: attribute)
        case .bool(let value):
            guard attribute.attributeType == .booleanAttributeType else { throw mismatch(attribute) }
            return value
        case .array, .object: throw mismatch(attribute)
        }
    }

    private static func value(fromNumber digits: String, for attribute: NSAttributeDescription) throws -> Any {
        switch attribute.attributeType {
        case .stringAttributeType, .dateAttributeType, .UUIDAttributeType, .URIAttributeType,
            .binaryDataAttributeType:
            throw mismatch(attribute)
        default: return try value(fromText: digits, for: attribute)
        }
    }

    private static func value(fromText text: String, for attribute: NSAttributeDescription) throws -> Any {
        switch attribute.attributeType {
        case .integer16AttributeType: Int(try integer(text, Int16.self, attribute))
        case .integer32AttributeType: Int(try integer(text, Int32.self, attribute))
        case .integer64AttributeType: Int(try integer(text, Int64.self, attribute))
        case .doubleAttributeType: try double(text, attribute)
        case .floatAttributeType: try float(text, attribute)
        case .decimalAttributeType: try decimal(text, attribute)
        case .booleanAttributeType: try boolean(text, attribute)
        case .stringAttributeType: text
        case .dateAttributeType: try found(ISO8601Text.date(from: text), attribute)
        case .UUIDAttributeType: try found(UUID(uuidString: text), attribute)
        case .URIAttributeType: try found(URL(string: text), attribute)
        case .binaryDataAttributeType: try found(Data(base64Encoded: text), attribute)
        default: throw ValueProblem(reason: "cannot be given as text: the attribute is \(typeName(attribute))")
        }
    }

    private static func integer<Number: FixedWidthInteger>(
        _ text: String, _ type: Number.Type, _ attribute: NSAttributeDescription
    ) throws -> Number {
        if let number = Number(text) { return number }
        let digits = text.hasPrefix("-") || text.hasPrefix("+") ? text.dropFirst() : Substring(text)
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { throw mismatch(attribute) }
        throw ValueProblem(
            reason: "is out of range: \(typeName(attribute)) goes from \(Number.min) to \(Number.max)")
    }

    private static func double(_ text: String, _ attribute: NSAttributeDescription) throws -> Double {
        try found(Double(text), attribute)
    }

    private static func float(_ text: String, _ attribute: NSAttributeDescription) throws -> Float {
        let number = try found(Float(text), attribute)
        if number.isInfinite, let wide = Double(text), wide.isFinite {
            throw ValueProblem(reason: "is out of range of a \(typeName(attribute))")
        }
        return number
    }

    private static func decimal(_ text: String, _ attribute: NSAttributeDescription) throws -> NSDecimalNumber {
        // Decimal's own reader stops at the first character that it does not know.
        guard Double(text) != nil, text.utf8.allSatisfy({ "+-.eE0123456789".utf8.contains($0) }),
            let number = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
        else { throw mismatch(attribute) }
        return NSDecimalNumber(decimal: number)
    }

    private static func boolean(_ text: String, _ attribute: NSAttributeDescription) throws -> Bool {
        switch text.lowercased() {
        case "true", "yes", "1": true
        case "false", "no", "0": false
        default: throw mismatch(attribute)
        }
    }

    private static func found<Value>(_ value: Value?, _ attribute: NSAttributeDescription) throws -> Value {
        guard let value else { throw mismatch(attribute) }
        return value
    }

    private static func mismatch(_ attribute: NSAttributeDescription) -> ValueProblem {
        let wanted =
            switch attribute.attributeType {
            case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: "a whole number"
            case .doubleAttributeType, .floatAttributeType, .decimalAttributeType: "a number"
            case .booleanAttributeType: "true or false"
            case .stringAttributeType: "a text"
            case .dateAttributeType: "a date such as 2022-12-18 or 2022-12-18T18:00:00+03:00"
            case .UUIDAttributeType: "a UUID"
            case .URIAttributeType: "a URI"
            case .binaryDataAttributeType: "data in base 64"
            default: "a value for \(typeName(attribute))"
            }
        return ValueProblem(reason: "is not \(wanted)")
    }

    /// The type's name as Xcode shows it.
    static func typeName(_ attribute: NSAttributeDescription) -> String {
        switch attribute.attributeType {
        case .undefinedAttributeType: "Undefined"
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
        }
    }
}
