/// One change of a file: a range of bytes and its replacement.
public struct SourceEdit: Equatable, Sendable {
    /// The bytes to replace; empty for an insertion.
    public let range: Range<Int>
    /// The new text; empty for a deletion.
    public let replacement: String

    /// Creates a change of the bytes in `range`.
    public init(range: Range<Int>, replacement: String) {
        self.range = range
        self.replacement = replacement
    }
}

/// Changes of one file in file order, without overlaps. Insertions at the same offset keep the order in which they were
/// added.
struct EditList {
    private(set) var edits: [SourceEdit] = []

    /// Adds a change, unless it overlaps another one.
    /// - Returns: True if it was added.
    mutating func add(_ range: Range<Int>, _ replacement: String) -> Bool {
        var (low, high) = (0, edits.count)
        while low < high {
            let middle = (low + high) / 2
            if Self.isBefore(range, edits[middle].range) { high = middle } else { low = middle + 1 }
        }
        if low > 0, edits[low - 1].range.upperBound > range.lowerBound { return false }
        if low < edits.count, range.upperBound > edits[low].range.lowerBound { return false }
        // Two changes cannot replace the same bytes.
        if low > 0, edits[low - 1].range == range, !range.isEmpty { return false }
        edits.insert(SourceEdit(range: range, replacement: replacement), at: low)
        return true
    }

    /// Removes and returns the changes in `range`, except for insertions at its ends.
    /// - Returns: nil, without removing anything, if a change crosses an end of the range.
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

    /// True if a new change is sorted before an existing one. An insertion precedes a change of the byte at its offset.
    private static func isBefore(_ new: Range<Int>, _ old: Range<Int>) -> Bool {
        if new.lowerBound != old.lowerBound { return new.lowerBound < old.lowerBound }
        return new.isEmpty && !old.isEmpty
    }

    /// Returns `bytes` with `edits` applied, which must be in file order.
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
