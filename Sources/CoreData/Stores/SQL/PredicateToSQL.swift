import Foundation
import PredicateSyntax

/// The translation of a predicate: SQL that is true for exactly the rows that match in memory, or why there is none.
enum SQLTranslation {
    case exact(SQLFragment)
    case needsMemory(String)
}

/// The reason why a part of a predicate has no exact SQL. Always caught; users do not see it.
struct NeedsMemory: Error {
    let reason: String
    init(_ reason: String) { self.reason = reason }
}

/// Translates predicates to SQL, exactly or not at all.
///
/// SQL has three truth values, predicates have two. Each fragment here is TRUE if the predicate holds in memory, and
/// FALSE or NULL otherwise. AND and OR preserve that; NOT becomes `(…) IS NOT TRUE`, which has two values. So a plain
/// `ZWINS > ?` never needs a wrapper that would prevent the use of an index.
///
/// Constants and key paths are already resolved (``PredicateResolver``): keys exist, and constants have the type of
/// their attribute. Each family of operators has a file. A table in the statement is a *scope*: the first one is that
/// of `SELF`, and each subquery over a to-many relationship opens another, which a variable may name.
struct PredicateToSQL {
    let schema: any SQLSchema
    /// The tables by scope. Translation may add joins to each.
    var scopes: [SQLJoins]
    /// The scopes of the variables of SUBQUERY.
    var variables: [String: Int] = [:]
    /// The UUID of the store, if known.
    let storeIdentifier: String?
    /// True if aggregates such as `sum:` cover the rows of a group, as in the columns of a group query.
    var hasGroups = false
    /// The maximum number of stack entries of SQLite's parser used by the enclosing parts.
    private var parserEntries = 0

    /// - Parameters:
    ///   - joins: the table of `SELF`.
    ///   - storeIdentifier: the UUID of the store whose tables these are.
    init(joins: SQLJoins, storeIdentifier: String? = nil) {
        schema = joins.schema
        scopes = [joins]
        self.storeIdentifier = storeIdentifier
    }

    /// Translates a conjunction to conditions that all matching rows meet, and returns if only they do. A part without
    /// exact SQL is replaced by a condition that narrows the rows, if there is one (``superset(_:)``).
    ///
    /// - Throws: a `CocoaError` for a predicate that nothing can evaluate, such as a malformed regular expression.
    mutating func translateConjunction(_ predicate: PredicateTree) throws -> (terms: [SQLFragment], isExact: Bool) {
        guard case .and(let parts) = predicate else {
            switch try translate(predicate) {
            case .exact(let fragment): return ([fragment], true)
            case .needsMemory: return (try superset(predicate).map { [$0] } ?? [], false)
            }
        }
        var terms: [SQLFragment] = []
        var isExact = true
        for part in parts {
            let translated = try translateConjunction(part)
            terms += translated.terms
            isExact = isExact && translated.isExact
        }
        return (terms, isExact)
    }

    /// Translates the whole predicate. If a part fails, its joins are removed again.
    ///
    /// - Throws: as ``translateConjunction(_:)``.
    mutating func translate(_ predicate: PredicateTree) throws -> SQLTranslation {
        let before = (scopes, variables)
        do {
            return .exact(try condition(predicate))
        } catch let obstacle as NeedsMemory {
            (scopes, variables) = before
            return .needsMemory(obstacle.reason)
        }
    }

    /// The maximum of entries for nested parts. SQLite's parser has 100; the innermost comparison needs the rest.
    private static let mostParserEntries = 68

    /// Translates a nested part of a predicate; the parts around it use `entries` of the stack of SQLite's parser.
    /// Throws `NeedsMemory` if that is too deep.
    mutating func nested<Translation>(
        _ entries: Int, _ translate: (inout Self) throws -> Translation
    ) throws -> Translation {
        guard parserEntries + entries <= Self.mostParserEntries else {
            throw NeedsMemory("it is nested deeper than SQLite's parser goes")
        }
        parserEntries += entries
        defer { parserEntries -= entries }
        return try translate(&self)
    }

    /// The maximum length of a part's text, in bytes. SQLite accepts statements of a million bytes. A function may
    /// repeat its argument three times and a list its left side once per element, so each level of nesting can multiply
    /// the length.
    private static let longestText = 400_000

    /// Returns the fragment if it is not too long for a statement.
    ///
    /// - Throws: ``NeedsMemory`` if a part is too long.
    static func bounded(_ fragment: SQLFragment) throws -> SQLFragment {
        guard fragment.text.utf8.count <= longestText else { throw NeedsMemory("its statement gets too long") }
        return fragment
    }

    /// Returns a fragment that can be an operand of AND and OR.
    mutating func condition(_ predicate: PredicateTree) throws -> SQLFragment {
        try Self.bounded(try nested(4) { try $0.innerCondition(predicate) })
    }

    private mutating func innerCondition(_ predicate: PredicateTree) throws -> SQLFragment {
        switch predicate {
        case .constant(let value): return truth(value)
        case .and: return try junction(predicate.conjuncts, " AND ", empty: true)
        case .or: return try junction(predicate.disjuncts, " OR ", empty: false)
        case .not(.not(let part)): return try condition(part)
        case .not(let part): return try condition(part).isNotTrue
        case .comparison(let tree): return try comparison(tree)
        case .opaque: throw NeedsMemory("a block predicate is code")
        }
    }

