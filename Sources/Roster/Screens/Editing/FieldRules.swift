import CoreData
import Foundation
import RosterCommands
import TerminalKit
import Translation

/// Validation rules of an attribute that can be shown to the user: limits, lengths, and allowed values.
struct FieldRules: Equatable {
    private(set) var least: String?
    private(set) var greatest: String?
    /// True if the limit itself is not allowed.
    private(set) var excludesLeast = false
    private(set) var excludesGreatest = false
    /// The minimum and maximum length of a text.
    private(set) var shortest: Int?
    private(set) var longest: Int?
    /// All allowed values.
    private(set) var choices: [String] = []

    /// Reads the rules from validation predicates. Predicates of other forms are checked too, but not shown.
    init(of attribute: NSAttributeDescription) {
        for predicate in attribute.validationPredicates {
            for part in predicate.formatString.components(separatedBy: " AND ") { take(part) }
        }
    }

    private mutating func take(_ text: String) {
        let text = text.trimmingCharacters(in: CharacterSet(charactersIn: "() "))
        if let match = text.wholeMatch(of: /SELF (>=|>|<=|<) (-?[0-9.eE+-]+)/) {
            limit(String(match.1), String(match.2))
        } else if let match = text.wholeMatch(of: /(?:SELF\.)?length (>=|>|<=|<) ([0-9]+)/), let number = Int(match.2) {
            switch match.1 {
            case ">=": shortest = number
            case ">": shortest = number + 1
            case "<=": longest = number
            default: longest = number - 1
            }
        } else if let match = text.wholeMatch(of: /SELF BETWEEN \{(-?[0-9.]+), (-?[0-9.]+)\}/) {
            limit(">=", String(match.1))
            limit("<=", String(match.2))
        } else if let match = text.wholeMatch(of: /SELF IN \{(.*)\}/) {
            choices = Self.items(of: String(match.1))
        } else if let match = text.wholeMatch(of: /SELF MATCHES "([\w |-]+)"/), match.1.contains("|") {
            choices = match.1.split(separator: "|").map(String.init)
        }
    }

    private mutating func limit(_ sign: String, _ number: String) {
        switch sign {
        case ">=", ">":
            least = number
            excludesLeast = sign == ">"
        default:
            greatest = number
            excludesGreatest = sign == "<"
        }
    }

    /// The items between commas, without quotation marks.
    private static func items(of text: String) -> [String] {
        var items: [String] = []
        var item = ""
        var isQuoted = false
        for character in text {
            switch character {
            case "\"": isQuoted.toggle()
            case "," where !isQuoted:
                items.append(item.trimmingCharacters(in: .whitespaces))
                item = ""
            default: item.append(character)
            }
        }
        items.append(item.trimmingCharacters(in: .whitespaces))
        return items.filter { !$0.isEmpty }
    }

    /// The rules in words: `at least 0, at most 90`.
    var hint: String {
        var parts: [String] = []
        if let least { parts.append(excludesLeast ? sentence("more than \(least)") : sentence("at least \(least)")) }
        if let greatest {
            parts.append(excludesGreatest ? sentence("less than \(greatest)") : sentence("at most \(greatest)"))
        }
        if let shortest, shortest > 0 {
            parts.append(sentence("at least \(CountedNoun.text(shortest, "character"))"))
        }
        if let longest { parts.append(sentence("at most \(CountedNoun.text(longest, "character"))")) }
        return parts.joined(separator: tr(", "))
    }
}

/// Checks typed text with the model's validation rules.
enum FieldCheck {
    /// The problem with a text; `nil` if it is valid.
    static func problem(_ text: String?, of attribute: NSAttributeDescription, in object: NSManagedObject) -> String? {
        do {
            let parsed = try FieldText.value(text, of: attribute)
            if parsed == nil, !attribute.isOptional { return tr("must have a value") }
            var value = parsed.map { $0 as AnyObject }
            try object.validateValue(&value, forKey: attribute.name)
            return nil
        } catch let error as ValueProblem {
            return error.reason
        } catch {
            let text = CommandError.line(for: error)
            return text.isEmpty ? tr("is not allowed") : text
        }
    }
}

/// Steps a value with keys: dates by a day, numbers by one.
enum FieldStep {
    /// The text of the next value; `nil` if the value cannot be stepped.
    static func text(_ text: String?, of attribute: NSAttributeDescription, by step: Int) -> String? {
        switch FieldText.kind(of: attribute) {
        case .date:
            let date = (try? FieldText.value(text, of: attribute)) as? Date ?? DateDisplay.utc.startOfDay(for: Date())
            let isNew = text == nil || text == ""
            return FieldText.text(date.addingTimeInterval(isNew ? 0 : Double(step) * 86400), of: attribute)
        case .number:
            guard let number = try? FieldText.value(text ?? "0", of: attribute) as? NSNumber else { return nil }
            if number is NSDecimalNumber || attribute.attributeType == .decimalAttributeType {
                return FieldText.text(NSDecimalNumber(decimal: number.decimalValue + Decimal(step)), of: attribute)
            }
            if [.doubleAttributeType, .floatAttributeType].contains(attribute.attributeType) {
                return FieldText.text(number.doubleValue + Double(step), of: attribute)
            }
            let (sum, overflow) = number.int64Value.addingReportingOverflow(Int64(step))
            return overflow ? text : String(sum)
        default: return nil
        }
    }
}
