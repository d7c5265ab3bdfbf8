import Foundation
import ModelFiles
import PredicateSyntax

extension ModelAssembly {
    func predicate(_ source: PredicateDocument, path: String) throws -> NSPredicate? {
        do { _ = try PredicateTranslation.tree(source) } catch { throw failure("predicate", path: path, error) }
        return nil
    }

    func expression(_ source: ExpressionDocument, path: String) throws -> NSExpression? {
        do { _ = try PredicateTranslation.tree(source) } catch { throw failure("expression", path: path, error) }
        return nil
    }

    func fetchRequest(_ source: FetchRequestDocument) throws -> NSFetchRequest<NSFetchRequestResult> {
        let request = NSFetchRequest<NSFetchRequestResult>()
        request.predicate = try source.predicate.flatMap { try predicate($0, path: source.name) }
        request.fetchLimit = source.fetchLimit
        request.fetchOffset = source.fetchOffset
        request.fetchBatchSize = source.fetchBatchSize
        request.resultType = NSFetchRequestResultType(rawValue: source.resultType)
        request.includesSubentities = source.includesSubentities
        request.includesPropertyValues = source.includesPropertyValues
        request.includesPendingChanges = source.includesPendingChanges
        request.returnsObjectsAsFaults = source.returnsObjectsAsFaults
        request.returnsDistinctResults = source.returnsDistinctResults
        return request
    }

    private func failure(_ what: String, path: String, _ error: PredicateTranslation.Failure) -> ModelFileError {
        ModelFileError(.malformed, file: file, "a \(what) of '\(path)' cannot be read: \(error)")
    }
}
