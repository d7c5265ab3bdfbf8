/// A column of a list.
public struct ListColumn: Hashable, Sendable {
    /// The identity of the column.
    public var id: String
    /// The text above the column.
    public var title: String
    /// The alignment of the texts.
    public var alignment: TextWidth.Alignment
    /// The importance of the column. If space is short, the column with the greatest number is omitted first.
    public var priority: Int
    /// True if the column may be narrower than its text.
    public var isFlexible: Bool
    /// The minimum width of a flexible column. If it does not fit, the column is omitted.
    public var leastWidth: Int
    /// The width set by the user; `nil` for the width of the texts.
    public var width: Int?

    /// Creates a column. The parameters have the meaning of the properties.
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

/// Decides which columns are shown, and how wide they are.
enum ColumnFit {
    /// The space between two columns.
    static let gap = 2
    /// The minimum visible width of the focused column.
    private static let beginning = 6

    /// Returns the width of each column; `nil` for an omitted one.
    ///
    /// - Parameters:
    ///   - natural: The preferred width of each column.
    ///   - pinned: Columns that are omitted last: the first and the frozen ones.
    ///   - focused: The column that, like the first one, is always shown.
    static func widths(
        of columns: [ListColumn], natural: [Int], available: Int, pinned: Set<Int>, focused: Int
    ) -> [Int?] {
        var shown = Set(columns.indices)
        let natural = columns.indices.map { columns[$0].width ?? natural[$0] }
        func least(_ index: Int) -> Int {
            guard columns[index].isFlexible, columns[index].width == nil else { return min(natural[index], available) }
            // On a wide screen an important column gets its width before less important ones are shown at all.
            let least = columns[index].leastWidth
            return min(natural[index], index == 0 ? min(least, available / 2) : max(least, available / 8))
        }
        func total(_ width: (Int) -> Int) -> Int {
            shown.reduce(0) { $0 + width($1) } + gap * max(0, shown.count - 1)
        }
        let dropOrder = columns.indices.filter { !pinned.contains($0) && $0 != focused }
            .sorted { (columns[$0].priority, $0) > (columns[$1].priority, $1) }
        // If the frozen columns leave no space for the minimum of the focused one, the last of them are omitted.
        let frozen = pinned.filter { $0 != 0 && $0 != focused }.sorted(by: >)
        for index in dropOrder where total(least) > available { shown.remove(index) }
        for index in frozen where total({ $0 == focused ? min(least($0), beginning) : least($0) }) > available {
            shown.remove(index)
        }

        var widths = columns.indices.map { shown.contains($0) ? least($0) : 0 }
        var spare = available - total { widths[$0] }
        // The rest of the space is distributed in order of importance, up to the preferred widths.
        for index in shown.sorted(by: { (columns[$0].priority, $0) < (columns[$1].priority, $1) }) where spare > 0 {
            let extra = min(spare, natural[index] - widths[index])
            widths[index] += extra
            spare -= extra
        }
        return columns.indices.map { shown.contains($0) ? max(1, widths[$0]) : nil }
    }
}
