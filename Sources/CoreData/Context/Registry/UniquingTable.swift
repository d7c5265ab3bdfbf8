import CPrefetch

/// Finds the object of a row.
///
/// Rows of one entity that were made together have neighbouring numbers, and so have most that are read together. So
/// objects stand in pages of neighbouring rows, and the pages in a table with open addressing and linear probing: a list
/// of many objects takes little more than a word for each, and the next object is usually in the page of the last one.
///
/// Holds its objects strongly, and releases those without other references when it is told to: ``takeUnused()``. Weak
/// references would do that at once, but they cost every object a side table, and every later retain and release of it a
/// detour through that.
final class UniquingTable {
    /// Memory of the table's own: the key, and behind it the places of the rows. The table itself is no larger than
    /// its addresses, and a look that finds a page has its key and its objects side by side.
    // SAFETY: a page is allocated with the alignment of its tag, and holds a key and `size` places, all initialised;
    // places are masked to `size`. The table alone frees it, once.
    private struct Page {
        private let memory: UnsafeMutableRawPointer

        static let bits: Int64 = 4
        static let size = 1 << 4
        private static let head = MemoryLayout<RowKey>.stride
        /// That of all memory: the last four bits of an address are free to tag it.
        private static let alignment = 16
        private static let tagMask = UInt(alignment - 1)

        init(_ key: RowKey) {
            memory = .allocate(
                byteCount: Self.head + Self.size * MemoryLayout<NSManagedObject?>.stride, alignment: Self.alignment)
            memory.initializeMemory(as: RowKey.self, to: key)
            objects.initialize(repeating: nil, count: Self.size)
        }

        /// The page with four bits of its key's hash, in one word: an entry of the directory.
        @inline(__always)
        func tagged(_ tag: UInt) -> UInt {
            assert(UInt(bitPattern: memory) & Self.tagMask == 0 && tag <= Self.tagMask)
            return UInt(bitPattern: memory) | tag
        }

        @inline(__always)
        init?(tagged word: UInt) {
            guard let memory = UnsafeMutableRawPointer(bitPattern: word & ~Self.tagMask) else { return nil }
            self.memory = memory
        }

        @inline(__always)
        static func tag(_ hash: UInt64) -> UInt { UInt(truncatingIfNeeded: hash >> 60) & tagMask }

        @inline(__always)
        static func hasTag(_ word: UInt, _ tag: UInt) -> Bool { word & tagMask == tag }

        func free() {
            objects.deinitialize(count: Self.size)
            memory.deallocate()
        }

        /// The entity, and the number of the page: that of a row without its last bits.
        @inline(__always)
        var key: RowKey { memory.assumingMemoryBound(to: RowKey.self).pointee }

        /// That of the row at `place`.
        func key(of place: Int) -> RowKey {
            RowKey(entity: key.entity, reference: key.reference << Self.bits | Int64(place))
        }

        /// Has the memory brought near that tells whether there is an object at `place`.
        @inline(__always)
        func prefetch(_ place: Int) {
            roster_prefetch(memory)
            roster_prefetch(objects + place)
        }

        /// Has the objects brought near.
        @inline(__always)
        func prefetchObjects() {
            for place in 0..<Page.size {
                roster_prefetch(UnsafeRawPointer(objects + place).load(as: UnsafeRawPointer?.self))
            }
        }

        /// Puts an object at `place`.
        ///
        /// - Returns: the old one, to be let go last: what goes away with it may come back to the table.
        @inline(__always)
        func exchange(_ place: Int, for object: consuming NSManagedObject?) -> NSManagedObject? {
            swap(&objects[place], &object)
            return object
        }

        @inline(__always)
        var objects: UnsafeMutablePointer<NSManagedObject?> {
            (memory + Self.head).assumingMemoryBound(to: NSManagedObject?.self)
        }
    }

    /// The pages with their tags; 0 where there is none. A look that passes by other pages usually tells so by their
    /// tags, of which many are in one line of the processor's cache, and not by the memory of each of them.
    ///
    /// Every look-up reads it.
    // SAFETY: the context's queue is the only one that uses both, and nothing is called meanwhile: no accesses overlap.
    @exclusivity(unchecked)
    private var directory: [UInt] = Array(repeating: 0, count: 16)
    /// The page that was used last: the next row is usually there too.
    @exclusivity(unchecked)
    private var last: Page?
    private var used = 0
    /// Hears of the rows whose objects come and go, where their store wants to know.
    var log: RegistrationLog?
    /// How many objects came since objects were last let go.
    private(set) var insertionCount = 0
    /// Objects in whose place others came, as long as the user's code holds them: they have to hear of the context's
    /// end.
    private var displaced: [WeakReference] = []

