import Translation

/// A form of typed fields. Errors are shown next to their fields.
public final class Form: Layer {
    /// The title of the form.
    public let title: String
    /// The fields with their current values.
    public private(set) var fields: [FormField] {
        get {
            takeTyped()
            return taken
        }
        set { taken = newValue }
    }
    /// The fields. While ``isTyped``, the current one lacks its latest text: joining long texts per key is slow.
    private var taken: [FormField]
    private var isTyped = false
    /// The initial length of the text in the field with the cursor.
    private var lengthAtFirst = 0
    /// True if the layer has to be removed from the screen.
    public private(set) var isFinished = false
    /// `true`: keys are text.
    public var acceptsText: Bool { true }
    /// A message about the form as a whole.
    public var message: String?
    fileprivate var cursor: Int
    private var editor = LineEditor()
    private var top = 0
    private var viewHeight = 1
    private var viewOrigin = Point(x: 0, y: 0)
    private let original: [String?]

    /// Called when a field is left or the form is accepted. Returns the error in the value, if any.
    public var validate: (FormField) -> String? = { _ in nil }
    /// Accepts the values; the second argument is true if they have to be saved immediately. Returns errors by field,
    /// and under the empty name a message about the form. Without errors the form closes.
    public var onAccept: ([FormField], Bool) -> [String: String] = { _, _ in [:] }
    /// Chooses the value of a reference or choice field.
    public var onPick: (Form, FormField) -> Void = { _, _ in }
    /// Returns the text of the next or previous value. Called for Shift with an arrow.
    public var onStep: (FormField, Int) -> String? = { _, _ in nil }
    /// Chooses a date in a calendar, which then sets the field.
    public var onCalendar: (Form, FormField) -> Void = { _, _ in }
    /// Edits a text in another program, which then sets the field.
    public var onEditOutside: (Form, FormField) -> Void = { _, _ in }
    /// Called at Escape if something was changed. Calls the closure to close the form.
    public var onDiscard: (@escaping () -> Void) -> Void = { close in close() }

    /// Creates a form with the cursor in the field `focus`, or in the first editable one.
    public init(title: String, fields: [FormField], focus: String? = nil) {
        self.title = title
        taken = fields
        original = fields.map(\.value)
        cursor = fields.firstIndex { $0.id == focus } ?? fields.firstIndex { $0.kind != .readOnly } ?? 0
        loadEditor()
    }

    /// True if a field has a different value than at first.
    public var isChanged: Bool {
        isTyped && editor.characters.count != lengthAtFirst || fields.map(\.value) != original
    }

    /// Sets a field from outside, to a value that was chosen.
    public func setValue(_ value: String?, of id: String) {
        guard let index = fields.firstIndex(where: { $0.id == id }) else { return }
        fields[index].value = value
        fields[index].error = validate(fields[index])
        if index == cursor { loadEditor() }
    }

    // MARK: Keys

    /// Handles an event. Returns `false` if it is not handled.
    public func handle(_ event: Event) -> Bool {
        switch event {
        case .key(let key): return handle(key)
        case .paste(let text):
            edit { [keepsLines = !taken.isEmpty && taken[cursor].kind == .text] in
                $0.insert(text, keepsLines: keepsLines)
            }
            return true
        case .mouse(let mouse):
            handle(mouse)
            return true
        default: return false
        }
    }

    private func handle(_ mouse: MouseEvent) {
        switch mouse.action {
        case .wheelUp: moveCursor(to: cursor - 1)
        case .wheelDown: moveCursor(to: cursor + 1)
        case .press, .doubleClick:
            let index = top + mouse.position.y - viewOrigin.y
            if (0..<viewHeight).contains(mouse.position.y - viewOrigin.y), fields.indices.contains(index) {
                moveCursor(to: index)
            }
        }
    }

    private func handle(_ key: Key) -> Bool {
        guard !taken.isEmpty else {
            isFinished = true
            return true
        }
        switch (key.code, key.modifiers) {
        case (.escape, []), (.character("c"), .control): cancel()
        case (.character("s"), .control): accept(saving: true)
        case (.enter, []): accept(saving: false)
        case (.tab, []), (.down, []): moveCursor(to: cursor + 1 == fields.count ? 0 : cursor + 1)
        case (.tab, .shift), (.up, []): moveCursor(to: cursor == 0 ? fields.count - 1 : cursor - 1)
        case (.up, .shift): step(by: 1)
        case (.down, .shift): step(by: -1)
        case (.character("t"), .control) where taken[cursor].kind == .date: onCalendar(self, fields[cursor])
        case (.character("o"), .control) where taken[cursor].kind == .text: onEditOutside(self, fields[cursor])
        case (.pageDown, []): moveCursor(to: fields.count - 1)
        case (.pageUp, []): moveCursor(to: 0)
        case (.character("n"), .control), (.delete, .control): clear()
        default: return handleInField(key)
        }
        return true
    }

