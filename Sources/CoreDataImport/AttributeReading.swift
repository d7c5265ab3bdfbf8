import CoreData
import Foundation

/// Conversion of a record's value to an attribute's type, strictly: texts of numbers and Booleans are accepted too, but
/// nothing is rounded or guessed.
enum AttributeReading {
    /// Converts a value of a record to the attribute's type.
    ///
    /// - Throws: ``ImportProblem`` if the value is of the wrong type or out of the type's range.
    static func slotValue(
        _ value: ImportValue, for attribute: NSAttributeDescription, dates: ImportDateFormat? = nil
    ) throws -> SlotValue {
        switch value {
        case .null: return .null
        case .string(let text):
            guard attribute.isNumber else { return try slotValue(text, false, attribute, dates) }
            return try slotValue(try GroupedDigits.plain(text), false, attribute, dates)
        case .number(let digits): return try slotValue(digits, true, attribute, dates)
        case .bool(let flag):
            guard attribute.attributeType == .booleanAttributeType else { throw mismatch(attribute) }
            return .integer(flag ? 1 : 0)
        case .object(let members):
            guard let composite = attribute as? NSCompositeAttributeDescription else { throw mismatch(attribute) }
            return CompositeValue.slotValue(try parts(members, of: composite), composite)
        case .array: throw mismatch(attribute)
        }
    }

    private static func slotValue(
        _ text: String, _ isNumber: Bool, _ attribute: NSAttributeDescription, _ dates: ImportDateFormat?
    ) throws -> SlotValue {
        switch attribute.attributeType {
        case .integer16AttributeType: return .integer(Int64(try integer(text, Int16.self, attribute)))
        case .integer32AttributeType: return .integer(Int64(try integer(text, Int32.self, attribute)))
        case .integer64AttributeType: return .integer(try integer(text, Int64.self, attribute))
        case .doubleAttributeType: return .real(try double(text, attribute))
        case .floatAttributeType: return .real(Double(try float(text, attribute)))
        case .decimalAttributeType: return .decimal(try decimal(text, attribute))
        case .booleanAttributeType: return .integer(try boolean(text, attribute) ? 1 : 0)
        case .dateAttributeType where dates != nil:
            let date = dates?.date(from: text)
            guard let date else { throw ImportProblem(reason: "is not a date of the form \(dates?.pattern ?? "")") }
            return .real(date.timeIntervalSinceReferenceDate)
        case .stringAttributeType, .dateAttributeType, .UUIDAttributeType, .URIAttributeType, .binaryDataAttributeType:
            if isNumber { throw mismatch(attribute) }
        default:
            throw ImportProblem(
                reason: "cannot be read from text: the attribute is \(attribute.attributeType.editorName)")
        }
        switch attribute.attributeType {
        case .dateAttributeType:
            let date = try found(ISO8601Text.date(from: text) ?? farDate(text), attribute)
            return .real(date.timeIntervalSinceReferenceDate)
        case .UUIDAttributeType: return .uuid(try found(UUID(uuidString: text), attribute))
        case .URIAttributeType: return .text(try found(URL(string: text), attribute).absoluteString)
        case .binaryDataAttributeType: return .data(try found(Data(base64Encoded: text), attribute))
        default: return .text(text)
        }
    }

    private static func integer<Number: FixedWidthInteger>(
        _ text: String, _ type: Number.Type, _ attribute: NSAttributeDescription
    ) throws -> Number {
        if let number = Number(text) { return number }
        guard DecimalDigits.isNumber(text), !text.contains("."), DecimalDigits(text).isWhole else {
            throw mismatch(attribute)
        }
        if let exact = Decimal(string: text, locale: nil), let number = Number("\(exact)") { return number }
        throw ImportProblem(
            reason: "is out of range: \(attribute.attributeType.editorName) must be \(Number.min) to \(Number.max)")
    }

    private static func double(_ text: String, _ attribute: NSAttributeDescription) throws -> Double {
        if let infinite = infinity(text) { return infinite }
        return try finite(found(DecimalDigits.isNumber(text) ? Double(text) : nil, attribute), attribute)
    }

    /// Parses an infinite number, in the only spelling used in records.
    private static func infinity(_ text: String) -> Double? { ["inf", "-inf"].contains(text) ? Double(text) : nil }

    /// Parses a date outside any calendar, as seconds since 2001, in the spelling used in records.
    private static func farDate(_ text: String) -> Date? {
        guard let seconds = infinity(text) ?? (DecimalDigits.isNumber(text) ? Double(text) : nil),
            abs(seconds) >= 1e15
        else { return nil }
        return Date(timeIntervalSinceReferenceDate: seconds)
    }

