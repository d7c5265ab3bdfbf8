import TerminalKit

/// A cursor in rows of which a part is visible.
struct ScrolledRows {
    var cursor = 0
    private(set) var top = 0
    private(set) var height = 1

    /// Limits the cursor to the rows and scrolls to it.
    mutating func fit(count: Int, height: Int) {
        self.height = max(1, height)
        move(by: 0, of: count)
        top = max(0, min(top, cursor, max(0, count - self.height)))
        if cursor >= top + self.height { top = cursor - self.height + 1 }
    }

    /// The visible rows.
    func shown(of count: Int) -> Range<Int> { min(top, count)..<min(count, top + height) }

    mutating func move(by lines: Int, of count: Int) { cursor = max(0, min(cursor + lines, count - 1)) }

    /// Acts on the mouse. Answers true for a double click on a row.
    mutating func handle(_ mouse: MouseEvent, count: Int, firstLine: Int) -> Bool {
        switch mouse.action {
        case .wheelUp: move(by: -3, of: count)
        case .wheelDown: move(by: 3, of: count)
        case .press, .doubleClick:
            let row = mouse.position.y - firstLine
            guard (0..<height).contains(row), top + row < count else { return false }
            cursor = top + row
            return mouse.action == .doubleClick
        }
        return false
    }
}

/// A screen that shows scrolled rows.
protocol RowScreen: MovingScreen {
    var rows: ScrolledRows { get set }
    var rowCount: Int { get }
    /// The line of the screen in which the first visible row is.
    var firstLine: Int { get }
    /// Acts on a double click on a row.
    func choose()
}

extension RowScreen {
    func handle(_ event: Event) -> Bool {
        switch event {
        case .key(let key): return run(key)
        case .mouse(let mouse):
            if rows.handle(mouse, count: rowCount, firstLine: firstLine) { choose() }
            return true
        default: return false
        }
    }

    func move(by lines: Int) { rows.move(by: lines, of: rowCount) }
    func move(byPages pages: Double) { move(by: Int(pages) * rows.height) }
    func moveToStart() { rows.cursor = 0 }
    func moveToEnd() { rows.cursor = max(0, rowCount - 1) }
}
