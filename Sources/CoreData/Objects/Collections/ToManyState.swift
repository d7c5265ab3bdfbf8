/// The destinations of one to-many relationship of one object, and how they differ from what was saved.
///
/// The contents are read from the store when they are asked for. Until then the state is a fault that may already carry
/// changes, `added` and `removed`: an inverse is kept up without reading a list of a hundred thousand. Beside the
/// difference from the saved contents stands the difference from the start of the current event, for undo.
// SAFETY: what each change of a member touches is used on the queue of the object alone, and by no code of a program's while
// it changes: no accesses overlap.
@usableFromInline
final class ToManyState {
    let isOrdered: Bool
    private(set) var isLoaded: Bool
    @exclusivity(unchecked) private var storedMembers = ObjectSet()
    /// What ``typedMembers()`` gave last, as long as nothing changes.
    @exclusivity(unchecked) @usableFromInline var typed: AnyObject?
    private var members: ObjectSet {
        get { storedMembers }
        _modify {
            keepApart()
            yield &storedMembers
        }
        set {
            keepApart()
            storedMembers = newValue
        }
    }
    /// Ordered relationships only: the members in order; while not loaded the added ones in the order they came.
    @exclusivity(unchecked) private var order: [NSManagedObject] = []

    /// Unsaved changes of membership.
    private(set) var added: ObjectSet {
        get { areAllAdded ? storedMembers : storedAdded }
        _modify {
            keepApart()
            yield &storedAdded
        }
    }
    @exclusivity(unchecked) private(set) var removed = ObjectSet()
    @exclusivity(unchecked) private var storedAdded = ObjectSet()
    /// Whether the members are the added ones, as in a new object: then they are kept once.
    @exclusivity(unchecked) private var areAllAdded: Bool
    /// The saved order, kept from the first change of a loaded ordered relationship on.
    @exclusivity(unchecked) private var committedOrder: [NSManagedObject]?

    /// The order before the contents were forgotten, where it had unsaved changes: they shall show in the contents that
    /// are read next.
    @exclusivity(unchecked) private var wantedOrder: [NSManagedObject]?

    /// Whether the contents were forgotten because another context or process may have changed them: then it is open,
    /// until they are read, whether a member that comes or goes is a saved one.
    private(set) var isStale = false

    /// Changes of membership since the event began, and the order as it was then.
    private(set) var eventAdded: ObjectSet {
        get { areAllAddedInEvent ? storedMembers : storedEventAdded }
        _modify {
            keepApart()
            yield &storedEventAdded
        }
    }
    @exclusivity(unchecked) private(set) var eventRemoved = ObjectSet()
    @exclusivity(unchecked) private var storedEventAdded = ObjectSet()
    /// The same as ``areAllAdded`` for the event.
    @exclusivity(unchecked) private var areAllAddedInEvent: Bool
    private(set) var eventOrder: [NSManagedObject]?

    /// - Parameter isLoaded: `true` for a new object, whose relationships are empty and not faults.
    init(isOrdered: Bool, isLoaded: Bool) {
        self.isOrdered = isOrdered
        self.isLoaded = isLoaded
        areAllAdded = isLoaded
        areAllAddedInEvent = isLoaded
    }

    /// Before the members, or those that were added, change alone.
    private func keepApart() {
        typed = nil
        if areAllAdded {
            storedAdded = storedMembers
            areAllAdded = false
        }
        if areAllAddedInEvent {
            storedEventAdded = storedMembers
            areAllAddedInEvent = false
        }
    }

    // MARK: Reading

    /// The members, in order if the relationship has one. Only what is known while not loaded.
    @usableFromInline var contents: [NSManagedObject] { isOrdered ? order : storedMembers.all }
    /// The members without an order.
    var memberSet: Set<NSManagedObject> { Set(storedMembers) }
    var count: Int { storedMembers.count }

    /// The members that are of a class, as a set of that class. Made once for as many readings as there are until the
    /// members change.
    @inlinable
    func typedMembers<Member: Hashable>() -> Set<Member> {
        if let known = typed as? TypedMembers<Member> { return known.all }
        let made = TypedMembers<Member>(contents)
        typed = made
        return made.all
    }

