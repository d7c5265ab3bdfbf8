import PredicateSyntax
import SQLiteAccess

/// Makes the SELECT statements of a ``StoreQuery``.
///
/// The table of the query's entity is `t0`; the tables of to-one relationships are joined to it as `t1`, `t2` … and
/// shared by the predicate, the sort keys and the grouping. A join to one never multiplies rows, so no DISTINCT is needed.
/// What the store cannot do exactly is left out and named in ``SelectStatement/undone``: of a conjunction only the
/// parts that are inexact, so that the rest still narrows the rows.
struct SelectBuilder {
    let query: StoreQuery
    let schema: any SQLSchema
    /// The UUID of the store whose tables these are: objects of other stores are none of its rows.
    let storeIdentifier: String?

    /// So many values a statement may bind: SQLite's limit, with room for limit and offset.
    private static let argumentLimit = 32_700

    init(query: StoreQuery, schema: any SQLSchema, storeIdentifier: String? = nil) {
        self.query = query
        self.schema = schema
        self.storeIdentifier = storeIdentifier
    }

    /// `SELECT Z_PK[, Z_ENT]`, in order. `Z_ENT` is left out when all rows are of one entity (see
    /// ``SelectStatement/onlyEntity``), so that an index can answer the query without the table.
    ///
    /// - Throws: a `CocoaError` for a key that the entity does not have, or a constant of a wrong type.
    func keys() throws -> SelectStatement {
        let only = onlyEntity
        return try statement(selecting: only == nil ? "t0.Z_PK, t0.Z_ENT" : "t0.Z_PK", onlyEntity: only)
    }

    /// `SELECT` of whole rows in the column order of ``SelectStatement/columns``.
    ///
    /// - Parameter isOrdered: `false` for any order, limit and offset left out as well: for reading rows whose order
    ///   is known from ``keys()``.
    /// - Throws: as ``keys()``.
    func rows(isOrdered: Bool = true) throws -> SelectStatement {
        let columns = RowColumns(
            entity: query.entity, includingSubentities: query.includesSubentities, schema: schema)
        var statement = try statement(
            selecting: columns.selectList(alias: "t0"), onlyEntity: onlyEntity, isOrdered: isOrdered)
        statement.columns = columns
        return statement
    }

    /// `SELECT COUNT(*)`, limit and offset applied; `nil` where it would not be exact.
    ///
    /// - Throws: as ``keys()``.
    func count() throws -> SQLFragment? {
        if query.limit == 0 && query.offset == 0 {
            let counted = try statement(selecting: "COUNT(*)", onlyEntity: nil, isOrdered: false)
            return counted.undone.contains(.predicate) ? nil : counted.fragment
        }
        let inner = try statement(selecting: "1", onlyEntity: nil, isOrdered: false)
        guard !inner.undone.contains(.predicate) else { return nil }
        return "SELECT COUNT(*) FROM (" + inner.fragment + limitClause + ")"
    }

    /// `SELECT value, COUNT(*)` for each value of `keyPath` among the matching rows, in the order of the first sort key.
    ///
    /// - Returns: `nil` where the groups would not be those of the ordered rows: the first sort key is another key path
    ///   or not the plain order, the predicate is not exact, or there is a limit or an offset.
    /// - Throws: as ``keys()``.
    func groupCounts(by keyPath: [String]) throws -> GroupCountStatement? {
        guard query.limit == 0, query.offset == 0 else { return nil }
        guard let key = query.sortKeys.first, key.keyPath == keyPath, key.comparison == .plain else { return nil }
        var joins = SQLJoins(entity: query.entity, schema: schema)
        let attribute: NSAttributeDescription
        switch try ModelKeyPath(keyPath, from: query.entity).end {
        case .attribute(let found), .element(_, _, let found): attribute = found
        default: return nil
        }
        guard let order = try SortToSQL.translate(key, joins: &joins)
        else { return nil }
        let condition = try condition(joins: &joins)
        guard condition.isExact else { return nil }
        let text =
            "SELECT \(order.expression), COUNT(*) FROM " + joins.from + condition.clause
            + " GROUP BY \(order.expression) ORDER BY \(order.text)"
        return GroupCountStatement(fragment: text, attribute: attribute)
    }

    // MARK: Parts

    /// The one entity of all the rows, if there is only one.
    private var onlyEntity: NSEntityDescription? {
        let family = query.includesSubentities ? query.entity.family : [query.entity]
        return family.count == 1 ? query.entity : nil
    }

    private func statement(
        selecting list: String, onlyEntity: NSEntityDescription?, isOrdered: Bool = true
    ) throws -> SelectStatement {
        var joins = SQLJoins(entity: query.entity, schema: schema)
        let condition = try condition(joins: &joins)
        var undone: StoreQueryResult.Undone = condition.isExact ? [] : .predicate
        var order = ""
        if isOrdered {
            if let translated = try orderClause(joins: &joins) { order = translated } else { undone.insert(.sort) }
        }
        var fragment = "SELECT \(list) FROM " + joins.from + condition.clause + order
        if isOrdered && undone.isEmpty { fragment += limitClause }
        return SelectStatement(fragment: fragment, undone: undone, onlyEntity: onlyEntity, columns: nil)
    }

    /// ` ORDER BY …` with the primary key last, or `nil` where a sort key cannot be translated exactly.
    private func orderClause(joins: inout SQLJoins) throws -> String? {
        var terms: [String] = []
        for key in query.sortKeys {
            guard let term = try SortToSQL.translate(key, joins: &joins) else { return nil }
            terms.append(term.text)
        }
        return " ORDER BY " + (terms + ["t0.Z_PK"]).joined(separator: ", ")
    }

    /// ` LIMIT … OFFSET …`, or nothing.
    private var limitClause: SQLFragment {
        if query.limit == 0 && query.offset == 0 { return SQLFragment("") }
        let limit = query.limit == 0 ? -1 : query.limit
        if query.offset == 0 { return SQLFragment(" LIMIT ?", [.integer(Int64(limit))]) }
        return SQLFragment(" LIMIT ? OFFSET ?", [.integer(Int64(limit)), .integer(Int64(query.offset))])
    }

    /// ` WHERE …` of entity and predicate, and whether it is exact.
    private func condition(joins: inout SQLJoins) throws -> (clause: SQLFragment, isExact: Bool) {
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
            isExact = translation.isComplete
            var argumentCount = 0
            for term in translation.exact {
                argumentCount += term.arguments.count
                if argumentCount > Self.argumentLimit { isExact = false } else { terms.append(term) }
            }
        }
        if terms.isEmpty { return (SQLFragment(""), isExact) }
        return (" WHERE " + PredicateToSQL.balanced(terms[...], " AND "), isExact)
    }
}

/// One SELECT, and what the caller has to know to read its result.
struct SelectStatement {
    var fragment: SQLFragment
    /// What the caller has to do in memory. If not empty, limit and offset are not in the statement.
    var undone: StoreQueryResult.Undone
    /// The entity of every row, where there is only one: a statement for keys then has no `Z_ENT` column.
    var onlyEntity: NSEntityDescription?
    /// The columns of a statement for whole rows.
    var columns: RowColumns?
}

/// A grouped count: two columns, the value (as the attribute's column holds it) and the number of rows.
struct GroupCountStatement {
    var fragment: SQLFragment
    /// By whose type the value is decoded.
    var attribute: NSAttributeDescription
}
