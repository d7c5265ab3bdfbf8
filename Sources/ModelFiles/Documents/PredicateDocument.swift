/// A predicate inside a model file: a format string in a source model, a structure in a compiled one.
package indirect enum PredicateDocument: Equatable, Sendable {
    case format(String)
    case constant(Bool)
    case comparison(Comparison)
    case and([PredicateDocument])
    case or([PredicateDocument])
    case not(PredicateDocument)

    /// One comparison, with the raw values of `NSComparisonPredicate`.
    package struct Comparison: Equatable, Sendable {
        package var left: ExpressionDocument
        package var right: ExpressionDocument
        package var operatorType: UInt
        /// The comparison's modifier: 0 direct, 1 all, 2 any.
        package var modifier: UInt
        package var options: UInt

        package init(
            left: ExpressionDocument, right: ExpressionDocument, operatorType: UInt, modifier: UInt = 0,
            options: UInt = 0
        ) {
            self.left = left
            self.right = right
            self.operatorType = operatorType
            self.modifier = modifier
            self.options = options
        }
    }
}

/// An expression inside a model file.
package indirect enum ExpressionDocument: Equatable, Sendable {
    /// Text: all expressions of source models, and in compiled ones those without a structure, such as subqueries.
    case format(String)
    case constant(ValueDocument)
    case evaluatedObject
    case variable(String)
    case keyPath(String)
    /// A key path taken from another expression, as in `$FETCH_SOURCE.name`.
    case keyPathOf(ExpressionDocument, String)
    /// A function by the selector name of `NSExpression`, such as `count:`.
    case function(String, [ExpressionDocument])
    /// A method that is called on the value of another expression, as in mapping models.
    case functionOn(ExpressionDocument, String, [ExpressionDocument])
    case aggregate([ExpressionDocument])
}

/// A fetch request as a plain value.
package struct FetchRequestDocument: Equatable, Sendable {
    package var name: String
    package var entityName: String
    package var predicate: PredicateDocument?
    package var sortKeys: [SortKeyDocument] = []
    package var fetchLimit = 0
    package var fetchOffset = 0
    package var fetchBatchSize = 0
    /// The form of the results: 0 objects, 1 IDs, 2 dictionaries, 4 the count.
    package var resultType: UInt = 0
    package var includesSubentities = true
    package var includesPropertyValues = true
    package var includesPendingChanges = true
    package var returnsObjectsAsFaults = true
    package var returnsDistinctResults = false
    package var unknown = UnknownParts()

    package init(name: String, entityName: String) {
        self.name = name
        self.entityName = entityName
    }
}

/// One sort descriptor as a plain value.
package struct SortKeyDocument: Equatable, Sendable {
    package var key: String
    package var isAscending: Bool
    /// The name of the comparison, such as `compare:`.
    package var selector: String?
    package var unknown = UnknownParts()

    package init(key: String, isAscending: Bool, selector: String? = nil) {
        self.key = key
        self.isAscending = isAscending
        self.selector = selector
    }
}
