import PredicateSyntax

/// Translates to-many relationships: ANY, ALL, aggregates such as `@count`, SUBQUERY. Each is a correlated subselect.
extension PredicateToSQL {
    // MARK: ANY and ALL

    /// Returns SQL that is true if `test` holds for any value of `left`.
    mutating func anyElement(
        _ left: SQLOperand, _ tree: ComparisonTree,
        _ test: (inout PredicateToSQL, SQLOperand) throws -> SQLFragment
    ) throws -> SQLFragment {
        switch left {
        case .many(let many): return try existsElement(many, test)
        case .expression(let single):
            // A single value counts as a collection of one element, `nil` as an empty one.
            return (try test(&self, left) + " AND " + single.fragment + " IS NOT NULL").parenthesized
        case .constant, .list: throw NeedsMemory("ANY of a list is evaluated in memory")
        }
    }

    /// Returns SQL that is true if `test` holds for all values of `left`.
    mutating func allElements(
        _ left: SQLOperand, _ tree: ComparisonTree,
        _ test: (inout PredicateToSQL, SQLOperand) throws -> SQLFragment
    ) throws -> SQLFragment {
        switch left {
        case .many(let many): return "NOT " + (try existsElement(many) { try test(&$0, $1).isNotTrue })
        case .expression(let single):
            return (try test(&self, left) + " OR " + single.fragment + " IS NULL").parenthesized
        case .constant, .list: throw NeedsMemory("ALL of a list is evaluated in memory")
        }
    }

    /// Returns SQL that is true if `test` holds for any value at the end of a path over to-many relationships.
    mutating func existsElement(
        _ many: SQLMany, _ test: (inout PredicateToSQL, SQLOperand) throws -> SQLFragment
    ) throws -> SQLFragment {
        try exists(many) { translator, scope in
            let element = try translator.operand(many.rest.isEmpty ? ["self"] : many.rest, scope: scope)
            if case .many(let inner) = element { return try translator.existsElement(inner, test) }
            return try test(&translator, element)
        }
    }

    /// Returns `EXISTS (…)` over the objects of the relationship.
    mutating func exists(
        _ many: SQLMany, _ condition: (inout PredicateToSQL, Int) throws -> SQLFragment?
    ) throws -> SQLFragment {
        "EXISTS " + (try subselect("1", many, condition))
    }

    // MARK: Aggregates

    /// Returns `@count`, `@sum` … of the objects of the relationship.
    mutating func aggregate(_ name: String, _ keys: [String], of many: SQLMany) throws -> SQLExpression {
        if name == "@count" && keys.isEmpty {
            return SQLExpression(
                fragment: try subselect("COUNT(*)", many) { _, _ in nil }, kind: .integer(isNarrow: false))
        }
        var kind = SQLExpression.Kind.opaque
        var column = ""
        // The column is known only within the subselect, so its select list is filled in afterwards.
        let placeholder = "\u{1}"
        var fragment = try subselect(placeholder, many) { translator, scope in
            guard case .expression(let value) = try translator.operand(keys, scope: scope),
                value.fragment.arguments.isEmpty
            else { throw NeedsMemory("\(name) of a collection of collections") }
            kind = value.kind
            column = value.fragment.text
            return nil
        }
        let (function, result) = try aggregateFunction(name, of: kind, column)
        fragment.text = fragment.text.replacingOccurrences(of: placeholder, with: function)
        return SQLExpression(fragment: fragment, kind: result)
    }

    /// Returns an aggregate over the related rows, if SQLite calculates it as memory does. Sums of reals depend on the
    /// order of the rows, and sums of 64-bit integers may overflow, which is an error in SQL.
    func aggregateFunction(
        _ name: String, of kind: SQLExpression.Kind, _ column: String
    ) throws -> (text: String, kind: SQLExpression.Kind) {
        switch (name, kind) {
        case ("@sum", .integer(isNarrow: true)): return ("COALESCE(SUM(\(column)), 0)", .integer(isNarrow: false))
        case ("@avg", .integer(isNarrow: true)): return (schema.dialect.average(column), .real)
        case ("@min", .text), ("@max", .text): break
        case ("@min", .uuid) where schema.dialect.hasLeastUUIDs, ("@max", .uuid) where schema.dialect.hasLeastUUIDs:
            break
        case ("@min", _) where kind.isNumber, ("@max", _) where kind.isNumber: break
        default: throw NeedsMemory("\(name) of these values is calculated in memory")
        }
        return ("\(name == "@min" ? "MIN" : "MAX")(\(column))", kind)
    }

    /// Returns `SUBQUERY(…).@count`.
    mutating func subqueryCount(
        _ collection: ExpressionTree, _ variable: String, _ predicate: PredicateTree
    ) throws -> SQLExpression {
        guard case .many(let many) = try operand(collection), many.rest.isEmpty else {
            throw NeedsMemory("the collection of SUBQUERY is not a to-many relationship")
        }
        let fragment = try subselect("COUNT(*)", many) { translator, scope in
            let outer = translator.variables[variable]
            translator.variables[variable] = scope
            defer { translator.variables[variable] = outer }
            return try translator.condition(predicate)
        }
        return SQLExpression(fragment: fragment, kind: .integer(isNarrow: false))
    }

    // MARK: The subselect

    /// Returns `(SELECT list FROM objects of the relationship WHERE they belong to the owner AND condition)`.
    ///
    /// - Parameter condition: returns a further condition on the objects, given their scope; `nil` for none.
    private mutating func subselect(
        _ list: String, _ many: SQLMany, _ condition: (inout PredicateToSQL, Int) throws -> SQLFragment?
    ) throws -> SQLFragment {
        guard let owner = scopes[many.scope].alias(following: many.toOnes),
            let destination = many.relationship.destinationEntity
        else { throw NeedsMemory("a relationship on the way has no column") }
        let aliases = scopes[0].aliases
        let inner = SQLJoins(entity: destination, schema: schema, aliases: aliases)
        scopes.append(inner)
        let more = try nested(8) { try condition(&$0, $0.scopes.count - 1) }
        let from = scopes.removeLast().from
        var fragment: SQLFragment
        let (quoted, key) = (schema.dialect.quoted, schema.keyText)
        switch schema.storage(of: many.relationship) {
        case .foreignKey(let column, _):
            fragment = "SELECT \(list) FROM " + from + " WHERE \(inner.alias).\(quoted(column)) = \(owner).\(key)"
        case .joinTable(let table, let ownerColumn, let destinationColumn, _):
            let pairs = aliases.next()
            fragment =
                "SELECT \(list) FROM \(schema.tableText(table)) AS \(pairs), " + from
                + " WHERE \(pairs).\(quoted(ownerColumn)) = \(owner).\(key)"
                + " AND \(inner.alias).\(key) = \(pairs).\(quoted(destinationColumn))"
        }
        if let more { fragment += " AND " + more }
        return fragment.parenthesized
    }
}
