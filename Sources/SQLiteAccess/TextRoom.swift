/// Memory for the texts that a statement needs for one run: many small ones in one block, without an allocation for
/// each.
// SAFETY: a text is copied only where there is room for it, and read before the room is cleared; `deinit` frees the
// memory.
struct TextRoom: ~Copyable {
    private static let size = 1 << 12
    private var memory: UnsafeMutablePointer<CChar>?
    private var used = 0

    deinit { memory?.deallocate() }

    /// The text's bytes, as UTF-8, until the room is cleared; `nil` if they do not fit.
    mutating func copy(_ text: String) -> UnsafeBufferPointer<CChar>? {
        let memory = memory ?? .allocate(capacity: Self.size)
        self.memory = memory
        let start = memory + used
        let room = Self.size - used
        let length = text.utf8.withContiguousStorageIfAvailable { bytes -> Int? in
            guard bytes.count <= room else { return nil }
            if let address = bytes.baseAddress {
                UnsafeMutableRawPointer(start).copyMemory(from: address, byteCount: bytes.count)
            }
            return bytes.count
        }
        guard let length, let length else { return nil }
        used += length
        return UnsafeBufferPointer(start: start, count: length)
    }

    /// Makes the room available again, when its texts are no longer needed.
    mutating func clear() { used = 0 }
}
