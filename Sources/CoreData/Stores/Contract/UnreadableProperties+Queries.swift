import PredicateSyntax

// Queries that use unreadable properties are refused, because they would find nothing or the wrong rows.
extension UnreadableProperties {
    /// Checks that a query of rows uses no unreadable property.
    ///
    /// - Throws: 134020 if the query filters, sorts or groups by an unreadable property; errors of the predicate.
    func check(_ query: StoreQuery) throws {
        guard !isEmpty else { return }
        if let predicate = query.predicate { _ = try resolver(query.entity).resolve(predicate) }
        let paths = query.sortKeys.map(\.keyPath) + [query.groupedBy].compactMap(\.self) + query.extraPaths
        for path in paths { try check(path, of: query.entity) }
    }

    /// Checks that a grouped query uses no unreadable property.
    ///
    /// - Throws: 134020 as for a query of rows, and if groups or columns are computed from an unreadable property.
    func check(_ query: StoreGroupQuery) throws {
        guard !isEmpty else { return }
        try check(query.rows)
        for tree in query.columns + query.groups + query.sortKeys.map(\.tree) { try check(tree, of: query.rows.entity) }
        if let having = query.having { _ = try resolver(query.rows.entity).resolve(having) }
    }

    /// Checks that an expression uses no unreadable property.
    ///
    /// - Throws: 134020 for an expression that uses an unreadable property.
    func check(_ tree: ExpressionTree, of entity: NSEntityDescription) throws {
        guard !isEmpty else { return }
        _ = try resolver(entity).resolve(tree)
    }

    /// Throws 134020 if the key path uses an unreadable property. Ignores a path that is not in the model: it may name
    /// a column of dictionaries, and other code refuses it otherwise.
    private func check(_ path: [String], of entity: NSEntityDescription) throws {
        guard (try? ModelKeyPath(path, from: entity)) != nil else { return }
        try check(.keyPath(path), of: entity)
    }

    private func resolver(_ entity: NSEntityDescription) -> PredicateResolver {
        var resolver = PredicateResolver(entity: entity)
        resolver.look = { try refuse("fetch by", $0, "its values cannot be read") }
        resolver.lookAtKeys = { keys in try refuse("fetch by", named: keys, "its values cannot be read") }
        return resolver
    }
}
