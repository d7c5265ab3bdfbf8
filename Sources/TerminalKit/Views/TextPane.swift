import Translation

/// Scrollable lines of text: help, a message, a log.
public final class TextPane: Layer {
    /// A line, in runs of different roles.
    public struct Line: Sendable {
        /// The runs, in order from the left.
        public var runs: [(text: String, role: Role)]

        /// Creates a line with one run.
        public init(_ text: String, role: Role = .text) { runs = [(text, role)] }
        /// The line in the user's language, if it has one run.
        var translated: Line { runs.count == 1 ? Line(tr(runs[0].text), role: runs[0].role) : self }

        /// Creates a line with several runs.
        public init(runs: [(String, Role)]) { self.runs = runs.map { (text: $0.0, role: $0.1) } }
    }

    /// The title of the pane.
    public let title: String
    /// The lines to show.
    public var lines: [Line]
    /// True if the layer has to be removed from the screen.
    public private(set) var isFinished = false
    private var top = 0
    private var height = 1
    /// Keys in addition to Escape and `q` that close the pane: those that opened it.
    private let closingKeys: [Key]

    /// Creates a pane scrolled to the top.
    public init(title: String, lines: [Line], closingKeys: [Key] = []) {
        self.title = tr(title)
        self.lines = lines
        self.closingKeys = closingKeys
    }

    /// Handles an event. Returns `false` if it is not handled.
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

    /// Draws the current state.
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
