/// The order in which a fetch found its objects. Holds their names only.
final class FetchOrder {
    let layout: EntityLayout
    let store: StoreReference
    private let keys: FaultBatch
    /// Among how many of the next objects one is looked for: some may be left out.
    private static let reach = 8

    init(layout: EntityLayout, keys: FaultBatch, store: StoreReference) {
        self.layout = layout
        self.keys = keys
        self.store = store
    }

    var count: Int { Int(keys.header.count) }

    func key(at place: Int) -> RowKey? {
        if case .row(let key, _) = keys.member(place) { return key }
        return nil
    }

    /// Where `key` stands, at `start` or a little after it.
    func place(of key: RowKey, from start: Int) -> Int? {
        (start..<max(start, min(start + Self.reach, count))).first { self.key(at: $0) == key }
    }
}

/// A walk through the objects of a fetch that reads one of their lists, one object after the other.
final class ListWalk {
    let order: FetchOrder
    /// The place in the order behind the object that was asked last.
    private(set) var next = 0
    /// How many objects were asked in order so far.
    private(set) var run = 0
    /// What was read and is still to be asked for.
    var ahead: ListsAhead?
    /// For how many objects lists are read ahead.
    private var window = 2
    private var lastLength = 0

    init(along order: FetchOrder) { self.order = order }

    /// - Returns: whether the object of `key` is next, or nearly.
    func step(to key: RowKey) -> Bool {
        guard let place = order.place(of: key, from: next) else {
            run = 0
            return false
        }
        next = place + 1
        run += 1
        return true
    }

    func noteLength(_ count: Int) { lastLength = count }

    /// Twice as many lists as the last time, within the limits: if they are as long as the last one.
    func widen(to greatest: Int, memberLimit: Int) -> Int {
        window = min(window * 2, greatest)
        return min(window, memberLimit / max(lastLength, 1))
    }

    /// Nothing could be read ahead: there were too many members, or reading failed.
    func narrow() { window = 1 }

    /// What was read ahead is of no use: the next time it is less.
    func dropAhead() {
        if let ahead, ahead.hasMore { window = max(ahead.usedCount / 2, 1) }
        ahead = nil
    }
}

/// Lists that were read with one query and not asked for yet.
final class ListsAhead {
    let changeCount: Int64
    private let owners: [RowKey]
    private var found: DestinationRows
    private var maker: FaultMaker
    private let readAt = ContinuousClock.now
    private(set) var usedCount = 0
    /// Whether a list is being made: an initialiser or `deinit` of the user's class may ask for another one meanwhile.
    private var isInUse = false

    init(owners: [RowKey], found: consuming DestinationRows, maker: FaultMaker, changeCount: Int64) {
        self.owners = owners
        self.found = found
        self.maker = maker
        self.changeCount = changeCount
    }

    var age: Duration { ContinuousClock.now - readAt }

    var hasMore: Bool { usedCount < owners.count }

    /// The members of the list of that owner, with their rows; `nil` where it was not read, or was given already, and while
    /// another one is being made.
    func members(of owner: RowKey) -> [NSManagedObject]? {
        guard !isInUse, let place = owners[usedCount...].firstIndex(of: owner) else { return nil }
        usedCount = place + 1
        isInUse = true
        defer { isInUse = false }
        return maker.list(of: &found, at: place)
    }
}