    private struct WeakReference {
        weak var object: NSManagedObject?
    }

    deinit { forEachPage { $0.free() } }

    @inline(__always)
    private static func pageKey(_ key: RowKey) -> RowKey {
        RowKey(entity: key.entity, reference: key.reference >> Page.bits)
    }

    @inline(__always)
    private static func place(_ key: RowKey) -> Int {
        Int(truncatingIfNeeded: key.reference) & (Page.size - 1)
    }

    @inline(__always)
    private static func hash(_ pageKey: RowKey) -> UInt64 {
        let mixed = UInt64(bitPattern: pageKey.reference) &+ UInt64(pageKey.entity) &* 0x9E37_79B9_7F4A_7C15
        return (mixed ^ (mixed >> 32)) &* 0xD6E8_FEB8_6659_FD93
    }

    /// Where the search for the page with `key` begins, and its tag.
    @inline(__always)
    private func start(_ key: RowKey, _ mask: Int) -> (index: Int, tag: UInt) {
        let hash = Self.hash(key)
        return (Int(truncatingIfNeeded: hash >> 24) & mask, Page.tag(hash))
    }

    /// The place of the page with `key`, or the free place where it belongs.
    @inline(__always)
    private func index(of key: RowKey) -> Int {
        let mask = directory.count - 1
        let (start, tag) = start(key, mask)
        var index = start
        while directory[index] != 0 {
            if Page.hasTag(directory[index], tag), Page(tagged: directory[index])?.key == key { break }
            index = (index + 1) & mask
        }
        return index
    }

    private func enter(_ page: Page) {
        directory[index(of: page.key)] = page.tagged(Page.tag(Self.hash(page.key)))
    }

    @inline(__always)
    private func page(_ key: RowKey) -> Page? {
        if let last, last.key == key { return last }
        guard let found = Page(tagged: directory[index(of: key)]) else { return nil }
        last = found
        return found
    }

    @inline(__always)
    subscript(key: RowKey) -> NSManagedObject? { page(Self.pageKey(key))?.objects[Self.place(key)] }

    /// The same without a count of references, for a caller that looks at many objects that are not released meanwhile.
    // SAFETY: the table holds the object; see the summary for how long. An optional reference and an optional
    // `Unretained` are the same word.
    @inline(__always)
    func reference(_ key: RowKey) -> Unretained<NSManagedObject>? {
        guard let page = page(Self.pageKey(key)) else { return nil }
        return UnsafeRawPointer(page.objects + Self.place(key)).load(as: Unretained<NSManagedObject>?.self)
    }

    /// Has the places of keys that are about to be asked for brought near: their memory is fetched side by side, not one
    /// after the other as each is asked for.
    func prefetch(_ keys: ArraySlice<RowKey>) {
        for key in keys { likelyPage(Self.pageKey(key))?.prefetch(Self.place(key)) }
    }

    /// The first page that may have `key`, by its tag alone: touches no page.
    @inline(__always)
    private func likelyPage(_ key: RowKey) -> Page? {
        let mask = directory.count - 1
        let (start, tag) = start(key, mask)
        var index = start
        while directory[index] != 0, !Page.hasTag(directory[index], tag) { index = (index + 1) & mask }
        return Page(tagged: directory[index])
    }

    /// How many objects there may be at most.
    var room: Int { used * Page.size }

    private var isFull: Bool { used * 3 >= directory.count * 2 }

    /// Whether an object of `key` would make the table grow: the moment to take out what is not used.
    @inline(__always)
    func mustGrow(for key: RowKey) -> Bool { isFull && directory[index(of: Self.pageKey(key))] == 0 }

    func insert(_ object: consuming NSManagedObject, for key: RowKey) {
        insertionCount += 1
        let pageKey = Self.pageKey(key)
        if let page = page(pageKey) {
            let old = page.exchange(Self.place(key), for: object)
            if old == nil { log?.noteComing(key) }
            if let old, old !== page.objects[Self.place(key)] {
                displaced.removeAll { $0.object == nil }
                displaced.append(WeakReference(object: old))
            }
            return
        }
        if isFull { rebuild(room: 1) }
        let page = Page(pageKey)
        _ = page.exchange(Self.place(key), for: object)
        log?.noteComing(key)
        enter(page)
        last = page
        used += 1
    }

    /// Forgets the object of `key`, and gives it; its page stays for its neighbours' sake.
    @discardableResult
    @inline(__always)
    func take(_ key: RowKey) -> NSManagedObject? {
        let taken = page(Self.pageKey(key))?.exchange(Self.place(key), for: nil)
        if taken != nil { log?.noteLeaving(key) }
        return taken
    }

