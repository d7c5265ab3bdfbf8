/// Finds the object of a row: open addressing with linear probing.
///
/// Holds its objects strongly, and gives those up that nobody else holds when it is told to: ``takeUnused()``. Weak references would do that at once, but they cost every object a side table, and every later retain and
/// release of it a detour through that.
final class RowTable {
    private struct Entry {
        var key = RowTable.free
        var object: NSManagedObject?
    }

    /// The key of an entry that was never used. No entity has this index.
    private static let free = RowKey(entity: .max, reference: 0)

    /// Not an array: when that grows, every object is retained and released.
    private var entries: UnsafeMutablePointer<Entry>
    private var capacity = 16
    /// Entries that have a key, with or without an object.
    private var used = 0
    /// How many objects came since objects were last let go.
    private(set) var newcomers = 0

    init() { entries = Self.allocate(capacity) }

    deinit {
        entries.deinitialize(count: capacity)
        entries.deallocate()
    }

    private static func allocate(_ capacity: Int) -> UnsafeMutablePointer<Entry> {
        let entries = UnsafeMutablePointer<Entry>.allocate(capacity: capacity)
        entries.initialize(repeating: Entry(), count: capacity)
        return entries
    }

    /// The place of `key`, or the free place where it belongs.
    @inline(__always)
    private func index(of key: RowKey) -> Int {
        let mask = capacity - 1
        var hash = UInt64(bitPattern: key.reference) &+ UInt64(key.entity) &* 0x9E37_79B9_7F4A_7C15
        hash = (hash ^ (hash >> 32)) &* 0xD6E8_FEB8_6659_FD93
        var index = Int(truncatingIfNeeded: hash >> 32) & mask
        while entries[index].key != key, entries[index].key != Self.free { index = (index + 1) & mask }
        return index
    }

    subscript(key: RowKey) -> NSManagedObject? { entries[index(of: key)].object }

    /// Whether the next object makes the table grow: the moment to take out what is not used.
    var isFull: Bool { Self.isCrowded(used, in: capacity) }

    /// Four fifths: a look-up still ends in the second line of the processor's cache.
    private static func isCrowded(_ count: Int, in capacity: Int) -> Bool { count * 5 >= capacity * 4 }

    func insert(_ object: NSManagedObject, for key: RowKey) {
        // Twice as many, so that a table that grows step by step is not rebuilt too often.
        if isFull { rebuild(adding: used / 2 + 1) }
        let index = index(of: key)
        if entries[index].key != key {
            entries[index].key = key
            used += 1
        }
        entries[index].object = object
        newcomers += 1
    }

    /// Forgets the object of `key`; the entry stays for the chain's sake.
    func remove(_ key: RowKey) {
        // What goes away with the object may come back to the table: not before it is consistent.
        let index = index(of: key)
        let old = entries[index].object
        entries[index].object = nil
        withExtendedLifetime(old) {}
    }

    /// Takes the objects out that nobody else holds; they go away when the caller drops them, and what they alone held is
    /// unused from then on.
    func takeUnused() -> [NSManagedObject] {
        newcomers = 0
        var unused: [NSManagedObject] = []
        for index in 0..<capacity where entries[index].object != nil {
            guard isKnownUniquelyReferenced(&entries[index].object), let object = entries[index].object else {
                continue
            }
            entries[index].object = nil
            object.managedObjectContext = nil
            unused.append(object)
        }
        return unused
    }

    /// Makes room for at least `count` more, without the entries that have no object.
    private func rebuild(adding count: Int) {
        let (old, oldCapacity) = (entries, capacity)
        var living = 0
        for index in 0..<oldCapacity where old[index].object != nil { living += 1 }
        capacity = 16
        while Self.isCrowded(living + count, in: capacity) { capacity *= 2 }
        entries = Self.allocate(capacity)
        used = living
        for index in 0..<oldCapacity where old[index].object != nil {
            (entries + self.index(of: old[index].key)).moveUpdate(from: old + index, count: 1)
        }
        old.deallocate()
    }

    /// Makes room for so many more objects.
    func reserve(_ count: Int) {
        if Self.isCrowded(used + count, in: capacity) { rebuild(adding: count) }
    }

    var objects: [NSManagedObject] {
        (0..<capacity).compactMap { entries[$0].object }
    }
}
