import CoreData
import Foundation
import TerminalKit
import Translation

/// Editor for one value at its cell in the list.
final class CellEditor: Layer {
    private unowned let list: ListScreen
    /// The values when the cell was opened. Later changes of others are neither undone nor mistaken for the user's.
    private let seen: SeenValues
    private let attribute: NSAttributeDescription
    private let kind: FormField.Kind
    private let textAtFirst: String?
    private var editor: LineEditor
    /// The rectangle of the cell when last drawn, for when the record is deleted.
    private var place: Rect?
    /// True if the value is nil rather than an empty text.
    private var isNothing: Bool
    private(set) var problem: String?
    private(set) var isFinished = false
    var acceptsText: Bool { true }

    /// Edits the value under the cursor in the focused column. Relationships open the form, choices their picker.
    static func open(in list: ListScreen) {
        guard let object = list.cursorObject else { return list.browser.say("no record under the cursor") }
        let key = list.focusedKey
        let form = {
            RecordForm.open(in: list.browser, session: list.session, object: object, entity: object.entity, focus: key)
        }
        guard let attribute = object.entity.attributesByName[key] else { return form() }
        let kind = FieldText.kind(of: attribute)
        guard kind != .readOnly else {
            return list.browser.say(sentence("\(PropertyTitle.title(key)) cannot be edited as text"), role: .warning)
        }
        // Text with several lines is edited in the form.
        let text = FieldText.text(object.value(forKey: key), of: attribute)
        if text?.contains(where: \.isNewline) == true { return form() }
        if kind == .choice { return pickChoice(of: attribute, for: object, in: list) }
        let seen = SeenValues(of: object)
        list.browser.layers.push(CellEditor(list: list, seen: seen, attribute: attribute, kind: kind, text: text))
    }

    private static func pickChoice(
        of attribute: NSAttributeDescription, for object: NSManagedObject, in list: ListScreen
    ) {
        let seen = SeenValues(of: object)
        let current = FieldText.text(object.value(forKey: attribute.name), of: attribute)
        ChoicePicker.open(in: list.browser, attribute: attribute, current: current) { text in
            let editor = CellEditor(list: list, seen: seen, attribute: attribute, kind: .choice, text: current)
            editor.choose(text)
            if !editor.accept(), let problem = editor.problem { list.browser.say(problem, role: .error) }
        }
    }

    private init(
        list: ListScreen, seen: SeenValues, attribute: NSAttributeDescription, kind: FormField.Kind, text: String?
    ) {
        self.list = list
        self.seen = seen
        self.attribute = attribute
        self.kind = kind
        textAtFirst = text
        editor = LineEditor(text ?? "")
        isNothing = text == nil
    }

    private var object: NSManagedObject { seen.object }

    private func choose(_ text: String?) {
        editor = LineEditor(text ?? "")
        isNothing = text == nil
    }

    private var text: String? {
        if isNothing || editor.characters.isEmpty && kind != .text { return nil }
        return editor.text
    }

    var isChanged: Bool { text != textAtFirst }

    // MARK: Keys

    func handle(_ event: Event) -> Bool {
        switch event {
        case .paste(let text): change { $0.insert(text, keepsLines: kind == .text) }
        case .key(let key): return handle(key)
        case .mouse: break
        default: return false
        }
        return true
    }

    private func handle(_ key: Key) -> Bool {
        switch (key.code, key.modifiers) {
        case (.escape, []), (.character("c"), .control): isFinished = true
        case (.enter, []): accept()
        case (.character("s"), .control): if accept() { list.browser.save() }
        case (.tab, []): editNext(1)
        case (.tab, .shift): editNext(-1)
        case (.up, .shift): step(by: 1)
        case (.down, .shift): step(by: -1)
        case (.character("n"), .control):
            change { $0.text = "" }
            isNothing = true
        case (.character("t"), .control) where kind == .date: openCalendar()
        case (.character("o"), .control): editOutside()
        default:
            if kind == .boolean { return handleBoolean(key) }
            guard editor.handle(key) else { return false }
            change { _ in }
        }
        return true
    }

    private func handleBoolean(_ key: Key) -> Bool {
        switch key.typed {
        case "y", "t", "1": change { $0.text = "yes" }
        case "n", "f", "0": change { $0.text = "no" }
        case " ": change { $0.text = $0.text == "yes" ? "no" : "yes" }
        default: return false
        }
        return true
    }

    private func change(_ change: (inout LineEditor) -> Void) {
        change(&editor)
        isNothing = false
        problem = nil
    }

    private func step(by step: Int) {
        guard let next = FieldStep.text(text, of: attribute, by: step) else { return }
        change { $0.text = next }
    }

    private func openCalendar() {
        let date = (try? FieldText.value(text, of: attribute)) as? Date
        let start = date ?? DateDisplay.utc.startOfDay(for: Date())
        list.browser.layers.push(
            CalendarPicker(start, commands: list.browser.tables[CalendarPicker.self]) { [self] day in
                change { $0.text = FieldText.text(day, of: attribute) ?? "" }
            })
    }

