/// The destinations of one to-many relationship of one object, and their differences from the saved ones.
///
/// The members are read from the store on demand. Until then the state is a fault that may already have changes,
/// `added` and `removed`: so an inverse can be updated without reading a list of a hundred thousand. For undo, the
/// differences from the start of the current event are stored too.
// SAFETY: the properties that each change of a member accesses are used on the queue of the object only, and no user
// code runs during a change: no accesses overlap.
@usableFromInline
final class ToManyState {
    let isOrdered: Bool
    private(set) var isLoaded: Bool
    @exclusivity(unchecked) private var storedMembers = ObjectSet()
    /// The last result of ``typedMembers()``, until the members change.
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
    /// Ordered relationships only: the members in order; while not loaded, the added ones in order of addition.
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
    /// True if all members are added ones, as in a new object: then they are stored only once.
    @exclusivity(unchecked) private var areAllAdded: Bool
    /// The saved order, stored at the first change of a loaded ordered relationship.
    @exclusivity(unchecked) private var committedOrder: [NSManagedObject]?

    /// The order before the members were dropped, if it had unsaved changes. Applied to the members that are read next.
    @exclusivity(unchecked) private var wantedOrder: [NSManagedObject]?

    /// True if the members were dropped because another context or process may have changed them. Until they are read,
    /// it is unknown if an added or removed member is a saved one.
    private(set) var isStale = false

    /// Changes of membership since the event began, and the order at its start.
    private(set) var eventAdded: ObjectSet {
        get { areAllAddedInEvent ? storedMembers : storedEventAdded }
        _modify {
            keepApart()
            yield &storedEventAdded
        }
    }
    @exclusivity(unchecked) private(set) var eventRemoved = ObjectSet()
    @exclusivity(unchecked) private var storedEventAdded = ObjectSet()
    /// ``areAllAdded`` for the event.
    @exclusivity(unchecked) private var areAllAddedInEvent: Bool
    private(set) var eventOrder: [NSManagedObject]?

    /// - Parameter isLoaded: `true` for a new object, whose relationships are empty and not faults.
    init(isOrdered: Bool, isLoaded: Bool) {
        self.isOrdered = isOrdered
        self.isLoaded = isLoaded
        areAllAdded = isLoaded
        areAllAddedInEvent = isLoaded
    }

    /// Call this before the members or the added ones change independently.
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

    /// The members, in order if the relationship is ordered. While not loaded, only those known.
    @usableFromInline var contents: [NSManagedObject] { isOrdered ? order : storedMembers.all }
    /// The members as a set.
    var memberSet: Set<NSManagedObject> { Set(storedMembers) }
    var count: Int { storedMembers.count }

    /// The members of a class, as a set of that class. Created once, until the members change.
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

    /// True if the members or their order differ from the saved ones.
    var hasChanges: Bool {
        if !added.isEmpty || !removed.isEmpty { return true }
        guard let committedOrder else { return wantedOrder != nil }
        return !committedOrder.elementsEqual(order, by: ===)
    }

    /// The saved members. Only valid if loaded.
    var committedContents: [NSManagedObject] {
        if let committedOrder { return committedOrder }
        if isOrdered { return order.filter { !added.contains($0) } }
        return members.filter { !added.contains($0) } + removed.all
    }

    /// True if the members or their order differ from those at the start of the event.
    var hasEventChanges: Bool {
        if !eventAdded.isEmpty || !eventRemoved.isEmpty { return true }
        guard let eventOrder else { return false }
        return !eventOrder.elementsEqual(order, by: ===)
    }

    /// The members at the start of the event, in order if the relationship is ordered. Only valid if loaded.
    var contentsBeforeEvent: [NSManagedObject] {
        eventOrder ?? members.filter { !eventAdded.contains($0) } + eventRemoved.all
    }

    // MARK: Changing

    /// Adds a member: at `index` of an ordered relationship, or at the end.
    ///
    /// - Returns: `true` if it was not a member yet, as far as is known.
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

    /// Removes a member.
    ///
    /// - Returns: `true` if it was a member; while not loaded, `true` unless it was already removed.
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

    /// Sets the order of the members of an ordered relationship.
    func reorder(_ objects: [NSManagedObject]) {
        noteOrder()
        order = objects
    }

    /// Moves the members that are in `objects` to the front of an ordered relationship, in the order of `objects`.
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

    /// Sets the members read from the store and applies the unsaved changes, except those that others have saved too.
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

    /// Makes the current members the saved ones.
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

    /// Makes all members unsaved after the owner's row was deleted, in case the owner is restored.
    func disownByStore() {
        // If never read, the known members are the added ones.
        let known = contents
        commit()
        isLoaded = true
        members = ObjectSet(known)
        if isOrdered { order = known }
        storedMembers.prepareForSearch()
        added = storedMembers
    }

    /// Restores the saved members.
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

    /// Drops the members that were read, and keeps the unsaved changes.
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

    /// Removes a member from those that were just read. Counts as an unsaved change, but not as one of the event.
    func takeOut(_ object: NSManagedObject) {
        if isOrdered, committedOrder == nil { committedOrder = order }
        members.remove(object)
        order.removeAll { $0 === object }
        if !added.remove(object) { removed.insert(object) }
    }

    /// Updates the changes after another context or process saved that `object` is a member, or is not. The membership
    /// that this context's edits set is kept. Call this while the members are not loaded.
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

    /// Removes an object whose row no longer exists, without recording a change.
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

/// The members of a relationship as a set of a property's declared class.
@usableFromInline
final class TypedMembers<Member: Hashable> {
    @usableFromInline let all: Set<Member>

    @inlinable
    init(_ members: [NSManagedObject]) {
        var all = Set<Member>(minimumCapacity: members.count)
        // insert(_:) would also return the member, and retain it for that.
        for case let member as Member in members { all.update(with: member) }
        self.all = all
    }
}
