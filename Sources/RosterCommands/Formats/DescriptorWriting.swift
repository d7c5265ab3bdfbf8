#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Writing to an open file, pipe or terminal.
package enum DescriptorWriting {
    /// Writes all `bytes`, also where a signal interrupts.
    ///
    /// - Returns: 0, or what `errno` said; how much was written before is not known then.
    // SAFETY: `write` reads the bytes during the call, while the array holds them.
    package static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        var start = 0
        while start < bytes.count {
            let count = bytes[start...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count < 0 { return errno }
            start += count
        }
        return 0
    }
}
