/// SHA-256 (FIPS 180-4), computed block by block.
package struct SHA256 {
    private var state: [UInt32] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ]
    private var buffer: [UInt8] = []
    private var length: UInt64 = 0

    package init() {}

    package mutating func update(_ bytes: some Sequence<UInt8>) {
        for byte in bytes {
            buffer.append(byte)
            length += 1
            if buffer.count == 64 { compress() }
        }
    }

    /// The 32 bytes of the hash of all bytes so far.
    package consuming func finalize() -> [UInt8] {
        let bits = length * 8
        buffer.append(0x80)
        if buffer.count > 56 {
            buffer += repeatElement(0, count: 64 - buffer.count)
            compress()
        }
        buffer += repeatElement(0, count: 56 - buffer.count)
        buffer += bits.bigEndianBytes
        compress()
        return state.flatMap(\.bigEndianBytes)
    }

    private mutating func compress() {
        var schedule = [UInt32](repeating: 0, count: 64)
        for index in 0..<16 {
            schedule[index] = (0..<4).reduce(0) { $0 << 8 | UInt32(buffer[index * 4 + $1]) }
        }
        for index in 16..<64 {
            let early = schedule[index - 15], late = schedule[index - 2]
            let low = rotate(early, 7) ^ rotate(early, 18) ^ (early >> 3)
            let high = rotate(late, 17) ^ rotate(late, 19) ^ (late >> 10)
            schedule[index] = schedule[index - 16] &+ low &+ schedule[index - 7] &+ high
        }
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        for index in 0..<64 {
            let choice = (e & f) ^ (~e & g)
            let upper = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
            let first = h &+ upper &+ choice &+ SecureHashConstants.narrow[index] &+ schedule[index]
            let majority = (a & b) ^ (a & c) ^ (b & c)
            let second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) &+ majority
            (h, g, f, e, d, c, b, a) = (g, f, e, d &+ first, c, b, a, first &+ second)
        }
        for (index, value) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= value }
        buffer.removeAll(keepingCapacity: true)
    }

    private func rotate(_ value: UInt32, _ count: UInt32) -> UInt32 { value >> count | value << (32 - count) }
}

/// SHA-512 (FIPS 180-4), computed block by block.
package struct SHA512 {
    private var state: [UInt64] = [
        0x6a09_e667_f3bc_c908, 0xbb67_ae85_84ca_a73b, 0x3c6e_f372_fe94_f82b, 0xa54f_f53a_5f1d_36f1,
        0x510e_527f_ade6_82d1, 0x9b05_688c_2b3e_6c1f, 0x1f83_d9ab_fb41_bd6b, 0x5be0_cd19_137e_2179,
    ]
    private var buffer: [UInt8] = []
    private var length: UInt64 = 0

    package init() {}

    package mutating func update(_ bytes: some Sequence<UInt8>) {
        for byte in bytes {
            buffer.append(byte)
            length += 1
            if buffer.count == 128 { compress() }
        }
    }

    /// The 64 bytes of the hash of all bytes so far.
    package consuming func finalize() -> [UInt8] {
        let bits = length * 8
        buffer.append(0x80)
        if buffer.count > 112 {
            buffer += repeatElement(0, count: 128 - buffer.count)
            compress()
        }
        buffer += repeatElement(0, count: 120 - buffer.count)
        buffer += bits.bigEndianBytes
        compress()
        return state.flatMap(\.bigEndianBytes)
    }

    private mutating func compress() {
        var schedule = [UInt64](repeating: 0, count: 80)
        for index in 0..<16 {
            schedule[index] = (0..<8).reduce(0) { $0 << 8 | UInt64(buffer[index * 8 + $1]) }
        }
        for index in 16..<80 {
            let early = schedule[index - 15], late = schedule[index - 2]
            let low = rotate(early, 1) ^ rotate(early, 8) ^ (early >> 7)
            let high = rotate(late, 19) ^ rotate(late, 61) ^ (late >> 6)
            schedule[index] = schedule[index - 16] &+ low &+ schedule[index - 7] &+ high
        }
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        for index in 0..<80 {
            let choice = (e & f) ^ (~e & g)
            let upper = rotate(e, 14) ^ rotate(e, 18) ^ rotate(e, 41)
            let first = h &+ upper &+ choice &+ SecureHashConstants.wide[index] &+ schedule[index]
            let majority = (a & b) ^ (a & c) ^ (b & c)
            let second = (rotate(a, 28) ^ rotate(a, 34) ^ rotate(a, 39)) &+ majority
            (h, g, f, e, d, c, b, a) = (g, f, e, d &+ first, c, b, a, first &+ second)
        }
        for (index, value) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= value }
        buffer.removeAll(keepingCapacity: true)
    }

    private func rotate(_ value: UInt64, _ count: UInt64) -> UInt64 { value >> count | value << (64 - count) }
}
