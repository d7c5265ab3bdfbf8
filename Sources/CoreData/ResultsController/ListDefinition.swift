import Foundation

/// The definition of a list without its contents: its objects, their order, their sections, and their numbers.
struct ListDefinition {
    let plan: FetchPlan
    /// Selects the objects of the list, with constants as the fetch uses them; `nil` if all objects belong to it.
    let membership: NSPredicate?
    /// The key path that names the sections; `nil` if there are none, or a rule makes them.
    let sectionKey: SectionKey?
    let ordering: ObjectOrdering
    let identities: RowIdentities
    let names: SectionNames
    /// The aggregates of the sections.
    var aggregates: AggregatePlan?
    /// The properties of an object that determine its place; `nil` if they are unknown.
    let placeKeys: Set<String>?

    /// - Parameter names: those of a list that was read from disk.
    init(
        _ plan: FetchPlan, sectionKey: SectionKey?, ordering: ObjectOrdering, identities: RowIdentities,
        names: SectionNames = SectionNames()
    ) {
        self.plan = plan
        membership = plan.resolvedPredicate
        self.sectionKey = sectionKey
        self.ordering = ordering
        self.identities = identities
        self.names = names
        placeKeys = Self.placeKeys(plan, sectionKey, names.rule)
    }

    /// A copy with other section names.
    func named(_ names: SectionNames) -> ListDefinition {
        var list = ListDefinition(
            plan, sectionKey: sectionKey, ordering: ordering, identities: identities, names: names)
        list.aggregates = aggregates
        return list
    }

    /// The rule that makes sections from values, independent of the sort order.
    var rule: SectionRule? { names.rule }

    var isSectioned: Bool { sectionKey != nil || rule != nil }

    /// True if stores can compute the section of a row.
    var hasStoredSections: Bool { sectionKey?.isStored ?? rule?.isStored ?? true }

    /// The list without rows.
    var noContents: ListContents { ListContents(isSectioned: isSectioned, keptSections: names.keptCount) }

    /// The order of sections; `nil` if it is the order of their rows.
    var sectionOrder: ((UInt32, UInt32) -> Bool)? { rule == nil ? nil : names.isBefore }

    /// The number of the section of an object or a dictionary; 0 without sections.
    func section(of result: AnyObject) -> UInt32 {
        if let sectionKey { return names.number(of: sectionKey.name(of: result)) }
        return names.number(of: result)
    }

    /// The number of the section of a row's object, which was read with its row. A row that was deleted since is not
    /// asked for its section; it is in the section without a value until the list receives its deletion.
    func section(ofRow object: NSManagedObject) -> UInt32 {
        guard object.waitsForRow else { return section(of: object) }
        return rule == nil ? names.number(of: "") : names.number(of: SectionValue.missing)
    }

    private static func placeKeys(
        _ plan: FetchPlan, _ sectionKey: SectionKey?, _ rule: SectionRule?
    ) -> Set<String>? {
        var keys: Set<String> = []
        for key in plan.query.sortKeys {
            guard key.comparison != .custom, let first = key.keyPath.first else { return nil }
            keys.insert(first)
        }
        if let sectionKey {
            guard sectionKey.isStored, let first = sectionKey.keys.first else { return nil }
            keys.insert(first)
        }
        if let rule {
            guard let ruled = rule.placeKeys else { return nil }
            keys.formUnion(ruled)
        }
        return keys
    }
}
