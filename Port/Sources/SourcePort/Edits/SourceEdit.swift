/// One change of a file: some bytes, and what takes their place.
public struct SourceEdit: Equatable, Sendable {
    /// The bytes that go; empty where something is only added.
    public let range: Range<Int>
    /// What takes their place; empty where something is only removed.
    public let replacement: String

    /// A change of the bytes in `range`.
    public init(range: Range<Int>, replacement: String) {
        self.range = range
        self.replacement = replacement
    }
}

/// Changes of one file that do not overlap, in its order; at one place, in the order in which they were added.
struct EditList {
    private(set) var edits: [SourceEdit] = []

    /// Adds a change, unless it overlaps another one.
    /// - Returns: whether it was added.
    mutating func add(_ range: Range<Int>, _ replacement: String) -> Bool {
        var (low, high) = (0, edits.count)
        while low < high {
            let middle = (low + high) / 2
            if Self.isBefore(range, edits[middle].range) { high = middle } else { low = middle + 1 }
        }
        if low > 0, edits[low - 1].range.upperBound > range.lowerBound { return false }
        if low < edits.count, range.upperBound > edits[low].range.lowerBound { return false }
        // Only one change can begin with a byte.
        if low > 0, edits[low - 1].range == range, !range.isEmpty { return false }
        edits.insert(SourceEdit(range: range, replacement: replacement), at: low)
        return true
    }

    /// Takes out the changes in `range`, without additions at its ends.
    /// - Returns: `nil`, and takes out nothing, if a change crosses an end.
    mutating func take(_ range: Range<Int>) -> [SourceEdit]? {
        let inner = edits.filter {
            $0.range.overlaps(range) || range.contains($0.range.lowerBound) && $0.range.lowerBound > range.lowerBound
        }
        guard inner.allSatisfy({ range.lowerBound <= $0.range.lowerBound && $0.range.upperBound <= range.upperBound })
        else {
            return nil
        }
        edits.removeAll(where: inner.contains)
        return inner
    }

    /// Whether what is added comes before what is there: additions come before the change of the byte at which they stand.
    private static func isBefore(_ new: Range<Int>, _ old: Range<Int>) -> Bool {
        if new.lowerBound != old.lowerBound { return new.lowerBound < old.lowerBound }
        return new.isEmpty && !old.isEmpty
    }

    /// `bytes` with `edits`, which are in the order of the file.
    static func apply(_ edits: [SourceEdit], to bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var place = 0
        for edit in edits {
            result += bytes[place..<edit.range.lowerBound]
            result += Array(edit.replacement.utf8)
            place = edit.range.upperBound
        }
        return result + bytes[place...]
    }
}
