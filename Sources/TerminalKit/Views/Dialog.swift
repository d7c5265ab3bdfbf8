/// A box in the middle of the screen that asks for one of a few keys.
public final class Dialog: Layer {
    /// One answer.
    public struct Choice {
        public var keys: [Key]
        public var label: String
        public var action: () -> Void

        /// - Parameter keys: in the notation of ``KeySequence``; each key alone gives the answer.
        public init(_ keys: String, _ label: String, action: @escaping () -> Void = {}) {
            self.keys = KeySequence(keys).keys
            self.label = label
            self.action = action
        }
    }

    public let title: String
    public let lines: [TextPane.Line]
    public let choices: [Choice]
    public private(set) var isFinished = false

    /// - Parameter choices: Escape takes the last one, so that it must be the harmless one. Enter answers nothing, lest a
    ///   key pressed once too often does harm.
    public init(title: String, lines: [TextPane.Line], choices: [Choice]) {
        self.title = title
        self.lines = lines
        self.choices = choices
    }

    public func handle(_ event: Event) -> Bool {
        guard case .key(let key) = event else { return true }
        let cancels = key == Key(.escape) || key == Key(.character("c"), .control)
        guard let choice = choices.first(where: { $0.keys.contains(key) }) ?? (cancels ? choices.last : nil) else {
            return true
        }
        isFinished = true
        choice.action()
        return true
    }

    public func draw(in canvas: Canvas) {
        let footer = choices.map { "\($0.keys[0].label) \($0.label)" }.joined(separator: "   ")
        let limit = max(1, canvas.width - 4)
        let content = lines.flatMap { wrapped($0, to: limit, text: canvas.text) }
        let widths = content.map { line in line.runs.reduce(0) { $0 + canvas.text.width($1.text) } }
        let inner = min(limit, max(widths.max() ?? 0, canvas.text.width(footer), canvas.text.width(title) + 2))
        let height = min(canvas.height, content.count + 4)
        let box = canvas.part(
            x: (canvas.width - inner - 4) / 2, y: (canvas.height - height) / 2, width: inner + 4, height: height)
        box.clear()
        box.box(title: title)
        for (row, line) in content.prefix(max(0, height - 4)).enumerated() {
            var x = 2
            for run in line.runs {
                x += box.write(run.text, x: x, y: row + 1, style: Style(run.role), limit: inner + 2 - x)
            }
        }
        var x = 2
        for choice in choices where x < inner + 2 {
            x += box.write(choice.keys[0].label, x: x, y: height - 2, style: .key, limit: inner + 2 - x)
            x += box.write(" " + choice.label, x: x, y: height - 2, style: .text, limit: inner + 2 - x) + 3
        }
    }

    /// A line that is too long, broken between words. Lines in several pieces are not broken.
    private func wrapped(_ line: TextPane.Line, to limit: Int, text: TextWidth) -> [TextPane.Line] {
        guard line.runs.count == 1, let run = line.runs.first, text.width(run.text) > limit else { return [line] }
        return text.wrapped(run.text, to: limit).map { TextPane.Line($0, role: run.role) }
    }
}
