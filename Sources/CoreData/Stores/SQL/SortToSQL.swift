/// Translates sort keys to terms of ORDER BY with exactly the order of ``ObjectOrdering``.
enum SortToSQL {
    /// One term.
    struct Term {
        /// The value to compare, without collation and direction.
        var expression: String
        let isAscending: Bool
        /// The keywords of the direction.
        let suffix: String
        /// The collation of texts; `nil` for the order of their bytes.
        var collation: String?

        var hasCollation: Bool { collation != nil }

        /// The whole term.
        var text: String {
            expression + (collation.map { " COLLATE \($0)" } ?? "") + suffix
        }
    }

    /// Translates a sort key to a term of ORDER BY.
    ///
    /// - Returns: `nil` if SQL has no such order: a transient or transformable attribute, a to-many step, a comparator
    ///   in code.
    /// - Throws: a `CocoaError` for a key that the entity does not have.
    static func translate(_ key: StoreSortKey, joins: inout SQLJoins) throws -> Term? {
        guard key.comparison != .custom else { return nil }
        let path = try ModelKeyPath(key.keyPath, from: joins.entity)
        switch path.end {
        case .attribute(let attribute):
            guard joins.schema.isOrdered(by: attribute),
                let column = joins.column(of: attribute, following: path.toOnes)
            else {
                return nil
            }
            return term(column, attribute, key, joins.schema.dialect)
        case .element(let composite, let names, let leaf):
            guard joins.schema.isOrdered(by: leaf), !composite.isTransient,
                let column = joins.column(of: composite, at: names, following: path.toOnes)
            else { return nil }
            return term(column, leaf, key, joins.schema.dialect)
        case .toOne(let relationship):
            guard let column = joins.column(of: relationship, following: path.toOnes) else { return nil }
            return Term(expression: column, isAscending: key.ascending, suffix: joins.schema.dialect.suffix(key))
        case .object:
            guard let table = joins.alias(following: path.toOnes) else { return nil }
            return Term(
                expression: "\(table).\(joins.schema.keyText)", isAscending: key.ascending,
                suffix: joins.schema.dialect.suffix(key))
        case .fetched(let property, _): throw ModelKeyPath.refusal(of: property)
        case .entity, .toMany, .member, .state: return nil
        }
    }

    private static func term(
        _ column: String, _ attribute: NSAttributeDescription, _ key: StoreSortKey, _ dialect: SQLDialect
    ) -> Term? {
        var collation: String?
        if attribute.holdsText, key.comparison != .plain {
            guard let functions = dialect.textFunctions else { return nil }
            collation = functions.collation(key.comparison)
        }
        return Term(
            expression: column, isAscending: key.ascending, suffix: dialect.suffix(key), collation: collation)
    }
}

extension SQLDialect {
    /// The keywords after the term of a sort key.
    func suffix(_ key: StoreSortKey) -> String { key.ascending ? ascendingSuffix : descendingSuffix }

    /// ` LIMIT …`; 0 means no limit.
    func limit(_ limit: Int) -> SQLFragment {
        if limit == 0, let noLimit { return SQLFragment(" LIMIT \(noLimit)") }
        return " LIMIT " + .argument(.integer(limit == 0 ? -1 : Int64(limit)))
    }

    func offset(_ offset: Int) -> SQLFragment { " OFFSET " + .argument(.integer(Int64(offset))) }
}
