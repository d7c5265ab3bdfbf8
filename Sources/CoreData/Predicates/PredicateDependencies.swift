import Foundation
import PredicateSyntax

// The key paths that a predicate reads, and whether its result is repeatable.

extension PredicateTree {
    /// The key paths of the evaluated object that the predicate reads.
    var keyPaths: [[String]] {
        switch self {
        case .constant, .opaque: []
        case .comparison(let comparison): comparison.left.keyPaths + comparison.right.keyPaths
        case .and(let parts), .or(let parts): parts.flatMap(\.keyPaths)
        case .not(let part): part.keyPaths
        }
    }
}

extension ExpressionTree {
    var keyPaths: [[String]] {
        switch self {
        case .constant, .evaluatedObject, .variable, .opaque: []
        case .keyPath(let keys): [keys]
        case .keyPathOf(let target, let keys): target.isEvaluatedObject ? [keys] : target.keyPaths
        case .function(_, let arguments), .aggregate(let arguments): arguments.flatMap(\.keyPaths)
        case .functionOn(let target, _, let arguments): target.keyPaths + arguments.flatMap(\.keyPaths)
        case .subquery(let collection, let variable, let predicate):
            // Paths read from the collection's elements are appended to the collection's path.
            collection.keyPaths.flatMap { path in
                predicate.keyPaths(of: variable).map { path + $0 }
                    + [predicate.looksOverKeyPathsOnly ? path : path + ["@any"]]
            }
                + predicate.keyPaths
        case .index(let collection, _): collection.keyPaths
        case .conditional(let predicate, let yes, let no): predicate.keyPaths + yes.keyPaths + no.keyPaths
        case .set(_, let left, let right): left.keyPaths + right.keyPaths
        }
    }

    private var isEvaluatedObject: Bool {
        if case .evaluatedObject = self { return true }
        return false
    }

    /// The key paths that the expression reads from a variable.
    fileprivate func keyPaths(of name: String) -> [[String]] {
        switch self {
        case .keyPathOf(.variable(name), let keys): [keys]
        case .function(_, let arguments), .aggregate(let arguments): arguments.flatMap { $0.keyPaths(of: name) }
        default: []
        }
    }

    /// True if ``keyPaths(of:)`` covers everything the expression reads. Objects are compared by identity, not by
    /// their values.
    fileprivate var looksOverKeyPathsOnly: Bool {
        switch self {
        case .evaluatedObject, .constant, .variable, .keyPath, .keyPathOf(.variable, _): true
        case .function(_, let arguments), .aggregate(let arguments): arguments.allSatisfy(\.looksOverKeyPathsOnly)
        default: false
        }
    }
}

extension PredicateTree {
    fileprivate var looksOverKeyPathsOnly: Bool {
        switch self {
        case .constant: true
        case .opaque: false
        case .comparison(let comparison):
            comparison.left.looksOverKeyPathsOnly && comparison.right.looksOverKeyPathsOnly
        case .and(let parts), .or(let parts): parts.allSatisfy(\.looksOverKeyPathsOnly)
        case .not(let part): part.looksOverKeyPathsOnly
        }
    }

    fileprivate func keyPaths(of variable: String) -> [[String]] {
        switch self {
        case .constant, .opaque: []
        case .comparison(let comparison):
            comparison.left.keyPaths(of: variable) + comparison.right.keyPaths(of: variable)
        case .and(let parts), .or(let parts): parts.flatMap { $0.keyPaths(of: variable) }
        case .not(let part): part.keyPaths(of: variable)
        }
    }
}

extension PredicateTree {
    /// True if the same object gives the same result in another process and at another time. The predicate has no
    /// code, and does not depend on the clock or on random numbers.
    var isStable: Bool {
        switch self {
        case .constant: true
        case .opaque: false
        case .comparison(let comparison): comparison.left.isStable && comparison.right.isStable
        case .and(let parts), .or(let parts): parts.allSatisfy(\.isStable)
        case .not(let part): part.isStable
        }
    }
}

extension PredicateTree {
    /// True if a part of the predicate depends on the time of evaluation.
    var looksAtClock: Bool {
        var found = false
        _ = rewritten { part in
            if case .function("now", _) = part { found = true }
            return found ? part : nil
        }
        return found
    }
}

extension ExpressionTree {
    private static let unstableFunctions: Set<String> = ["now", "random", "random:", "randomn:"]

    fileprivate var isStable: Bool {
        switch self {
        case .evaluatedObject, .keyPath: true
        case .opaque, .functionOn, .variable: false
        case .constant(let value): Self.isPrintable(value)
        case .keyPathOf(let target, _): target.isStable || target.isVariable
        case .function(let name, let arguments):
            !Self.unstableFunctions.contains(name) && arguments.allSatisfy(\.isStable)
        case .aggregate(let elements): elements.allSatisfy(\.isStable)
        case .subquery(let collection, _, let predicate): collection.isStable && predicate.isStable
        case .index(let collection, _): collection.isStable
        case .conditional(let predicate, let yes, let no): predicate.isStable && yes.isStable && no.isStable
        case .set(_, let left, let right): left.isStable && right.isStable
        }
    }

    private var isVariable: Bool {
        if case .variable = self { return true }
        return false
    }

    /// True if the printed form of a constant is complete.
    private static func isPrintable(_ value: Any?) -> Bool {
        switch value {
        case nil, is String, is NSNumber, is Date, is UUID, is URL: true
        case let list as [Any]: list.allSatisfy(isPrintable)
        default: false
        }
    }
}