    func contains(_ object: NSManagedObject) -> Bool {
        storedMembers.prepareForSearch()
        return storedMembers.contains(object)
    }

    /// Whether the contents differ from the saved ones.
    var hasChanges: Bool {
        if !added.isEmpty || !removed.isEmpty { return true }
        guard let committedOrder else { return wantedOrder != nil }
        return !committedOrder.elementsEqual(order, by: ===)
    }

    /// The saved contents. Meaningful when loaded.
    var committedContents: [NSManagedObject] {
        if let committedOrder { return committedOrder }
        if isOrdered { return order.filter { !added.contains($0) } }
        return members.filter { !added.contains($0) } + removed.all
    }

    /// Whether the contents differ from those at the start of the event.
    var hasEventChanges: Bool {
        if !eventAdded.isEmpty || !eventRemoved.isEmpty { return true }
        guard let eventOrder else { return false }
        return !eventOrder.elementsEqual(order, by: ===)
    }

    /// The contents at the start of the event, in order if the relationship has one. Meaningful when loaded.
    var contentsBeforeEvent: [NSManagedObject] {
        eventOrder ?? members.filter { !eventAdded.contains($0) } + eventRemoved.all
    }

    // MARK: Changing

    /// Adds a member: at `index` of an ordered relationship, or at the end.
    ///
    /// - Returns: whether it was not a member yet, as far as is known.
    @discardableResult
    func insert(_ object: NSManagedObject, at index: Int? = nil) -> Bool {
        guard !contains(object) else { return false }
        noteOrder()
        let isAdded = removed.isEmpty || !removed.remove(object) || isStale
        let isAddedInEvent = eventRemoved.isEmpty || !eventRemoved.remove(object)
        if !isAdded || !isAddedInEvent { keepApart() }
        typed = nil
        storedMembers.insertNew(object)
        if isAdded, !areAllAdded { storedAdded.insert(object) }
        if isAddedInEvent, !areAllAddedInEvent { storedEventAdded.insert(object) }
        if isOrdered { order.insert(object, at: min(index ?? order.count, order.count)) }
        wantedOrder?.append(object)
        return true
    }

    /// Takes a member out.
    ///
    /// - Returns: whether it was a member; while not loaded, whether it was not already taken out.
    @discardableResult
    func remove(_ object: NSManagedObject) -> Bool {
        guard contains(object) || (!isLoaded && !removed.contains(object)) else { return false }
        noteOrder()
        members.remove(object)
        if isOrdered, let index = order.lastIndex(where: { $0 === object }) { order.remove(at: index) }
        if let index = wantedOrder?.lastIndex(where: { $0 === object }) { wantedOrder?.remove(at: index) }
        let wasNew = added.remove(object)
        if !wasNew || isStale { removed.insert(object) }
        if !eventAdded.remove(object) { eventRemoved.insert(object) }
        return true
    }

    /// Puts the members of an ordered relationship into another order.
    func reorder(_ objects: [NSManagedObject]) {
        noteOrder()
        order = objects
    }

    /// Puts the members of an ordered relationship into the order of `objects`, as far as they are among them; the others
    /// stay behind them.
    func reorder(by objects: [NSManagedObject]) {
        let first = objects.filter(contains)
        let placed = Set(first)
        let wanted = first + order.filter { !placed.contains($0) }
        if !wanted.elementsEqual(order, by: ===) { reorder(wanted) }
    }

    private func noteOrder() {
        guard isOrdered, isLoaded else { return }
        if committedOrder == nil { committedOrder = order }
        if eventOrder == nil { eventOrder = order }
    }

    // MARK: Loading, saving, undoing

    /// Takes over what the store has, and puts the unsaved changes on top. What others did too is no change any more.
    func load(_ stored: [NSManagedObject]) {
        isLoaded = true
        isStale = false
        members = ObjectSet(removed.isEmpty ? stored : stored.filter { !removed.contains($0) })
        for object in added { members.insert(object) }
        forgetChanges(alreadyIn: stored)
        guard isOrdered else { return }
        if !added.isEmpty || !removed.isEmpty || wantedOrder != nil { committedOrder = stored }
        let kept = stored.filter(contains)
        let first = wantedOrder?.filter(contains) ?? kept
        let placed = Set(first)
        let rest = (kept + order).filter { contains($0) && !placed.contains($0) }
        order = first + rest
        wantedOrder = nil
        if eventOrder == nil, !eventAdded.isEmpty || !eventRemoved.isEmpty {
            eventOrder = order.filter { !eventAdded.contains($0) } + stored.filter { eventRemoved.contains($0) }
        }
    }