    private mutating func junction(_ parts: [PredicateTree], _ word: String, empty: Bool) throws -> SQLFragment {
        if parts.isEmpty { return truth(empty) }
        var fragments: [SQLFragment] = []
        for part in parts { fragments.append(try condition(part)) }
        return fragments.count == 1 ? fragments[0] : Self.balanced(fragments[...], word).parenthesized
    }

    /// Joins the fragments by AND or OR. SQLite nests a chain as deeply as it is long and limits the depth to 1,000, so
    /// a long chain is split into halves recursively.
    static func balanced(_ fragments: ArraySlice<SQLFragment>, _ word: String) -> SQLFragment {
        if fragments.count <= 100 { return fragments.joined(separator: word) }
        let middle = fragments.startIndex + fragments.count / 2
        return balanced(fragments[..<middle], word).parenthesized + word
            + balanced(fragments[middle...], word).parenthesized
    }

    // MARK: Comparisons

    private mutating func comparison(_ tree: ComparisonTree) throws -> SQLFragment {
        if tree.options.contains(.localeSensitive) { throw NeedsMemory("the option [l] depends on the locale") }
        let left = try operand(tree.left)
        let right = try operand(tree.right)
        if case .constant = left, case .constant = right { return try constantComparison(tree) }
        switch tree.modifier {
        case .any: return try anyElement(left, tree) { try $0.relation(tree, $1, right) }
        case .all: return try allElements(left, tree) { try $0.relation(tree, $1, right) }
        case .direct: return try directComparison(tree, left, right)
        }
    }

    /// Evaluates a comparison without keys, which is the same for every row.
    private func constantComparison(_ tree: ComparisonTree) throws -> SQLFragment {
        truth(try CompiledPredicate(.comparison(tree)).evaluate(any: nil))
    }

    private mutating func directComparison(
        _ tree: ComparisonTree, _ left: SQLOperand, _ right: SQLOperand
    ) throws -> SQLFragment {
        switch (left, right) {
        case (.many(let many), .constant(.null)) where tree.comparison == .equalTo:
            return "NOT " + (try exists(many) { _, _ in nil })
        case (.many(let many), .constant(.null)) where tree.comparison == .notEqualTo:
            return try exists(many) { _, _ in nil }
        case (.many, .many): throw NeedsMemory("two collections are compared in memory")
        case (.many(let many), _) where tree.comparison == .contains:
            return try existsElement(many) { try $0.equal($1, right, tree.options) }
        case (_, .many(let many)) where tree.comparison == .in:
            return try existsElement(many) { try $0.equal($1, left, tree.options) }
        case (.many, _), (_, .many): throw NeedsMemory("a collection is compared in memory")
        default: return try relation(tree, left, right)
        }
    }

    /// Compares one value with another.
    mutating func relation(_ tree: ComparisonTree, _ left: SQLOperand, _ right: SQLOperand) throws -> SQLFragment {
        switch tree.comparison {
        case .equalTo: try equal(left, right, tree.options)
        case .notEqualTo: try notEqual(left, right, tree.options)
        case .lessThan: try ordered(left, "<", right, tree.options)
        case .lessThanOrEqualTo: try ordered(left, "<=", right, tree.options)
        case .greaterThan: try ordered(left, ">", right, tree.options)
        case .greaterThanOrEqualTo: try ordered(left, ">=", right, tree.options)
        case .between: try between(left, right, tree.options)
        case .in: try isIn(left, right, tree.options)
        case .contains: try textSearch(.contains, left, right, tree.options)
        case .beginsWith: try textSearch(.beginsWith, left, right, tree.options)
        case .endsWith: try textSearch(.endsWith, left, right, tree.options)
        case .like: try textSearch(.like, left, right, tree.options)
        case .matches: try textSearch(.matches, left, right, tree.options)
        case .customSelector: throw NeedsMemory("a selector is code")
        }
    }
}

extension PredicateTree {
    /// The parts of an AND and of all nested ANDs. Programs often build long chains of pairs.
    fileprivate var conjuncts: [PredicateTree] {
        flattened { if case .and(let parts) = $0 { parts } else { nil } }
    }

    /// The parts of an OR and of all nested ORs.
    var disjuncts: [PredicateTree] {
        flattened { if case .or(let parts) = $0 { parts } else { nil } }
    }

    private func flattened(_ parts: (PredicateTree) -> [PredicateTree]?) -> [PredicateTree] {
        var (waiting, result) = ([self], [PredicateTree]())
        while let next = waiting.popLast() {
            if let inner = parts(next) { waiting += inner.reversed() } else { result.append(next) }
        }
        return result
    }
}

extension PredicateToSQL {
    /// Returns a condition that is the same for every row.
    func truth(_ value: Bool) -> SQLFragment { SQLFragment(value ? schema.dialect.always : schema.dialect.never) }
}

extension SQLFragment {
    /// The negation, with two truth values.
    var isNotTrue: SQLFragment { "(" + self + ") IS NOT TRUE" }
}
