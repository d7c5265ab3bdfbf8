import CoreData
import CoreDataImport

/// A JSON value, as the framework imports it.
public typealias JSONValue = ImportValue

extension ImportValue {
    /// Parses a text.
    ///
    /// - Throws: an error if the text is not JSON.
    public init(text: String) throws { self = try JSONParser.value(of: text) }

    /// The value as JSON on one line.
    public var text: String {
        var text = ""
        write(to: &text)
        return text
    }

    func write(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .number(let digits): text += digits
        case .string(let value): Self.writeString(value, to: &text)
        case .array(let values):
            text += "["
            for (index, value) in values.enumerated() {
                if index > 0 { text += "," }
                value.write(to: &text)
            }
            text += "]"
        case .object(let members):
            text += "{"
            for (index, member) in members.enumerated() {
                if index > 0 { text += "," }
                Self.writeString(member.key, to: &text)
                text += ":"
                member.value.write(to: &text)
            }
            text += "}"
        }
    }

    private static func writeString(_ value: String, to text: inout String) {
        text += "\""
        if value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C && $0 != 0x7F }) {
            text += value
        } else {
            for scalar in value.unicodeScalars { writeScalar(scalar, to: &text) }
        }
        text += "\""
    }

    private static func writeScalar(_ scalar: Unicode.Scalar, to text: inout String) {
        switch scalar {
        case "\"": text += "\\\""
        case "\\": text += "\\\\"
        case "\n": text += "\\n"
        case "\r": text += "\\r"
        case "\t": text += "\\t"
        case _ where scalar.value < 0x20 || scalar.value == 0x7F:
            let digits = String(scalar.value, radix: 16)
            text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        default: text.unicodeScalars.append(scalar)
        }
    }

    static func integer(_ value: some BinaryInteger) -> JSONValue { .number(String(value)) }

    /// The number, or a text for numbers that JSON does not have (`nan`, `inf`).
    static func double(_ value: Double) -> JSONValue {
        guard value.isFinite else { return .string(String(value)) }
        if value == value.rounded(), abs(value) < 1e15 {
            return .number(value.sign == .minus && value == 0 ? "-0.0" : String(Int64(value)))
        }
        return .number(String(value))
    }
}
