import PredicateSyntax

/// Translates expressions: key paths, variables, and calls of the other files for other kinds.
extension PredicateToSQL {
    mutating func operand(_ tree: ExpressionTree) throws -> SQLOperand {
        switch tree {
        case .constant(let value): return .constant(PredicateValue(value))
        case .evaluatedObject: return try operand(["self"], scope: 0)
        case .keyPath(let keys): return try operand(keys, scope: 0)
        case .variable(let name): return try operand(["self"], scope: try scope(of: name))
        case .keyPathOf(.variable(let name), let keys): return try operand(keys, scope: try scope(of: name))
        case .keyPathOf(.subquery(let collection, let variable, let predicate), ["@count"]):
            return .expression(try subqueryCount(collection, variable, predicate))
        case .keyPathOf: throw NeedsMemory("keys of an expression's value are read in memory")
        case .function(let name, let arguments): return try function(name, arguments)
        case .aggregate(let elements): return try list(elements)
        case .conditional(let condition, let first, let second): return try conditional(condition, first, second)
        case .subquery: throw NeedsMemory("only the number of a subquery's objects is known to SQL")
        case .index: throw NeedsMemory("elements of a collection are read in memory")
        case .set: throw NeedsMemory("set expressions are evaluated in memory")
        case .functionOn, .opaque: throw NeedsMemory("code is called in memory")
        }
    }

    private func scope(of variable: String) throws -> Int {
        guard let scope = variables[variable] else { throw NeedsMemory("$\(variable) has no table") }
        return scope
    }

    private mutating func list(_ elements: [ExpressionTree]) throws -> SQLOperand {
        var operands: [SQLOperand] = []
        for element in elements { operands.append(try operand(element)) }
        let constants = operands.compactMap { if case .constant(let value) = $0 { value } else { nil } }
        return constants.count == operands.count ? .constant(.collection(constants)) : .list(operands)
    }

    // MARK: Key paths

    /// Returns the operand for the key path `keys` from the objects of a scope.
    mutating func operand(_ keys: [String], scope: Int) throws -> SQLOperand {
        let path = try ModelKeyPath(keys, from: scopes[scope].entity)
        switch path.end {
        case .attribute(let attribute):
            guard let column = scopes[scope].column(of: attribute, following: path.toOnes) else {
                throw NeedsMemory("\(attribute.name) is transient")
            }
            return .expression(
                SQLExpression(
                    fragment: SQLFragment(schema.valueText(of: attribute, in: column)), kind: schema.kind(of: attribute)
                ))
        case .element(let composite, let names, let leaf):
            guard let column = scopes[scope].column(of: composite, at: names, following: path.toOnes) else {
                throw NeedsMemory("\(composite.name) is transient")
            }
            return .expression(
                SQLExpression(
                    fragment: SQLFragment(schema.valueText(of: leaf, in: column)), kind: schema.kind(of: leaf)))
        case .toOne(let relationship):
            guard let column = scopes[scope].column(of: relationship, following: path.toOnes) else {
                throw NeedsMemory("\(relationship.name) is transient")
            }
            let root = relationship.destinationEntity?.rootName
            return .expression(SQLExpression(fragment: SQLFragment(column), kind: .object(root: root)))
        case .object:
            let entity = path.toOnes.last?.destinationEntity ?? scopes[scope].entity
            return .expression(
                SQLExpression(
                    fragment: SQLFragment(try table(path, scope) + ".\(schema.keyText)"),
                    kind: .object(root: entity.rootName)))
        case .entity:
            return .expression(
                SQLExpression(
                    fragment: SQLFragment(try table(path, scope) + ".\(schema.dialect.quoted(schema.dialect.entity))"),
                    kind: .entity))
        case .toMany(let relationship, let rest):
            let many = SQLMany(scope: scope, toOnes: path.toOnes, relationship: relationship, rest: rest)
            if let name = rest.first, name.hasPrefix("@") {
                return .expression(try aggregate(name, Array(rest.dropFirst()), of: many))
            }
            if rest.contains(where: { $0.hasPrefix("@") }) {
                throw NeedsMemory("what follows values of several objects is read in memory")
            }
            return .many(many)
        case .fetched(let property, _): throw ModelKeyPath.refusal(of: property)
        case .member(let attribute, _): throw NeedsMemory("what is in \(attribute.name) is read in memory")
        case .state(let key): throw NeedsMemory("\(key) is a state of the object in memory")
        }
    }

    private mutating func table(_ path: ModelKeyPath, _ scope: Int) throws -> String {
        guard let table = scopes[scope].alias(following: path.toOnes) else {
            throw NeedsMemory("a relationship on the way has no column")
        }
        return table
    }

    // MARK: Conditions

    private mutating func conditional(
        _ tree: PredicateTree, _ first: ExpressionTree, _ second: ExpressionTree
    ) throws -> SQLOperand {
        let condition = try nested(4) { try $0.condition(tree) }
        let (first, second) = try nested(9) { (try $0.operand(first), try $0.operand(second)) }
        let kind: SQLExpression.Kind
        switch (first, second) {
        case (.expression(let first), .expression(let second)) where first.kind == second.kind: kind = first.kind
        case (.expression(let known), .constant), (.constant, .expression(let known)): kind = known.kind
        case (.constant(let first), .constant(let second)):
            guard let known = Self.kind(of: first), known == Self.kind(of: second) else {
                throw NeedsMemory("TERNARY of values of different kinds")
            }
            kind = known
        default: throw NeedsMemory("TERNARY of values of different kinds")
        }
        let then = try value(first, as: kind)
        let otherwise = try value(second, as: kind)
        let fragment = "CASE WHEN " + condition + " THEN " + then + " ELSE " + otherwise + " END"
        return .expression(SQLExpression(fragment: try Self.bounded(fragment.parenthesized), kind: kind))
    }

    private func value(_ operand: SQLOperand, as kind: SQLExpression.Kind) throws -> SQLFragment {
        switch operand {
        case .expression(let expression): return expression.fragment
        case .constant(let value):
            // An expression has no column affinity, so SQL compares the value's own type, which must match the kind.
            if let own = Self.kind(of: value), own != kind, !(own.isNumber && kind.isNumber) {
                throw NeedsMemory("TERNARY of values of different kinds")
            }
            return try bound(value, for: kind).map { .argument($0) } ?? SQLFragment("NULL")
        case .many, .list: throw NeedsMemory("a collection is not a single value")
        }
    }

    /// The kind of a constant that is not compared with a column.
    static func kind(of value: PredicateValue) -> SQLExpression.Kind? {
        switch value {
        case .integer: .integer(isNarrow: false)
        case .real: .real
        case .date: .date
        case .text: .text
        case .uuid: .uuid
        case .data: .data
        default: nil
        }
    }
}
