import CoreData
import Foundation

/// Predicates from the command line.
package enum PredicateText {
    /// - Throws: ``CommandError`` of misuse if `text` does not parse or names an unknown property of `entity`.
    package static func predicate(_ text: String, for entity: NSEntityDescription) throws -> NSPredicate {
        let predicate: NSPredicate
        do {
            predicate = try NSPredicate.parse(format: text)
        } catch {
            throw CommandError.misuse("invalid predicate “\(text)”: \(CommandError.line(for: error))")
        }
        try check(predicate, entity)
        return predicate
    }

    private static func check(_ predicate: NSPredicate, _ entity: NSEntityDescription) throws {
        if let compound = predicate as? NSCompoundPredicate {
            for part in compound.subpredicates { try check(part, entity) }
        } else if let comparison = predicate as? NSComparisonPredicate {
            try check(comparison.leftExpression, entity)
            try check(comparison.rightExpression, entity)
        }
    }

    private static func check(_ expression: NSExpression, _ entity: NSEntityDescription) throws {
        switch expression.expressionType {
        case .keyPath where expression.operand.expressionType == .evaluatedObject:
            try check(expression.keyPath, entity)
        case .function:
            for argument in expression.arguments ?? [] { try check(argument, entity) }
        case .aggregate:
            for element in expression.collection as? [NSExpression] ?? [] { try check(element, entity) }
        default: break
        }
    }

    /// Follows to-one and to-many relationships. The framework checks the rest after an operator such as `@count` or
    /// inside an attribute.
    private static func check(_ keyPath: String, _ entity: NSEntityDescription) throws {
        var current = entity
        for key in keyPath.split(separator: ".").map(String.init) {
            if key.hasPrefix("@") || key == "self" || key == "SELF" || key == "objectID" { return }
            guard let property = current.propertiesByName[key] else {
                throw CommandError.misuse(text: EntityKeys.unknown(key, of: current))
            }
            guard let relationship = property as? NSRelationshipDescription,
                let destination = relationship.destinationEntity
            else { return }
            current = destination
        }
    }
}
