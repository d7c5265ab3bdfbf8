import Foundation
import PredicateSyntax

/// Checks a predicate against the model before evaluation or translation: every key exists, and every constant fits
/// its comparison. A text that spells a number, a date or a UUID becomes one if it is compared with one. `now()` and
/// other functions of constants become constants. Both evaluators start from the same resolved tree.
struct PredicateResolver {
    let entity: NSEntityDescription
    /// The entities of the variables of the enclosing subqueries; `nil` if an entity is unknown.
    private var variables: [String: NSEntityDescription?] = [:]
    /// Called with each property that is read; throws to refuse it.
    var look: ((NSPropertyDescription) throws -> Void)?
    /// Called with the keys of objects whose entity is unknown; throws to refuse them.
    var lookAtKeys: (([String]) throws -> Void)?

    init(entity: NSEntityDescription) { self.entity = entity }

    /// Resolves the key paths and constants of a predicate against the model.
    ///
    /// - Throws: a `CocoaError` that names the key and the entity, or the constant and the attribute.
    func resolve(_ tree: PredicateTree) throws -> PredicateTree {
        switch tree {
        case .constant, .opaque: return tree
        case .and(let parts): return .and(try parts.map(resolve))
        case .or(let parts): return .or(try parts.map(resolve))
        case .not(let part): return .not(try resolve(part))
        case .comparison(let comparison): return .comparison(try resolve(comparison))
        }
    }

    func resolve(_ tree: ExpressionTree) throws -> ExpressionTree {
        switch tree {
        case .constant, .evaluatedObject, .opaque: return tree
        case .variable(let name):
            guard variables.keys.contains(name) else {
                throw CoreDataError.make(
                    CoreDataError.invalidPredicate, "the variable $\(name) has no value: use withSubstitutionVariables")
            }
            return tree
        case .keyPath(let keys):
            try check(keys, of: entity)
            return tree
        case .keyPathOf(let base, let keys):
            let base = try resolve(base)
            if case .constant(let value?) = base { return .constant(try read(keys, of: value)) }
            if let entity = entity(of: base) { try check(keys, of: entity) } else { try lookAtKeys?(keys) }
            if case .evaluatedObject = base { return .keyPath(keys) }
            return .keyPathOf(base, keys)
        case .function(let name, let arguments): return try function(name, try arguments.map(resolve))
        case .functionOn(let target, let selector, let arguments):
            return .functionOn(try resolve(target), selector, try arguments.map(resolve))
        case .aggregate(let elements): return .aggregate(try elements.map(resolve))
        case .subquery(let collection, let variable, let predicate):
            let collection = try resolve(collection)
            var inner = self
            inner.variables.updateValue(entity(of: collection), forKey: variable)
            return .subquery(collection, variable: variable, predicate: try inner.resolve(predicate))
        case .index(let collection, .value(let place)):
            return .index(try resolve(collection), .value(try resolve(place)))
        case .index(let collection, let position): return .index(try resolve(collection), position)
        case .conditional(let condition, let first, let second):
            return .conditional(try resolve(condition), try resolve(first), try resolve(second))
        case .set(let operation, let left, let right): return .set(operation, try resolve(left), try resolve(right))
        }
    }

    /// Replaces a function of constants by its value.
    private func function(_ name: String, _ arguments: [ExpressionTree]) throws -> ExpressionTree {
        let tree = ExpressionTree.function(name, arguments)
        let isConstant = arguments.allSatisfy { if case .constant = $0 { true } else { false } }
        guard isConstant, !name.hasPrefix("random") else {
            guard Functions.exists(name, argumentCount: arguments.count) else {
                throw Functions.unknown(name, argumentCount: arguments.count)
            }
            return tree
        }
        return .constant(try CompiledExpression.value(of: tree, object: nil, variables: [:]))
    }

    /// Reads keys of a known value, such as `$FETCH_SOURCE.name` after the variable was replaced.
    private func read(_ keys: [String], of value: Any) throws -> Any? {
        if let object = value as? any RowReadable { try check(keys, of: object.rowLayout.entity) }
        return try CompiledExpression.value(of: .keyPathOf(.constant(value), keys), object: nil, variables: [:])
    }

    // MARK: Keys

    private func check(_ keys: [String], of entity: NSEntityDescription) throws {
        guard let first = keys.first, !first.hasPrefix("@") else { return }
        let path = try ModelKeyPath(keys, from: entity)
        if let look { try path.properties.forEach(look) }
        if case .toMany(let relationship, let rest) = path.end {
            try check(rest, behind: relationship, in: keys)
        }
    }

    /// Checks the keys after a to-many relationship: keys of the destination, with a collection operator before or
    /// after them.
    private func check(_ rest: [String], behind relationship: NSRelationshipDescription, in keys: [String]) throws {
        guard !rest.isEmpty, let destination = relationship.destinationEntity else { return }
        guard let place = rest.firstIndex(where: { $0.hasPrefix("@") }) else { return try check(rest, of: destination) }
        guard CollectionOperators.exists(rest[place]) else {
            throw CoreDataError.make(
                CoreDataError.invalidPredicate,
                "unknown collection operator \(rest[place]) (in \(keys.joined(separator: ".")))")
        }
        try check(Array(rest[..<place] + (rest[place] == "@count" ? [] : rest[(place + 1)...])), of: destination)
    }

    /// The entity of an expression's objects, or of its collection's elements; `nil` if unknown.
    func entity(of tree: ExpressionTree) -> NSEntityDescription? {
        switch tree {
        case .evaluatedObject: entity
        case .variable(let name): variables[name] ?? nil
        case .keyPath(let keys): destination(of: keys, from: entity)
        case .keyPathOf(let base, let keys): entity(of: base).flatMap { destination(of: keys, from: $0) }
        case .subquery(let collection, _, _), .index(let collection, _): entity(of: collection)
        default: nil
        }
    }

    private func destination(of keys: [String], from entity: NSEntityDescription) -> NSEntityDescription? {
        var current = entity
        for key in keys {
            guard let next = current.relationship(named: key)?.destinationEntity else { return nil }
            current = next
        }
        return current
    }
}
