import TerminalKit

/// A cursor that goes over rows of which a part is on the screen.
struct ScrolledRows {
    var cursor = 0
    private(set) var top = 0
    private(set) var height = 1

    /// Brings the cursor into the rows and the rows into the window.
    mutating func fit(count: Int, height: Int) {
        self.height = max(1, height)
        cursor = max(0, min(cursor, count - 1))
        top = max(0, min(top, cursor, max(0, count - self.height)))
        if cursor >= top + self.height { top = cursor - self.height + 1 }
    }

    /// The rows on the screen.
    func shown(of count: Int) -> Range<Int> { min(top, count)..<min(count, top + height) }

    /// Acts on a key that moves. Answers whether it does.
    mutating func handle(_ key: Key, count: Int) -> Bool {
        switch (key.code, key.modifiers) {
        case (.down, []), (.character("j"), []): cursor += 1
        case (.up, []), (.character("k"), []): cursor -= 1
        case (.pageDown, []), (.character("f"), .control), (.character("d"), .control): cursor += height
        case (.pageUp, []), (.character("b"), .control), (.character("u"), .control): cursor -= height
        case (.home, []), (.character("g"), []): cursor = 0
        case (.end, []), (.character("G"), []): cursor = count - 1
        default: return false
        }
        cursor = max(0, min(cursor, count - 1))
        return true
    }

    mutating func handle(_ mouse: MouseEvent, count: Int, firstLine: Int) -> Bool {
        switch mouse.action {
        case .wheelUp: cursor -= 3
        case .wheelDown: cursor += 3
        case .press, .doubleClick:
            let row = mouse.position.y - firstLine
            guard (0..<height).contains(row), top + row < count else { return false }
            cursor = top + row
            return mouse.action == .doubleClick
        }
        cursor = max(0, min(cursor, count - 1))
        return false
    }
}
