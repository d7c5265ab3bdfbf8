import PredicateSyntax

/// Asks the store beside which rows a row comes to stand, by the index that has the list's order.
///
/// Design. What the store says is where a search begins, and nothing more: it does not know the context's unsaved changes, and
/// the rows that it names are compared like all others. With an index it is one short look into it, where the search for a place
/// among a hundred thousand rows asks for six times as many; without one nothing is asked.
struct PlaceHints {
    let definition: ListDefinition
    let context: NSManagedObjectContext

    /// For so many arrivals at once.
    static let mostArrivals = 4
    /// Some of the rows may not be in the list.
    private static let rowsOfAnswer = 8
    /// With how many sort keys, from the last one on, it is tried.
    private static let mostLevels = 3

    private let attributes: [NSAttributeDescription]

    /// - Returns: `nil` where the store has no answer.
    init?(_ definition: ListDefinition, _ context: NSManagedObjectContext) {
        let plan = definition.plan
        // Where a table has rows of other entities too, many of these may stand between two of the list.
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

    /// The first rows of the store that do not come before a row with some values, as far as an index knows them.
    ///
    /// - Parameters:
    ///   - values: one for each sort key.
    ///   - isWanted: whether a row is one that the search may begin with.
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
