import Foundation
import ModelFiles

extension ModelAssembly {
    /// Converts a predicate of a model file to an `NSPredicate`.
    ///
    /// - Parameter path: the names of the predicate's owners, for messages.
    func predicate(_ source: PredicateDocument, path: String) throws -> NSPredicate {
        do {
            return NSPredicate.make(try PredicateTranslation.tree(source))
        } catch {
            throw ModelFileError(.malformed, file: file, "cannot read a predicate of '\(path)': \(error)")
        }
    }

    /// Converts an expression of a model file to an `NSExpression`.
    ///
    /// - Parameter path: the names of the expression's owners, for messages.
    func expression(_ source: ExpressionDocument, path: String) throws -> NSExpression {
        do {
            return NSExpression(try PredicateTranslation.tree(source))
        } catch {
            throw ModelFileError(.malformed, file: file, "cannot read an expression of '\(path)': \(error)")
        }
    }

    /// A request without its entity.
    func fetchRequest(_ source: FetchRequestDocument) throws -> NSFetchRequest<NSFetchRequestResult> {
        let request = NSFetchRequest<NSFetchRequestResult>()
        request.predicate = try source.predicate.map { try predicate($0, path: source.name) }
        if !source.sortKeys.isEmpty {
            request.sortDescriptors = source.sortKeys.map { key in
                NSSortDescriptor(
                    key: key.key, ascending: key.isAscending, selector: key.selector.flatMap(SortSelector.init(_:)))
            }
        }
        request.fetchLimit = source.fetchLimit
        request.fetchOffset = source.fetchOffset
        request.fetchBatchSize = source.fetchBatchSize
        request.resultType = NSFetchRequestResultType(rawValue: source.resultType)
        request.includesSubentities = source.includesSubentities
        request.includesPropertyValues = source.includesPropertyValues
        request.includesPendingChanges = source.includesPendingChanges
        request.returnsObjectsAsFaults = source.returnsObjectsAsFaults
        request.returnsDistinctResults = source.returnsDistinctResults
        request.unknownParts = source.unknown
        return request
    }
}
