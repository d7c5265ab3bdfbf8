/// The places of an entity's properties by their names: what every access by name asks first.
///
/// Open addressing over the bytes of the names, of which few are looked at: names of one entity usually differ in their
/// length, their beginning or their end. Half the time of a dictionary, which guards against names made to collide.
struct PropertyPlaces: Sendable {
    private struct Entry {
        let name: String
        let place: EntityLayout.Place
    }

    /// A text as it is kept, while it lives: texts that are kept alike are equal; equal ones may be kept differently. Up to 15
    /// bytes lie in it themselves.
    private struct Bits: Equatable {
        private let words: (UInt64, UInt64)

        // SAFETY: a string is two words; they are compared, and only equal words count, so that another layout would
        // cost time and no more. The names in the table hold the memory that their words name.
        @inline(__always)
        init(_ text: String) { words = unsafeBitCast(text, to: (UInt64, UInt64).self) }

        @inline(__always)
        static func == (left: Bits, right: Bits) -> Bool { left.words == right.words }

        @inline(__always)
        var hash: Int {
            // Each bit of the words counts in one of the halves.
            let product = (words.0 ^ words.1).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
            return Int(truncatingIfNeeded: product.high ^ product.low)
        }
    }

    private var entries: [Entry?]
    /// The same entries by the bits of their names: most names are short, and found here.
    private var entriesByBits: [Entry?]

    init(_ places: [String: EntityLayout.Place]) {
        var capacity = 8
        while capacity < places.count * 3 { capacity *= 2 }
        let mask = capacity - 1
        entries = Array(repeating: nil, count: capacity)
        entriesByBits = entries
        for (name, place) in places {
            let entry = Entry(name: name, place: place)
            Self.put(entry, into: &entries, from: Self.hash(of: name) & mask)
            Self.put(entry, into: &entriesByBits, from: Bits(name).hash & mask)
        }
    }

    private static func put(_ entry: Entry, into entries: inout [Entry?], from index: Int) {
        var index = index
        while entries[index] != nil { index = (index + 1) & (entries.count - 1) }
        entries[index] = entry
    }

    // SAFETY: the array outlives the closure; the index is masked to a count that is a power of two.
    subscript(name: String) -> EntityLayout.Place? {
        @inline(__always)
        get {
            let bits = Bits(name)
            return entriesByBits.withUnsafeBufferPointer { entries in
                var index = bits.hash & (entries.count - 1)
                while let entry = entries[index] {
                    if Bits(entry.name) == bits { return entry.place }
                    index = (index + 1) & (entries.count - 1)
                }
                return place(byCharacters: name)
            }
        }
    }

    // SAFETY: as in the subscript.
    @inline(never)
    private func place(byCharacters name: String) -> EntityLayout.Place? {
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
