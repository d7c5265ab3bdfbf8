import Translation

/// An input line at the bottom of the screen, with history, completion and a message below.
public final class Prompt: Layer {
    /// The possible completions of the word before the cursor.
    public struct Completion: Sendable {
        /// The range of the input that a completion replaces, in characters.
        public var range: Range<Int>
        /// The texts that can replace the characters.
        public var candidates: [String]

        /// Creates completions for a range of characters.
        public init(range: Range<Int>, candidates: [String]) {
            self.range = range
            self.candidates = candidates
        }
    }

    /// An error in the text, and its position.
    public struct Problem: Hashable {
        /// The error, in one line.
        public var text: String
        /// The character at the error; `nil` if the whole text is wrong.
        public var position: Int?

        /// Creates a problem with the text, at a character or as a whole.
        public init(_ text: String, at position: Int? = nil) {
            self.text = tr(text)
            self.position = position
        }
    }

    /// The text before the input.
    public let label: String
    /// The input.
    public var editor: LineEditor
    /// True if the layer has to be removed from the screen.
    public private(set) var isFinished = false
    /// `true`: keys are text.
    public var acceptsText: Bool { true }
    /// The error in the input, shown below it.
    public var problem: Problem?
    /// A hint shown while there is no error.
    public var hint: String
    private let history: [String]
    private var historyIndex: Int
    private var draft = ""
    private var completing: (completion: Completion, index: Int)?
    /// The hint that a list of candidates replaced, and the text to which these belong.
    private var listed: (text: String, hint: String)?

    /// Returns completions. Called at Tab.
    public var complete: ((_ text: String, _ cursor: Int) -> Completion?)?
    /// Called whenever the text changes.
    public var onChange: ((String) -> Void)?
    /// Called at Enter. If it returns a problem, the prompt stays open and shows it at its position.
    public var onAccept: ((String) -> Problem?)?
    /// Called at Escape.
    public var onCancel: (() -> Void)?

    /// Creates a prompt with an initial text, and with previous inputs as history.
    public init(label: String, text: String = "", history: [String] = [], hint: String = "") {
        self.label = tr(label)
        self.editor = LineEditor(text)
        self.history = history
        self.historyIndex = history.count
        self.hint = tr(hint)
    }

    /// Handles an event. Returns `false` if it is not handled.
    public func handle(_ event: Event) -> Bool {
        switch event {
        case .paste(let text):
            edit { $0.insert(text) }
            return true
        case .key(let key): return handle(key)
        case .mouse: return true
        default: return false
        }
    }

    private func handle(_ key: Key) -> Bool {
        if key != Key(.tab), key != Key(.tab, .shift) { completing = nil }
        switch (key.code, key.modifiers) {
        case (.enter, []): accept()
        case (.escape, []), (.character("c"), .control), (.character("g"), .control): cancel()
        case (.up, []), (.character("p"), .control): recall(historyIndex - 1)
        case (.down, []), (.character("n"), .control): recall(historyIndex + 1)
        case (.tab, []): completeNext(by: 1)
        case (.tab, .shift): completeNext(by: -1)
        case (.backspace, []) where editor.characters.isEmpty: cancel()
        default:
            var copy = editor
            guard copy.handle(key) else { return false }
            edit { $0 = copy }
        }
        return true
    }

    private func accept() {
        problem = onAccept?(editor.text)
        isFinished = problem == nil
    }

    private func cancel() {
        isFinished = true
        onCancel?()
    }

    private func edit(_ change: (inout LineEditor) -> Void) {
        let before = editor.text
        change(&editor)
        guard editor.text != before else { return }
        problem = nil
        if let listed {
            hint = listed.hint
            self.listed = nil
        }
        onChange?(editor.text)
    }

    /// Shows candidates below the text until the text changes.
    private func list(_ candidates: some Sequence<String>) {
        listed = (editor.text, listed?.hint ?? hint)
        hint = candidates.prefix(12).joined(separator: "  ")
    }

