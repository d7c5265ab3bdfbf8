import Foundation
import PredicateSyntax

/// Compiles trees to closures: logic in this file, comparisons and expressions in the files of their families.
struct PredicateCompiler {
    typealias Relation = (PredicateValue, PredicateValue) -> Bool

    /// The entity of `SELF`, if known.
    let entity: NSEntityDescription?

    mutating func predicate(_ tree: PredicateTree) throws -> PredicateTest {
        switch tree {
        case .constant(let value): return .constant(value)
        case .comparison(let comparison): return try self.comparison(comparison)
        case .and(let parts): return .all(try tests(parts))
        case .or(let parts): return .any(try tests(parts))
        case .not(let part): return .not(try predicate(part))
        case .opaque(let code):
            return PredicateTest { frame in
                code.evaluate(frame.subject.foundationValue, frame.variables.compactMapValues(\.foundationValue))
            }
        }
    }

    private mutating func tests(_ parts: [PredicateTree]) throws -> [PredicateTest] {
        var tests: [PredicateTest] = []
        for part in parts { tests.append(try predicate(part)) }
        return tests
    }

    private mutating func comparison(_ tree: ComparisonTree) throws -> PredicateTest {
        let left = try expression(tree.left)
        let right = try expression(tree.right)
        if tree.modifier == .direct, let test = SlotTests.test(tree, left: left, right: right) { return test }
        let relation = try Self.relation(tree.comparison, tree.options, right: right.constant)
        let (leftValue, rightValue) = (left.evaluate, right.evaluate)
        switch tree.modifier {
        case .direct: return PredicateTest { relation(leftValue($0), rightValue($0)) }
        case .any:
            return PredicateTest { frame in
                let right = rightValue(frame)
                return leftValue(frame).elements.contains { relation($0, right) }
            }
        case .all:
            return PredicateTest { frame in
                let right = rightValue(frame)
                return leftValue(frame).elements.allSatisfy { relation($0, right) }
            }
        }
    }

    /// The relation of an operator. `right` is its right side if constant, to be prepared once.
    private static func relation(
        _ comparison: ComparisonOperator, _ options: ComparisonOptions, right: PredicateValue?
    ) throws -> Relation {
        switch comparison {
        case .equalTo: return EqualityRelation.equal(options, right: right)
        case .notEqualTo:
            let equal = EqualityRelation.equal(options, right: right)
            return { !equal($0, $1) }
        case .lessThan: return OrderRelation.relation(options) { $0 == .orderedAscending }
        case .lessThanOrEqualTo: return OrderRelation.relation(options) { $0 != .orderedDescending }
        case .greaterThan: return OrderRelation.relation(options) { $0 == .orderedDescending }
        case .greaterThanOrEqualTo: return OrderRelation.relation(options) { $0 != .orderedAscending }
        case .between: return OrderRelation.between(options)
        case .in: return MembershipRelation.isIn(options, right: right)
        case .contains: return MembershipRelation.contains(options, right: right)
        case .beginsWith: return TextRelation.relation(.beginsWith, options, right: right)
        case .endsWith: return TextRelation.relation(.endsWith, options, right: right)
        case .like: return LikeRelation.relation(options, right: right)
        case .matches: return try MatchRelation.relation(options, right: right)
        case .customSelector:
            throw CoreDataError.make(
                CoreDataError.invalidPredicate,
                "cannot evaluate a comparison with a selector: selectors need Objective-C")
        }
    }
}

extension CoreDataError {
    /// `NSCoreDataError`. Apple's framework raises an invalid-argument exception instead.
    static let invalidPredicate = 134060
}
