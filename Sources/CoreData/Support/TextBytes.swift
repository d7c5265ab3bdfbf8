import Foundation

/// Texts compared by their UTF-8 bytes, as SQLite's BINARY does. Swift's `==` treats some different bytes as the same
/// characters.
// SAFETY: callers hold the bytes during the call, and no pointer is kept; each access is bounded by the counts.
enum TextBytes {
    @inline(__always)
    static func with<Result>(_ text: String, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if let result = text.utf8.withContiguousStorageIfAvailable(body) { return result }
        var copy = text
        return copy.withUTF8(body)
    }

    static func areEqual(_ left: String, _ right: String) -> Bool {
        with(left) { left in with(right) { right in areEqual(left, right) } }
    }

    static func areEqual(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Bool {
        left.count == right.count && compare(left, right) == .orderedSame
    }

    /// Hashes exactly the bytes that ``areEqual(_:_:)-(String,String)`` compares.
    static func hash(_ text: String, into hasher: inout Hasher) {
        with(text) { bytes in
            hasher.combine(bytes.count)
            hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
        }
    }

    static func compare(_ left: String, _ right: String) -> ComparisonResult {
        with(left) { left in with(right) { right in compare(left, right) } }
    }

    /// Order by bytes; if one is a prefix of the other, the shorter one is first.
    static func compare(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> ComparisonResult {
        let common = min(left.count, right.count)
        if common > 0, let first = left.baseAddress, let second = right.baseAddress {
            let difference = memcmp(first, second, common)
            if difference != 0 { return difference < 0 ? .orderedAscending : .orderedDescending }
        }
        return left.count == right.count
            ? .orderedSame : left.count < right.count ? .orderedAscending : .orderedDescending
    }

    static func compare(_ left: Data, _ right: Data) -> ComparisonResult {
        left.withUnsafeBytes { left in
            right.withUnsafeBytes { right in compare(left.bindMemory(to: UInt8.self), right.bindMemory(to: UInt8.self))
            }
        }
    }

    static func compare(_ left: UUID, _ right: UUID) -> ComparisonResult {
        withUnsafeBytes(of: left.uuid) { left in
            withUnsafeBytes(of: right.uuid) { right in
                compare(left.bindMemory(to: UInt8.self), right.bindMemory(to: UInt8.self))
            }
        }
    }

    /// True if `haystack` contains `needle`; an empty needle always matches.
    static func contains(_ haystack: UnsafeBufferPointer<UInt8>, _ needle: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let needleStart = needle.baseAddress, needle.count > 0 else { return true }
        guard let haystackStart = haystack.baseAddress, haystack.count >= needle.count else { return false }
        var start = haystackStart
        var left = haystack.count - needle.count + 1
        while left > 0, let found = memchr(start, Int32(needleStart[0]), left) {
            let place = found.assumingMemoryBound(to: UInt8.self)
            if memcmp(place, needleStart, needle.count) == 0 { return true }
            left -= UnsafePointer(place) - start + 1
            start = UnsafePointer(place) + 1
        }
        return false
    }

    static func begins(_ text: UnsafeBufferPointer<UInt8>, with prefix: UnsafeBufferPointer<UInt8>) -> Bool {
        text.count >= prefix.count && areEqual(UnsafeBufferPointer(rebasing: text[..<prefix.count]), prefix)
    }

    static func ends(_ text: UnsafeBufferPointer<UInt8>, with suffix: UnsafeBufferPointer<UInt8>) -> Bool {
        text.count >= suffix.count
            && areEqual(UnsafeBufferPointer(rebasing: text[(text.count - suffix.count)...]), suffix)
    }
}

/// A text as a key, compared by its UTF-8.
struct ExactText: Hashable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (left: ExactText, right: ExactText) -> Bool { TextBytes.areEqual(left.text, right.text) }

    func hash(into hasher: inout Hasher) { TextBytes.hash(text, into: &hasher) }
}
