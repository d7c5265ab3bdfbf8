import Foundation
import PredicateSyntax

/// Compiles expressions. Functions are in separate files.
extension PredicateCompiler {
    mutating func expression(_ tree: ExpressionTree) throws -> CompiledExpression {
        switch tree {
        case .constant(let value): return CompiledExpression(constant: PredicateValue(value))
        case .evaluatedObject: return CompiledExpression { $0.subject }
        case .variable(let name): return CompiledExpression { $0.variables[name] ?? .null }
        case .keyPath(let keys): return keyPath(keys)
        case .keyPathOf(let base, let keys):
            if case .evaluatedObject = base { return keyPath(keys) }
            let base = try expression(base).evaluate
            return CompiledExpression { KeyReader.read(keys, of: base($0)) }
        case .function(let name, let arguments): return try function(name, arguments)
        case .functionOn(_, let selector, _):
            throw CoreDataError.make(
                CoreDataError.invalidPredicate,
                "cannot evaluate FUNCTION(…, \"\(selector)\"): selectors need Objective-C")
        case .aggregate(let elements): return try aggregate(elements)
        case .subquery(let collection, let variable, let predicate):
            return try subquery(collection, variable, predicate)
        case .index(let collection, let position): return try index(collection, position)
        case .conditional(let condition, let first, let second):
            let (test, first, second) = (
                try predicate(condition), try expression(first).evaluate, try expression(second).evaluate
            )
            return CompiledExpression { test($0) ? first($0) : second($0) }
        case .set(let operation, let left, let right): return try set(operation, left, right)
        case .opaque(let code):
            return CompiledExpression { frame in
                PredicateValue(
                    code.evaluate(frame.subject.foundationValue, frame.variables.compactMapValues(\.foundationValue)))
            }
        }
    }

    // MARK: Key paths

    private func keyPath(_ keys: [String]) -> CompiledExpression {
        guard let entity else { return CompiledExpression { KeyReader.read(keys, of: $0.subject) } }
        if keys.count == 1, let access = SlotAccess(keys[0], of: entity), !access.isToOne {
            return CompiledExpression(slot: access) { frame in
                guard case .object(let row) = frame.subject else { return .null }
                let value = access.value(of: row)
                if case .object(let object) = value { return PredicateValue(object) }
                return PredicateValue(value, isDate: access.isDate)
            }
        }
        if keys.count == 1, let access = SlotAccess(keys[0], of: entity) {
            return CompiledExpression(slot: access) { KeyReader.read(keys, of: $0.subject) }
        }
        // The common case of one to-one relationship: reads both steps by slot.
        if keys.count == 2, let first = SlotAccess(keys[0], of: entity), first.isToOne,
            let destination = entity.relationship(named: keys[0])?.destinationEntity,
            let second = SlotAccess(keys[1], of: destination), !second.isToOne
        {
            return CompiledExpression { frame in
                guard case .object(let row) = frame.subject else { return .null }
                let slot = first.slot(in: row)
                guard slot >= 0, let far = row.toOneDestination(slot) else { return .null }
                let value = second.value(of: far)
                if case .object(let object) = value { return PredicateValue(object) }
                return PredicateValue(value, isDate: second.isDate)
            }
        }
        return CompiledExpression { KeyReader.read(keys, of: $0.subject) }
    }

    // MARK: Collections

    private mutating func aggregate(_ elements: [ExpressionTree]) throws -> CompiledExpression {
        var compiled: [CompiledExpression] = []
        for element in elements { compiled.append(try expression(element)) }
        let constants = compiled.compactMap(\.constant)
        if constants.count == compiled.count { return CompiledExpression(constant: .collection(constants)) }
        let values = compiled.map(\.evaluate)
        return CompiledExpression { frame in .collection(values.map { $0(frame) }) }
    }

    /// The elements that match the predicate, in which the variable is the element and `SELF` the outer object.
    private mutating func subquery(
        _ collection: ExpressionTree, _ variable: String, _ tree: PredicateTree
    ) throws -> CompiledExpression {
        let (elements, test) = (try expression(collection).evaluate, try predicate(tree))
        return CompiledExpression { frame in
            var inner = frame
            return .collection(
                elements(frame).elements.filter { element in
                    inner.variables[variable] = element
                    return test(inner)
                })
        }
    }

    private mutating func index(
        _ collection: ExpressionTree, _ position: CollectionIndex
    ) throws -> CompiledExpression {
        let value = try expression(collection).evaluate
        switch position {
        case .first: return CompiledExpression { value($0).elements.first ?? .null }
        case .last: return CompiledExpression { value($0).elements.last ?? .null }
        case .size: return CompiledExpression { .integer(Int64(value($0).elements.count)) }
        case .value(let place):
            let place = try expression(place).evaluate
            return CompiledExpression { Self.element(of: value($0), at: place($0)) }
        }
    }

    private static func element(of value: PredicateValue, at place: PredicateValue) -> PredicateValue {
        switch (value, place) {
        case (.collection(let elements), .integer(let index)):
            elements.indices.contains(Int(clamping: index)) ? elements[Int(clamping: index)] : .null
        case (_, .text(let key)): KeyReader.read([key], of: value)
        default: .null
        }
    }

    private mutating func set(
        _ operation: SetOperation, _ left: ExpressionTree, _ right: ExpressionTree
    ) throws -> CompiledExpression {
        let (left, right) = (try expression(left).evaluate, try expression(right).evaluate)
        return CompiledExpression { frame in
            let (first, second) = (left(frame).elements, right(frame).elements)
            let other = ValueSet(second, options: [])
            switch operation {
            case .union: return .collection(Aggregates.distinct(first + second))
            case .intersect: return .collection(Aggregates.distinct(first.filter { other.contains($0) }))
            case .minus: return .collection(Aggregates.distinct(first.filter { !other.contains($0) }))
            }
        }
    }
}

extension NSEntityDescription {
    /// The relationship of that name, own or inherited.
    func relationship(named key: String) -> NSRelationshipDescription? {
        property(named: key) as? NSRelationshipDescription
    }
}
