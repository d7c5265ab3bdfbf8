/// Finds the object of a row.
///
/// Rows of one entity that were made together have neighbouring numbers, and so have most that are read together. So
/// objects stand in pages of neighbouring rows, and the pages in a table with open addressing and linear probing: a list
/// of many objects takes little more than a word for each, and the next object is mostly in the page of the last one.
///
/// Holds its objects strongly, and gives those up that nobody else holds when it is told to: ``takeUnused()``. Weak
/// references would do that at once, but they cost every object a side table, and every later retain and release of it a
/// detour through that.
final class RowTable {
    private typealias Page = UnsafeMutablePointer<NSManagedObject?>

    private struct Entry {
        /// The entity, and the number of the page: that of a row without its last bits.
        var key = RowTable.free
        /// Memory of the table's own, with ``pageSize`` places. `nil` where no row of the page was ever noted.
        var page: Page?
    }

    private static let pageBits: Int64 = 4
    private static let pageSize = 1 << 4

    /// The key of an entry that was never used. No entity has this index.
    private static let free = RowKey(entity: .max, reference: 0)

    // Every look-up reads it, and the context's queue is the only one that does: not checked for overlapping accesses.
    @exclusivity(unchecked)
    private var entries: [Entry] = Array(repeating: Entry(), count: 16)
    /// Entries that have a key.
    private var used = 0
    /// How many objects came since objects were last let go.
    private(set) var newcomers = 0

    deinit { for entry in entries { entry.page.map(Self.free(_:)) } }

    private static func free(_ page: Page) {
        page.deinitialize(count: pageSize)
        page.deallocate()
    }

    private static func makePage() -> Page {
        let page = Page.allocate(capacity: pageSize)
        page.initialize(repeating: nil, count: pageSize)
        return page
    }

    @inline(__always)
    private static func pageKey(_ key: RowKey) -> RowKey {
        RowKey(entity: key.entity, reference: key.reference >> pageBits)
    }

    @inline(__always)
    private static func place(_ key: RowKey) -> Int {
        Int(truncatingIfNeeded: key.reference) & (pageSize - 1)
    }

    /// The place of a page's `key`, or the free place where it belongs.
    @inline(__always)
    private func index(of key: RowKey) -> Int {
        let mask = entries.count - 1
        var hash = UInt64(bitPattern: key.reference) &+ UInt64(key.entity) &* 0x9E37_79B9_7F4A_7C15
        hash = (hash ^ (hash >> 32)) &* 0xD6E8_FEB8_6659_FD93
        var index = Int(truncatingIfNeeded: hash >> 32) & mask
        while entries[index].key != key, entries[index].key != Self.free { index = (index + 1) & mask }
        return index
    }

    @inline(__always)
    subscript(key: RowKey) -> NSManagedObject? {
        guard let page = entries[index(of: Self.pageKey(key))].page else { return nil }
        return page[Self.place(key)]
    }

    private var isFull: Bool { used * 3 >= entries.count * 2 }

    /// Whether an object of `key` would make the table grow: the moment to take out what is not used.
    func mustGrow(for key: RowKey) -> Bool { isFull && entries[index(of: Self.pageKey(key))].page == nil }

    func insert(_ object: NSManagedObject, for key: RowKey) {
        newcomers += 1
        let pageKey = Self.pageKey(key)
        var index = index(of: pageKey)
        if entries[index].page == nil {
            if isFull {
                rebuild()
                index = self.index(of: pageKey)
            }
            if entries[index].key != pageKey { used += 1 }
            entries[index] = Entry(key: pageKey, page: Self.makePage())
        }
        replace(in: entries[index].page, Self.place(key), by: object)
    }

    /// Forgets the object of `key`; its page stays for its neighbours' sake.
    func remove(_ key: RowKey) {
        replace(in: entries[index(of: Self.pageKey(key))].page, Self.place(key), by: nil)
    }

    private func replace(in page: Page?, _ place: Int, by object: NSManagedObject?) {
        guard let page else { return }
        // What goes away with the old object may come back to the table: not before the place is written.
        let old = page[place]
        page[place] = object
        withExtendedLifetime(old) {}
    }

    /// Takes the objects out that nobody else holds; they go away when the caller drops them, and what they alone held is
    /// unused from then on.
    func takeUnused() -> [NSManagedObject] {
        newcomers = 0
        var unused: [NSManagedObject] = []
        for index in entries.indices {
            guard let page = entries[index].page else { continue }
            var isEmpty = true
            for place in 0..<Self.pageSize where page[place] != nil {
                guard isKnownUniquelyReferenced(&page[place]), let object = page[place] else {
                    isEmpty = false
                    continue
                }
                page[place] = nil
                object.managedObjectContext = nil
                unused.append(object)
            }
            if isEmpty {
                Self.free(page)
                // The entry stays for the chain's sake.
                entries[index].page = nil
            }
        }
        return unused
    }

    /// Makes room, without the entries that have no page.
    private func rebuild(adding count: Int = 1) {
        let living = entries.filter { $0.page != nil }
        var capacity = 16
        while capacity < (living.count + count) * 2 { capacity *= 2 }
        entries = Array(repeating: Entry(), count: capacity)
        used = living.count
        for entry in living { entries[index(of: entry.key)] = entry }
    }

    /// Makes room for so many more objects in a row.
    func reserve(_ count: Int) {
        let pages = count / Self.pageSize + 2
        if (used + pages) * 3 >= entries.count * 2 { rebuild(adding: pages) }
    }

    var objects: [NSManagedObject] {
        var result: [NSManagedObject] = []
        forEach { result.append($0) }
        return result
    }

    /// Calls `body`, which must not change the table, with each object.
    func forEach(_ body: (NSManagedObject) -> Void) {
        for entry in entries {
            guard let page = entry.page else { continue }
            for place in 0..<Self.pageSize {
                if let object = page[place] { body(object) }
            }
        }
    }
}
