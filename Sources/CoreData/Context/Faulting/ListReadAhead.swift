/// Reads to-many lists before they are asked for, while the objects of a fetch are walked in its order: with the list
/// of one object come those of the next, in one query where there would be one for each.
///
/// What was read ahead shows nowhere before it is asked for: the relationships stay faults, and no object is made. It is
/// used as long as it is what a query would find now: until a context writes through the same coordinator or the
/// owner hears of changes, and no longer than ``lifetime``, as others may write to the file too. Belongs to the
/// context's queue.
final class ListReadAhead {
    /// How long lists that were read ahead are used: as long as a transaction that reads all of them might take.
    var lifetime = Duration.milliseconds(20)
    /// How many lists of a relationship are asked for in order before more are read than were asked for.
    private static let sureAfter = 2
    private static let greatestWindow = 64
    /// How many members are read ahead at most.
    private static let memberLimit = 1024
    /// Of how many fetches the order is kept.
    private static let fetchLimit = 4

    // SAFETY: the context owns it, and is not used by it once it goes away.
    private let unretained: Unretained<NSManagedObjectContext>
    private var context: NSManagedObjectContext { @inline(__always) get { unretained.object } }
    /// The latest last.
    private var fetches: [FetchOrder] = []
    private var walks: [ObjectIdentifier: ListWalk] = [:]

    init(context: NSManagedObjectContext) { unretained = Unretained(context) }

    // MARK: What others tell

    /// Objects were fetched with their rows, in this order; `layout` is that of the first.
    func noteFetch(of keys: [RowKey], _ layout: EntityLayout, from store: any RowStore) {
        guard keys.count > Self.sureAfter + 1, !layout.toManyRelationships.isEmpty, let reference = store.reference
        else { return }
        fetches.removeAll { $0.layout === layout }
        if fetches.count == Self.fetchLimit { fetches.removeFirst() }
        fetches.append(FetchOrder(layout: layout, keys: FaultBatch.make(keys, of: reference), store: reference))
    }

    /// What was read may not be what the store has, or what the context sees, any more.
    func forgetLists() { for walk in walks.values { walk.ahead = nil } }

    func forgetAll() {
        fetches = []
        walks = [:]
    }

    // MARK: Reading

    /// The members of the to-many relationship `number` of `owner` as they are stored; `nil` where they have to be read as
    /// usual.
    ///
    /// - Parameter readsRows: Whether the members' rows are wanted too. Only then lists are read ahead.
    func members(of owner: NSManagedObject, number: Int, readsRows: Bool) -> [NSManagedObject]? {
        // Where contexts know each other's temporary IDs, objects are not found by their rows alone.
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

    /// A list was read as usual, with so many members.
    func didRead(_ relationship: NSRelationshipDescription, count: Int) {
        walks[ObjectIdentifier(relationship)]?.noteLength(count)
    }

    /// The walk that comes to the object of `key` with this step; `nil` where it is in no known order.
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

    /// The next objects of the walk whose lists wait to be read.
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

    /// How much was written through the context's coordinator to the store; `nil` where that is not told.
    private func changeCount(of store: any RowStore) -> Int64? {
        context.source?.withLock { store.operations.ownChangeCount } ?? nil
    }
}
