import CoreData
import Foundation

/// A value that is computed for each record from an expression of the predicate language: `wins / (wins + losses)`.
///
/// Differs from the language in one point: whole numbers are divided exactly, as a person expects of a column.
package struct ComputedValue {
    package let title: String
    private let expression: NSExpression
    /// The keys of relationships that lead to the values.
    package let relationshipPaths: [String]
    /// True if the value is a number wherever it exists.
    package let isNumeric: Bool

    /// - Parameter text: an expression, with a title after `as`.
    /// - Throws: ``CommandError`` of misuse if the text does not parse, names an unknown property, or contains anything
    ///   but keys, constants and functions of numbers and texts.
    package init(_ text: String, of entity: NSEntityDescription) throws {
        let column = ColumnText(text)
        let (text, parsed): (String, NSExpression)
        (text, title) = (column.source, column.title)
        do {
            parsed = try NSExpression.parse(format: text)
        } catch {
            throw CommandError.misuse("the column “\(text)” does not parse: \(CommandError.line(for: error))")
        }
        var paths: Set<String> = []
        expression = try Self.checked(parsed, text, entity, &paths)
        relationshipPaths = paths.sorted()
        isNumeric = parsed.expressionType == .function && !Self.textFunctions.contains(parsed.function)
    }

    /// Functions by their number of arguments; those of any number under 0.
    private static let functions: [String: Int] = [
        "add:to:": 2, "from:subtract:": 2, "multiply:by:": 2, "divide:by:": 2, "modulus:by:": 2, "raise:toPower:": 2,
        "abs:": 1, "sqrt:": 1, "ln:": 1, "log:": 1, "exp:": 1, "floor:": 1, "ceiling:": 1, "trunc:": 1, "length:": 1,
        "uppercase:": 1, "lowercase:": 1, "sum:": 0, "average:": 0, "min:": 0, "max:": 0,
    ]
    private static let textFunctions: Set<String> = ["uppercase:", "lowercase:", "min:", "max:"]

    /// The expression made of checked parts, so that its evaluation cannot fail.
    private static func checked(
        _ expression: NSExpression, _ text: String, _ entity: NSEntityDescription, _ paths: inout Set<String>
    ) throws -> NSExpression {
        switch expression.expressionType {
        case .constantValue: return expression
        case .keyPath where expression.operand.expressionType == .evaluatedObject:
            try check(expression.keyPath, entity, &paths)
            return expression
        case .aggregate:
            let parts = expression.collection as? [NSExpression] ?? []
            return NSExpression(forAggregate: try parts.map { try checked($0, text, entity, &paths) })
        case .function:
            let (name, arguments) = (expression.function, expression.arguments ?? [])
            guard let count = functions[name], count == 0 ? !arguments.isEmpty : count == arguments.count,
                expression.operand.expressionType == .evaluatedObject
            else { break }
            var parts = try arguments.map { try checked($0, text, entity, &paths) }
            if name == "divide:by:" {
                parts[0] = NSExpression(
                    forFunction: "multiply:by:", arguments: [NSExpression(forConstantValue: 1.0), parts[0]])
            }
            return NSExpression(forFunction: name, arguments: parts)
        default: break
        }
        throw CommandError.misuse(
            "the column “\(text)” contains more than keys, numbers, texts and functions of them, such as wins + draws")
    }

    /// Checks a key path: to-one relationships, then an attribute; or a to-many relationship with an operator.
    private static func check(_ keyPath: String, _ entity: NSEntityDescription, _ paths: inout Set<String>) throws {
        let keys = keyPath.split(separator: ".").map(String.init)
        guard let sign = keys.firstIndex(where: { $0.hasPrefix("@") }) else {
            try EntityKeys.attribute(at: keyPath, of: entity, for: "compute with")
            if keys.count > 1 { paths.insert(keys.dropLast().joined(separator: ".")) }
            return
        }
        let way = keys[..<sign].joined(separator: ".")
        guard let relationship = try EntityKeys.property(at: way, of: entity) as? NSRelationshipDescription,
            relationship.isToMany, let destination = relationship.destinationEntity
        else { throw CommandError.misuse("“\(keyPath)”: \(keys[sign]) follows a to-many relationship only") }
        switch (keys[sign], keys.count - sign) {
        case ("@count", 1): break
        case ("@sum", 2), ("@avg", 2), ("@min", 2), ("@max", 2):
            try EntityKeys.attribute(at: keys[sign + 1], of: destination, for: "compute with")
        default:
            throw CommandError.misuse("“\(keyPath)”: write @count, or @sum, @avg, @min or @max and an attribute")
        }
        paths.insert(way)
    }

    private func value(of object: NSManagedObject) -> Any? { expression.expressionValue(with: object, context: nil) }

    /// The value as JSON; `null` also after a division by zero.
    func json(of object: NSManagedObject) -> JSONValue {
        switch value(of: object) {
        case let decimal as NSDecimalNumber: .number(decimal.decimalValue.description)
        case let number as NSNumber where number.objCType.pointee == UInt8(ascii: "d"): .double(number.doubleValue)
        case let value?: JSONValue(value) ?? .string(ValueText.stable(value))
        case nil: .null
        }
    }

    /// The value as text for people, with four decimals at most.
    package func shown(of object: NSManagedObject) -> String {
        let value = value(of: object)
        if let number = value as? NSNumber, !(value is NSDecimalNumber), case let real = number.doubleValue,
            real.rounded() != real, abs(real) >= 0.001, abs(real) < 1e9
        {
            return ValueText.text(of: .double((real * 1e4).rounded() / 1e4))
        }
        return ValueText.text(of: json(of: object))
    }
}
