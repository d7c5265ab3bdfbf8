import Foundation
import ModelFiles
import PredicateSyntax

extension ModelDisassembly {
    static func document(of predicate: NSPredicate?) throws -> PredicateDocument? { nil }

    static func document(of expression: NSExpression?) throws -> ExpressionDocument? { nil }

    static func document(
        of request: NSFetchRequest<NSFetchRequestResult>, name: String
    ) throws -> FetchRequestDocument? {
        guard let entityName = request.entityName else { return nil }
        var document = FetchRequestDocument(name: name, entityName: entityName)
        document.predicate = try self.document(of: request.predicate)
        document.fetchLimit = request.fetchLimit
        document.fetchOffset = request.fetchOffset
        document.fetchBatchSize = request.fetchBatchSize
        document.resultType = request.resultType.rawValue
        document.includesSubentities = request.includesSubentities
        document.includesPropertyValues = request.includesPropertyValues
        document.includesPendingChanges = request.includesPendingChanges
        document.returnsObjectsAsFaults = request.returnsObjectsAsFaults
        document.returnsDistinctResults = request.returnsDistinctResults
        return document
    }
}
