import PredicateSyntax

/// Makes the SELECT statements of a ``StoreQuery``.
///
/// The table of the query's entity is `t0`; the tables of to-one relationships are joined to it as `t1`, `t2` … and
/// shared by the predicate, the sort keys and the grouping. A join to one never multiplies rows, so no DISTINCT is needed.
/// What the store cannot do exactly is left out and named in ``SelectStatement/unsupported``: of a conjunction only the
/// parts that are inexact, so that the rest still narrows the rows.
package struct SelectBuilder {
    let query: StoreQuery
    let schema: any SQLSchema
    /// The UUID of the store whose tables these are: objects of other stores are none of its rows.
    let storeIdentifier: String?

    package init(query: StoreQuery, schema: any SQLSchema, storeIdentifier: String? = nil) {
        self.query = query
        self.schema = schema
        self.storeIdentifier = storeIdentifier
    }

    /// `SELECT primary key[, entity][, value]`, in order. The column of entities is left out when all rows are of one entity
    /// (see ``SelectStatement/onlyEntity``), so that an index can answer the query without the table.
    ///
    /// - Parameter groupedBy: the key path of an attribute to read with the key: see ``SelectStatement/group``.
    /// - Throws: a `CocoaError` for a key that the entity does not have, or a constant of a wrong type.
    package func keys(groupedBy keyPath: [String]? = nil) throws -> SelectStatement {
        try statement(keyList(groupedBy: keyPath), order: .bySQL)
    }

    /// `SELECT value FROM … WHERE primary key = ?` of the attribute that rows are grouped by; `nil` where it has no column.
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

    /// The same without order, limit and offset, the values to sort by behind the rest: see ``SelectStatement/sortColumns``.
    ///
    /// - Returns: `nil` where the order is not that of the values themselves but of a collation, or not exact.
    /// - Throws: as ``keys(groupedBy:)``.
    func keysToSort() throws -> SelectStatement? { try sortable(statement(keyList(groupedBy: nil), order: .byCaller)) }

    /// `SELECT` of whole rows in the column order of ``SelectStatement/columns``.
    ///
    /// - Parameter isOrdered: `false` for any order, limit and offset left out as well: for reading rows whose order
    ///   is known from ``keys(groupedBy:)``.
    /// - Throws: as ``keys(groupedBy:)``.
    package func rows(isOrdered: Bool = true) throws -> SelectStatement {
        try statement(rowList(), order: isOrdered ? .bySQL : .none)
    }

    /// The same as ``keysToSort()``, of whole rows.
    func rowsToSort() throws -> SelectStatement? { try sortable(statement(rowList(), order: .byCaller)) }

    /// `SELECT COUNT(*)`, limit and offset applied; `nil` where it would not be exact.
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

    /// The one entity of all the rows, if there is only one.
    private var onlyEntity: NSEntityDescription? {
        let family = query.includesSubentities ? query.entity.family : [query.entity]
        return family.count == 1 ? query.entity : nil
    }

    /// Where the rows are put in order.
    private enum Order {
        case none
        case bySQL
        case byCaller
    }

    /// The text of a SELECT's column list, and where the columns in it are.
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

    /// Selects the attribute at the end of the list's key path too, where it has a column.
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

    /// Selects the attributes at the ends of the query's key paths too; `nil` where one of them has no column.
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

    /// Selects what is sorted by too; `nil` where texts are not sorted by their bytes.
    private func add(_ terms: [SortToSQL.Term], to list: inout SelectList) -> [SQLSortColumn]? {
        guard terms.allSatisfy({ !$0.hasCollation }) else { return nil }
        for term in terms { list.text += ", \(term.expression)" }
        return terms.enumerated().map { SQLSortColumn(index: list.count + $0, isAscending: $1.isAscending) }
    }

    /// The terms of ORDER BY, or `nil` where a sort key cannot be translated exactly.
    private func orderTerms(joins: inout SQLJoins) throws -> [SortToSQL.Term]? {
        var terms: [SortToSQL.Term] = []
        for key in query.sortKeys {
            guard let term = try SortToSQL.translate(key, joins: &joins) else { return nil }
            terms.append(term)
        }
        return terms
    }

    /// ` LIMIT … OFFSET …`, or nothing.
    private var limitClause: SQLFragment {
        if query.limit == 0 && query.offset == 0 { return SQLFragment("") }
        let limit = schema.dialect.limit(query.limit)
        return query.offset == 0 ? limit : limit + schema.dialect.offset(query.offset)
    }

    /// ` WHERE …` of entity and predicate, and whether it is exact.
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

/// One SELECT, and what the caller has to know to read its result.
package struct SelectStatement {
    package var fragment: SQLFragment
    /// The parts that the caller has to do in memory. If not empty, limit and offset are not in the statement.
    package var unsupported: StoreQueryResult.Unsupported
    /// The entity of every row, where there is only one: a statement for keys then has no column of entities.
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
        /// By whose type the value is decoded.
        package let attribute: NSAttributeDescription
    }
}

/// A column to sort by. NULL comes first ascending and last descending.
struct SQLSortColumn {
    let index: Int
    let isAscending: Bool
}
