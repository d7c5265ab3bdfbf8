/// What a slot is compared with.
protocol SlotCondition {
    func holds(_ slot: SlotValue) -> Bool

    /// The same for the usual values, in a form that is looked at where the values lie.
    var shortcut: SlotShortcut { get }
}

extension SlotCondition {
    var shortcut: SlotShortcut { .none }
}

/// The usual conditions.
enum SlotShortcut {
    case none
    case compare(Int64, ComparisonResults)
    /// The text is of ASCII, and of that many bytes.
    case equal(String, count: Int, isEqual: Bool)
}

/// Which results of a comparison are wanted.
struct ComparisonResults: OptionSet {
    let rawValue: UInt8
    static let ascending = ComparisonResults(rawValue: 1)
    static let same = ComparisonResults(rawValue: 2)
    static let descending = ComparisonResults(rawValue: 4)
}
