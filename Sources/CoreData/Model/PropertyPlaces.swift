/// The places of an entity's properties by name: the first lookup of every access by name.
///
/// Open addressing over a few bytes of each name: names of one entity usually differ in length, beginning or end.
/// Takes half the time of a dictionary, which has to resist collision attacks.
struct PropertyPlaces: Sendable {
    private struct Entry {
        let name: String
        let place: EntityLayout.Place
    }

    private var entries: [Entry?]
    /// The places by name. Finds also names that are canonically equal: an accented letter may be one character or two.
    private let placesByName: [String: EntityLayout.Place]

    /// Maximum number of probes. Further names with the same hashed bytes are found only in the dictionary.
    private static let longestSearch = 16

    init(_ places: [String: EntityLayout.Place]) {
        var capacity = 8
        while capacity < places.count * 3 { capacity *= 2 }
        entries = Array(repeating: nil, count: capacity)
        placesByName = places
        for (name, place) in places {
            var index = Self.hash(of: name) & (capacity - 1)
            var steps = 0
            while entries[index] != nil, steps < Self.longestSearch {
                index = (index + 1) & (capacity - 1)
                steps += 1
            }
            if entries[index] == nil { entries[index] = Entry(name: name, place: place) }
        }
    }

    // SAFETY: the array outlives the closure; the index is masked to a count that is a power of two.
    subscript(name: String) -> EntityLayout.Place? {
        @inline(__always)
        get {
            entries.withUnsafeBufferPointer { entries in
                var index = Self.hash(of: name) & (entries.count - 1)
                while let entry = entries[index] {
                    if entry.name == name { return entry.place }
                    index = (index + 1) & (entries.count - 1)
                }
                return place(ofOtherCharacters: name)
            }
        }
    }

    @inline(never)
    private func place(ofOtherCharacters name: String) -> EntityLayout.Place? { placesByName[name] }

    @inline(__always)
    private static func hash(of name: String) -> Int {
        name.utf8.withContiguousStorageIfAvailable { bytes in
            guard let first = bytes.first, let last = bytes.last else { return 0 }
            var mixed = UInt64(first) | UInt64(last) << 8 | UInt64(bytes[bytes.count / 2]) << 16
            mixed |= UInt64(truncatingIfNeeded: bytes.count) << 24
            mixed = mixed &* 0x9E37_79B9_7F4A_7C15
            return Int(truncatingIfNeeded: mixed >> 40)
        } ?? 0
    }
}
