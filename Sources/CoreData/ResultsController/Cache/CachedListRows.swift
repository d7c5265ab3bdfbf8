import Foundation

/// The results of one pass over the rows in the file of a list.
struct CachedListRows {
    private(set) var checksum = ListChecksum()
    /// A forged file may name entities that do not exist, or are not in the list.
    private(set) var entities: Set<UInt64> = []
    /// True if a row occurs twice, as in a forged file.
    private(set) var hasRepeatedRow = false

    /// - Returns: `nil` if the file cannot be read.
    // SAFETY: the buffer is used during the closure only, and aligned for words, as rows are; `pread` fills at most
    // the rest of it.
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
                let rows = bytes.assumingMemoryBound(to: RowToken.self)
                noteEntities(rows)
                if seen.insert(rows) { hasRepeatedRow = true }
                if filled < buffer.count { return true }
            }
        }
        if !isRead { return nil }
    }

    // SAFETY: the rows are read during the call only.
    private mutating func noteEntities(_ rows: UnsafeBufferPointer<RowToken>) {
        guard let first = rows.first.map(RowIdentities.entityNumber) else { return }
        entities.insert(first)
        // In most lists all rows are of one entity; a loop without branches checks that.
        var differences: UInt64 = 0
        for row in rows { differences |= RowIdentities.entityNumber(of: row) ^ first }
        guard differences != 0 else { return }
        var last = first
        for row in rows {
            let entity = RowIdentities.entityNumber(of: row)
            if entity != last {
                entities.insert(entity)
                last = entity
            }
        }
    }
}

/// The primary keys of the rows that were seen. The keys of a list are from one table and mostly dense, so they are
/// bits in memory that the system allocates on first use. Other keys, which a forged file may have, are in a set.
private final class SeenKeys {
    // SAFETY: `wordCount` words, from `init` to `deinit`.
    private let bits: UnsafeMutablePointer<UInt64>
    private let wordCount: UInt64
    private var far: Set<UInt64> = []

    /// - Returns: `nil` if memory is not available.
    // SAFETY: `calloc` returns `wordCount` zeroed words, freed by `deinit`.
    init?(rowCount: Int) {
        wordCount = UInt64(rowCount) + 64
        guard let memory = calloc(Int(wordCount), 8) else { return nil }
        bits = memory.assumingMemoryBound(to: UInt64.self)
    }

    deinit { free(bits) }

    /// Inserts the keys of packed rows.
    ///
    /// - Returns: True if one of them was already there.
    // SAFETY: `place` is below `wordCount`.
    func insert(_ rows: UnsafeBufferPointer<RowToken>) -> Bool {
        let (bits, wordCount) = (bits, wordCount)
        var repeated: UInt64 = 0
        for row in rows {
            let key = RowIdentities.packedReference(of: row)
            let place = key >> 6
            guard place < wordCount else {
                if !far.insert(key).inserted { repeated = 1 }
                continue
            }
            let word = bits[Int(truncatingIfNeeded: place)]
            repeated |= word >> (key & 63)
            bits[Int(truncatingIfNeeded: place)] = word | 1 << (key & 63)
        }
        return repeated & 1 != 0
    }
}
