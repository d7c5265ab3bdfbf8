import PredicateSyntax

/// Translates functions and arithmetic, if SQLite gives the same results as memory.
extension PredicateToSQL {
    mutating func function(_ name: String, _ arguments: [ExpressionTree]) throws -> SQLOperand {
        let operand = try unboundedFunction(name, arguments)
        if case .expression(let value) = operand { _ = try Self.bounded(value.fragment) }
        return operand
    }

    private mutating func unboundedFunction(_ name: String, _ arguments: [ExpressionTree]) throws -> SQLOperand {
        if hasGroups, arguments.count == 1, let value = try groupFunction(name, arguments[0]) {
            return .expression(value)
        }
        if let text = TextFunction(name), arguments.count == 1 {
            let argument = try nested(5) { try $0.operand(arguments[0]) }
            guard case .expression(let value) = argument, value.kind == .text else {
                throw NeedsMemory("\(name) of a value that is not text")
            }
            let kind: SQLExpression.Kind = text == .length ? .integer(isNarrow: true) : .text
            return .expression(
                SQLExpression(fragment: try schema.dialect.functions(for: name).call(text, value.fragment), kind: kind))
        }
        var numbers: [SQLExpression] = []
        for (place, argument) in arguments.enumerated() {
            // A long sum is nested on the left: one parenthesis for each sign.
            let entries = arguments.count == 1 ? 9 : place == 0 ? 1 : 3
            numbers.append(try nested(entries) { try $0.number(argument, name) })
        }
        if numbers.count == 1 { return .expression(try unary(name, numbers[0])) }
        guard numbers.count == 2 else { throw NeedsMemory("\(name) is evaluated in memory") }
        return .expression(try binary(name, numbers[0], numbers[1]))
    }

    /// Translates an operand of arithmetic. Decimals are calculated in memory, where they keep their digits.
    private mutating func number(_ tree: ExpressionTree, _ name: String) throws -> SQLExpression {
        switch try operand(tree) {
        case .expression(var expression):
            switch expression.kind {
            case .integer, .real: return expression
            case .date:
                // The table stores whole seconds as integers, which SQL would divide as integers.
                expression.fragment.text = schema.dialect.asReal(expression.fragment.text)
                expression.kind = .real
                return expression
            default: break
            }
        case .constant(.integer(let number)):
            return SQLExpression(
                fragment: .argument(.integer(number)), kind: .integer(isNarrow: Int32(exactly: number) != nil))
        case .constant(.real(let number)) where !number.isNaN, .constant(.date(let number)) where !number.isNaN:
            return SQLExpression(fragment: .argument(.real(number)), kind: .real)
        default: break
        }
        throw NeedsMemory("\(name) of these values is calculated in memory")
    }

    private func unary(_ name: String, _ value: SQLExpression) throws -> SQLExpression {
        let isInteger = value.kind != .real
        if name != "noindex:" { try checkRange(name, value) }
        switch name {
        case "noindex:": return SQLExpression(fragment: "+" + value.fragment, kind: value.kind)
        case "abs:":
            // SQLite's abs() fails for the least integer; subtraction gives a real there, as in memory. In databases
            // that do not do so the number has at most 32 bits and is widened.
            let wide =
                isInteger
                ? SQLFragment(schema.dialect.asWide(value.fragment.text), value.fragment.arguments) : value.fragment
            let negative = "0 - " + wide
            let fragment = "CASE WHEN " + value.fragment + " < 0 THEN " + negative + " ELSE " + wide + " END"
            return SQLExpression(fragment: fragment.parenthesized, kind: isInteger ? .integer(isNarrow: false) : .real)
        case "onesComplement:" where isInteger:
            return SQLExpression(fragment: ("~" + value.fragment).parenthesized, kind: .integer(isNarrow: false))
        default: throw NeedsMemory("\(name) is calculated in memory")
        }
    }

    /// Throws if the function may overflow in a database that reports overflow as an error. There, SQL computes only
    /// functions of 32-bit integers, and no division.
    private func checkRange(_ name: String, _ values: SQLExpression...) throws {
        guard !schema.dialect.hasFreeNumbers else { return }
        let known = ["abs:", "onesComplement:", "add:to:", "from:subtract:", "multiply:by:"]
        guard known.contains(name), values.allSatisfy({ $0.kind == .integer(isNarrow: true) }) else {
            throw NeedsMemory("\(name) may leave the range of the database's numbers")
        }
    }

    private func binary(_ name: String, _ left: SQLExpression, _ right: SQLExpression) throws -> SQLExpression {
        let areIntegers = left.kind != .real && right.kind != .real
        try checkRange(name, left, right)
        let wide = schema.dialect.asWide
        let kind: SQLExpression.Kind = areIntegers ? .integer(isNarrow: false) : .real
        func infix(_ sign: String) -> SQLExpression {
            SQLExpression(
                fragment: (SQLFragment(wide(left.fragment.text), left.fragment.arguments) + " \(sign) " + right.fragment)
                    .parenthesized, kind: kind)
        }
        switch name {
        case "add:to:": return infix("+")
        case "from:subtract:": return infix("-")
        case "multiply:by:": return infix("*")
        case "divide:by:": return infix("/")
        case "modulus:by:" where areIntegers: return infix("%")
        case "bitwiseAnd:with:" where areIntegers: return infix("&")
        case "bitwiseOr:with:" where areIntegers: return infix("|")
        case "leftshift:by:" where areIntegers: return infix("<<")
        case "rightshift:by:" where areIntegers: return infix(">>")
        default: throw NeedsMemory("\(name) is calculated in memory")
        }
    }
}
