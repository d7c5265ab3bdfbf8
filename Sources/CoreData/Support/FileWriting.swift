import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

package enum FileWriting {
    /// Writes all of `data` to an open file, pipe or terminal, also where a signal interrupts.
    ///
    /// - Returns: 0, or what `errno` said; how much was written before is not known then.
    // SAFETY: the system reads at most what is left of the bytes, which the data hold.
    package static func write(_ data: some ContiguousBytes, to descriptor: Int32) -> Int32 {
        data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return count == 0 ? EIO : errno }
                rest = rest.dropFirst(count)
            }
            return 0
        }
    }
}

/// The system's function: in the enumeration the name is another's.
// SAFETY: the caller holds `count` bytes during the call.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
