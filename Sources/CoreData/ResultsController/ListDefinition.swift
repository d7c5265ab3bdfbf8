/// What makes a list the list it is, without its contents: which objects, in which order, in which sections, and how they
/// are numbered.
struct ListDefinition {
    let plan: FetchPlan
    let sectionKey: SectionKey?
    let ordering: ObjectOrdering
    let identities: RowIdentities
    let names: SectionNames
    /// The properties of an object that decide where it is; `nil` if that cannot be told.
    let placeKeys: Set<String>?

    /// - Parameter names: those of a list that was read from disk.
    init(
        _ plan: FetchPlan, sectionKey: SectionKey?, ordering: ObjectOrdering, identities: RowIdentities,
        names: SectionNames = SectionNames()
    ) {
        self.plan = plan
        self.sectionKey = sectionKey
        self.ordering = ordering
        self.identities = identities
        self.names = names
        placeKeys = Self.placeKeys(plan, sectionKey)
    }

    /// The same list with other names of sections.
    func named(_ names: SectionNames) -> ListDefinition {
        ListDefinition(plan, sectionKey: sectionKey, ordering: ordering, identities: identities, names: names)
    }

    private static func placeKeys(_ plan: FetchPlan, _ sectionKey: SectionKey?) -> Set<String>? {
        var keys: Set<String> = []
        for key in plan.query.sortKeys {
            guard key.comparison != .custom, let first = key.keyPath.first else { return nil }
            keys.insert(first)
        }
        if let sectionKey {
            guard sectionKey.isStored, let first = sectionKey.keys.first else { return nil }
            keys.insert(first)
        }
        return keys
    }
}
