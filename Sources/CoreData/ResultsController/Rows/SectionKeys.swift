/// The texts that identify sections, by section number: those of a list that was read from disk, which are decoded on
/// demand, and those that were added since.
struct SectionKeys: Sendable {
    private let stored: PackedTexts
    private var added: [String] = []

    init(_ stored: PackedTexts = PackedTexts()) { self.stored = stored }

    var count: Int { stored.count + added.count }

    subscript(number: Int) -> String { number < stored.count ? stored[number] : added[number - stored.count] }

    /// All texts, in order. O(sections).
    var all: [String] { Array(stored) + added }

    mutating func append(_ key: String) { added.append(key) }

    /// Reserves capacity for `count` more texts.
    mutating func reserve(_ count: Int) { added.reserveCapacity(added.count + count) }
}

/// Texts at arbitrary places of a block of bytes.
struct PackedTexts: RandomAccessCollection, Sendable {
    private let bytes: [UInt8]
    private var places: [(start: UInt32, count: UInt32)] = []

    /// - Parameter bytes: fewer than 2³².
    init(_ bytes: [UInt8] = []) { self.bytes = bytes }

    /// Adds the text of `count` bytes from `start` on.
    ///
    /// - Returns: `false` if the block is shorter than that.
    mutating func add(from start: Int, count: Int) -> Bool {
        guard start >= 0, count >= 0, start <= bytes.count, count <= bytes.count - start,
            let start = UInt32(exactly: start), let count = UInt32(exactly: count)
        else { return false }
        places.append((start, count))
        return true
    }

    mutating func reserve(_ count: Int) { places.reserveCapacity(count) }

    var startIndex: Int { 0 }
    var endIndex: Int { places.count }

    subscript(number: Int) -> String {
        let (start, count) = places[number]
        return String(decoding: bytes[Int(start)..<Int(start) + Int(count)], as: UTF8.self)
    }
}
