/// The destinations of relationships as objects, and their loading state.
extension NSManagedObject {
    /// The state of the relationship or fetched property at `index` of ``RelationPlaces``.
    @inline(__always)
    private func relation(_ index: Int) -> AnyObject? {
        relation(index, of: withTraits { $0.relationCount })
    }

    @inline(__always)
    private func setRelation(_ value: AnyObject?, _ index: Int) {
        setRelation(value, index, of: withTraits { $0.relationCount })
    }

    // MARK: To-one

    /// The destination of the to-one relationship in `slot`. Fires this object's fault, not the destination's.
    // SAFETY: places of to-one relationships contain managed objects only, as only `remember` sets them.
    package final func toOneTarget(_ slot: Int) -> NSManagedObject? {
        guard case .reference(let id) = slotValue(slot) else { return nil }
        if let known = relation(slot - layout.attributeCount) {
            let target = unsafeDowncast(known, to: NSManagedObject.self)
            if target.isNamed(id), isInSameContext(target) { return target }
        }
        guard let context = managedObjectContext else { return nil }
        let target = context.ownedObject(id)
        remember(target, slot: slot)
        return target
    }

    /// Retains the destination as long as this object refers to it.
    final func remember(_ target: NSManagedObject?, slot: Int) {
        setRelation(target, slot - layout.attributeCount)
    }

    // MARK: To-many

    /// The state of the to-many relationship `number`, created if needed.
    // SAFETY: places of to-many relationships contain only `ToManyState`s, as only this function sets them.
    final func toManyState(_ number: Int) -> ToManyState {
        let index = withTraits { $0.toOneCount } + number
        if let known = relation(index) { return unsafeDowncast(known, to: ToManyState.self) }
        let state = ToManyState(
            isOrdered: layout.toManyRelationships[number].isOrdered, isLoaded: !flags.contains(.stored))
        setRelation(state, index)
        return state
    }

    /// The state of the to-many relationship `number` if it was touched.
    // SAFETY: see `toManyState`.
    final func knownToManyState(_ number: Int) -> ToManyState? {
        relation(withTraits { $0.toOneCount } + number).map { unsafeDowncast($0, to: ToManyState.self) }
    }

    /// The state of the to-many relationship `number`, with its members read.
    final func loadedToManyState(_ number: Int) -> ToManyState {
        let state = toManyState(number)
        if !state.isLoaded { managedObjectContext?.loadMembers(of: self, number: number) }
        return state
    }

    /// The members of the to-many relationship `number`, in its order if it is ordered.
    package final func toManyTargets(_ number: Int) -> [NSManagedObject] { loadedToManyState(number).contents }

    /// All states that were touched, with their relationships' numbers.
    final var touchedToMany: [(number: Int, state: ToManyState)] {
        var touched: [(number: Int, state: ToManyState)] = []
        forEachTouchedToMany { touched.append(($0, $1)) }
        return touched
    }

    /// Calls `body` with each state that was touched, and its relationship's number.
    // SAFETY: see `toManyState`.
    @inline(__always)
    final func forEachTouchedToMany(_ body: (_ number: Int, _ state: ToManyState) throws -> Void) rethrows {
        if !hasRelations { return }
        let places = withTraits { $0.toOneCount..<$0.fetchedStart }
        for index in places {
            guard let known = relation(index) else { continue }
            try body(index - places.lowerBound, unsafeDowncast(known, to: ToManyState.self))
        }
    }

    // MARK: Fetched properties

    /// The results of the fetched property `number`: fetched once, and cached until the object is refreshed.
    final func fetchedObjects(_ number: Int) -> [AnyObject] {
        let index = layout.traits.fetchedStart + number
        if let known = relation(index) as? FetchedPropertyValue { return known.all }
        guard let context = managedObjectContext else { return [] }
        let found = context.objects(ofFetchedProperty: number, of: self)
        setRelation(FetchedPropertyValue(found), index)
        return found
    }

    /// Drops the results of fetched properties, to be fetched again on the next read.
    final func forgetFetched() {
        guard hasRelations else { return }
        let (start, end) = withTraits { ($0.fetchedStart, $0.relationCount) }
        for index in start..<end where relation(index) != nil {
            changing(.fetched(index - start)) { setRelation(nil, index) }
        }
    }

    private final class FetchedPropertyValue {
        let all: [AnyObject]
        init(_ all: [AnyObject]) { self.all = all }
    }

    // MARK: By name

    final func relationshipIsFault(_ key: String) -> Bool {
        switch layout.place(of: key) {
        case .toMany(let number):
            if let state = knownToManyState(number) { return !state.isLoaded }
            return flags.contains(.stored)
        case .toOne(let slot):
            if isFault { return true }
            guard case .reference(let id) = currentValue(slot) else { return false }
            return managedObjectContext?.knownObject(id)?.isFault ?? true
        default: preconditionFailure("'\(entity.name ?? "")' has no relationship named '\(key)'.")
        }
    }

    final func destinationIDs(_ key: String) -> [NSManagedObjectID] {
        switch layout.place(of: key) {
        case .toMany(let number): return toManyTargets(number).map(\.objectID)
        case .toOne(let slot): return toOneTarget(slot).map { [$0.objectID] } ?? []
        default: preconditionFailure("'\(entity.name ?? "")' has no relationship named '\(key)'.")
        }
    }
}