    private func handleInField(_ key: Key) -> Bool {
        switch taken[cursor].kind {
        case .readOnly: return false
        case .boolean:
            switch key.typed {
            case " ": cycleBoolean()
            case "y", "t", "1": setBoolean("yes")
            case "n", "f", "0": setBoolean("no")
            default:
                if key.code == .left || key.code == .right { cycleBoolean() }
                if key.code == .backspace || key.code == .delete { clear() }
            }
            return true
        case .reference, .choice:
            if key.code == .backspace || key.code == .delete { clear() }
            if key.typed != nil || key.code == .right { onPick(self, fields[cursor]) }
            return true
        case .text, .line, .number, .date:
            let before = editor.revision
            var isEditing = false
            edit { isEditing = $0.handle(key) }
            // Backspace in an empty text removes the value, and the placeholder is shown.
            if isEditing, editor.revision == before, editor.characters.isEmpty { clear() }
            return isEditing
        }
    }

    private func step(by step: Int) {
        guard let next = onStep(fields[cursor], step) else { return }
        setValue(next, of: fields[cursor].id)
    }

    private func edit(_ change: (inout LineEditor) -> Void) {
        guard !taken.isEmpty, taken[cursor].kind.isTyped else { return }
        let before = editor.revision
        change(&editor)
        guard editor.revision != before else { return }
        isTyped = true
        if editor.characters.isEmpty { takeTyped() } else { taken[cursor].value = taken[cursor].value ?? "" }
        if taken[cursor].error != nil { fields[cursor].error = validate(fields[cursor]) }
        message = nil
    }

    private func takeTyped() {
        guard isTyped else { return }
        isTyped = false
        let isNothing = editor.characters.isEmpty && taken[cursor].kind != .text
        taken[cursor].value = isNothing ? nil : editor.text
    }

    private func clear() {
        guard fields[cursor].kind != .readOnly else { return }
        fields[cursor].value = nil
        fields[cursor].error = validate(fields[cursor])
        loadEditor()
    }

    private func cycleBoolean() {
        switch fields[cursor].value {
        case "yes": setBoolean("no")
        case "no": setBoolean(fields[cursor].isOptional ? nil : "yes")
        default: setBoolean("yes")
        }
    }

    private func setBoolean(_ value: String?) {
        fields[cursor].value = value
        fields[cursor].error = validate(fields[cursor])
    }

    private func moveCursor(to index: Int) {
        guard !fields.isEmpty else { return }
        fields[cursor].error = validate(fields[cursor])
        cursor = max(0, min(fields.count - 1, index))
        loadEditor()
    }

    private func loadEditor() {
        guard !fields.isEmpty else { return }
        editor = LineEditor(fields[cursor].value ?? "")
        let isOriginal = fields[cursor].value == original[cursor]
        lengthAtFirst = isOriginal ? editor.characters.count : original[cursor]?.count ?? 0
    }

    private func accept(saving: Bool) {
        message = nil
        for index in fields.indices { fields[index].error = validate(fields[index]) }
        if let wrong = fields.firstIndex(where: { $0.error != nil }) {
            cursor = wrong
            loadEditor()
            return
        }
        let errors = onAccept(fields, saving)
        isFinished = errors.isEmpty
        message = errors[""]
        for index in fields.indices { fields[index].error = errors[fields[index].id] }
        if let wrong = fields.firstIndex(where: { $0.error != nil }) {
            cursor = wrong
            loadEditor()
        }
    }

    private func cancel() {
        guard isChanged else {
            isFinished = true
            return
        }
        onDiscard { self.isFinished = true }
    }

    // MARK: Painting