    /// Notes that all rows leave.
    func noteAllLeaving() {
        guard let log else { return }
        forEachPage { page in
            for place in 0..<Page.size where page.objects[place] != nil { log.noteLeaving(page.key(of: place)) }
        }
    }

    /// Takes the objects out that have no other reference; they go away when the caller drops them, and what they alone
    /// held is unused from then on.
    func takeUnused() -> [NSManagedObject] {
        insertionCount = 0
        var unused: [NSManagedObject] = []
        var hasEmptyPages = false
        forEachPage { page in
            var isEmpty = true
            for place in 0..<Page.size where page.objects[place] != nil {
                guard isKnownUniquelyReferenced(&page.objects[place]), let object = page.objects[place] else {
                    isEmpty = false
                    continue
                }
                page.objects[place] = nil
                log?.noteLeaving(page.key(of: place))
                object.leave()
                unused.append(object)
            }
            if isEmpty { hasEmptyPages = true }
        }
        if hasEmptyPages { dropEmptyPages() }
        return unused
    }

    /// Takes the object of `key` out if it has no other reference; its page stays for its neighbours' sake.
    func takeIfUnused(_ key: RowKey) -> NSManagedObject? {
        guard let page = page(Self.pageKey(key)), isKnownUniquelyReferenced(&page.objects[Self.place(key)]) else {
            return nil
        }
        let unused = take(key)
        unused?.leave()
        return unused
    }

    private func dropEmptyPages() {
        last = nil
        var living: [Page] = []
        for page in pages {
            if (0..<Page.size).contains(where: { page.objects[$0] != nil }) {
                living.append(page)
            } else {
                page.free()
            }
        }
        place(living, in: directory.count)
    }

    private func place(_ living: [Page], in capacity: Int) {
        directory = Array(repeating: 0, count: capacity)
        used = living.count
        for page in living { enter(page) }
    }

    /// Makes room for so many more pages.
    private func rebuild(room: Int) {
        let living = Array(pages)
        var capacity = 16
        while capacity < (living.count + room) * 2 { capacity *= 2 }
        place(living, in: capacity)
    }

    /// Whether so many more objects in a row would make the table grow.
    func mustGrow(by count: Int) -> Bool { (used + Self.pageCount(count)) * 3 >= directory.count * 2 }

    /// Makes room for so many more objects in a row.
    func reserve(_ count: Int) {
        if mustGrow(by: count) { rebuild(room: Self.pageCount(count)) }
    }

    /// How many pages so many objects in a row may need.
    private static func pageCount(_ count: Int) -> Int { count / Page.size + 2 }

    /// Takes all objects out, the displaced ones first, the others in the order of their rows and without counting a reference.
    func moveAll(to list: inout [NSManagedObject]) {
        var living: [Page] = []
        living.reserveCapacity(used)
        living.append(contentsOf: pages)
        living.sort { left, right in
            let (left, right) = (left.key, right.key)
            return left.entity == right.entity ? left.reference < right.reference : left.entity < right.entity
        }
        forEachDisplaced { list.append($0) }
        displaced = []
        for page in living {
            for place in page.objects..<(page.objects + Page.size) {
                if let object = place.move() { list.append(object) }
                place.initialize(to: nil)
            }
        }
    }

    var objects: [NSManagedObject] {
        var result: [NSManagedObject] = []
        forEach { result.append($0) }
        return result
    }

    /// Calls `body`, which must not change the table, with each object.
    func forEach(_ body: (NSManagedObject) -> Void) {
        forEachPage { page in
            for place in 0..<Page.size {
                if let object = page.objects[place] { body(object) }
            }
        }
    }

    /// Calls `body` with each object in whose place another one came.
    func forEachDisplaced(_ body: (NSManagedObject) -> Void) {
        for entry in displaced { if let object = entry.object { body(object) } }
    }

    private var pages: some Sequence<Page> { directory.lazy.compactMap { Page(tagged: $0) } }

    /// Calls `body` with each page, while the objects of later ones are brought near: they stand anywhere in memory.
    ///
    /// Goes through the pages that there are when it begins, none of which `body` may free but the one that it is given.
    private func forEachPage(_ body: (Page) -> Void) {
        let directory = directory
        for index in directory.indices {
            if index + 2 < directory.count { Page(tagged: directory[index + 2])?.prefetchObjects() }
            if let page = Page(tagged: directory[index]) { body(page) }
        }
    }
}
