/// A fast checksum that detects damaged files. It does not protect against deliberate changes.
package struct ListChecksum {
    private var lanes: (UInt64, UInt64, UInt64, UInt64) = (
        0x9E37_79B9_7F4A_7C15, 0xC2B2_AE3D_27D4_EB4F, 0x1656_67B1_9E37_79F9, 0x27D4_EB2F_1656_67C5
    )
    private var length: UInt64 = 0

    package init() {}

    /// Adds `bytes` to the checksum. All calls but the last must pass a multiple of 32 bytes.
    // SAFETY: words are read at offsets with at least eight bytes after them; nothing is kept.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        length &+= UInt64(bytes.count)
        var (a, b, c, d) = lanes
        let whole = bytes.count / 32 * 32
        for offset in stride(from: 0, to: whole, by: 32) {
            a = Self.mix(a, bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            b = Self.mix(b, bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self))
            c = Self.mix(c, bytes.loadUnaligned(fromByteOffset: offset + 16, as: UInt64.self))
            d = Self.mix(d, bytes.loadUnaligned(fromByteOffset: offset + 24, as: UInt64.self))
        }
        for offset in whole..<bytes.count { a = Self.mix(a, UInt64(bytes[offset]) &+ 1) }
        lanes = (a, b, c, d)
    }

    package var value: UInt64 { Self.mix(Self.mix(Self.mix(Self.mix(length, lanes.0), lanes.1), lanes.2), lanes.3) }

    @inline(__always)
    private static func mix(_ state: UInt64, _ word: UInt64) -> UInt64 {
        let mixed = (state ^ word) &* 0xFF51_AFD7_ED55_8CCD
        return mixed ^ (mixed >> 32)
    }
}
