/// Reads to-many relationships before they are used, while the objects of a fetch are walked in order: one query reads
/// the members of one object and of the next ones, instead of one query for each.
///
/// Lists that were read ahead have no effect until they are used: the relationships stay faults, and no object is
/// created. They are used while a query would return the same: until a context writes through the same coordinator or
/// the owner is notified of changes, and no longer than ``lifetime``, because others may write to the file too. Belongs
/// to the context's queue.
final class ListReadAhead {
    /// The time for which lists are used after reading: about as long as a transaction that reads all of them.
    var lifetime = Duration.milliseconds(20)
    /// The number of lists of a relationship that must be read in order before reading ahead begins.
    private static let sureAfter = 2
    private static let greatestWindow = 64
    /// The maximum number of members to read ahead.
    private static let memberLimit = 1024
    /// The number of fetches whose order is kept.
    private static let fetchLimit = 4

    // SAFETY: the context owns it and outlives every use of the reference.
    private let unretained: Unretained<NSManagedObjectContext>
    private var context: NSManagedObjectContext { @inline(__always) get { unretained.object } }
    /// The orders of recent fetches, the latest last.
    private var fetches: [FetchOrder] = []
    private var walks: [ObjectIdentifier: ListWalk] = [:]

    init(context: NSManagedObjectContext) { unretained = Unretained(context) }

    // MARK: Recording fetches

    /// Records that objects were fetched with their rows, in this order; `layout` is that of the first.
    func noteFetch(of keys: [RowKey], _ layout: EntityLayout, from store: any RowStore) {
        guard keys.count > Self.sureAfter + 1, !layout.toManyRelationships.isEmpty, let reference = store.reference
        else { return }
        fetches.removeAll { $0.layout === layout }
        if fetches.count == Self.fetchLimit { fetches.removeFirst() }
        fetches.append(FetchOrder(layout: layout, keys: FaultBatch.make(keys, of: reference), store: reference))
    }

    /// Drops lists that may differ from what the store has or the context sees.
    func forgetLists() { for walk in walks.values { walk.ahead = nil } }

    func forgetAll() {
        fetches = []
        walks = [:]
    }

    // MARK: Reading

    /// The stored members of the to-many relationship `number` of `owner`; `nil` if they must be read as usual.
    ///
    /// - Parameter readsRows: True if the members' rows are wanted too. Only then lists are read ahead.
    func members(of owner: NSManagedObject, number: Int, readsRows: Bool) -> [NSManagedObject]? {
        // If contexts know each other's temporary IDs, objects cannot be found by row keys alone.
        guard !fetches.isEmpty, !context.registry.sharesTemporaryIDs, let key = owner.rowKey else { return nil }
        let relationship = owner.layout.toManyRelationships[number]
        guard let reference = owner.storeReference, let store = reference.rowStore,
            let walk = walk(along: relationship, to: key, reference)
        else { return nil }
        let changeCount = changeCount(of: store)
        if let ahead = walk.ahead {
            if ahead.changeCount == changeCount, ahead.age < lifetime, let members = ahead.members(of: key) {
                walk.noteLength(members.count)
                return members
            }
            walk.dropAhead()
        }
        guard readsRows, let changeCount, walk.run > Self.sureAfter else { return nil }
        let owners = [key] + followers(of: walk, number, relationship, in: store)
        guard owners.count > 1, let source = context.source, let maker = context.registry.maker(for: store) else {
            return nil
        }
        let found = try? source.destinationRows(
            of: relationship, inOrderOf: owners.map(store.operations.objectID), limit: Self.memberLimit,
            most: Self.memberLimit)
        guard let found else {
            walk.narrow()
            return nil
        }
        walk.ahead = ListsAhead(owners: owners, found: found.found, maker: maker, changeCount: changeCount)
        return walk.ahead?.members(of: key)
    }

    /// Records the number of members of a list that was read as usual.
    func didRead(_ relationship: NSRelationshipDescription, count: Int) {
        walks[ObjectIdentifier(relationship)]?.noteLength(count)
    }

    /// The walk whose next step is the object of `key`; `nil` if the object is in no known order.
    private func walk(
        along relationship: NSRelationshipDescription, to key: RowKey, _ store: StoreReference
    ) -> ListWalk? {
        if let known = walks[ObjectIdentifier(relationship)], known.order.store === store, known.step(to: key) {
            return known
        }
        for order in fetches.reversed() where order.store === store {
            let begun = ListWalk(along: order)
            guard begun.step(to: key) else { continue }
            walks[ObjectIdentifier(relationship)] = begun
            return begun
        }
        return nil
    }

    /// The next objects of the walk whose lists are not read.
    private func followers(
        of walk: ListWalk, _ number: Int, _ relationship: NSRelationshipDescription, in store: any RowStore
    ) -> [RowKey] {
        let window = walk.widen(to: Self.greatestWindow, memberLimit: Self.memberLimit / 2)
        return (walk.next..<min(walk.next + window, walk.order.count)).compactMap { place in
            guard let key = walk.order.key(at: place), let object = context.registry.registered(key, in: store),
                number < object.layout.toManyRelationships.count,
                object.layout.toManyRelationships[number] === relationship,
                !(object.knownToManyState(number)?.isLoaded ?? false)
            else { return nil }
            return key
        }
    }

    /// The number of changes made to the store through the context's coordinator; `nil` if the store does not count
    /// them.
    private func changeCount(of store: any RowStore) -> Int64? {
        context.source?.withLock { store.operations.ownChangeCount } ?? nil
    }
}
