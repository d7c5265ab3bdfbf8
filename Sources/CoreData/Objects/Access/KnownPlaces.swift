import Synchronization

/// Where the properties of a class live in the objects of one entity, as far as they were asked for.
///
/// A property is identified by the address of its name literal. Readers take no lock, on any thread: a table is never
/// changed, but replaced by a copy with one entry more. The entity frees all copies; they take a kilobyte for each property
/// of a usual one.
struct KnownPlaces: ~Copyable, Sendable {
    private struct Entry {
        /// 0 where the entry is free.
        var property: UInt = 0
        var place: EntityLayout.Place = .attribute(0)
    }

    /// A table in memory: its mask, and the entries behind it.
    // SAFETY: `start` has room for the head and `mask + 1` entries, all initialised; indices are masked. Only
    // `KnownPlaces` frees it, in `deinit`.
    private struct Table {
        let start: UnsafeMutableRawPointer

        private static var headSize: Int { MemoryLayout<Entry>.stride }

        @inline(__always)
        init(start: UnsafeMutableRawPointer) { self.start = start }

        init(capacity: Int) {
            start = .allocate(
                byteCount: Self.headSize + capacity * MemoryLayout<Entry>.stride,
                alignment: MemoryLayout<Entry>.alignment)
            start.initializeMemory(as: Int.self, to: capacity - 1)
            (start + Self.headSize).initializeMemory(as: Entry.self, repeating: Entry(), count: capacity)
        }

        @inline(__always)
        var mask: Int { start.load(as: Int.self) }

        @inline(__always)
        var entries: UnsafeMutablePointer<Entry> {
            (start + Self.headSize).assumingMemoryBound(to: Entry.self)
        }

        /// The place of a property's entry, or the free place where it belongs.
        @inline(__always)
        func index(of property: UInt) -> Int {
            // Names lie close to each other: the product spreads them over the upper half.
            let mask = mask
            var index = Int(truncatingIfNeeded: (property &* 0x9E37_79B9_7F4A_7C15) >> 32) & mask
            while entries[index].property != property, entries[index].property != 0 { index = (index &+ 1) & mask }
            return index
        }
    }

    // SAFETY: only reached through the mutex that owns it.
    private struct Contents: @unchecked Sendable {
        var tables: [Table] = []
        var count = 0
    }

    // SAFETY: the owner of the layout keeps `current` and all tables alive, as tables are freed with `KnownPlaces`
    // only.
    /// The way to the places, for an owner of the entity's layout, which keeps it alive.
    // SAFETY: holds the address of an atomic; the tables it leads to are never changed, and live as long as their
    // `KnownPlaces`.
    struct Reader: @unchecked Sendable {
        /// The address of the table in use; 0 before there is one. Allocated separately, so that a
        /// reader follows one pointer.
        fileprivate let current: UnsafeMutablePointer<Atomic<UInt>>

        @inline(__always)
        subscript(property: UInt) -> EntityLayout.Place? {
            let address = UnsafeMutableRawPointer(bitPattern: current.pointee.load(ordering: .acquiring))
            guard let table = address.map(Table.init(start:)) else { return nil }
            let entry = table.entries + table.index(of: property)
            return entry.pointee.property == property ? entry.pointee.place : nil
        }
    }

    let reader: Reader
    private let contents = Mutex(Contents())

    init() {
        reader = Reader(current: .allocate(capacity: 1))
        reader.current.initialize(to: Atomic(0))
    }

    deinit {
        contents.withLock { contents in
            for table in contents.tables { table.start.deallocate() }
        }
        reader.current.deinitialize(count: 1)
        reader.current.deallocate()
    }

    /// Notes where a property lives.
    func remember(_ property: UInt, _ place: EntityLayout.Place) {
        contents.withLock { contents in
            // Another thread may have asked at the same time.
            guard reader[property] == nil else { return }
            var capacity = 16
            while capacity < (contents.count + 1) * 2 { capacity *= 2 }
            let table = Table(capacity: capacity)
            func put(_ entry: Entry) { table.entries[table.index(of: entry.property)] = entry }
            if let old = contents.tables.last {
                for index in 0...old.mask where old.entries[index].property != 0 { put(old.entries[index]) }
            }
            contents.count += 1
            put(Entry(property: property, place: place))
            contents.tables.append(table)
            reader.current.pointee.store(UInt(bitPattern: table.start), ordering: .releasing)
        }
    }
}
