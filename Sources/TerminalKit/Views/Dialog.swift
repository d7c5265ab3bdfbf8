import Translation

/// A box in the middle of the screen with a question and a few keys for the answers.
public final class Dialog: Layer {
    /// One answer.
    public struct Choice {
        /// The keys of the answer.
        public var keys: [Key]
        /// The label of the answer.
        public var label: String
        /// Called when the user chooses the answer, after the dialog is finished.
        public var action: () -> Void

        /// - Parameter keys: Keys in the notation of ``KeySequence``; each one alone chooses the answer.
        public init(_ keys: String, _ label: String, action: @escaping () -> Void = {}) {
            self.keys = KeySequence(keys).keys
            self.label = tr(label)
            self.action = action
        }
    }

    /// The title of the box.
    public let title: String
    /// The text of the question.
    public let lines: [TextPane.Line]
    /// The answers; Escape chooses the last one.
    public let choices: [Choice]
    /// True if the layer has to be removed from the screen.
    public private(set) var isFinished = false
    /// True if the last key was not an answer: then the answers are highlighted.
    private var wasMisunderstood = false

    /// - Parameter choices: The answers. Escape chooses the last one, so it must be harmless. Enter chooses none, so
    ///   that an accidental key press has no effect.
    public init(title: String, lines: [TextPane.Line], choices: [Choice]) {
        self.title = tr(title)
        self.lines = lines.map(\.translated)
        self.choices = choices
    }

    /// Handles an event. Returns `false` if it is not handled.
    public func handle(_ event: Event) -> Bool {
        guard case .key(let key) = event else { return true }
        let cancels = key == Key(.escape) || key == Key(.character("c"), .control)
        guard let choice = choices.first(where: { $0.keys.contains(key) }) ?? (cancels ? choices.last : nil) else {
            wasMisunderstood = true
            return true
        }
        isFinished = true
        choice.action()
        return true
    }

    /// The keys of the answers.
    public var footer: String? { choices.map { "\($0.keys[0].label) \($0.label)" }.joined(separator: "  ") }

    /// Draws the current state.
    public func draw(in canvas: Canvas) {
        let limit = max(1, canvas.width - 4)
        let content = lines.flatMap { wrapped($0, to: limit, text: canvas.text) }
        let answers = rows(of: choices, to: limit, text: canvas.text)
        let widths = content.map { line in line.runs.reduce(0) { $0 + canvas.text.width($1.text) } }
        let answerWidths = answers.map {
            $0.reduce(-Self.gap) { $0 + Self.width(of: $1, text: canvas.text) + Self.gap }
        }
        let inner = min(limit, max(1, (widths + answerWidths).max() ?? 0, canvas.text.width(title) + 2))
        let height = min(canvas.height, content.count + answers.count + 3)
        let box = canvas.part(
            x: (canvas.width - inner - 4) / 2, y: (canvas.height - height) / 2, width: inner + 4, height: height)
        box.clear()
        box.box(title: title)
        // The answers have precedence over lines that do not fit.
        let first = max(1, height - 1 - answers.count)
        let room = content.count + 2 <= first ? content.count : first - 1
        for (row, line) in content.prefix(room).enumerated() {
            var x = 2
            for run in line.runs {
                x += box.write(run.text, x: x, y: row + 1, style: Style(run.role), limit: inner + 2 - x)
            }
        }
        for (row, answer) in answers.enumerated() { draw(answer, in: box, y: first + row, end: inner + 2) }
    }

    private func draw(_ choices: [Choice], in box: Canvas, y: Int, end: Int) {
        var x = 2
        for choice in choices where x < end {
            x += box.write(
                choice.keys[0].label, x: x, y: y, style: Style(.key, selected: wasMisunderstood), limit: end - x)
            x += box.write(" " + choice.label, x: x, y: y, style: .text, limit: end - x) + Self.gap
        }
    }

    // MARK: Layout

    /// The number of columns between two answers.
    private static let gap = 3

    private static func width(of choice: Choice, text: TextWidth) -> Int {
        text.width(choice.keys[0].label) + 1 + text.width(choice.label)
    }

    /// Arranges the answers in as few rows as possible.
    private func rows(of choices: [Choice], to limit: Int, text: TextWidth) -> [[Choice]] {
        var rows: [[Choice]] = []
        var used = 0
        for choice in choices {
            let width = Self.width(of: choice, text: text)
            if !rows.isEmpty, used + Self.gap + width <= limit {
                rows[rows.count - 1].append(choice)
                used += Self.gap + width
            } else {
                rows.append([choice])
                used = width
            }
        }
        return rows
    }

    /// Breaks a line that is too long between words. Lines with several runs are not broken.
    private func wrapped(_ line: TextPane.Line, to limit: Int, text: TextWidth) -> [TextPane.Line] {
        guard line.runs.count == 1, let run = line.runs.first, text.width(run.text) > limit else { return [line] }
        return text.wrapped(run.text, to: limit).map { TextPane.Line($0, role: run.role) }
    }
}
