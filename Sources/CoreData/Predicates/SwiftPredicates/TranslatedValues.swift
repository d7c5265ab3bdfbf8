import Foundation
import PredicateSyntax

// Translates variables, constants and key paths.

extension PredicateExpressions.Variable: TranslatablePredicateExpression {
    func translated(_ translation: SwiftPredicateTranslation) throws -> TranslatedNode {
        .value(try translation.meaning(of: key))
    }
}

extension PredicateExpressions.Value: TranslatablePredicateExpression {
    func translated(_ translation: SwiftPredicateTranslation) throws -> TranslatedNode {
        let value = OptionalValues.unwrapped(value)
        if case .other(let stranger) = PredicateValue(value) {
            throw SwiftPredicateTranslation.unsupported("a captured \(type(of: stranger))")
        }
        guard let wrapped = value as? any RawRepresentable, !(value is NSObject) else {
            return .value(.constant(value))
        }
        return .value(.constant(wrapped.rawValue))
    }
}

extension PredicateExpressions.NilLiteral: TranslatablePredicateExpression {
    func translated(_ translation: SwiftPredicateTranslation) -> TranslatedNode { .value(.constant(nil)) }
}

extension PredicateExpressions.KeyPath: TranslatablePredicateExpression {
    func translated(_ translation: SwiftPredicateTranslation) throws -> TranslatedNode {
        let object = try translation.value(root)
        if let kind { return try common(kind, object) }
        let owner = Root.Output.self
        if isCount(of: owner) { return .value(object.elementCount) }
        if let owner = owner as? any RawRepresentable.Type, isRawValue(of: owner) { return .value(object) }
        if owner is any KeyPathNaming.Type, Output.self == NSManagedObjectID.self { return .value(object) }
        guard let key = (owner as? any KeyPathNaming.Type)?.key(of: keyPath) else {
            throw SwiftPredicateTranslation.unsupported(
                "\(keyPath), which is not a property in a loaded model")
        }
        return .value(object.appending(key.split(separator: ".").map(String.init)))
    }

    private func common(_ kind: CommonKeyPathKind, _ object: ExpressionTree) throws -> TranslatedNode {
        let isText = Root.Output.self is any StringProtocol.Type
        let count: ExpressionTree = isText ? .function("length:", [object]) : object.elementCount
        switch kind {
        case .collectionCount: return .value(count)
        case .collectionIsEmpty:
            return .condition(isText ? .equal(object, .constant("")) : .equal(count, .constant(0)))
        case .collectionFirst where !isText: return .value(.index(object, .first))
        case .bidirectionalCollectionLast where !isText: return .value(.index(object, .last))
        default: throw SwiftPredicateTranslation.unsupported("\(keyPath)")
        }
    }

    /// True if the key path is `count` of a Foundation collection.
    private func isCount(of owner: Any.Type) -> Bool {
        switch owner {
        case is NSSet.Type: keyPath == \NSSet.count
        case is NSOrderedSet.Type: keyPath == \NSOrderedSet.count
        case is NSArray.Type: keyPath == \NSArray.count
        default: false
        }
    }

    private func isRawValue<Owner: RawRepresentable>(of owner: Owner.Type) -> Bool { keyPath == \Owner.rawValue }
}

extension PredicateExpressions.ForcedUnwrap: TranslatablePredicateExpression {
    func translated(_ translation: SwiftPredicateTranslation) throws -> TranslatedNode {
        try translation.translate(inner)
    }
}

extension PredicateExpressions.OptionalFlatMap: TranslatablePredicateExpression {
    func translated(_ translation: SwiftPredicateTranslation) throws -> TranslatedNode {
        let value = try translation.value(wrapped)
        let result = try translation.with(variable.key, as: value) { try translation.translate(transform) }
        guard case .condition(let tree, _) = result else { return result }
        return .condition(tree, isNilWhere: .equal(value, .constant(nil)))
    }
}

extension PredicateExpressions.NilCoalesce: TranslatablePredicateExpression {
    func translated(_ translation: SwiftPredicateTranslation) throws -> TranslatedNode {
        switch try translation.translate(lhs) {
        case .condition(let tree, let isNil):
            let fallback = try translation.predicate(rhs)
            guard let isNil else { return .condition(tree) }
            if case .constant(false) = fallback { return .condition(.and([.not(isNil), tree])) }
            return .condition(.or([.and([isNil, fallback]), .and([.not(isNil), tree])]))
        case .value(let value):
            let fallback = try translation.value(rhs)
            return .value(.conditional(.compare(value, .notEqualTo, .constant(nil)), value, fallback))
        case .order: throw SwiftPredicateTranslation.unsupported("?? after a text comparison")
        }
    }
}

extension PredicateExpressions.Conditional: TranslatablePredicateExpression {
    func translated(_ translation: SwiftPredicateTranslation) throws -> TranslatedNode {
        let test = try translation.predicate(test)
        guard Output.self == Bool.self else {
            return .value(.conditional(test, try translation.value(trueBranch), try translation.value(falseBranch)))
        }
        let (yes, no) = (try translation.predicate(trueBranch), try translation.predicate(falseBranch))
        return .condition(.or([.and([test, yes]), .and([.not(test), no])]))
    }
}