    /// Draws the current state.
    public func draw(in canvas: Canvas) {
        canvas.clear()
        viewHeight = max(1, canvas.height - 4)
        viewOrigin = Point(x: canvas.frame.minX, y: canvas.frame.minY + 2)
        top = max(0, min(top, cursor))
        if cursor >= top + viewHeight { top = cursor - viewHeight + 1 }
        var notes: [(String, Role)] = isChanged ? [(tr("changed "), .edited)] : []
        if taken.count > viewHeight {
            let last = min(taken.count, top + viewHeight)
            notes.append((sentence("fields \(top + 1)–\(last) of \(taken.count)") + " ", .status))
        }
        StatusLine(left: [(" " + title, .status)], right: notes).draw(in: canvas, y: 0)
        let labelWidth = min(canvas.width / 3, (taken.map { canvas.text.width($0.label) }.max() ?? 0) + 1)
        for row in 0..<viewHeight where top + row < taken.count {
            drawField(top + row, in: canvas, y: row + 2, labelWidth: labelWidth)
        }
        drawFooter(in: canvas)
    }

    private func drawField(_ index: Int, in canvas: Canvas, y: Int, labelWidth: Int) {
        guard y < canvas.height - 1 else { return }
        let field = taken[index]
        let isCurrent = index == cursor
        canvas.write(
            canvas.text.padded(field.label, to: labelWidth, alignment: .right), x: 1, y: y,
            style: Style(field.error == nil ? (isCurrent ? .key : .muted) : .error))
        if field.kind != .readOnly, !field.isOptional { canvas.write("*", x: labelWidth + 1, y: y, style: .warning) }
        let x = labelWidth + 3
        let error = field.error.map { " " + canvas.symbols.moreLeft + " " + $0 } ?? ""
        let errorWidth = min(canvas.text.width(error), max(0, canvas.width - x - 8))
        let width = max(1, canvas.width - x - errorWidth - 1)
        let isEdited = isCurrent && field.kind.isTyped
        if isEdited {
            editor.draw(in: canvas, x: x, y: y, width: width, style: .text, showsCursor: true)
        }
        var used = isEdited ? editor.width(upTo: width, canvas.text) : 0
        if field.value == nil {
            used = canvas.write(
                isEdited ? "" : tr("none"), x: x, y: y, style: Style(.muted, selected: isCurrent), limit: width)
        } else if !isEdited {
            let shown = field.kind == .boolean ? canvas.booleanText(field.value) : field.value ?? ""
            let role: Role = field.kind == .reference ? .link : (field.kind == .readOnly ? .muted : .text)
            used = canvas.write(shown, x: x, y: y, style: Style(role, selected: isCurrent), limit: width)
        }
        if errorWidth > 0 {
            canvas.write(error, x: min(x + used + 1, canvas.width - errorWidth), y: y, style: .error, limit: errorWidth)
        }
    }

    private func drawFooter(in canvas: Canvas) {
        let y = canvas.height - 1
        if let message {
            canvas.write(message, x: 1, y: y - 1, style: .error)
        } else if !taken.isEmpty {
            canvas.write(taken[cursor].hint, x: 1, y: y - 1, style: .muted)
        }
        canvas.writeHints(keyHints(upTo: canvas.width - 1, canvas.text), x: 1, y: y)
    }

    /// The key hints in one line. If it is too narrow, less important ones are omitted.
    private func keyHints(upTo width: Int, _ text: TextWidth) -> String {
        let hints = [
            tr("Enter accept"), tr("Tab next field"), tr("^N no value"), tr("^S save"), tr("Esc cancel"), footerOfField,
        ]
        var room = width
        var shown: Set<Int> = []
        for index in [3, 4, 0, 1, 2, 5] {
            let needed = text.width(hints[index]) + (shown.isEmpty ? 0 : Self.hintGap.count)
            guard !hints[index].isEmpty, needed <= room else { continue }
            room -= needed
            shown.insert(index)
        }
        return shown.sorted().map { hints[$0] }.joined(separator: Self.hintGap)
    }

    private static let hintGap = "  "
}

extension Form {
    /// The keys of the field with the cursor, in addition to those of the form.
    private var footerOfField: String {
        guard !taken.isEmpty else { return "" }
        switch taken[cursor].kind {
        case .reference, .choice: return tr("Space choose")
        case .date: return tr("^T calendar")
        case .number: return tr("Shift-↑↓ step")
        case .text: return tr("^O editor")
        case .boolean, .line, .readOnly: return ""
        }
    }
}

extension Canvas {
    /// A Boolean as displayed in forms.
    func booleanText(_ value: String?) -> String {
        value == "yes" ? symbols.checked + " " + tr("yes") : symbols.unchecked + " " + tr("no")
    }
}
