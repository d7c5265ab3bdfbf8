/// Finds the object of a row: open addressing with linear probing, objects held weakly.
///
/// An entry whose object is gone stays until its row comes back or the table grows, which leaves dead entries behind.
/// Nobody has to tell the table when an object goes away, on whatever thread that happens.
struct RowTable {
    private struct Entry {
        var key = RowKey(entity: .max, reference: .min)
        weak var object: NSManagedObject?
        var isUsed = false
    }

    private var entries: [Entry] = Array(repeating: Entry(), count: 16)
    private var used = 0

    /// The place of `key`, or the free place where it belongs.
    private func index(of key: RowKey) -> Int {
        let mask = entries.count - 1
        var hash = UInt64(bitPattern: key.reference) &+ UInt64(key.entity) &* 0x9E37_79B9_7F4A_7C15
        hash = (hash ^ (hash >> 32)) &* 0xD6E8_FEB8_6659_FD93
        var index = Int(truncatingIfNeeded: hash >> 32) & mask
        while entries[index].isUsed, entries[index].key != key { index = (index + 1) & mask }
        return index
    }

    subscript(key: RowKey) -> NSManagedObject? { entries[index(of: key)].object }

    mutating func insert(_ object: NSManagedObject, for key: RowKey) {
        if used * 3 >= entries.count * 2 { grow() }
        let index = index(of: key)
        if !entries[index].isUsed {
            entries[index].isUsed = true
            entries[index].key = key
            used += 1
        }
        entries[index].object = object
    }

    /// Forgets the object of `key`; the entry stays for the chain's sake.
    mutating func remove(_ key: RowKey) {
        let index = index(of: key)
        if entries[index].isUsed { entries[index].object = nil }
    }

    private mutating func grow() {
        let living = entries.compactMap { entry in entry.object.map { (entry.key, $0) } }
        var capacity = 16
        while capacity < living.count * 3 { capacity *= 2 }
        entries = Array(repeating: Entry(), count: capacity)
        used = 0
        for (key, object) in living {
            let index = index(of: key)
            entries[index].isUsed = true
            entries[index].key = key
            entries[index].object = object
            used += 1
        }
    }

    /// All objects that are alive.
    var objects: [NSManagedObject] { entries.compactMap(\.object) }

    mutating func removeAll() {
        entries = Array(repeating: Entry(), count: 16)
        used = 0
    }
}
