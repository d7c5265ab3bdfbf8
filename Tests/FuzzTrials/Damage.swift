/// Damaged copies of whole inputs. The copies depend only on the seed.
struct Damage {
    private var numbers: SeededNumbers
    private let seeds: [[UInt8]]
    private let pieces: [[UInt8]]

    init(seed: UInt64, seeds: [[UInt8]], pieces: [[UInt8]]) {
        numbers = SeededNumbers(state: seed)
        self.seeds = seeds
        self.pieces = pieces
    }

    mutating func next() -> [UInt8] {
        var bytes = random(of: seeds)
        for _ in 0..<Int.random(in: 1...5, using: &numbers) where !bytes.isEmpty { damage(&bytes) }
        return bytes
    }

    private mutating func damage(_ bytes: inout [UInt8]) {
        // Half of the damage is in the first 4,096 bytes, which contain headers and schemas.
        let reach = Bool.random(using: &numbers) ? min(bytes.count, 4096) : bytes.count
        let place = Int.random(in: 0..<reach, using: &numbers)
        switch Int.random(in: 0..<11, using: &numbers) {
        case 0, 1: bytes[place] ^= UInt8(1) << UInt8.random(in: 0...7, using: &numbers)
        case 2: bytes[place] = UInt8.random(in: 0...255, using: &numbers)
        // References and lengths off by one.
        case 3: bytes[place] = Bool.random(using: &numbers) ? bytes[place] &+ 1 : bytes[place] &- 1
        case 4: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...16, using: &numbers)))
        case 5: bytes.swapAt(place, Int.random(in: 0..<bytes.count, using: &numbers))
        case 6: overwrite(&bytes, at: place, [0x00, 0x7F, 0x80, 0xFF].randomElement(using: &numbers) ?? 0)
        case 7: insertPiece(&bytes, at: place)
        case 8: splice(&bytes, at: place)
        // Words of tables, such as rows of lists, occur twice.
        case 9:
            let (from, to) = (place / 8 * 8, Int.random(in: 0..<bytes.count, using: &numbers) / 8 * 8)
            for index in 0..<8 where max(from, to) + index < bytes.count { bytes[to + index] = bytes[from + index] }
        default: if Int.random(in: 0..<6, using: &numbers) == 0 { bytes.removeSubrange(place...) }
        }
    }

    /// Writes the smallest and greatest numbers of 1, 2, 4 or 8 bytes.
    private mutating func overwrite(_ bytes: inout [UInt8], at place: Int, _ byte: UInt8) {
        let width = [1, 2, 4, 8].randomElement(using: &numbers) ?? 1
        for index in place..<min(bytes.count, place + width) { bytes[index] = byte }
    }

    private mutating func insertPiece(_ bytes: inout [UInt8], at place: Int) {
        let piece = pieces.randomElement(using: &numbers) ?? [UInt8.random(in: 0...255, using: &numbers)]
        bytes.insert(contentsOf: piece, at: place)
    }

    /// Inserts a part of another input or of the same one, sometimes replacing as many bytes.
    private mutating func splice(_ bytes: inout [UInt8], at place: Int) {
        let other = random(of: seeds)
        guard !other.isEmpty else { return }
        let start = Int.random(in: 0..<other.count, using: &numbers)
        let part = other[start..<min(other.count, start + Int.random(in: 1...64, using: &numbers))]
        let replaced = Bool.random(using: &numbers) ? part.count : 0
        bytes.replaceSubrange(place..<min(bytes.count, place + replaced), with: part)
    }

    private mutating func random(of inputs: [[UInt8]]) -> [UInt8] { inputs.randomElement(using: &numbers) ?? [] }
}

/// SplitMix64. The numbers depend only on the seed.
struct SeededNumbers: RandomNumberGenerator {
    private(set) var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
