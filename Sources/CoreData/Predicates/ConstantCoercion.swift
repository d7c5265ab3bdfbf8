import Foundation
import PredicateSyntax

/// Constants of comparisons: each is converted to the attribute's kind, or refused with an error.
extension PredicateResolver {
    func resolve(_ tree: ComparisonTree) throws -> ComparisonTree {
        var tree = tree
        tree.left = try resolve(tree.left)
        tree.right = try resolve(tree.right)
        if tree.modifier == .direct { tree = tree.asMembership }
        let (left, right) = (try target(of: tree.left), try target(of: tree.right))
        if tree.modifier == .direct { try refuseToMany(tree, left: left, right: right) }
        if tree.comparison == .between, right?.isMany == true {
            throw refusedToMany("BETWEEN needs a list of two bounds, not \(FormatPrinter.string(tree.right))")
        }
        // `a IN b` with a single text `b` searches for the text `a` in `b`.
        let isSearch = tree.comparison == .in
        if let left {
            let isSearched = isSearch && !tree.right.isGivenCollection
            tree.right = try fitted(tree.right, to: left, tree, isSearched)
        }
        if let right { tree.left = try fitted(tree.left, to: right, tree, isSearch && !right.isMany) }
        return tree
    }

    /// The other side of a comparison with a constant.
    enum Target {
        case attribute(NSAttributeDescription)
        case relationship(NSRelationshipDescription)
        case object(NSEntityDescription)
    }

    /// The end of one side's key path in the model; `isMany` if it crosses a to-many relationship.
    private func target(of tree: ExpressionTree) throws -> (target: Target, isMany: Bool)? {
        let keys: [String]
        let source: NSEntityDescription
        switch tree {
        case .keyPath(let path): (keys, source) = (path, entity)
        case .keyPathOf(let base, let path):
            guard let known = entity(of: base) else { return nil }
            (keys, source) = (path, known)
        case .evaluatedObject: return (.object(entity), false)
        case .variable: return entity(of: tree).map { (.object($0), false) }
        default: return nil
        }
        if keys.first?.hasPrefix("@") == true { return nil }
        return try target(of: keys, from: source)
    }

    private func target(
        of keys: [String], from source: NSEntityDescription
    ) throws -> (target: Target, isMany: Bool)? {
        let path = try ModelKeyPath(keys, from: source)
        switch path.end {
        case .attribute(let attribute), .element(_, _, let attribute): return (.attribute(attribute), false)
        case .toOne(let relationship): return (.relationship(relationship), false)
        case .object: return (.object(path.toOnes.last?.destinationEntity ?? source), false)
        case .toMany(let relationship, let rest):
            guard !rest.isEmpty else { return (.relationship(relationship), true) }
            guard !rest.contains(where: { $0.hasPrefix("@") }), let destination = relationship.destinationEntity else {
                return nil
            }
            return try target(of: rest, from: destination).map { ($0.target, true) }
        case .entity, .fetched, .member, .state: return nil
        }
    }

    /// Throws if a to-many key path is compared in a way that is not defined. It is valid on the left of CONTAINS, on
    /// the right of IN, and in a comparison with nil or another collection.
    private func refuseToMany(
        _ tree: ComparisonTree, left: (target: Target, isMany: Bool)?, right: (target: Target, isMany: Bool)?
    ) throws {
        let refused: ExpressionTree?
        if left?.isMany == true, tree.comparison != .contains, right?.isMany != true, !isNilOrCollection(tree.right) {
            refused = tree.left
        } else if right?.isMany == true, tree.comparison != .in, left?.isMany != true, !isNilOrCollection(tree.left) {
            refused = tree.right
        } else {
            refused = nil
        }
        guard let refused else { return }
        throw refusedToMany("write ANY, ALL or NONE before \(FormatPrinter.string(refused))")
    }

    private func refusedToMany(_ remedy: String) -> NSError {
        CoreDataError.make(CoreDataError.invalidPredicate, "to-many key not allowed here: \(remedy)")
    }

    private func isNilOrCollection(_ tree: ExpressionTree) -> Bool {
        if case .constant(let value) = tree, PredicateValue(value).isNull { return true }
        return tree.isGivenCollection
    }

    // MARK: Fitting

    /// The expression with its constant converted to the target's kind.
    private func fitted(
        _ tree: ExpressionTree, to other: (target: Target, isMany: Bool), _ comparison: ComparisonTree,
        _ isSearched: Bool
    ) throws -> ExpressionTree {
        switch tree {
        case .aggregate(let elements):
            return .aggregate(try elements.map { try fitted($0, to: other, comparison, isSearched) })
        case .constant(let value):
            if case .collection(let elements) = PredicateValue(value), !(value is any RowReadable) {
                return .aggregate(
                    try elements.map { try fitted(.constant($0.foundationValue), to: other, comparison, isSearched) })
            }
            return .constant(try fitted(value, to: other, comparison, isSearched))
        default: return tree
        }
    }