    private func editOutside() {
        guard kind == .text else { return list.browser.say("an external editor can edit only text", role: .warning) }
        guard let edited = list.browser.editOutside(editor.text, named: attribute.name) else { return }
        change { $0.text = edited }
    }

    /// Sets the value in the record. Returns false if the value is invalid or the record was deleted.
    @discardableResult
    private func accept() -> Bool {
        guard !seen.isGone else { return letGo() }
        problem = FieldCheck.problem(text, of: attribute, in: object)
        guard problem == nil else { return false }
        isFinished = true
        guard text != textAtFirst else { return true }
        let title = PropertyTitle.title(attribute.name)
        let name = RecordName.short(object)
        // The text was checked when Enter was pressed, so it parses.
        let value = try? FieldText.value(text, of: attribute)
        list.browser.edit(sentence("edit \(title) of \(name)"), seen: [seen]) { _ in
            object.setValue(value, forKey: attribute.name)
        }
        list.browser.sayChanged(sentence("changed \(title) of \(name), not saved yet"), object)
        return true
    }

    /// Closes the editor of a deleted record and asks whether to recreate it with the edit. Returns false.
    private func letGo() -> Bool {
        isFinished = true
        guard text != textAtFirst else {
            list.browser.say(goneText, role: .warning)
            return false
        }
        do {
            let value = try FieldText.value(text, of: attribute) ?? NSNull()
            let lost = LostEdit(object: object, mine: [attribute.name: value], others: seen.values)
            list.browser.ask(aboutLost: [lost])
        } catch {
            list.browser.complain(error)
        }
        return false
    }

    private let goneText = "the record was deleted"

    /// Sets the value and continues with the next editable column.
    private func editNext(_ step: Int) {
        guard accept() else { return }
        let columns = list.view.columns
        var column = list.view.focusedColumn + step
        while columns.indices.contains(column) {
            let next = object.entity.attributesByName[columns[column].id]
            if let next, ![.readOnly, .choice].contains(FieldText.kind(of: next)) {
                list.view.focusedColumn = column
                return Self.open(in: list)
            }
            column += step
        }
    }

    // MARK: Painting

    var footer: String? {
        let rules = FieldRules(of: attribute).hint
        var keys = [rules, tr("Enter accept"), tr("Tab next")]
        if [.date, .number].contains(kind) { keys.append(tr("Shift-↑↓ step")) }
        if kind == .boolean { keys.append(tr("Space toggles")) }
        if kind == .date { keys.append(tr("^T calendar")) }
        if kind == .text { keys.append(tr("^O editor")) }
        return (keys + [tr("^N none"), tr("Esc cancel")]).filter { !$0.isEmpty }.joined(separator: "  ")
    }

    func draw(in canvas: Canvas) {
        // If the record was deleted, the cursor has already moved to another one.
        if !seen.isGone { place = list.view.cursorCell(ofColumn: attribute.name) }
        guard let cell = place else { return }
        let problem = seen.isGone ? tr(goneText) : problem
        let needed = max(cell.width, editor.width(upTo: 38, canvas.text) + 2)
        let width = max(8, min(needed, canvas.width))
        let x = min(cell.minX, canvas.width - width)
        let part = canvas.part(x: x, y: cell.minY, width: width, height: 1)
        part.fillLine(0, style: Style(.edited))
        editor.draw(
            in: part, x: 0, y: 0, width: width, style: Style(problem == nil ? .edited : .error), showsCursor: true)
        if isNothing { part.write(tr("none"), x: 1, y: 0, style: .muted) }
        guard let problem else { return }
        let y = cell.minY + 1 < canvas.height - 2 ? cell.minY + 1 : cell.minY - 1
        canvas.fillLine(y, style: .error)
        let line = y > cell.minY ? "^ \(problem)" : problem
        canvas.write(line, x: max(2, min(cell.minX, canvas.width - canvas.text.width(line))), y: y, style: .error)
    }
}

/// A picker for the values that the model's validation allows.
enum ChoicePicker {
    static func open(
        in browser: Browser, attribute: NSAttributeDescription, current: String?, onPick: @escaping (String?) -> Void
    ) {
        let choices = FieldRules(of: attribute).choices
        var items = choices.map { (text: $0, detail: $0 == current ? tr("now") : "") }
        if attribute.isOptional { items.append((text: tr("(none)"), detail: current == nil ? tr("now") : "")) }
        let selected = current.flatMap { choices.firstIndex(of: $0) } ?? 0
        browser.layers.push(
            Picker(title: PropertyTitle.title(attribute.name), items: items, selected: selected) { index in
                onPick(choices.indices.contains(index) ? choices[index] : nil)
            })
    }
}