    private static func float(_ text: String, _ attribute: NSAttributeDescription) throws -> Float {
        if let infinite = infinity(text) { return Float(infinite) }
        return try finite(found(DecimalDigits.isNumber(text) ? Float(text) : nil, attribute), attribute)
    }

    private static func finite<Number: BinaryFloatingPoint>(
        _ number: Number, _ attribute: NSAttributeDescription
    ) throws -> Number {
        if number.isFinite { return number }
        throw ImportProblem(reason: "is out of range for \(attribute.attributeType.editorName)")
    }

    private static func decimal(_ text: String, _ attribute: NSAttributeDescription) throws -> NSDecimalNumber {
        guard DecimalDigits.isNumber(text) else { throw mismatch(attribute) }
        guard let number = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")),
            DecimalDigits(text) == DecimalDigits("\(number)")
        else {
            throw ImportProblem(
                reason: "is too long for a Decimal: it has at most 38 digits and exponents from -128 to 127")
        }
        return NSDecimalNumber(decimal: number)
    }

    private static func boolean(_ text: String, _ attribute: NSAttributeDescription) throws -> Bool {
        switch text.lowercased() {
        case "true", "yes", "1": true
        case "false", "no", "0": false
        default: throw mismatch(attribute)
        }
    }

    private static func parts(
        _ members: [(key: String, value: ImportValue)], of composite: NSCompositeAttributeDescription
    ) throws -> [String: Any] {
        var result: [String: Any] = [:]
        for (key, value) in members {
            guard let element = composite.elements.first(where: { $0.name == key }) else {
                throw ImportProblem(
                    reason: "has the unknown key “\(key)”. Keys of \(composite.name): \(names(of: composite.elements))")
            }
            do {
                let slot = try slotValue(value, for: element)
                result[key] = AttributeCoercion.value(slot, type: element.attributeType)
            } catch let problem as ImportProblem {
                throw problem.below(key, value: value)
            }
        }
        return result
    }

    private static func names(of properties: [NSPropertyDescription]) -> String {
        properties.map(\.name).joined(separator: ", ")
    }

    private static func found<Value>(_ value: Value?, _ attribute: NSAttributeDescription) throws -> Value {
        guard let value else { throw mismatch(attribute) }
        return value
    }

    private static func mismatch(_ attribute: NSAttributeDescription) -> ImportProblem {
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
            default: "a value for \(attribute.attributeType.editorName)"
            }
        return ImportProblem(reason: "is not \(wanted)")
    }
}

/// The format of an attribute's dates, from `dateFormat` in its user info.
final class ImportDateFormat {
    let pattern: String
    private let formatter: DateFormatter?

    init(_ pattern: String) {
        self.pattern = pattern
        guard pattern != Self.seconds else {
            formatter = nil
            return
        }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.isLenient = false
        formatter.dateFormat = pattern
        self.formatter = formatter
    }

    /// The pattern for seconds since 1970, as a number or its text.
    static let seconds = "UnixTime"

    func date(from text: String) -> Date? {
        if let formatter { return formatter.date(from: text) }
        guard DecimalDigits.isNumber(text), let seconds = Double(text), seconds.isFinite else { return nil }
        return Date(timeIntervalSince1970: seconds)
    }
}

/// The significant digits of a decimal number, in order to compare texts of any length: the digits from the first to
/// the last that is not 0, and the power of ten of the last one.
private struct DecimalDigits: Equatable {
    private let isNegative: Bool
    private let digits: [UInt8]
    private let exponent: Int

    /// True if the text is a decimal number: not hexadecimal, infinite or NaN.
    static func isNumber(_ text: String) -> Bool {
        // Decimal's own parser stops at the first unknown character.
        text.utf8.allSatisfy { "+-.eE0123456789".utf8.contains($0) } && Double(text) != nil
    }

    var isWhole: Bool { exponent >= 0 }

    init(_ text: String) {
        let parts = text.lowercased().split(separator: "e", maxSplits: 1)
        let mantissa = parts.first ?? ""
        // No number type has a larger exponent.
        let largest = 1_000_000_000
        var exponent = parts.count > 1 ? max(-largest, min(largest, Int(parts[1]) ?? largest)) : 0
        if let point = mantissa.utf8.firstIndex(of: UInt8(ascii: ".")) {
            exponent -= mantissa.utf8.distance(from: point, to: mantissa.endIndex) - 1
        }
        var digits = mantissa.utf8.filter { (0x30...0x39).contains($0) }.drop { $0 == 0x30 }
        while digits.last == 0x30 {
            digits.removeLast()
            exponent += 1
        }
        self.digits = Array(digits)
        self.exponent = digits.isEmpty ? 0 : exponent
        isNegative = !digits.isEmpty && mantissa.hasPrefix("-")
    }
}