    private func fitted(
        _ value: Any?, to other: (target: Target, isMany: Bool), _ comparison: ComparisonTree, _ isSearched: Bool
    ) throws -> Any? {
        let given = PredicateValue(value)
        if given.isNull { return nil }
        switch other.target {
        case .attribute(let attribute):
            let searchesText = comparison.comparison == .contains && !(other.isMany && comparison.modifier == .direct)
            if comparison.comparison.isOfTexts || searchesText {
                guard attribute.holdsText || attribute.isOpaque else {
                    throw refusal(value, attribute.name, "it is \(attribute.kindName), not text", comparison)
                }
                guard case .text = given else {
                    throw refusal(value, attribute.name, "text operators need a text", comparison)
                }
                return value
            }
            guard let fitted = attribute.fitted(given, by: comparison.comparison, isSearched) else {
                throw refusal(value, attribute.name, "it is \(attribute.kindName)", comparison)
            }
            return fitted.foundationValue
        case .relationship(let relationship):
            guard given.objectID != nil else {
                let name = relationship.destinationEntity?.name ?? "?"
                throw refusal(
                    value, relationship.name, "it is a relationship to \(name): compare it with an object", comparison)
            }
            return value
        case .object(let entity):
            guard given.objectID != nil else {
                throw refusal(value, "SELF", "it is an object of \(entity.name ?? "?")", comparison)
            }
            return value
        }
    }

    private func refusal(_ value: Any?, _ name: String, _ reason: String, _ comparison: ComparisonTree) -> NSError {
        let given = FormatPrinter.string(.constant(value))
        return CoreDataError.make(
            CoreDataError.invalidPredicate,
            "\(name) cannot be compared with \(given): \(reason) (in \(FormatPrinter.string(.comparison(comparison))))")
    }
}

extension ComparisonTree {
    /// `{a, b} CONTAINS x` as `x IN {a, b}`, which converts and translates each value; other comparisons unchanged.
    fileprivate var asMembership: ComparisonTree {
        guard comparison == .contains, left.isGivenCollection else { return self }
        return ComparisonTree(left: right, right: left, comparison: .in, options: options)
    }
}

extension ExpressionTree {
    /// True for a list in the predicate's text and for a constant collection.
    fileprivate var isGivenCollection: Bool {
        switch self {
        case .aggregate: return true
        case .constant(let value):
            if case .collection = PredicateValue(value) { return true }
            return false
        default: return false
        }
    }
}

extension ComparisonOperator {
    /// True if the operator searches in texts. CONTAINS and IN search in texts or in collections.
    fileprivate var isOfTexts: Bool {
        switch self {
        case .beginsWith, .endsWith, .like, .matches: true
        default: false
        }
    }
}

extension ComparisonOperator {
    /// True if the operator compares values without an order.
    fileprivate var isOfEquality: Bool { self == .equalTo || self == .notEqualTo || self == .in }
}

extension NSAttributeDescription {
    /// True if the values may be of any type.
    fileprivate var isOpaque: Bool {
        switch attributeType {
        case .transformableAttributeType, .compositeAttributeType, .undefinedAttributeType, .objectIDAttributeType: true
        default: isTransient
        }
    }

    /// A name of the attribute's kind for messages, with its article.
    fileprivate var kindName: String {
        switch attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: "an integer"
        case .decimalAttributeType: "a decimal number"
        case .doubleAttributeType, .floatAttributeType: "a number"
        case .booleanAttributeType: "a Boolean (YES or NO)"
        case .dateAttributeType: "a date (such as \"2024-06-11\")"
        case .stringAttributeType: "a text"
        case .URIAttributeType: "a URI"
        case .UUIDAttributeType: "a UUID"
        case .binaryDataAttributeType: "binary data"
        default: "an object"
        }
    }

    /// The value converted to the attribute's kind; `nil` if this is not possible.
    fileprivate func fitted(
        _ value: PredicateValue, by comparison: ComparisonOperator, _ isSearched: Bool
    ) -> PredicateValue? {
        if isOpaque { return value }
        switch attributeType {
        case .stringAttributeType:
            if case .text = value { return value }
            return comparison.isOfEquality && !isSearched ? Self.digits(of: value) : nil
        case .URIAttributeType:
            if case .text = value { return value }
            return nil
        case .dateAttributeType:
            switch value {
            case .date: return value
            case .text(let text): return DateText.seconds(text).map { .date($0) }
            default: return nil
            }
        case .UUIDAttributeType:
            switch value {
            case .uuid: return value
            case .text(let text): return UUID(uuidString: text).map { .uuid($0) }
            default: return nil
            }
        case .binaryDataAttributeType:
            if case .data = value { return value }
            return nil
        default: return number(value)
        }
    }

    /// A number as the text that it may equal. Apple's stores compare a text column in this way.
    private static func digits(of value: PredicateValue) -> PredicateValue? {
        switch value {
        case .integer, .real, .decimal: Casts.string(value).map { .text($0) }
        default: nil
        }
    }

    private func number(_ value: PredicateValue) -> PredicateValue? {
        switch value {
        case .integer, .real, .decimal: value
        case .text(let text):
            attributeType == .booleanAttributeType
                ? ["yes": 1, "true": 1, "no": 0, "false": 0][text.lowercased()].map { .integer($0) }
                : Int64(text).map { .integer($0) } ?? Double(text).flatMap { $0.isFinite ? .real($0) : nil }
        default: nil
        }
    }
}
