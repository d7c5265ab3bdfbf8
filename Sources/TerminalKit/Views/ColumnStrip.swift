/// The columns of a list, of which a part is visible: the frozen ones at the left, and those from a first one on.
///
/// Design note. Whole columns scroll, so that the focused one is visible from its start. A column that is wider than the
/// space left is cut. The width of a column is that of the texts shown so far and only grows: columns keep their
/// positions while rows scroll. A long text gets a share of the screen, or more if all columns are visible. Only columns
/// that may become visible are measured.
struct ColumnStrip {
    /// The position of a visible column on the screen.
    struct Place: Hashable {
        let column: Int
        var x: Int
        var width: Int
    }

    /// The visible columns of a frame.
    struct Layout: Hashable {
        /// The columns from left to right.
        var places: [Place] = []
        /// Number of places, from the left, whose columns name the record: the frozen ones, or else the first.
        var naming = 0
        /// Number of columns hidden after the frozen ones, and the position at which it is shown.
        var hiddenLeft = 0
        var leftNoteX = 0
        /// Number of columns hidden at the right.
        var hiddenRight = 0
        /// True if there is room to show these numbers.
        var showsNotes = false
    }

    /// Returns the width of a column's title and visible texts.
    typealias Measure = (_ index: Int, _ column: ListColumn) -> Int

    /// The space between two columns.
    static let gap = 2
    /// The position of the first text, after the mark and a space.
    static let margin = 2
    /// A column is not cut to less than this width.
    private static let leastCut = 3
    /// The numbers of hidden columns are omitted on narrower screens.
    private static let leastWidthForNotes = 30

    var columns: [ListColumn] { didSet { if columns != oldValue { widest = [:] } } }
    /// Number of columns at the left that do not scroll. Those beyond two thirds of the screen scroll nevertheless.
    var frozen = 1
    /// The focused column, which is always visible.
    private(set) var focus = 0
    /// The layout of the last frame.
    private(set) var layout = Layout()
    /// The first visible column of those that scroll.
    private var first = 0
    /// A column to show in the next frame, if the focused one stays visible.
    private var wanted: Int?
    /// The width of the widest text seen in each column.
    private var widest: [Int: Int] = [:]
    /// The columns measured for the current frame, its width, and the columns that do not scroll in it.
    private var measured: Set<Int> = []
    private var end = 0
    private var still = 0

    init(_ columns: [ListColumn]) { self.columns = columns }

    /// Moves the focus, at most to the first or last column. At the first one, all columns scroll back.
    mutating func setFocus(_ column: Int) {
        focus = max(0, min(columns.count - 1, column))
        if focus == 0 { first = 0 }
    }

    /// Scrolls a column into view with the next frame, as far as the focused one stays visible.
    mutating func show(_ column: Int) { wanted = column }

    /// Forgets focus, position and widths, before another list is shown.
    mutating func reset() { (focus, first, wanted, widest) = (0, 0, nil, [:]) }

    /// Takes focus and position of another list if it has the same columns.
    mutating func takePosition(of other: ColumnStrip) {
        guard columns.map(\.id) == other.columns.map(\.id) else { return }
        (focus, first) = (other.focus, other.first)
    }

    // MARK: Layout

    /// Chooses the visible columns for a screen of `end` columns.
    ///
    /// - Parameter measure: called at most once per column.
    mutating func layOut(in end: Int, _ measure: Measure) {
        (layout, measured, self.end, still) = (Layout(), [], end, 0)
        focus = max(0, min(columns.count - 1, focus))
        guard !columns.isEmpty, end > Self.margin else { return }
        placeFrozen(measure)
        first = min(max(first, still), max(still, columns.count - 1))
        if let wanted { reveal(wanted, measure) }
        wanted = nil
        reveal(focus, measure)
        placeScrolled(measure)
        (layout.naming, layout.showsNotes) = (max(1, still), noteWidth > 0)
        if layout.hiddenLeft == 0, layout.hiddenRight == 0 { widen(measure) }
    }

    /// The width that shows all texts of a column.
    private mutating func whole(_ column: Int, _ measure: Measure) -> Int {
        if measured.insert(column).inserted {
            widest[column] = max(widest[column] ?? 1, measure(column, columns[column]))
        }
        return max(1, columns[column].width ?? widest[column] ?? 1)
    }

    /// The width of a column that shares the screen with others.
    private mutating func share(_ column: Int, _ measure: Measure) -> Int {
        let whole = whole(column, measure)
        guard columns[column].isFlexible, columns[column].width == nil else { return whole }
        return min(whole, max(columns[column].leastWidth, (end - Self.margin) / 8))
    }

