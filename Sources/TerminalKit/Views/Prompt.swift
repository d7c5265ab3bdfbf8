/// A line of input at the bottom of the screen, with history, completion and a message beneath it.
public final class Prompt: Layer {
    /// What may stand for the word before the cursor.
    public struct Completion {
        /// The characters to replace.
        public var range: Range<Int>
        public var candidates: [String]

        public init(range: Range<Int>, candidates: [String]) {
            self.range = range
            self.candidates = candidates
        }
    }

    /// What is wrong with the text, and at which character.
    public struct Problem: Hashable {
        public var text: String
        public var position: Int?

        public init(_ text: String, at position: Int? = nil) {
            self.text = text
            self.position = position
        }
    }

    public let label: String
    public var editor: LineEditor
    public private(set) var isFinished = false
    public var problem: Problem?
    /// A remark shown while there is no problem.
    public var hint: String
    private let history: [String]
    private var historyIndex: Int
    private var draft = ""
    private var completing: (completion: Completion, index: Int)?

    /// Asked at Tab.
    public var complete: ((_ text: String, _ cursor: Int) -> Completion?)?
    /// Called whenever the text changes.
    public var onChange: ((String) -> Void)?
    /// Called at Enter. A problem keeps the prompt open and is shown under its place.
    public var onAccept: ((String) -> Problem?)?
    public var onCancel: (() -> Void)?

    public init(label: String, text: String = "", history: [String] = [], hint: String = "") {
        self.label = label
        self.editor = LineEditor(text)
        self.history = history
        self.historyIndex = history.count
        self.hint = hint
    }

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
        onChange?(editor.text)
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
            hint = completionHint(current.completion, at: current.index)
            return
        }
        guard let found = complete?(editor.text, editor.cursor), let first = found.candidates.first else { return }
        let index = step > 0 ? 0 : found.candidates.count - 1
        completing = found.candidates.count > 1 ? (found, index) : nil
        edit { $0.replace(found.range, with: step > 0 ? first : found.candidates[index]) }
        hint = completionHint(found, at: index)
    }

    private func completionHint(_ completion: Completion, at index: Int) -> String {
        guard completion.candidates.count > 1 else { return hint }
        let rest = completion.candidates[index...] + completion.candidates[..<index]
        return rest.prefix(12).joined(separator: "  ")
    }

    /// Paints the last two lines of the canvas.
    public func draw(in canvas: Canvas) {
        let y = max(0, canvas.height - 2)
        canvas.fillLine(y, style: .text)
        canvas.fillLine(y + 1, style: .text)
        let used = canvas.write(label, x: 0, y: y, style: .key, limit: max(1, canvas.width / 2))
        editor.draw(in: canvas, x: used, y: y, width: canvas.width - used, style: .text, showsCursor: true)
        guard let problem else {
            canvas.write(hint, x: used, y: y + 1, style: .muted)
            return
        }
        drawProblem(problem, in: canvas, inputStart: used, y: y + 1)
    }

    /// The message begins under the character that it is about, or ends there where it would not fit otherwise.
    private func drawProblem(_ problem: Problem, in canvas: Canvas, inputStart: Int, y: Int) {
        guard let position = problem.position else {
            canvas.write(problem.text, x: 0, y: y, style: .error)
            return
        }
        let before = String(editor.characters.prefix(position))
        let x = min(inputStart + canvas.text.width(before), canvas.width - 1)
        let width = canvas.text.width(problem.text)
        if x + 2 + width <= canvas.width {
            canvas.write("^ " + problem.text, x: x, y: y, style: .error)
        } else if width + 2 <= x + 1 {
            canvas.write(problem.text + " ^", x: x - width - 1, y: y, style: .error)
        } else {
            canvas.write(problem.text, x: 0, y: y, style: .error)
            canvas.restyle(x: x, y: y - 1, count: 1) { _ in Style(.error, selected: true) }
        }
    }
}
