import PredicateSyntax

/// Builds the SELECT statements of a ``StoreQuery``.
///
/// The table of the query's entity is `t0`. Tables of to-one relationships are joined as `t1`, `t2` … and shared by the
/// predicate, the sort keys and the grouping. A to-one join never multiplies rows, so no DISTINCT is needed. Parts that
/// the store cannot do exactly are omitted and listed in ``SelectStatement/unsupported``. From a conjunction only its
/// inexact parts are omitted, so that the rest still narrows the rows.
package struct SelectBuilder {
    let query: StoreQuery
    let schema: any SQLSchema
    /// The UUID of the tables' store. Objects of other stores match no row.
    let storeIdentifier: String?

    package init(query: StoreQuery, schema: any SQLSchema, storeIdentifier: String? = nil) {
        self.query = query
        self.schema = schema
        self.storeIdentifier = storeIdentifier
    }

    /// `SELECT primary key[, entity][, value]`, in order. The entity column is omitted if all rows have one entity (see
    /// ``SelectStatement/onlyEntity``), so that an index can answer the query without the table.
    ///
    /// - Parameter groupedBy: the key path of an attribute to read with the key: see ``SelectStatement/group``.
    /// - Throws: a `CocoaError` for a key that the entity does not have, or a constant of the wrong type.
    package func keys(groupedBy keyPath: [String]? = nil) throws -> SelectStatement {
        try statement(keyList(groupedBy: keyPath), order: .bySQL)
    }

    /// `SELECT value FROM … WHERE primary key = ?` for the attribute to group by; `nil` if it has no column.
    ///
    /// - Throws: as ``keys(groupedBy:)``.
    func groupedValue() throws -> SQLFragment? {
        guard let keyPath = query.groupedBy else { return nil }
        var joins = SQLJoins(entity: query.entity, schema: schema)
        let path = try ModelKeyPath(keyPath, from: query.entity)
        guard case .attribute(let attribute) = path.end,
            let column = joins.column(of: attribute, following: path.toOnes)
        else { return nil }
        return "SELECT \(column) FROM " + joins.from + SQLFragment(" WHERE t0.\(schema.keyText) = ?")
    }

    /// The keys without order, limit and offset, then the values to sort by: see ``SelectStatement/sortColumns``.
    ///
    /// - Returns: `nil` if the order needs a collation or is not exact.
    /// - Throws: as ``keys(groupedBy:)``.
    func keysToSort() throws -> SelectStatement? { try sortable(statement(keyList(groupedBy: nil), order: .byCaller)) }

    /// `SELECT` of whole rows, in the column order of ``SelectStatement/columns``.
    ///
    /// - Parameter isOrdered: false to omit order, limit and offset, for rows whose order is known from
    ///   ``keys(groupedBy:)``.
    /// - Throws: as ``keys(groupedBy:)``.
    package func rows(isOrdered: Bool = true) throws -> SelectStatement {
        try statement(rowList(), order: isOrdered ? .bySQL : .none)
    }

    /// Whole rows without order, like ``keysToSort()``.
    func rowsToSort() throws -> SelectStatement? { try sortable(statement(rowList(), order: .byCaller)) }

    /// `SELECT COUNT(*)` with limit and offset applied; `nil` if it would not be exact.
    ///
    /// - Throws: as ``keys(groupedBy:)``.
    package func count() throws -> SQLFragment? {
        if query.limit == 0 && query.offset == 0 {
            let counted = try statement(SelectList(text: "COUNT(*)"), order: .none)
            return counted.unsupported.contains(.predicate) ? nil : counted.fragment
        }
        let inner = try statement(SelectList(text: "1"), order: .none)
        guard !inner.unsupported.contains(.predicate) else { return nil }
        return "SELECT COUNT(*) FROM (" + inner.fragment + limitClause + ") AS counted"
    }

    // MARK: Parts

    /// The entity of all rows, if there is only one.
    private var onlyEntity: NSEntityDescription? {
        let family = query.includesSubentities ? query.entity.family : [query.entity]
        return family.count == 1 ? query.entity : nil
    }

    /// The place where rows are sorted.
    private enum Order {
        case none
        case bySQL
        case byCaller
    }

    /// The column list of a SELECT, and the positions of its columns.
    private struct SelectList {
        var text: String
        var count = 1
        var onlyEntity: NSEntityDescription?
        var columns: RowColumns?
        var groupKeyPath: [String]?
        var isKeyList = false
    }

    private func keyList(groupedBy keyPath: [String]?) -> SelectList {
        let only = onlyEntity
        let key = "t0.\(schema.keyText)"
        return SelectList(
            text: only == nil ? "\(key), t0.\(schema.dialect.quoted(schema.dialect.entity))" : key,
            count: only == nil ? 2 : 1, onlyEntity: only,
            groupKeyPath: keyPath, isKeyList: true)
    }

    private func rowList() -> SelectList {
        let columns = RowColumns(
            entity: query.entity, includingSubentities: query.includesSubentities, schema: schema)
        return SelectList(
            text: columns.selectList(alias: "t0"), count: columns.names.count, onlyEntity: onlyEntity, columns: columns)
    }

    private func statement(_ list: SelectList, order: Order) throws -> SelectStatement {
        var joins = SQLJoins(entity: query.entity, schema: schema)
        var list = list
        let group = try addGroup(to: &list, joins: &joins)
        let extra = list.isKeyList ? try addExtra(to: &list, joins: &joins) : nil
        let condition = try condition(joins: &joins)
        var unsupported: StoreQueryResult.Unsupported = condition.isExact ? [] : .predicate
        var orderClause = ""
        var sortColumns: [SQLSortColumn]? = []
        if order != .none {
            if let terms = try orderTerms(joins: &joins) {
                if order == .bySQL {
                    orderClause = " ORDER BY " + (terms.map(\.text) + ["t0.\(schema.keyText)"]).joined(separator: ", ")
                } else {
                    sortColumns = add(terms, to: &list)
                }
            } else {
                unsupported.insert(.sort)
            }
        }
        var fragment = "SELECT \(list.text) FROM " + joins.from + condition.clause + orderClause
        if order == .bySQL && unsupported.isEmpty { fragment += limitClause }
        return SelectStatement(
            fragment: fragment, unsupported: unsupported, onlyEntity: list.onlyEntity, columns: list.columns,
            group: group,
            extra: extra, sortColumns: sortColumns)
    }

    private func sortable(_ select: SelectStatement) -> SelectStatement? {
        select.unsupported.isEmpty && select.sortColumns != nil ? select : nil
    }

    /// Adds the attribute of the list's key path to the SELECT, if it has a column.
    private func addGroup(to list: inout SelectList, joins: inout SQLJoins) throws -> SelectStatement.Group? {
        guard let keyPath = list.groupKeyPath else { return nil }
        let path = try ModelKeyPath(keyPath, from: query.entity)
        guard case .attribute(let attribute) = path.end,
            let column = joins.column(of: attribute, following: path.toOnes)
        else { return nil }
        defer { list.count += 1 }
        list.text += ", \(column)"
        return SelectStatement.Group(column: list.count, attribute: attribute)
    }

    /// Adds the attributes of the query's extra key paths to the SELECT; `nil` if one has no column.
    private func addExtra(to list: inout SelectList, joins: inout SQLJoins) throws -> [SelectStatement.Group]? {
        guard !query.extraPaths.isEmpty else { return nil }
        var columns: [(text: String, attribute: NSAttributeDescription)] = []
        for keyPath in query.extraPaths {
            let path = try ModelKeyPath(keyPath, from: query.entity)
            guard case .attribute(let attribute) = path.end,
                let column = joins.column(of: attribute, following: path.toOnes)
            else { return nil }
            columns.append((column, attribute))
        }
        return columns.map { column in
            defer { list.count += 1 }
            list.text += ", \(column.text)"
            return SelectStatement.Group(column: list.count, attribute: column.attribute)
        }
    }

    /// Adds the sort expressions to the SELECT; `nil` if one needs a collation.
    private func add(_ terms: [SortToSQL.Term], to list: inout SelectList) -> [SQLSortColumn]? {
        guard terms.allSatisfy({ !$0.hasCollation }) else { return nil }
        for term in terms { list.text += ", \(term.expression)" }
        return terms.enumerated().map { SQLSortColumn(index: list.count + $0, isAscending: $1.isAscending) }
    }

    /// Returns the terms of ORDER BY; `nil` if a sort key cannot be translated exactly.
    private func orderTerms(joins: inout SQLJoins) throws -> [SortToSQL.Term]? {
        var terms: [SortToSQL.Term] = []
        for key in query.sortKeys {
            guard let term = try SortToSQL.translate(key, joins: &joins) else { return nil }
            terms.append(term)
        }
        return terms
    }

    /// ` LIMIT … OFFSET …`, or an empty fragment.
    private var limitClause: SQLFragment {
        if query.limit == 0 && query.offset == 0 { return SQLFragment("") }
        let limit = schema.dialect.limit(query.limit)
        return query.offset == 0 ? limit : limit + schema.dialect.offset(query.offset)
    }

    /// Returns ` WHERE …` for the entity and the predicate, and true if it is exact.
    func condition(joins: inout SQLJoins) throws -> (clause: SQLFragment, isExact: Bool) {
        var terms: [SQLFragment] = []
        if let entities = joins.entityCondition(includingSubentities: query.includesSubentities) {
            terms.append(entities)
        }
        var isExact = true
        if let predicate = query.predicate {
            var translator = PredicateToSQL(joins: joins, storeIdentifier: storeIdentifier)
            let resolved = try PredicateResolver(entity: query.entity).resolve(predicate)
            let translation = try translator.translateConjunction(resolved)
            joins = translator.scopes[0]
            isExact = translation.isExact
            var argumentCount = 0
            for term in translation.terms {
                argumentCount += term.arguments.count
                if argumentCount > schema.dialect.argumentLimit { isExact = false } else { terms.append(term) }
            }
        }
        if terms.isEmpty { return (SQLFragment(""), isExact) }
        return (" WHERE " + PredicateToSQL.balanced(terms[...], " AND "), isExact)
    }
}

/// A SELECT with the positions of its columns.
package struct SelectStatement {
    package var fragment: SQLFragment
    /// The parts that the caller has to do in memory. If there are any, limit and offset are not in the statement.
    package var unsupported: StoreQueryResult.Unsupported
    /// The entity of all rows, if there is only one. A statement for keys then has no entity column.
    package var onlyEntity: NSEntityDescription?
    /// The columns of a statement for whole rows.
    package var columns: RowColumns?
    /// The value to read with the key; `nil` if the attribute has no column.
    package var group: Group?
    /// The values to read with the key; `nil` if none were, or one of them has no column.
    var extra: [Group]?
    /// The sort columns for a statement without an order, the key last.
    var sortColumns: [SQLSortColumn]?

    package struct Group {
        package let column: Int
        /// The attribute whose type decodes the value.
        package let attribute: NSAttributeDescription
    }
}

/// A column to sort by. NULL is first ascending and last descending.
struct SQLSortColumn {
    let index: Int
    let isAscending: Bool
}
