import Foundation

extension FixedWidthInteger {
    /// The bytes of the number, the most significant first.
    package var bigEndianBytes: [UInt8] { littleEndianBytes.reversed() }

    /// The bytes of the number, the least significant first.
    package var littleEndianBytes: [UInt8] {
        stride(from: 0, to: Self.bitWidth, by: 8).map { UInt8(truncatingIfNeeded: self >> Self($0)) }
    }
}

extension UUID {
    /// The sixteen bytes in the order of the text.
    // SAFETY: the bytes are copied during the closure.
    package var bytes: Data { withUnsafeBytes(of: uuid) { Data($0) } }

    /// The UUID of sixteen bytes; `nil` for any other count.
    package init?(bytes: Data) {
        guard bytes.count == 16 else { return nil }
        let b = [UInt8](bytes)
        self.init(
            uuid: (
                b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]
            ))
    }
}
