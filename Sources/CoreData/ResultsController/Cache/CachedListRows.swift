import Foundation

/// What one pass over the rows in the file of a list tells.
struct CachedListRows {
    private(set) var checksum = ListChecksum()
    /// A forged file may name entities that are none, or are not of the list.
    private(set) var entities: Set<UInt64> = []
    /// A forged file may name a row twice, which no list has.
    private(set) var hasRepeatedRow = false
    private var last = UInt64.max

    /// - Returns: `nil` if the file cannot be read.
    // SAFETY: the buffer is used during the closure only; `pread` fills at most what is left of it.
    init?(file: Int32, offset: Int, count: Int) {
        guard let seen = SeenKeys(rowCount: count) else { return nil }
        var position = offset
        let isRead = withUnsafeTemporaryAllocation(byteCount: 256 * 1_024, alignment: 32) { buffer -> Bool in
            while true {
                var filled = 0
                while filled < buffer.count {
                    let count = pread(
                        file, buffer.baseAddress?.advanced(by: filled), buffer.count - filled, off_t(position))
                    if count < 0 { return false }
                    if count == 0 { break }
                    filled += count
                    position += count
                }
                let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<filled])
                checksum.update(bytes)
                noteEntities(bytes)
                if seen.insert(bytes) { hasRepeatedRow = true }
                if filled < buffer.count { return true }
            }
        }
        if !isRead { return nil }
    }

    // SAFETY: each word is read where eight bytes are left.
    private mutating func noteEntities(_ bytes: UnsafeRawBufferPointer) {
        for offset in stride(from: 0, through: bytes.count - 8, by: 8) {
            let row = RowToken(code: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            let entity = RowIdentities.entityNumber(of: row)
            if entity != last {
                entities.insert(entity)
                last = entity
            }
        }
    }
}

/// The primary keys of the rows that were seen. Those of a list are of one table, most of them near each other: they are
/// bits in memory that the system makes as it is touched. The others, which a forged file may have, are in a set.
private final class SeenKeys {
    // SAFETY: as many words as `wordCount` says, from `init` to `deinit`.
    private let bits: UnsafeMutablePointer<UInt64>
    private let wordCount: UInt64
    private var far: Set<UInt64> = []

    /// - Returns: `nil` without memory.
    // SAFETY: `calloc` gives as many zeroed words as `wordCount` says, freed by `deinit`.
    init?(rowCount: Int) {
        wordCount = UInt64(rowCount) + 64
        guard let memory = calloc(Int(wordCount), 8) else { return nil }
        bits = memory.assumingMemoryBound(to: UInt64.self)
    }

    deinit { free(bits) }

    /// Takes in the keys of packed rows.
    ///
    /// - Returns: whether one of them was seen before.
    // SAFETY: each row is read where eight bytes are left, and `place` is below `wordCount`.
    func insert(_ rows: UnsafeRawBufferPointer) -> Bool {
        var repeated: UInt64 = 0
        for offset in stride(from: 0, through: rows.count - 8, by: 8) {
            let row = RowToken(code: rows.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            let key = RowIdentities.packedReference(of: row)
            let place = key >> 6
            guard place < wordCount else {
                if !far.insert(key).inserted { repeated = 1 }
                continue
            }
            let word = bits[Int(place)]
            repeated |= (word >> (key & 63)) & 1
            bits[Int(place)] = word | 1 << (key & 63)
        }
        return repeated != 0
    }
}
