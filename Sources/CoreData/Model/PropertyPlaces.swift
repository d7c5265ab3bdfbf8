/// The places of an entity's properties by their names: what every access by name asks first.
///
/// Open addressing over the bytes of the names, of which few are looked at: names of one entity mostly differ in their
/// length, their beginning or their end. Half the time of a dictionary, which guards against names made to collide.
struct PropertyPlaces: Sendable {
    private struct Entry {
        let name: String
        let place: EntityLayout.Place
    }

    private var entries: [Entry?]

    init(_ places: [String: EntityLayout.Place]) {
        var capacity = 8
        while capacity < places.count * 3 { capacity *= 2 }
        entries = Array(repeating: nil, count: capacity)
        for (name, place) in places {
            var index = Self.hash(of: name) & (capacity - 1)
            while entries[index] != nil { index = (index + 1) & (capacity - 1) }
            entries[index] = Entry(name: name, place: place)
        }
    }

    subscript(name: String) -> EntityLayout.Place? {
        entries.withUnsafeBufferPointer { entries in
            var index = Self.hash(of: name) & (entries.count - 1)
            while let entry = entries[index] {
                if entry.name == name { return entry.place }
                index = (index + 1) & (entries.count - 1)
            }
            return nil
        }
    }

    /// The same for texts that are equal, in whatever form they are kept: names are compared by their characters, so those
    /// outside of ASCII are left to the standard library.
    @inline(__always)
    private static func hash(of name: String) -> Int {
        var copy = name
        return copy.withUTF8 { bytes in
            guard let first = bytes.first, let last = bytes.last else { return 0 }
            let middle = bytes[bytes.count / 2]
            if (first | last | middle) >= 0x80 || bytes.contains(where: { $0 >= 0x80 }) { return name.hashValue }
            var mixed = UInt64(first) | UInt64(last) << 8 | UInt64(middle) << 16 | UInt64(bytes.count) << 24
            mixed = mixed &* 0x9E37_79B9_7F4A_7C15
            return Int(truncatingIfNeeded: mixed >> 40)
        }
    }
}
