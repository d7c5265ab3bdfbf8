import Foundation
import ModelFiles

extension ModelDisassembly {
    static func document(of predicate: NSPredicate?) throws -> PredicateDocument? {
        try predicate.map { try PredicateTranslation.document($0.syntaxTree) }
    }

    static func document(of expression: NSExpression?) throws -> ExpressionDocument? {
        try expression.map { try PredicateTranslation.document($0.tree) }
    }

    /// Converts a fetch request to the form of model files.
    ///
    /// - Returns: `nil` for a request without an entity.
    static func document(
        of request: NSFetchRequest<NSFetchRequestResult>, name: String
    ) throws -> FetchRequestDocument? {
        guard let entityName = request.entityName else { return nil }
        var document = FetchRequestDocument(name: name, entityName: entityName)
        document.predicate = try self.document(of: request.predicate)
        document.sortKeys = try (request.sortDescriptors ?? []).map { descriptor in
            guard let key = descriptor.key, let selector = descriptor.selector else {
                throw PredicateTranslation.Failure(
                    description: "the request '\(name)' sorts with a comparator, which a model file cannot contain")
            }
            return SortKeyDocument(
                key: key, isAscending: descriptor.ascending, selector: selector.name)
        }
        document.fetchLimit = request.fetchLimit
        document.fetchOffset = request.fetchOffset
        document.fetchBatchSize = request.fetchBatchSize
        document.resultType = request.resultType.rawValue
        document.includesSubentities = request.includesSubentities
        document.includesPropertyValues = request.includesPropertyValues
        document.includesPendingChanges = request.includesPendingChanges
        document.returnsObjectsAsFaults = request.returnsObjectsAsFaults
        document.returnsDistinctResults = request.returnsDistinctResults
        document.unknown = request.unknownParts
        return document
    }
}
