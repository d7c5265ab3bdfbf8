import Foundation

/// What makes a list the list it is, without its contents: which objects, in which order, in which sections, and how they
/// are numbered.
struct ListDefinition {
    let plan: FetchPlan
    /// Which objects belong, with constants as the fetch takes them; `nil` if all do.
    let membership: NSPredicate?
    /// What names the sections; `nil` where there are none, or a rule makes them.
    let sectionKey: SectionKey?
    let ordering: ObjectOrdering
    let identities: RowIdentities
    let names: SectionNames
    /// The aggregates that are kept of the sections.
    var aggregates: AggregatePlan?
    /// The properties of an object that decide where it is; `nil` if that cannot be told.
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

    /// The same list with other names of sections.
    func named(_ names: SectionNames) -> ListDefinition {
        var list = ListDefinition(
            plan, sectionKey: sectionKey, ordering: ordering, identities: identities, names: names)
        list.aggregates = aggregates
        return list
    }

    /// How sections are made of values, whatever the sort.
    var rule: SectionRule? { names.rule }

    var isSectioned: Bool { sectionKey != nil || rule != nil }

    /// Whether stores know what section a row is in.
    var hasStoredSections: Bool { sectionKey?.isStored ?? rule?.isStored ?? true }

    /// The list without rows.
    var noContents: ListContents { ListContents(isSectioned: isSectioned, keptSections: names.keptCount) }

    /// The order of sections, where that is not the order of their rows.
    var sectionOrder: ((UInt32, UInt32) -> Bool)? { rule == nil ? nil : names.isBefore }

    /// The number of the section of an object or a dictionary; 0 without sections.
    func section(of result: AnyObject) -> UInt32 {
        if let sectionKey { return names.number(of: sectionKey.name(of: result)) }
        return names.number(of: result)
    }

    /// The number of the section of a row's object, which was read with its row. A row that is gone since is asked for
    /// nothing, and stands under no value until the list hears of its deletion.
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
