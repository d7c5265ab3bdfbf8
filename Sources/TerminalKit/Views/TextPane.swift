import Translation

/// Lines of text to read and scroll: help, a message, a log.
public final class TextPane: Layer {
    /// One line in pieces of different roles.
    public struct Line: Sendable {
        /// The pieces, from the left.
        public var runs: [(text: String, role: Role)]

        /// A line of one piece.
        public init(_ text: String, role: Role = .text) { runs = [(text, role)] }
        /// The same line in the user's language, where it is one text.
        var translated: Line { runs.count == 1 ? Line(tr(runs[0].text), role: runs[0].role) : self }

        /// A line of several pieces.
        public init(runs: [(String, Role)]) { self.runs = runs.map { (text: $0.0, role: $0.1) } }
    }

    /// The title of the pane.
    public let title: String
    /// The lines to read.
    public var lines: [Line]
    /// Whether the layer is to be taken off the screen.
    public private(set) var isFinished = false
    private var top = 0
    private var height = 1
    /// Keys beside Escape and `q` that close the pane: the one that opened it.
    private let closingKeys: [Key]

    /// A pane with its first line on top.
    public init(title: String, lines: [Line], closingKeys: [Key] = []) {
        self.title = tr(title)
        self.lines = lines
        self.closingKeys = closingKeys
    }

    /// Acts on an event; `false` when it means nothing here.
    public func handle(_ event: Event) -> Bool {
        switch event {
        case .key(let key): return handle(key)
        case .mouse(let mouse):
            if mouse.action == .wheelUp { top -= 3 }
            if mouse.action == .wheelDown { top += 3 }
            return true
        default: return false
        }
    }

    private func handle(_ key: Key) -> Bool {
        if closingKeys.contains(key) {
            isFinished = true
            return true
        }
        switch (key.code, key.modifiers) {
        case (.escape, []), (.character("q"), []), (.enter, []), (.character("c"), .control): isFinished = true
        case (.down, []), (.character("j"), []): top += 1
        case (.up, []), (.character("k"), []): top -= 1
        case (.pageDown, []), (.character(" "), []), (.character("f"), .control): top += height
        case (.pageUp, []), (.character("b"), .control): top -= height
        case (.character("d"), .control): top += height / 2
        case (.character("u"), .control): top -= height / 2
        case (.home, []), (.character("g"), []): top = 0
        case (.end, []), (.character("G"), []): top = lines.count
        default: return false
        }
        return true
    }

    /// Paints the present state.
    public func draw(in canvas: Canvas) {
        canvas.clear()
        height = max(1, canvas.height - 2)
        top = max(0, min(top, lines.count - height))
        canvas.fillLine(0, style: .status)
        canvas.write(" " + title, x: 0, y: 0, style: .status)
        for row in 0..<height where top + row < lines.count {
            var x = 0
            for run in lines[top + row].runs { x += canvas.write(run.text, x: x, y: row + 1, style: Style(run.role)) }
        }
        let isWhole = lines.count <= height
        let place =
            isWhole ? "" : tr("  %s–%s of %s", "\(top + 1)", "\(min(lines.count, top + height))", "\(lines.count)")
        canvas.write(
            tr("q close") + (isWhole ? "" : tr("  j k Space scroll")) + place, x: 0, y: canvas.height - 1, style: .muted
        )
    }
}
