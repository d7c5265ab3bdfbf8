/// The order in which a fetch found its objects. Stores only their keys.
final class FetchOrder {
    let layout: EntityLayout
    let store: StoreReference
    private let keys: FaultBatch
    /// The number of next objects among which a key is searched: a walk may skip some.
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

    /// The position of `key`, at `start` or a little after it.
    func place(of key: RowKey, from start: Int) -> Int? {
        (start..<max(start, min(start + Self.reach, count))).first { self.key(at: $0) == key }
    }
}

/// A walk through the objects of a fetch that reads one to-many relationship of each object in turn.
final class ListWalk {
    let order: FetchOrder
    /// The position after the object that was read last.
    private(set) var next = 0
    /// The number of objects read in order so far.
    private(set) var run = 0
    /// Lists that were read ahead and not used yet.
    var ahead: ListsAhead?
    /// The number of objects whose lists are read ahead.
    private var window = 2
    private var lastLength = 0

    init(along order: FetchOrder) { self.order = order }

    /// Records that an object is read, to detect reads in the order of the list.
    ///
    /// - Returns: true if the object of `key` is next, or nearly.
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

    /// Doubles the number of lists to read ahead, within the limits, assuming that they are as long as the last one.
    func widen(to greatest: Int, memberLimit: Int) -> Int {
        window = min(window * 2, greatest)
        return min(window, memberLimit / max(lastLength, 1))
    }

    /// Narrows the window after a failure to read ahead: there were too many members, or an error.
    func narrow() { window = 1 }

    /// Drops the lists that were read ahead. If some were not used, fewer lists are read ahead from now on.
    func dropAhead() {
        if let ahead, ahead.hasMore { window = max(ahead.usedCount / 2, 1) }
        ahead = nil
    }
}

/// Lists that one query read and that are not used yet.
final class ListsAhead {
    let changeCount: Int64
    private let owners: [RowKey]
    private var found: DestinationRows
    private var maker: FaultMaker
    private let readAt = ContinuousClock.now
    private(set) var usedCount = 0
    /// True while a list is created: an initialiser or `deinit` of the user's class may read another one.
    private var isInUse = false

    init(owners: [RowKey], found: consuming DestinationRows, maker: FaultMaker, changeCount: Int64) {
        self.owners = owners
        self.found = found
        self.maker = maker
        self.changeCount = changeCount
    }

    var age: Duration { ContinuousClock.now - readAt }

    var hasMore: Bool { usedCount < owners.count }

    /// The members of that owner's list, with their rows; `nil` if the list was not read or was already returned, and
    /// while another one is created.
    func members(of owner: RowKey) -> [NSManagedObject]? {
        guard !isInUse, let place = owners[usedCount...].firstIndex(of: owner) else { return nil }
        usedCount = place + 1
        isInUse = true
        defer { isInUse = false }
        return maker.list(of: &found, at: place)
    }
}
