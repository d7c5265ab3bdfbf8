/// A column of a list.
public struct ListColumn: Hashable, Sendable {
    /// Tells columns apart.
    public var id: String
    /// The text above the column.
    public var title: String
    /// On which side of the column texts stand.
    public var alignment: TextWidth.Alignment
    /// How much the column matters: where space is short, the greatest number goes first.
    public var priority: Int
    /// Whether the column may be cut to less than its text.
    public var isFlexible: Bool
    /// Below this a flexible column is left out rather than cut further.
    public var leastWidth: Int
    /// The width that the user gave the column; `nil` is as wide as its texts.
    public var width: Int?

    /// A column; see the properties for the parameters.
    public init(
        id: String, title: String, alignment: TextWidth.Alignment = .left, priority: Int = 0, isFlexible: Bool = true,
        leastWidth: Int = 12, width: Int? = nil
    ) {
        self.id = id
        self.title = title
        self.alignment = alignment
        self.priority = priority
        self.isFlexible = isFlexible
        self.leastWidth = leastWidth
        self.width = width
    }
}

/// Decides which columns are shown and how wide.
enum ColumnFit {
    /// Columns between two columns.
    static let gap = 2
    /// So much of the column with the focus is seen at the least.
    private static let beginning = 6

    /// The widths by column; `nil` for a column that is left out.
    ///
    /// - Parameters:
    ///   - natural: what each column would like.
    ///   - pinned: columns that stay as long as there is room: the first and those that are frozen.
    ///   - focused: the column that stays whatever happens, beside the first one.
    static func widths(
        of columns: [ListColumn], natural: [Int], available: Int, pinned: Set<Int>, focused: Int
    ) -> [Int?] {
        var shown = Set(columns.indices)
        let natural = columns.indices.map { columns[$0].width ?? natural[$0] }
        func least(_ index: Int) -> Int {
            guard columns[index].isFlexible, columns[index].width == nil else { return min(natural[index], available) }
            // On a wide screen what matters gets its width before what matters less is shown at all.
            let least = columns[index].leastWidth
            return min(natural[index], index == 0 ? min(least, available / 2) : max(least, available / 8))
        }
        func total(_ width: (Int) -> Int) -> Int {
            shown.reduce(0) { $0 + width($1) } + gap * max(0, shown.count - 1)
        }
        let dropOrder = columns.indices.filter { !pinned.contains($0) && $0 != focused }
            .sorted { (columns[$0].priority, $0) > (columns[$1].priority, $1) }
        // More columns may be frozen than leave room for the beginning of the one with the focus: then the last give way.
        let frozen = pinned.filter { $0 != 0 && $0 != focused }.sorted(by: >)
        for index in dropOrder where total(least) > available { shown.remove(index) }
        for index in frozen where total({ $0 == focused ? min(least($0), beginning) : least($0) }) > available {
            shown.remove(index)
        }

        var widths = columns.indices.map { shown.contains($0) ? least($0) : 0 }
        var spare = available - total { widths[$0] }
        // What is left goes to the columns that lack most in order of how much they matter.
        for index in shown.sorted(by: { (columns[$0].priority, $0) < (columns[$1].priority, $1) }) where spare > 0 {
            let extra = min(spare, natural[index] - widths[index])
            widths[index] += extra
            spare -= extra
        }
        return columns.indices.map { shown.contains($0) ? max(1, widths[$0]) : nil }
    }
}
