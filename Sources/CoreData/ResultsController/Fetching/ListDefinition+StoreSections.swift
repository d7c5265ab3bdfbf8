// The values that a store returns so that a list's sections can be made without its objects.
extension ListDefinition {
    /// The key path whose values determine the sections, if rows with equal values are adjacent.
    var groupedBy: [String]? { sectionKey.flatMap { $0.isStored ? $0.keys : nil } ?? ruledRuns }

    /// The key path whose values a rule makes sections of, if the rows are sorted by these values.
    private var ruledRuns: [String]? {
        guard let rule, rule.isStored, rule.isByValues, rule.paths.count == 1, let first = plan.query.sortKeys.first,
            first.keyPath == rule.paths[0], first.comparison == .plain
        else { return nil }
        return rule.paths[0]
    }

    /// The key paths whose values the store should return for each row.
    var extraPaths: [[String]] { rule.map { $0.isStored && ruledRuns == nil ? $0.paths : [] } ?? [] }

    /// The section of each row by its values at the rule's paths; `nil` if the store did not return them.
    func numbers(_ groups: [RowGroup]?, _ columns: [[SlotValue]]?) -> [UInt32]? {
        if ruledRuns != nil {
            guard let groups else { return nil }
            var numbers: [UInt32] = []
            numbers.reserveCapacity(groups.reduce(0) { $0 + $1.count })
            for group in groups {
                numbers += repeatElement(names.number(of: [group.value]), count: group.count)
            }
            return numbers
        }
        guard let columns, let rule, rule.isStored else { return nil }
        let ruled = columns.prefix(rule.paths.count)
        guard let first = ruled.first else { return nil }
        if ruled.count == 1 { return first.map { names.number(of: [$0]) } }
        return first.indices.map { row in names.number(of: ruled.map { $0[row] }) }
    }

    /// The sections by the groups that the store returned; `nil` if it returned none.
    func sections(by key: SectionKey, _ groups: [RowGroup]?) throws -> [SectionEntry]? {
        guard let groups else { return nil }
        if let entries = newSections(by: key, groups) { return entries }
        names.reserve(groups.count)
        var run = SectionRun(names: names)
        for group in groups { try run.add(key.name(for: group.value), rows: group.count) }
        return run.entries
    }

    /// The sections of a list that has none yet, if their names are sorted: then they are unique and get their numbers
    /// without a look-up.
    private func newSections(by key: SectionKey, _ groups: [RowGroup]) -> [SectionEntry]? {
        guard names.count == 0, names.rule == nil else { return nil }
        var texts: [String] = []
        texts.reserveCapacity(groups.count)
        var order: ComparisonResult?
        for group in groups {
            let name = key.name(for: group.value)
            guard group.count > 0 else { return nil }
            if let last = texts.last {
                let result = TextBytes.compare(last, name)
                guard result != .orderedSame, result == order ?? result else { return nil }
                order = result
            }
            texts.append(name)
        }
        names.append(new: texts)
        return groups.enumerated().map { SectionEntry(number: UInt32($0), rowCount: UInt32($1.count)) }
    }
}
