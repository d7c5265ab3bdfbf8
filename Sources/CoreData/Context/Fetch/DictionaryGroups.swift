import Foundation
import PredicateSyntax

/// The grouping of a request for dictionaries: its groups, the condition on them, and their order.
struct DictionaryGroups {
    private let columns: [ExpressionTree]
    private let groups: [ExpressionTree]
    private let having: PredicateTree?
    private let sortKeys: [StoreGroupQuery.SortKey]
    /// True if a column or sort key is the value of one of the rows, not an aggregate. Only possible without groups.
    let looksAtOneRow: Bool

    /// - Throws: 134060 if a value is neither an aggregate nor grouped by.
    init(
        columns: [DictionaryColumn], groupColumns: [DictionaryColumn],
        _ request: NSFetchRequest<NSFetchRequestResult>, entity: NSEntityDescription
    ) throws {
        self.columns = columns.map(\.tree)
        groups = groupColumns.map(\.tree)
        for column in groupColumns where AggregateCalls.isIn(column.tree) {
            throw CoreDataError.make(
                134060, "Cannot group by \(column.name): it is an aggregate of the group.")
        }
        having = try request.havingPredicate.map { predicate in
            let named = Self.replaceNames(of: columns, in: predicate.syntaxTree)
            return try PredicateResolver(entity: entity).resolve(named)
        }
        sortKeys = try Self.sortKeys(request.sortDescriptors ?? [], columns: columns, entity: entity)
        let known = Set(groups.map { FormatPrinter.string($0) })
        looksAtOneRow =
            groups.isEmpty
            && (columns.contains { Self.stray(in: $0.tree, known) != nil }
                || sortKeys.contains { Self.stray(in: $0.tree, known) != nil })
        if !groups.isEmpty { try requireGrouped(columns, known) }
    }

    func query(over rows: StoreQuery) -> StoreGroupQuery {
        StoreGroupQuery(rows: rows, columns: columns, groups: groups, having: having, sortKeys: sortKeys)
    }

    private func requireGrouped(_ columns: [DictionaryColumn], _ known: Set<String>) throws {
        for column in columns {
            guard let stray = Self.stray(in: column.tree, known) else { continue }
            throw CoreDataError.make(
                134060,
                "SELECT clauses in queries with GROUP BY components can only contain properties named in the GROUP BY "
                    + "or aggregate functions (\(stray) of \(column.name) is not in the GROUP BY)")
        }
        _ = try having?.rewritten { part in
            guard let stray = Self.stray(in: part, known) else { return part }
            throw CoreDataError.make(
                134060,
                "The having predicate can only use properties named in the GROUP BY, aggregate functions and "
                    + "names of expressions, not \(stray). Use predicate to choose rows.")
        }
        for key in sortKeys {
            guard let stray = Self.stray(in: key.tree, known) else { continue }
            throw CoreDataError.make(
                134060, "Cannot sort groups by \(stray): it is neither in the GROUP BY nor the name of an expression.")
        }
    }

    // MARK: Names

    /// The sort keys, each resolved first among the names of expressions, then in the model.
    static func sortKeys(
        _ descriptors: [NSSortDescriptor], columns: [DictionaryColumn], entity: NSEntityDescription
    ) throws -> [StoreGroupQuery.SortKey] {
        try descriptors.map { descriptor in
            let key = descriptor.storeSortKey
            let named = replaceName(of: columns, in: .keyPath(key.keyPath))
            let tree = try named ?? PredicateResolver(entity: entity).resolve(ExpressionTree.keyPath(key.keyPath))
            return StoreGroupQuery.SortKey(tree: tree, key: key, code: descriptor.customComparator)
        }
    }

    private static func replaceNames(of columns: [DictionaryColumn], in tree: PredicateTree) -> PredicateTree {
        tree.rewritten { replaceName(of: columns, in: $0) }
    }

    /// Returns the expression of the column that `part` names as a key or as a variable: `total > 1`, or `%@ > 1` with
    /// `NSExpression(forVariable:)`.
    private static func replaceName(of columns: [DictionaryColumn], in part: ExpressionTree) -> ExpressionTree? {
        func tree(named name: String) -> ExpressionTree? { columns.first { $0.isNamed && $0.name == name }?.tree }
        switch part {
        case .keyPath(let keys) where keys.count == 1: return tree(named: keys[0])
        case .variable(let name): return tree(named: name)
        case .subquery(let collection, let variable, let predicate):
            // Within the subquery the variable is a member of the collection.
            let others = columns.filter { $0.name != variable }
            return .subquery(
                collection.rewritten { replaceName(of: columns, in: $0) }, variable: variable,
                predicate: replaceNames(of: others, in: predicate))
        default: return nil
        }
    }

    /// Returns the part of `tree` that depends on a single row of a group: neither grouped by nor inside an aggregate.
    private static func stray(in tree: ExpressionTree, _ known: Set<String>) -> String? {
        var found: String?
        _ = tree.rewritten { part in
            if found != nil || AggregateCalls.call(part) != nil { return part }
            let text = FormatPrinter.string(part)
            if known.contains(text) { return part }
            switch part {
            case .keyPath, .evaluatedObject:
                found = text
                return part
            default: return nil
            }
        }
        return found
    }
}
