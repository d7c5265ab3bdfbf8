/// A condition on the value of a slot.
protocol SlotCondition {
    func holds(_ slot: SlotValue) -> Bool

    /// The equivalent condition for common values, which can be checked directly in memory.
    var shortcut: SlotShortcut { get }
}

extension SlotCondition {
    var shortcut: SlotShortcut { .none }
}

/// Common conditions.
enum SlotShortcut {
    case none
    case compare(Int64, ComparisonResults)
    /// The text is ASCII and has `count` bytes.
    case equal(String, count: Int, isEqual: Bool)
}

/// The comparison results that satisfy a condition.
struct ComparisonResults: OptionSet {
    let rawValue: UInt8
    static let ascending = ComparisonResults(rawValue: 1)
    static let same = ComparisonResults(rawValue: 2)
    static let descending = ComparisonResults(rawValue: 4)
}
