import Translation

/// Scrollable lines of text, which can be searched: help, a message, a log.
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

        var text: String { runs.map(\.text).joined() }
    }

    /// The title of the pane.
    public let title: String
    /// The lines to show.
    public var lines: [Line]
    /// True if the layer has to be removed from the screen.
    public private(set) var isFinished = false
    /// True while the user types a text to find.
    public var acceptsText: Bool { entry != nil }
    private var top = 0
    private var height = 1
    /// The editor of the text to find while it is typed, and the first visible line before, for Escape.
    private var entry: (editor: LineEditor, top: Int)?
    /// The text to find; empty for none.
    private var needle = ""
    /// The line of the current match.
    private var match: Int?
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
        case .key(let key): return entry == nil ? handle(key) : type(key)
        case .paste(let text) where entry != nil:
            entry?.editor.insert(text)
            search()
            return true
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
        case (.character("/"), []): entry = (LineEditor(), top)
        case (.character("n"), []): findNext()
        case (.character("N"), []): findNext(backward: true)
        default: return false
        }
        return true
    }

    // MARK: Finding

    /// The numbers of the lines that contain the text to find.
    private var matches: [Int] {
        needle.isEmpty ? [] : lines.indices.filter { !TextWidth().matches(of: needle, in: lines[$0].text).isEmpty }
    }

    private func type(_ key: Key) -> Bool {
        switch (key.code, key.modifiers) {
        case (.enter, []): entry = nil
        case (.escape, []), (.character("c"), .control): cancel()
        case (.backspace, []) where entry?.editor.text.isEmpty == true: cancel()
        default:
            guard entry?.editor.handle(key) == true else { return false }
            search()
        }
        return true
    }

    private func cancel() {
        top = entry?.top ?? top
        (entry, needle, match) = (nil, "", nil)
    }

    /// Finds the typed text, from the line that was at the top before.
    private func search() {
        guard let entry else { return }
        (needle, match, top) = (entry.editor.text, nil, entry.top)
        go(to: matches.first { $0 >= entry.top } ?? matches.first)
    }

    /// Goes to the next or previous match; after the last one, to the first.
    private func findNext(backward: Bool = false) {
        let (matches, here) = (matches, match ?? top)
        go(to: backward ? matches.last { $0 < here } ?? matches.last : matches.first { $0 > here } ?? matches.first)
    }

    private func go(to line: Int?) {
        guard let line else { return }
        match = line
        if !(top..<(top + height)).contains(line) { top = line - height / 2 }
    }

    // MARK: Painting

    /// Draws the current state.
    public func draw(in canvas: Canvas) {
        canvas.clear()
        height = max(1, canvas.height - 2)
        top = max(0, min(top, lines.count - height))
        canvas.fillLine(0, style: .status)
        canvas.write(" " + title, x: 0, y: 0, style: .status)
        for row in 0..<height where top + row < lines.count {
            let line = lines[top + row]
            var x = 0
            for run in line.runs { x += canvas.write(run.text, x: x, y: row + 1, style: Style(run.role)) }
            for range in needle.isEmpty ? [] : canvas.text.matches(of: needle, in: line.text) {
                canvas.restyle(x: range.lowerBound, y: row + 1, count: range.count) { _ in Style(.match) }
            }
        }
        drawLastLine(in: canvas, y: canvas.height - 1)
    }

    private func drawLastLine(in canvas: Canvas, y: Int) {
        let found = foundText
        if entry != nil {
            canvas.write("/", x: 0, y: y, style: .key)
            let room = canvas.width - 2 - canvas.text.width(found)
            entry?.editor.draw(in: canvas, x: 1, y: y, width: max(1, room), style: .text, showsCursor: true)
            canvas.write(found, x: max(1, canvas.width - canvas.text.width(found)), y: y, style: .muted)
            return
        }
        let isWhole = lines.count <= height
        let place =
            isWhole ? "" : tr("  %s–%s of %s", "\(top + 1)", "\(min(lines.count, top + height))", "\(lines.count)")
        let keys = tr("q close") + (isWhole ? "" : tr("  j k Space scroll")) + tr("  / find")
        canvas.writeHints(keys + (found.isEmpty ? "" : "  n N  " + found) + place, y: y)
    }

    /// The number of the current match, or that there is none.
    private var foundText: String {
        guard !needle.isEmpty else { return "" }
        let matches = matches
        guard let match, let index = matches.firstIndex(of: match) else { return tr("not found") }
        return tr("match %s of %s", "\(index + 1)", "\(matches.count)")
    }
}
