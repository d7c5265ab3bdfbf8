/// The homes of the objects of one context.
final class ObjectHomes {
    // SAFETY: the owner of the homes also owns the handle, and makes all objects leave before it is deallocated.
    let context: Unretained<ContextHandle>
    /// The homes of saved objects by family, and the most recent one.
    private var homes: [ObjectIdentifier: ObjectHome] = [:]
    private var last: ObjectHome?
    /// The homes of new objects by layout, and the most recent one.
    private var homesOfNew: [ObjectIdentifier: ObjectHome] = [:]
    private var lastOfNew: ObjectHome?

    init(context: ContextHandle) { self.context = Unretained(context) }

    deinit {
        for home in homes.values { home.forgetHomeOutside() }
        for home in homesOfNew.values { home.forgetHomeOutside() }
    }

    /// The home of saved objects with IDs of that family.
    func home(of family: IDFamily) -> ObjectHome {
        if let last, last.family === family { return last }
        let key = ObjectIdentifier(family)
        let found = homes[key] ?? makeHome(of: family)
        homes[key] = found
        last = found
        return found
    }

    /// The home of new objects with that layout, which have temporary IDs.
    func home(ofNew layout: EntityLayout) -> ObjectHome {
        if let lastOfNew, lastOfNew.withLayout({ $0 === layout }) { return lastOfNew }
        let key = ObjectIdentifier(layout)
        let found = homesOfNew[key] ?? makeHome(ofNew: layout)
        homesOfNew[key] = found
        lastOfNew = found
        return found
    }

    private func makeHome(of family: IDFamily) -> ObjectHome {
        let layout = family.entity.layout
        return ObjectHome(of: family, layout, after: home(ofNew: layout), in: context)
    }

    private func makeHome(ofNew layout: EntityLayout) -> ObjectHome {
        let family = IDFamily(entity: layout.entity, store: nil, isTemporary: true)
        return ObjectHome(of: family, layout, after: nil, in: context)
    }
}
