import PredicateSyntax

/// Asks the store for the neighbours of a row, using the index that has the list's order.
///
/// Design. The answer of the store is only the start of a search: the store does not know the context's unsaved
/// changes, and the rows that it names are compared like all others. With an index this is one short query, while
/// searching a hundred thousand rows takes six times as many. Without an index the store is not asked.
struct PlaceHints {
    let definition: ListDefinition
    let context: NSManagedObjectContext

    /// The number of arrivals up to which the store is asked.
    static let mostArrivals = 4
    /// The number of rows to read, since some of them may not be in the list.
    private static let rowsOfAnswer = 8
    /// The number of sort keys that are tried, beginning with the last.
    private static let mostLevels = 3

    private let attributes: [NSAttributeDescription]

    /// - Returns: `nil` if the store cannot answer.
    init?(_ definition: ListDefinition, _ context: NSManagedObjectContext) {
        let plan = definition.plan
        // Only for entities with a table of their own: in a shared table, many rows of other entities may be between
        // two rows of the list.
        guard definition.identities.store?.operations.answersFromIndexes == true, definition.ordering.isBySlots,
            !plan.query.sortKeys.isEmpty,
            plan.entity.superentity == nil, plan.includesSubentities || plan.entity.subentities.isEmpty
        else { return nil }
        var attributes: [NSAttributeDescription] = []
        for key in plan.query.sortKeys {
            guard key.comparison == .plain, key.keyPath.count == 1,
                let attribute = plan.entity.attributesByName[key.keyPath[0]]
            else { return nil }
            attributes.append(attribute)
        }
        self.definition = definition
        self.context = context
        self.attributes = attributes
    }

    /// The first wanted row of the store at or after some values, as far as an index has it.
    ///
    /// - Parameters:
    ///   - values: one for each sort key.
    ///   - isWanted: true if the search may begin with the row.
    func row(notBefore values: [SlotValue], _ isWanted: (RowToken) -> Bool) throws -> RowToken? {
        let keys = definition.plan.query.sortKeys
        var constants: [Any] = []
        for (value, attribute) in zip(values, attributes) {
            switch value {
            case .integer, .real, .text: break
            default: return nil
            }
            guard let constant = AttributeCoercion.value(value, type: attribute.attributeType) else { return nil }
            constants.append(constant)
        }
        for level in keys.indices.reversed().prefix(Self.mostLevels) {
            let isLast = level == keys.count - 1
            let operation: ComparisonOperator =
                switch (keys[level].ascending, isLast) {
                case (true, true): .greaterThanOrEqualTo
                case (true, false): .greaterThan
                case (false, true): .lessThanOrEqualTo
                case (false, false): .lessThan
                }
            let terms = (0...level).map { place in
                PredicateTree.comparison(
                    ComparisonTree(
                        left: .keyPath(keys[place].keyPath), right: .constant(constants[place]),
                        comparison: place == level ? operation : .equalTo))
            }
            let found = try context.fetchPipeline.keysByIndex(
                definition.plan, where: terms, limit: Self.rowsOfAnswer)
            guard let found else { return nil }
            for key in found {
                if let row = RowIdentities.token(of: key), isWanted(row) { return row }
            }
        }
        return nil
    }
}
