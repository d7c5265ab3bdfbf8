import Foundation
import ModelFiles
import PredicateSyntax

/// The SELECT of a ``StoreGroupQuery`` and the types of its columns.
package struct GroupSelect {
    package var fragment: SQLFragment
    package var columns: [Column]

    package struct Column {
        let kind: SQLExpression.Kind
        /// The entity, for a column of objects.
        let entity: NSEntityDescription?

        /// Converts a value of the column. `id` makes the ID of an object.
        package func value(_ value: SQLValue, id: (NSEntityDescription, Int64) -> NSManagedObjectID) -> PredicateValue {
            switch value {
            case .null: return .null
            case .integer(let number):
                if let entity { return .reference(id(entity, number)) }
                switch kind {
                case .date: return .date(Double(number))
                case .real: return .real(Double(number))
                default: return .integer(number)
                }
            case .real(let number): return kind == .date ? .date(number) : .real(number)
            case .text(let text): return .text(text)
            case .uuid(let uuid): return .uuid(uuid)
            case .decimal(let decimal): return .decimal(decimal)
            case .list: return .null
            case .blob(let data):
                guard kind == .uuid, let uuid = UUID(bytes: data) else { return .data(data) }
                return .uuid(uuid)
            }
        }
    }
}

extension SelectBuilder {
    /// Returns `SELECT … GROUP BY … HAVING … ORDER BY …`; `nil` if it would differ from the result in memory.
    ///
    /// - Parameter byIndex: true if an index may provide the rows in the order of the groups.
    /// - Throws: as ``keys(groupedBy:)``.
    package func groups(_ wanted: StoreGroupQuery, byIndex: Bool = true) throws -> GroupSelect? {
        var joins = SQLJoins(entity: query.entity, schema: schema)
        let condition = try condition(joins: &joins)
        guard condition.isExact else { return nil }
        var translator = PredicateToSQL(joins: joins, storeIdentifier: storeIdentifier)
        translator.hasGroups = true
        do {
            var columns: [GroupSelect.Column] = []
            var list: [SQLFragment] = []
            for tree in wanted.columns {
                let value = try translator.groupValue(tree)
                list.append(value.fragment)
                columns.append(GroupSelect.Column(kind: value.kind, entity: try translator.onlyEntity(tree, value)))
            }
            try translator.checkGroups(wanted)
            var groups: [SQLFragment] = []
            for tree in wanted.groups {
                groups.append((byIndex ? "" : "+") + (try translator.groupValue(tree).fragment))
            }
            let having = try wanted.having.map { try translator.condition($0) }
            var order: [SQLFragment] = []
            for key in wanted.sortKeys { order.append(try translator.groupOrder(key)) }
            var fragment = "SELECT " + list.joined(separator: ", ") + " FROM " + translator.scopes[0].from
            fragment += condition.clause
            if !groups.isEmpty { fragment += " GROUP BY " + groups.joined(separator: ", ") }
            if let having { fragment += " HAVING " + having }
            order += groups.map { $0 + schema.dialect.ascendingSuffix }
            if !order.isEmpty { fragment += " ORDER BY " + order.joined(separator: ", ") }
            fragment += limit(wanted)
            return GroupSelect(fragment: fragment, columns: columns)
        } catch is NeedsMemory {
            return nil
        }
    }

    private func limit(_ wanted: StoreGroupQuery) -> SQLFragment {
        guard wanted.limit > 0 || wanted.offset > 0 else { return SQLFragment("") }
        return schema.dialect.limit(wanted.limit) + schema.dialect.offset(wanted.offset)
    }
}