    private func forgetChanges(alreadyIn stored: [NSManagedObject]) {
        guard !added.isEmpty || !removed.isEmpty else { return }
        var saved = ObjectSet(stored)
        saved.prepareForSearch()
        for object in added.all where saved.contains(object) { added.remove(object) }
        for object in removed.all where !saved.contains(object) { removed.remove(object) }
    }

    /// The contents are the saved ones from now on.
    func commit() {
        areAllAdded = false
        storedAdded = ObjectSet()
        removed = ObjectSet()
        committedOrder = nil
        wantedOrder = nil
        if isOrdered, !isLoaded { order = [] }
        if !isLoaded { members = ObjectSet() }
        isStale = false
    }

    /// The owner's row is gone: should the owner come back, all of its contents are new.
    func disownByStore() {
        // Without having been read, what is known of them are those that were added.
        let known = contents
        commit()
        isLoaded = true
        members = ObjectSet(known)
        if isOrdered { order = known }
        storedMembers.prepareForSearch()
        added = storedMembers
    }

    /// Back to the saved contents.
    func revert() {
        if isLoaded {
            let saved = committedContents
            members = ObjectSet(saved)
            if isOrdered { order = saved }
        } else {
            members = ObjectSet()
            order = []
        }
        added = ObjectSet()
        removed = ObjectSet()
        committedOrder = nil
        wantedOrder = nil
        isStale = false
        endEvent()
    }

    /// Forgets what was read; the unsaved changes stay.
    func turnIntoFault() {
        if isOrdered {
            if isLoaded, hasChanges { wantedOrder = order }
            order = order.filter { added.contains($0) }
        }
        members = added
        committedOrder = nil
        isLoaded = false
        isStale = true
    }

    /// Takes a member out of the contents that were just read: an unsaved change, but none of the event.
    func takeOut(_ object: NSManagedObject) {
        if isOrdered, committedOrder == nil { committedOrder = order }
        members.remove(object)
        order.removeAll { $0 === object }
        if !added.remove(object) { removed.insert(object) }
    }

    /// Others saved that `object` is a member, or is none; whether it is wanted here stays. Call it while the contents are
    /// not loaded.
    func rebase(_ object: NSManagedObject, isStored: Bool, isWanted: Bool) {
        if isWanted, !isStored {
            removed.remove(object)
            if added.insert(object), isOrdered { order.append(object) }
            members.insert(object)
            return
        }
        added.remove(object)
        members.remove(object)
        order.removeAll { $0 === object }
        if isWanted || !isStored {
            removed.remove(object)
        } else {
            removed.insert(object)
        }
        if !isWanted { wantedOrder?.removeAll { $0 === object } }
    }

    /// Forgets an object whose row is gone: that is no change.
    func discard(_ object: NSManagedObject) {
        members.remove(object)
        added.remove(object)
        removed.remove(object)
        eventAdded.remove(object)
        eventRemoved.remove(object)
        order.removeAll { $0 === object }
        committedOrder?.removeAll { $0 === object }
        wantedOrder?.removeAll { $0 === object }
        eventOrder?.removeAll { $0 === object }
    }

    func endEvent() {
        areAllAddedInEvent = false
        storedEventAdded = ObjectSet()
        eventRemoved = ObjectSet()
        eventOrder = nil
    }
}

/// Members of a relationship as a set of the class that a property is declared with.
@usableFromInline
final class TypedMembers<Member: Hashable> {
    @usableFromInline let all: Set<Member>

    @inlinable
    init(_ members: [NSManagedObject]) {
        var all = Set<Member>(minimumCapacity: members.count)
        // insert(_:) gives the member back besides, which would be retained for it.
        for case let member as Member in members { all.update(with: member) }
        self.all = all
    }
}