    /// The position after the last placed column.
    private var nextX: Int { layout.places.last.map { $0.x + $0.width + Self.gap } ?? Self.margin }

    /// The position of the first column that scrolls, with or without the number of columns hidden before it.
    private func start(hidesSome: Bool) -> Int {
        let x = still == 0 ? Self.margin : layout.places[still - 1].x + layout.places[still - 1].width + Self.gap
        guard hidesSome else { return x }
        return still == 0 ? max(x, noteWidth + 1) : x + noteWidth
    }

    /// The room for the number of columns hidden at a side.
    private var noteWidth: Int { end < Self.leastWidthForNotes ? 0 : "‹\(columns.count - still)".count }

    /// The end of columns before others that are hidden at the right.
    private var endBeforeNote: Int { noteWidth == 0 ? end : end - noteWidth - 2 }

    private mutating func placeFrozen(_ measure: Measure) {
        let room = end - Self.margin
        for column in 0..<max(0, min(frozen, columns.count)) {
            var width = share(column, measure)
            if column == 0 { width = min(width, columns.count == 1 ? room : max(1, room / 2)) }
            guard column == 0 || nextX + width - Self.margin <= room * 2 / 3 else { break }
            layout.places.append(Place(column: column, x: nextX, width: width))
        }
        still = layout.places.count
    }

    /// Scrolls until a column is visible.
    private mutating func reveal(_ column: Int, _ measure: Measure) {
        guard (still..<max(still, columns.count)).contains(column) else { return }
        guard column > first else { return first = column }
        let limit = column == columns.count - 1 ? end : endBeforeNote
        var (begin, used) = (column, share(column, measure))
        while begin > first {
            let wider = used + Self.gap + share(begin - 1, measure)
            guard start(hidesSome: begin - 1 > still) + wider <= limit else { break }
            (begin, used) = (begin - 1, wider)
        }
        first = begin
    }

    /// Places the columns that scroll: as many as fit from the first one on, or before the last one.
    private mutating func placeScrolled(_ measure: Measure) {
        let allFit = allFit(measure)
        var widths = widths(upTo: allFit ? end : endBeforeNote, measure)
        var begin = first
        while allFit, begin > still {
            let used = widths.reduce(0) { $0 + $1 + Self.gap }
            let room = end - start(hidesSome: begin - 1 > still) - used
            let width = share(begin - 1, measure)
            guard room >= min(width, Self.leastCut) else { break }
            begin -= 1
            widths.insert(min(width, room), at: 0)
            if width > room { break }
            first = begin
        }
        layout.hiddenLeft = begin - still
        layout.hiddenRight = columns.count - begin - widths.count
        layout.leftNoteX = still == 0 ? 0 : nextX - 1
        var x = start(hidesSome: begin > still)
        for (offset, width) in widths.enumerated() {
            layout.places.append(Place(column: begin + offset, x: x, width: width))
            x += width + Self.gap
        }
    }

    /// True if the first column that scrolls and all after it fit.
    private mutating func allFit(_ measure: Measure) -> Bool {
        var x = start(hidesSome: first > still)
        for column in first..<columns.count {
            x += share(column, measure)
            if x > end { return false }
            x += Self.gap
        }
        return true
    }

    /// The widths of the columns that fit from the first one on. The last of them may be cut.
    private mutating func widths(upTo limit: Int, _ measure: Measure) -> [Int] {
        var widths: [Int] = []
        var x = start(hidesSome: first > still)
        for column in first..<columns.count {
            let width = share(column, measure)
            // The first one is visible in any case.
            let isBounded = column < columns.count - 1 && (column > first || limit - x >= Self.leastCut)
            let room = (isBounded ? limit : end) - x
            guard room >= (column == first ? 1 : min(width, Self.leastCut)) else { break }
            widths.append(min(width, room))
            x += width + Self.gap
        }
        return widths
    }

    /// Widens columns whose texts are cut, if all columns are visible and do not fill the screen.
    private mutating func widen(_ measure: Measure) {
        var spare = end - nextX + Self.gap
        for (index, place) in layout.places.enumerated() {
            let extra = max(0, min(spare, whole(place.column, measure) - place.width))
            layout.places[index].width += extra
            for later in layout.places.indices.dropFirst(index + 1) { layout.places[later].x += extra }
            spare -= extra
        }
    }
}
