import Synchronization

/// Where the properties of a class live in the objects of one entity, as far as anybody has asked.
///
/// A property is known by an address that is its own for the whole life of the program. The table is read without a lock,
/// on any thread: it is never changed, but replaced by a copy with one more; all go with the entity, and take a kilobyte for
/// each property of a usual one.
struct KnownPlaces: ~Copyable, Sendable {
    private struct Entry {
        /// 0 where the entry is free.
        var property: UInt = 0
        var place: EntityLayout.Place = .attribute(0)
    }

    private struct Table {
        let mask: Int
        let entries: UnsafeMutablePointer<Entry>

        init(capacity: Int) {
            mask = capacity - 1
            entries = .allocate(capacity: capacity)
            entries.initialize(repeating: Entry(), count: capacity)
        }

        /// The place of a property's entry, or the free place where it belongs.
        @inline(__always)
        func index(of property: UInt) -> Int {
            // Names lie close to each other: the product spreads them over the upper half.
            var index = Int(truncatingIfNeeded: (property &* 0x9E37_79B9_7F4A_7C15) >> 32) & mask
            while entries[index].property != 0, entries[index].property != property { index = (index + 1) & mask }
            return index
        }
    }

    private struct Contents: @unchecked Sendable {
        var tables: [UnsafeMutablePointer<Table>] = []
        var count = 0
        /// What has to stay alive for its address to stay its own.
        var keyPaths: [AnyKeyPath] = []
    }

    /// The address of the table in use; 0 before there is one.
    private let current = Atomic<UInt>(0)
    private let contents = Mutex(Contents())

    deinit {
        contents.withLock { contents in
            for table in contents.tables {
                table.pointee.entries.deallocate()
                table.deallocate()
            }
        }
    }

    @inline(__always)
    subscript(property: UInt) -> EntityLayout.Place? {
        guard let address = UnsafePointer<Table>(bitPattern: current.load(ordering: .acquiring)) else { return nil }
        let entry = address.pointee.entries + address.pointee.index(of: property)
        return entry.pointee.property == property ? entry.pointee.place : nil
    }

    /// Notes where a property lives.
    ///
    /// - Parameter keyPath: the object whose address the property is known by, if it is one.
    func remember(_ property: UInt, _ place: EntityLayout.Place, keeping keyPath: AnyKeyPath?) {
        contents.withLock { contents in
            var capacity = 16
            while capacity < (contents.count + 1) * 2 { capacity *= 2 }
            let table = UnsafeMutablePointer<Table>.allocate(capacity: 1)
            table.initialize(to: Table(capacity: capacity))
            func put(_ entry: Entry) { table.pointee.entries[table.pointee.index(of: entry.property)] = entry }
            if let old = contents.tables.last?.pointee {
                for index in 0...old.mask where old.entries[index].property != 0 { put(old.entries[index]) }
            }
            if table.pointee.entries[table.pointee.index(of: property)].property == 0 {
                contents.count += 1
                if let keyPath { contents.keyPaths.append(keyPath) }
            }
            put(Entry(property: property, place: place))
            contents.tables.append(table)
            current.store(UInt(bitPattern: table), ordering: .releasing)
        }
    }
}
