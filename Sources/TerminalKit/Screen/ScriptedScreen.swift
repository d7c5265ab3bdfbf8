/// A screen in memory, for tests: input is scripted, and frames are available as text.
public final class ScriptedScreen: Screen {
    /// The current size.
    public private(set) var size: Size
    /// The text measurement of the screen.
    public let text: TextWidth
    /// `nil`: events are scripted.
    public var inputDescriptor: Int32? { nil }
    /// True if pictures can be shown.
    public var showsPictures = false
    /// The last frame.
    public private(set) var frame: CellGrid
    /// The number of frames shown.
    public private(set) var frameCount = 0
    private var pending: [Event] = []

    /// Creates a blank screen.
    public init(width: Int, height: Int, repertoire: TextWidth.Repertoire = .unicode) {
        size = Size(width: width, height: height)
        text = TextWidth(repertoire)
        frame = CellGrid(size: size)
    }

    /// Shows a frame.
    public func present(_ frame: CellGrid) {
        self.frame = frame
        frameCount += 1
    }

    /// The events sent since the last call.
    public func readEvents() -> [Event] {
        defer { pending = [] }
        return pending
    }

    /// Does nothing: there is no terminal.
    public func invalidate() {}
    /// Does nothing: there is no terminal.
    public func updateSize() {}
    /// Does nothing: there is no terminal.
    public func suspend() {}

    /// Adds an event for the next `readEvents`.
    public func send(_ event: Event) { pending.append(event) }

    /// Adds keys in the notation of ``KeySequence``: `"jj<Enter>"`.
    public func send(keys: String) {
        for key in KeySequence(keys).keys { pending.append(.key(key)) }
    }

    /// Adds text as typed, one key per character.
    public func send(text: String) {
        for character in text { pending.append(.key(Key(.character(character)))) }
    }

    /// Changes the size, as when the user resizes the window.
    public func resize(width: Int, height: Int) {
        size = Size(width: width, height: height)
        pending.append(.resize(size))
    }

    // MARK: Reading the frame

    /// The frame's lines as text, without trailing spaces.
    public var lines: [String] {
        (0..<frame.size.height).map { y in
            let cells = frame.line(y)
            guard let last = cells.lastIndex(where: { $0.text != " " && !$0.text.isEmpty }) else { return "" }
            var line = ""
            for cell in cells[...last] { line += cell.text }
            return line
        }
    }

    /// The frame as text: its lines, followed by the styles with one letter per cell and selected cells in brackets.
    public func dump(styles: Bool = true) -> String {
        var result = lines.joined(separator: "\n") + "\n"
        guard styles else { return result }
        result += String(repeating: "=", count: size.width) + "\n"
        for y in 0..<frame.size.height {
            var line = ""
            var wasSelected = false
            for cell in frame.line(y) {
                if cell.style.isSelected != wasSelected {
                    wasSelected = cell.style.isSelected
                    line.append(wasSelected ? "[" : "]")
                }
                line.append(cell.style.role.letter)
            }
            if wasSelected { line.append("]") }
            while line.last == "." { line.removeLast() }
            result += line + "\n"
        }
        if let cursor = frame.cursor { result += "cursor \(cursor.x),\(cursor.y)\n" }
        return result
    }
}
