import CoreData
import Foundation

/// An attribute's value as JSON and as text.
package enum ValueText {
    /// `value` as JSON for the attribute's type. ``ValueParser`` reads it back unchanged.
    static func json(_ value: Any?, of attribute: NSAttributeDescription) -> JSONValue {
        guard let value, !(value is NSNull) else { return .null }
        switch attribute.attributeType {
        case .booleanAttributeType: return (value as? Bool).map(JSONValue.bool) ?? .null
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            return (value as? NSNumber).map { .integer($0.int64Value) } ?? .null
        case .doubleAttributeType: return (value as? NSNumber).map { .double($0.doubleValue) } ?? .null
        case .floatAttributeType: return (value as? NSNumber).map { float($0.floatValue) } ?? .null
        case .decimalAttributeType: return (value as? NSDecimalNumber).map(decimal) ?? .null
        case .compositeAttributeType: return composite(value, of: attribute)
        default: return .string(stable(value))
        }
    }

    /// Text of a value without a format of its own, the same in every run.
    static func stable(_ value: Any) -> String { StableText.text(of: value, plain: scalar) }

    /// `value` as text for people.
    package static func shown(_ value: Any?, of attribute: NSAttributeDescription) -> String {
        guard let value, !(value is NSNull) else { return "" }
        if let date = value as? Date { return ISO8601Text.text(of: date, omitsMidnight: true) }
        if let data = value as? Data { return size(of: data) }
        return text(of: json(value, of: attribute))
    }

    static func size(of data: Data) -> String { data.count == 1 ? "1 byte" : "\(data.count) bytes" }

    /// A JSON value as the text of a field; `nil` for NULL.
    static func field(_ json: JSONValue) -> String? {
        if case .null = json { return nil }
        return text(of: json)
    }

    static func text(of json: JSONValue) -> String {
        switch json {
        case .null: ""
        case .string(let text), .number(let text): text
        case .bool, .array, .object: json.text
        }
    }

    private static func scalar(_ value: Any) -> String {
        switch value {
        case let text as String: text
        case let date as Date: ISO8601Text.text(of: date)
        case let uuid as UUID: uuid.uuidString
        case let url as URL: url.absoluteString
        case let data as Data: data.base64EncodedString()
        case let id as NSManagedObjectID: id.uriRepresentation().absoluteString
        default: String(describing: value)
        }
    }

    static func float(_ value: Float) -> JSONValue {
        guard value.isFinite else { return .string(String(value)) }
        return value == value.rounded() && abs(value) < 1e6 ? .number(String(Int(value))) : .number(String(value))
    }

    private static func decimal(_ value: NSDecimalNumber) -> JSONValue {
        value.decimalValue.isNaN ? .string("nan") : .number(value.decimalValue.description)
    }

    private static func composite(_ value: Any, of attribute: NSAttributeDescription) -> JSONValue {
        guard let composite = attribute as? NSCompositeAttributeDescription, let members = value as? [String: Any]
        else {
            return .string(stable(value))
        }
        return .object(composite.elements.map { ($0.name, json(members[$0.name], of: $0)) })
    }
}
