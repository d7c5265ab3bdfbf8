import CPrefetch

/// A hash table from row keys to objects.
///
/// Rows of one entity that were inserted together have adjacent numbers, and most rows that are read together do too.
/// So objects are stored in pages of adjacent rows, and the pages in a table with open addressing and linear probing:
/// many objects take little more than a word each, and the next object is usually in the page of the last one.
///
/// Holds its objects strongly, and releases those without other references in ``takeUnused()``. Weak references would
/// release them at once, but cost every object a side table and make every later retain and release slower.
final class UniquingTable {
    /// A page: its key, followed by the places of its rows, in memory that the table allocates. The table itself is no
    /// larger than the addresses of its pages, and a look-up that finds a page has key and objects close together.
    // SAFETY: a page is allocated with the alignment of its tag and holds a key and `size` places, all initialised;
    // places are masked to `size`. Only the table frees it, once.
    private struct Page {
        private let memory: UnsafeMutableRawPointer

        static let bits: Int64 = 4
        static let size = 1 << 4
        private static let head = MemoryLayout<RowKey>.stride
        /// The alignment of allocated memory: the last four bits of an address are free for a tag.
        private static let alignment = 16
        private static let tagMask = UInt(alignment - 1)

        init(_ key: RowKey) {
            memory = .allocate(
                byteCount: Self.head + Self.size * MemoryLayout<NSManagedObject?>.stride, alignment: Self.alignment)
            memory.initializeMemory(as: RowKey.self, to: key)
            objects.initialize(repeating: nil, count: Self.size)
        }

        /// The address of the page and four bits of its key's hash, in one word: an entry of the directory.
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

        /// The entity and the number of the page: the row's number without its last bits.
        @inline(__always)
        var key: RowKey { memory.assumingMemoryBound(to: RowKey.self).pointee }

        /// The key of the row at `place`.
        func key(of place: Int) -> RowKey {
            RowKey(entity: key.entity, reference: key.reference << Self.bits | Int64(place))
        }

        /// Prefetches the memory that a look-up of `place` reads.
        @inline(__always)
        func prefetch(_ place: Int) {
            roster_prefetch(memory)
            roster_prefetch(objects + place)
        }

        /// Prefetches the objects.
        @inline(__always)
        func prefetchObjects() {
            for place in 0..<Page.size {
                roster_prefetch(UnsafeRawPointer(objects + place).load(as: UnsafeRawPointer?.self))
            }
        }

        /// Stores an object at `place`.
        ///
        /// - Returns: the old object. Release it last: code that its release runs may use the table.
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

    /// The pages with their tags; 0 if free. Tags usually suffice to skip other pages, and one cache line holds many of
    /// them, so a probe does not read the memory of each page.
    ///
    /// Read by every look-up.
    // SAFETY: only the context's queue uses both, and no other code is called during a use, so accesses do not overlap.
    @exclusivity(unchecked)
    private var directory: [UInt] = Array(repeating: 0, count: 16)
    /// The page used last: the next row is usually in it.
    @exclusivity(unchecked)
    private var last: Page?
    private var used = 0
    /// Records rows whose objects are added or removed; `nil` if their store does not want to know.
    var log: RegistrationLog?
    /// The number of objects added since unused objects were last released.
    private(set) var insertionCount = 0
    /// Objects that were replaced by others, while the user's code holds them: they must be detached when the context
    /// is deallocated.
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

    /// The index at which the search for the page with `key` begins, and the tag of the page.
    @inline(__always)
    private func start(_ key: RowKey, _ mask: Int) -> (index: Int, tag: UInt) {
        let hash = Self.hash(key)
        return (Int(truncatingIfNeeded: hash >> 24) & mask, Page.tag(hash))
    }

    /// The index of the page with `key`, or the free one where it belongs.
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

    /// The object with a key, without counting a reference. For callers that look up many objects that are not released
    /// until the end.
    // SAFETY: the table holds the object until it releases unused ones. An optional reference and an optional
    // `Unretained` are the same word.
    @inline(__always)
    func reference(_ key: RowKey) -> Unretained<NSManagedObject>? {
        guard let page = page(Self.pageKey(key)) else { return nil }
        return UnsafeRawPointer(page.objects + Self.place(key)).load(as: Unretained<NSManagedObject>?.self)
    }

    /// Prefetches the places of keys before they are looked up: memory is fetched in parallel, not one place after the
    /// other.
    func prefetch(_ keys: ArraySlice<RowKey>) {
        for key in keys { likelyPage(Self.pageKey(key))?.prefetch(Self.place(key)) }
    }

    /// The first page that may have `key`, by its tag alone. Reads no page.
    @inline(__always)
    private func likelyPage(_ key: RowKey) -> Page? {
        let mask = directory.count - 1
        let (start, tag) = start(key, mask)
        var index = start
        while directory[index] != 0, !Page.hasTag(directory[index], tag) { index = (index + 1) & mask }
        return Page(tagged: directory[index])
    }

    /// The maximum number of objects in the current pages.
    var room: Int { used * Page.size }

    private var isFull: Bool { used * 3 >= directory.count * 2 }

    /// True if adding an object for `key` would grow the table. Unused objects are then removed first.
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

    /// Removes and returns the object of `key`. Keeps the page for adjacent rows.
    @discardableResult
    @inline(__always)
    func take(_ key: RowKey) -> NSManagedObject? {
        let taken = page(Self.pageKey(key))?.exchange(Self.place(key), for: nil)
        if taken != nil { log?.noteLeaving(key) }
        return taken
    }

    /// Records the removal of all rows.
    func noteAllLeaving() {
        guard let log else { return }
        forEachPage { page in
            for place in 0..<Page.size where page.objects[place] != nil { log.noteLeaving(page.key(of: place)) }
        }
    }

    /// Removes and returns the objects without other references. They are deallocated when the caller releases them;
    /// objects that only they held are unused afterwards.
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

    /// Removes and returns the object of `key` if it has no other reference. Keeps the page for adjacent rows.
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

    /// Makes room for `room` more pages.
    private func rebuild(room: Int) {
        let living = Array(pages)
        var capacity = 16
        while capacity < (living.count + room) * 2 { capacity *= 2 }
        place(living, in: capacity)
    }

    /// True if `count` more objects of adjacent rows would grow the table.
    func mustGrow(by count: Int) -> Bool { (used + Self.pageCount(count)) * 3 >= directory.count * 2 }

    /// Makes room for `count` more objects of adjacent rows.
    func reserve(_ count: Int) {
        if mustGrow(by: count) { rebuild(room: Self.pageCount(count)) }
    }

    /// The maximum number of pages for `count` objects of adjacent rows.
    private static func pageCount(_ count: Int) -> Int { count / Page.size + 2 }

    /// Moves all objects to `list`, replaced ones first, the others in the order of their rows, without counting
    /// references.
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

    /// Calls `body` with each object that was replaced by another one.
    func forEachDisplaced(_ body: (NSManagedObject) -> Void) {
        for entry in displaced { if let object = entry.object { body(object) } }
    }

    private var pages: some Sequence<Page> { directory.lazy.compactMap { Page(tagged: $0) } }

    /// Calls `body` with each page, and prefetches the objects of later pages, which may be anywhere in memory.
    ///
    /// Visits the pages that exist at the beginning. `body` may free only the page that it is given.
    private func forEachPage(_ body: (Page) -> Void) {
        let directory = directory
        for index in directory.indices {
            if index + 2 < directory.count { Page(tagged: directory[index + 2])?.prefetchObjects() }
            if let page = Page(tagged: directory[index]) { body(page) }
        }
    }
}
