import CoreData
import Foundation
import RosterCommands
import TerminalKit

/// Completes the value after a comparison in a filter: `zone == "` is completed with zones from the store.
nonisolated struct ValueCompletion: Sendable {
    private let keyPath: String
    private let attribute: NSAttributeDescription
    /// The typed part of the value, without its quotation mark.
    private let typed: String
    /// The range of characters to replace.
    private let range: Range<Int>
    private static let greatestCount = 100
    /// A key path, an operator, and the beginning of a value.
    // SAFETY: immutable.
    nonisolated(unsafe) private static let place =
        #/
        (?i) (?:^|[\s(]) ([\w.]+) \s*
        (?:==?|!=|<>|[<>]=?|(?:BEGINSWITH|CONTAINS|ENDSWITH|LIKE)(?:\[[cdnl]+\])?)
        \s* ("[^"]*|[\w.\-]*) $
        /#

    /// - Returns: `nil` if no attribute value is being typed before the cursor.
    init?(_ text: String, cursor: Int, entity: NSEntityDescription) {
        let before = String(text.prefix(cursor))
        guard let match = before.firstMatch(of: Self.place),
            let attribute = entity.attribute(atKeyPath: String(match.1)),
            Self.isText(attribute) || Self.isNumber(attribute)
        else { return nil }
        self.attribute = attribute
        keyPath = String(match.1)
        typed = match.2.hasPrefix("\"") ? String(match.2.dropFirst()) : String(match.2)
        range = before.count - match.2.count..<before.count
        // Texts have to be quoted and numbers unquoted.
        guard match.2.isEmpty || match.2.hasPrefix("\"") == Self.isText(attribute) else { return nil }
    }

    private static func isText(_ attribute: NSAttributeDescription) -> Bool {
        attribute.attributeType == .stringAttributeType
    }

    private static func isNumber(_ attribute: NSAttributeDescription) -> Bool {
        PropertyColumn(property: attribute, priority: 0).isNumeric || attribute.attributeType == .booleanAttributeType
    }

    /// A request for the first distinct values in ascending order.
    func request(of entity: NSEntityDescription) -> NSFetchRequest<NSDictionary> {
        let request = NSFetchRequest<NSDictionary>()
        request.entity = entity
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = [keyPath]
        request.returnsDistinctResults = true
        request.sortDescriptors = [NSSortDescriptor(key: keyPath, ascending: true)]
        if Self.isText(attribute) {
            if !typed.isEmpty { request.predicate = NSPredicate(format: "%K BEGINSWITH[c] %@", keyPath, typed) }
            request.fetchLimit = Self.greatestCount
        } else {
            request.fetchLimit = 100 * Self.greatestCount
        }
        return request
    }

    /// Candidates from the rows of the request; `nil` for none.
    func completion(_ rows: [NSDictionary]) -> Prompt.Completion? {
        let texts = rows.compactMap { row -> String? in
            guard let value = row[keyPath], !(value is NSNull) else { return nil }
            if let text = value as? String {
                return text.contains { $0 == "\"" || $0 == "\\" || $0.isNewline } ? nil : "\"\(text)\""
            }
            if attribute.attributeType == .booleanAttributeType { return (value as? Bool) == true ? "YES" : "NO" }
            let text = "\(value)"
            return text.hasPrefix(typed) ? text : nil
        }
        let candidates = Array(texts.prefix(Self.greatestCount))
        return candidates.isEmpty ? nil : Prompt.Completion(range: range, candidates: candidates)
    }
}