extension PredicateToSQL {
    /// Returns an aggregate such as `SUM(…)` over the rows of a group; `nil` for another function.
    mutating func groupFunction(_ name: String, _ argument: ExpressionTree) throws -> SQLExpression? {
        let isPart = StoreGroupQuery.isPartOfSum(name)
        guard isPart || Functions.ofCollections[name] != nil else { return nil }
        guard case .expression(let value) = try nested(4, { try $0.operand(argument) }) else {
            throw NeedsMemory("\(name) of several values of each row")
        }
        if name == "count:" {
            return SQLExpression(fragment: "COUNT(" + value.fragment + ")", kind: .integer(isNarrow: false))
        }
        guard value.fragment.arguments.isEmpty else { throw NeedsMemory("\(name) of what is reckoned with constants") }
        if isPart {
            guard case .integer = value.kind else { throw NeedsMemory("\(name) of a value that is not a whole number") }
            let part = name == StoreGroupQuery.highSum ? ">> 32" : "& 4294967295"
            let sum = "COALESCE(CAST(SUM(\(value.fragment.text) \(part)) AS BIGINT), 0)"
            return SQLExpression(fragment: SQLFragment(sum), kind: .integer(isNarrow: false))
        }
        let names = ["sum:": "@sum", "average:": "@avg", "min:": "@min", "max:": "@max"]
        guard let known = names[name], value.kind != .decimal else {
            throw NeedsMemory("\(name) of these values is calculated in memory")
        }
        let (text, kind) = try aggregateFunction(known, of: value.kind, value.fragment.text)
        return SQLExpression(fragment: SQLFragment(text), kind: kind)
    }

    /// Refuses row values that are not group keys if the database does not allow them.
    fileprivate func checkGroups(_ wanted: StoreGroupQuery) throws {
        guard schema.dialect.groupsStrictly else { return }
        func isKeyPath(_ tree: ExpressionTree, in groups: [ExpressionTree]) -> Bool {
            guard case .keyPath(let keys) = tree else { return false }
            return groups.contains { if case .keyPath(keys) = $0 { true } else { false } }
        }
        func isAggregate(_ tree: ExpressionTree) -> Bool {
            guard case .function(let name, let arguments) = tree, arguments.count == 1 else { return false }
            return Functions.ofCollections[name] != nil || StoreGroupQuery.isPartOfSum(name)
        }
        let values = wanted.columns + wanted.sortKeys.map(\.tree)
        guard wanted.groups.allSatisfy({ isKeyPath($0, in: wanted.groups) }),
            values.allSatisfy({ isAggregate($0) || isKeyPath($0, in: wanted.groups) })
        else { throw NeedsMemory("values are selected that do not make the groups") }
    }

    /// Translates a group value that SQL returns unchanged.
    fileprivate mutating func groupValue(_ tree: ExpressionTree) throws -> SQLExpression {
        switch try operand(tree) {
        case .expression(let value):
            switch value.kind {
            case .decimal, .opaque, .entity: throw NeedsMemory("these values are read in memory")
            default: return value
            }
        default: throw NeedsMemory("constants and collections are read in memory")
        }
    }

    /// Returns the only entity of a column of objects.
    fileprivate func onlyEntity(_ tree: ExpressionTree, _ value: SQLExpression) throws -> NSEntityDescription? {
        guard case .object = value.kind else { return nil }
        let resolver = PredicateResolver(entity: scopes[0].entity)
        guard let entity = resolver.entity(of: tree), entity.family.count == 1, !entity.isAbstract else {
            throw NeedsMemory("the objects are of several entities")
        }
        return entity
    }

    fileprivate mutating func groupOrder(_ key: StoreGroupQuery.SortKey) throws -> SQLFragment {
        guard key.code == nil, key.key.comparison != .custom else { throw NeedsMemory("a comparator is code") }
        let value = try groupValue(key.tree)
        if case .object = value.kind { throw NeedsMemory("objects have no order among groups") }
        let dialect = schema.dialect
        let collation =
            value.kind == .text && key.key.comparison != .plain
            ? try dialect.functions(for: "a sort of texts").collation(key.key.comparison) : nil
        return value.fragment + (collation.map { " COLLATE \($0)" } ?? "")
            + (key.key.ascending ? dialect.ascendingSuffix : dialect.descendingSuffix)
    }
}
