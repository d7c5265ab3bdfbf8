import Foundation
import PredicateSyntax

/// The type of fetch request expressions.
public let NSFetchRequestExpressionType = NSExpression.ExpressionType.fetchRequest

/// An expression whose value is the result of a fetch request: an array, or the number of results.
///
/// Written `FETCH(request, context, countOnly)` in a format string. Belongs to the queue of its context. If the fetch
/// fails, the value is `nil`.
// SAFETY: immutable; evaluated only on the queue of its context.
open class NSFetchRequestExpression: NSExpression, @unchecked Sendable {
    /// Creates an expression that fetches when it is evaluated.
    ///
    /// - Parameters:
    ///   - fetch: its value is an `NSFetchRequest`.
    ///   - context: its value is an `NSManagedObjectContext`.
    ///   - countFlag: true for the number of results instead of the results.
    open class func expression(
        forFetch fetch: NSExpression, context: NSExpression, countOnly countFlag: Bool
    ) -> NSExpression {
        NSFetchRequestExpression(
            .function(ExpressionTree.fetchFunction, [fetch.tree, context.tree, .constant(NSNumber(value: countFlag))]))
    }

    open override var expressionType: ExpressionType { .fetchRequest }

    private func argument(_ place: Int) -> NSExpression {
        guard case .function(_, let arguments) = tree, arguments.indices.contains(place) else {
            preconditionFailure("\(description) is not a fetch request expression")
        }
        return NSExpression(arguments[place])
    }

    /// The expression whose value is the request.
    open var requestExpression: NSExpression { argument(0) }

    /// The expression whose value is the context.
    open var contextExpression: NSExpression { argument(1) }

    /// True if the value is the number of results.
    open var isCountOnlyRequest: Bool { (argument(2).constantValue as? NSNumber)?.boolValue ?? false }
}

extension NSManagedObjectContext: FetchAnswering {
    func answer(toFetch request: Any, countOnly: Bool) -> Any? {
        guard let request = request as? any ErasableFetchRequest else { return nil }
        if countOnly { return (try? fetchPipeline.count(request.erased)).map(NSNumber.init(value:)) }
        return try? fetchPipeline.fetch(request.erased)
    }
}
