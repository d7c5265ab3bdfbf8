import CoreData
import Foundation
import RosterCommands
import TerminalKit
import Translation

/// Conversion of values to the text of a form field, and back.
enum FieldText {
    static func kind(of attribute: NSAttributeDescription) -> FormField.Kind {
        if !FieldRules(of: attribute).choices.isEmpty, isTyped(attribute) { return .choice }
        switch attribute.attributeType {
        case .booleanAttributeType: return .boolean
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .decimalAttributeType,
            .doubleAttributeType, .floatAttributeType:
            return .number
        case .dateAttributeType: return .date
        case .stringAttributeType: return .text
        case .UUIDAttributeType, .URIAttributeType: return .line
        default: return .readOnly
        }
    }

    /// True if the values are texts or numbers that are typed literally.
    private static func isTyped(_ attribute: NSAttributeDescription) -> Bool {
        switch attribute.attributeType {
        case .stringAttributeType, .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: true
        default: false
        }
    }

    /// The text to edit; `nil` if the value is nil.
    static func text(_ value: Any?, of attribute: NSAttributeDescription) -> String? {
        guard let value, !(value is NSNull) else { return nil }
        switch attribute.attributeType {
        case .booleanAttributeType: return (value as? Bool) == true ? "yes" : "no"
        case .stringAttributeType: return value as? String
        default: return ValueText.shown(value, of: attribute)
        }
    }

    /// Parses a text.
    ///
    /// - Throws: an error whose message continues a sentence that begins with the field's name.
    static func value(_ text: String?, of attribute: NSAttributeDescription) throws -> Any? {
        guard let text else { return nil }
        return try ValueParser.value(from: .string(text), for: attribute)
    }

    /// A description of valid input.
    static func hint(for attribute: NSAttributeDescription) -> String {
        let rules = FieldRules(of: attribute)
        if kind(of: attribute) == .choice { return sentence("one of \(rules.choices.joined(separator: ", "))") }
        let kind = tr(kindHint(for: attribute))
        return rules.hint.isEmpty ? kind : kind + tr(", ") + rules.hint
    }

    private static func kindHint(for attribute: NSAttributeDescription) -> String {
        switch attribute.attributeType {
        case .stringAttributeType: "text"
        case .booleanAttributeType: "yes or no: Space changes it"
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: "whole number"
        case .decimalAttributeType, .doubleAttributeType, .floatAttributeType: "number, such as 12.5"
        case .dateAttributeType: "date: 2022-12-18 or 2022-12-18T18:00:00Z"
        case .UUIDAttributeType: "UUID"
        case .URIAttributeType: "URI"
        default: "cannot be edited as text"
        }
    }
}