    private func recall(_ index: Int) {
        guard (0...history.count).contains(index), index != historyIndex else { return }
        if historyIndex == history.count { draft = editor.text }
        historyIndex = index
        edit { $0.text = index == history.count ? draft : history[index] }
    }

    private func completeNext(by step: Int) {
        if var current = completing {
            let count = current.completion.candidates.count
            let shown = current.completion.candidates[current.index]
            current.index = (current.index + step + count) % count
            let start = current.completion.range.lowerBound
            let candidate = current.completion.candidates[current.index]
            completing = current
            edit { $0.replace(start..<(start + shown.count), with: candidate) }
            listFrom(current.index, of: current.completion)
            return
        }
        if let found = complete?(editor.text, editor.cursor) { apply(found, by: step) }
    }

    /// Applies candidates that ``complete`` could not return at once, if the text is still the same.
    public func offer(_ found: Completion, for text: String) {
        guard !isFinished, completing == nil, editor.text == text else { return }
        apply(found, by: 1)
    }

    private func apply(_ found: Completion, by step: Int) {
        guard let first = found.candidates.first else { return }
        let common = Self.commonBeginning(of: found.candidates)
        // Completes the common prefix first, then lists the candidates, then cycles through them.
        if step > 0, found.candidates.count > 1, common.count > found.range.count || listed?.text != editor.text {
            if common.count >= found.range.count { edit { $0.replace(found.range, with: common) } }
            return list(found.candidates)
        }
        let index = step > 0 ? 0 : found.candidates.count - 1
        completing = found.candidates.count > 1 ? (found, index) : nil
        edit { $0.replace(found.range, with: step > 0 ? first : found.candidates[index]) }
        listFrom(index, of: found)
    }

    /// The common prefix of all candidates, in the first one's spelling.
    private static func commonBeginning(of candidates: [String]) -> String {
        candidates.dropFirst().reduce(candidates.first ?? "") { common, candidate in
            String(zip(common, candidate).prefix { $0.lowercased() == $1.lowercased() }.map(\.0))
        }
    }

    private func listFrom(_ index: Int, of completion: Completion) {
        guard completion.candidates.count > 1 else { return }
        list(completion.candidates[index...] + completion.candidates[..<index])
    }

    /// Draws the last lines of the canvas: the text, and the notes below it.
    public func draw(in canvas: Canvas) {
        let labelWidth = min(canvas.text.width(label), max(1, canvas.width / 2))
        let notes = notes(width: canvas.width, inputStart: labelWidth, text: canvas.text).prefix(
            max(1, canvas.height - 1))
        let y = max(0, canvas.height - 1 - notes.count)
        for line in y..<canvas.height { canvas.fillLine(line, style: .text) }
        let used = canvas.write(label, x: 0, y: y, style: .key, limit: labelWidth)
        editor.draw(in: canvas, x: used, y: y, width: canvas.width - used, style: .text, showsCursor: true)
        for (row, note) in notes.enumerated() {
            canvas.write(note.text, x: note.x, y: y + 1 + row, style: problem == nil ? .muted : .error)
        }
    }

    /// The lines below the text; at least one.
    private func notes(width: Int, inputStart: Int, text: TextWidth) -> [(text: String, x: Int)] {
        guard let problem else { return [(hint, text.width(hint) + inputStart <= width ? inputStart : 0)] }
        let whole = text.wrapped(problem.text, to: max(1, width)).map { (text: $0, x: 0) }
        guard let position = problem.position, position <= editor.characters.count else { return whole }
        let column = inputStart + editor.column(ofCharacter: position, width: width - inputStart, text: text)
        let x = min(column, width - 1)
        let needed = text.width(problem.text) + 2
        if x + needed <= width { return [("^ " + problem.text, x)] }
        if needed <= x + 1 { return [(problem.text + " ^", x - needed + 1)] }
        return [("^", x)] + whole
    }
}
