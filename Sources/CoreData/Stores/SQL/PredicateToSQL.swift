import PredicateSyntax
import SQLiteAccess

/// What became of a predicate: SQL that is true for exactly the rows that match in memory, or the reason why there is none.
enum SQLTranslation {
    case exact(SQLFragment)
    case needsMemory(String)
}

/// Turns predicates into SQL, exactly or not at all.
struct PredicateToSQL {
    let entity: NSEntityDescription
    var joins: SQLJoins

    /// The parts of a conjunction that can be translated, and whether those are all of it.
    ///
    /// - Throws: a `CocoaError` for a key that the entity does not have, or a constant of a wrong type.
    mutating func translateConjunction(_ predicate: PredicateTree) throws -> (exact: [SQLFragment], isComplete: Bool) {
        guard case .and(let parts) = predicate else {
            switch try translate(predicate) {
            case .exact(let fragment): return ([fragment], true)
            case .needsMemory: return ([], false)
            }
        }
        var exact: [SQLFragment] = []
        var isComplete = true
        for part in parts {
            let translated = try translateConjunction(part)
            exact += translated.exact
            isComplete = isComplete && translated.isComplete
        }
        return (exact, isComplete)
    }

    /// The whole predicate.
    mutating func translate(_ predicate: PredicateTree) throws -> SQLTranslation {
        switch predicate {
        case .constant(let value): .exact(SQLFragment(value ? "1" : "0"))
        default: .needsMemory("this form of predicate is evaluated in memory")
        }
    }
}
