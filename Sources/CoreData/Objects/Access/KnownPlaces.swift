import Synchronization

/// The places (slots or relationship numbers) of a class's properties in one entity, as far as they are known.
///
/// A property is identified by the address of its name literal. Readers take no lock, on any thread: a table is never
/// changed, but replaced by a copy with one more entry. The entity frees all copies with itself; they take a kilobyte
/// per property of a typical entity.
struct KnownPlaces: ~Copyable, Sendable {
    private struct Entry {
        /// The address of the property's name; 0 if the entry is free.
        var property: UInt = 0
        var place: EntityLayout.Place = .attribute(0)
    }

    /// A table in memory: its mask, followed by the entries.
    // SAFETY: `start` has memory for the head and `mask + 1` entries, all initialised; indices are masked. Only
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

        /// The index of a property's entry, or the free index for it.
        @inline(__always)
        func index(of property: UInt) -> Int {
            // The addresses of names are close to each other. The multiplication distributes them over the upper 32
            // bits.
            let mask = mask
            var index = Int(truncatingIfNeeded: (property &* 0x9E37_79B9_7F4A_7C15) >> 32) & mask
            while entries[index].property != property, entries[index].property != 0 { index = (index &+ 1) & mask }
            return index
        }
    }

    // SAFETY: accessed only through the mutex that owns it.
    private struct Contents: @unchecked Sendable {
        var tables: [Table] = []
        var count = 0
    }

    // SAFETY: the owner of the layout keeps `current` and all tables alive, as only `KnownPlaces` frees tables, in its
    // `deinit`.
    /// Read access for an owner of the entity's layout, which keeps the tables alive.
    // SAFETY: contains the address of an atomic; the tables it refers to are never changed, and live as long as their
    // `KnownPlaces`.
    struct Reader: @unchecked Sendable {
        /// The address of the current table; 0 if there is none yet. Allocated separately, so that a reader follows one
        /// pointer.
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

    func remember(_ property: UInt, _ place: EntityLayout.Place) {
        contents.withLock { contents in
            // Another thread may have added it at the same time.
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
