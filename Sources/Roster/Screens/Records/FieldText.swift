import CoreData
import Foundation
import RosterCommands
import TerminalKit
import Translation

/// Values as they stand in a form, and back.
enum FieldText {
    /// The kind of field for an attribute.
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

    /// Whether an attribute's values are texts or numbers that a user may type as they are.
    private static func isTyped(_ attribute: NSAttributeDescription) -> Bool {
        switch attribute.attributeType {
        case .stringAttributeType, .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: true
        default: false
        }
    }

    /// The text to edit; `nil` for no value.
    static func text(_ value: Any?, of attribute: NSAttributeDescription) -> String? {
        guard let value, !(value is NSNull) else { return nil }
        switch attribute.attributeType {
        case .booleanAttributeType: return (value as? Bool) == true ? "yes" : "no"
        case .stringAttributeType: return value as? String
        default: return ValueText.shown(value, of: attribute)
        }
    }

    /// The value that a text means.
    ///
    /// - Throws: an error whose text goes on after the field's name.
    static func value(_ text: String?, of attribute: NSAttributeDescription) throws -> Any? {
        guard let text else { return nil }
        return try ValueParser.value(from: .string(text), for: attribute)
    }

    /// What may stand in the field.
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
        default: "cannot be edited here"
        }
    }
}
