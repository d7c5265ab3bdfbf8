import ModelFiles
import PredicateSyntax

/// A method that creates a request from one of the model's fetch request templates.
struct TemplatePlan {
    /// The template's name in the model.
    let name: String
    /// The type of the request's results.
    let resultType: String
    /// The variables of the template's predicate, in the order of their first use.
    let variables: [String]

    var methodName: String { "fetchRequestFromTemplate" + SwiftWords.capitalized(name) }

    /// - Throws: if the text of the predicate cannot be parsed.
    init(_ request: FetchRequestDocument, className: String, _ types: TypeNames) throws(PredicateTranslation.Failure) {
        name = request.name
        resultType =
            switch request.resultType {
            case 1: types.coreData("NSManagedObjectID")
            case 2: types.foundation("NSDictionary")
            case 4: types.foundation("NSNumber")
            default: className
            }
        variables =
            try request.predicate.map { document throws(PredicateTranslation.Failure) in
                PredicateVariables.names(in: try PredicateTranslation.tree(document))
            } ?? []
    }
}

/// Finds the substitution variables of predicates.
struct PredicateVariables {
    private var found: [String] = []
    /// The variables that are defined by subqueries.
    private var bound: [String] = []

    static func names(in predicate: PredicateTree) -> [String] {
        var search = PredicateVariables()
        search.walk(predicate)
        return search.found
    }

    private mutating func note(_ name: String) {
        if !bound.contains(name), !found.contains(name) { found.append(name) }
    }

    private mutating func walk(_ predicate: PredicateTree) {
        switch predicate {
        case .constant, .opaque: break
        case .comparison(let comparison):
            walk(comparison.left)
            walk(comparison.right)
        case .and(let parts), .or(let parts): for part in parts { walk(part) }
        case .not(let part): walk(part)
        }
    }

    private mutating func walk(_ expression: ExpressionTree) {
        switch expression {
        case .constant, .evaluatedObject, .keyPath, .opaque: break
        case .variable(let name): note(name)
        case .keyPathOf(let base, _): walk(base)
        case .function(_, let parts), .aggregate(let parts): for part in parts { walk(part) }
        case .functionOn(let target, _, let parts): for part in [target] + parts { walk(part) }
        case .subquery(let collection, let variable, let predicate):
            walk(collection)
            bound.append(variable)
            walk(predicate)
            bound.removeLast()
        case .index(let collection, let index):
            walk(collection)
            if case .value(let value) = index { walk(value) }
        case .conditional(let condition, let first, let second):
            walk(condition)
            walk(first)
            walk(second)
        case .set(_, let first, let second):
            walk(first)
            walk(second)
        }
    }
}
