import CoreData
import Foundation

/// The conditions of a filter, all of which a record has to meet: the parts of a predicate that AND joins.
nonisolated struct FilterConditions {
    private let parts: [NSPredicate]
    /// The filter as typed; `nil` after a change.
    private let typed: String?

    /// The conditions of a filter; none if it does not parse.
    init(_ text: String, for entity: NSEntityDescription) {
        let predicate = try? FilterText.predicate(text, for: entity)
        self.init(predicate.map { [$0] } ?? [], typed: text.trimmingCharacters(in: .whitespaces))
    }

    private init(_ parts: [NSPredicate], typed: String? = nil) {
        self.parts = parts.flatMap(Self.parts)
        self.typed = typed
    }

    private static func parts(of predicate: NSPredicate) -> [NSPredicate] {
        guard let compound = predicate as? NSCompoundPredicate, compound.compoundPredicateType == .and else {
            return [predicate]
        }
        return compound.subpredicates.flatMap(parts)
    }

    /// The predicate's text; empty if there is no condition.
    var text: String {
        if let typed { return typed }
        return parts.isEmpty ? "" : NSCompoundPredicate(andPredicateWithSubpredicates: parts).formatString
    }

    /// The text of each condition.
    var texts: [String] {
        if parts.count == 1, let typed { return [typed] }
        return parts.map { part in
            // Within a conjunction, an alternative is in parentheses.
            let isAlternative = (part as? NSCompoundPredicate)?.compoundPredicateType == .or && parts.count > 1
            return isAlternative ? "(\(part.formatString))" : part.formatString
        }
    }

    /// The conditions with others at the end. A new limit replaces the one of the same key and direction.
    func adding(_ others: [NSPredicate]) -> FilterConditions {
        let added = others.flatMap(Self.parts)
        let texts = Set(added.map(\.formatString))
        let limits = Set(added.compactMap(Self.limit))
        let kept = parts.filter { part in
            !texts.contains(part.formatString) && !(Self.limit(part).map { limits.contains($0) } ?? false)
        }
        return FilterConditions(kept + added)
    }

    func removing(at index: Int) -> FilterConditions {
        FilterConditions(parts.enumerated().filter { $0.offset != index }.map(\.element))
    }

    /// The key and direction of a condition that is a limit.
    private static func limit(_ predicate: NSPredicate) -> String? {
        guard let comparison = predicate as? NSComparisonPredicate,
            comparison.leftExpression.expressionType == .keyPath
        else { return nil }
        switch comparison.predicateOperatorType {
        case .lessThan, .lessThanOrEqualTo: return "<" + comparison.leftExpression.keyPath
        case .greaterThan, .greaterThanOrEqualTo: return ">" + comparison.leftExpression.keyPath
        default: return nil
        }
    }
}
