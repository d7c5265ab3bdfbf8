import TerminalKit
import Testing

@MainActor
@Suite struct ViewTests {
    private func send(_ keys: String, to layer: any Layer) {
        for key in KeySequence(keys).keys { _ = layer.handle(.key(key)) }
    }

    private func form() -> Form {
        let form = Form(
            title: "Edit Brazil",
            fields: [
                FormField(id: "name", label: "Team name", value: "Brazil", isOptional: false, hint: "text"),
                FormField(id: "wins", label: "Wins", kind: .number, value: "76", hint: "0 to 500"),
                FormField(id: "favorite", label: "Favorite", kind: .boolean, value: "no", isOptional: false),
                FormField(id: "venue", label: "Home venue", kind: .reference, value: nil),
                FormField(id: "id", label: "ID", kind: .readOnly, value: "p1"),
            ])
        form.validate = { field in
            if field.id == "wins", let value = field.value, Int(value) == nil { return "not a whole number" }
            if field.id == "name", field.value?.isEmpty ?? true { return "must not be empty" }
            return nil
        }
        return form
    }

    @Test func aFormShowsErrorsAtTheField() throws {
        let form = form()
        var accepted: [FormField]?
        form.onAccept = { fields, _ in
            accepted = fields
            return [:]
        }
        send("<Tab>x<Enter>", to: form)
        #expect(!form.isFinished)
        #expect(accepted == nil)
        let screen = ScriptedScreen(width: 70, height: 12)
        paint(screen) { form.draw(in: $0) }
        #expect(screen.lines[3].contains("76x"))
        #expect(screen.lines[3].contains("not a whole number"))
        try expectGolden(screen, "form-error")
        send("<Backspace><Enter>", to: form)
        #expect(form.isFinished)
        #expect(accepted?[1].value == "76")
    }

    @Test func fieldsAreEditedByTheirType() {
        let form = form()
        var picked: [String] = []
        form.onPick = { _, field in picked.append(field.id) }
        send("<Tab><Tab><Space>", to: form)
        #expect(form.fields[2].value == "yes")
        send("n", to: form)
        #expect(form.fields[2].value == "no")
        send("<Tab><Space>", to: form)
        #expect(picked == ["venue"])
        form.setValue("Maracanã", of: "venue")
        #expect(form.fields[3].value == "Maracanã")
        send("<Backspace>", to: form)
        #expect(form.fields[3].value == nil)
        send("<Tab>zzz", to: form)
        #expect(form.fields[4].value == "p1")
        // No value is different from an empty text.
        send("<Tab><C-u>", to: form)
        #expect(form.fields[0].value == "")
        send("<Backspace>", to: form)
        #expect(form.fields[0].value == nil)
    }

    @Test(arguments: [40, 60, 80]) func savingAndTheWayOutStayInTheFooterOfAForm(_ width: Int) {
        let fields = (1...14).map { FormField(id: "f\($0)", label: "Field \($0)", value: "\($0)") }
        let form = Form(title: "Edit " + String(repeating: "name ", count: 20), fields: fields)
        let screen = ScriptedScreen(width: width, height: 12)
        func lines(_ form: Form) -> [String] {
            let grid = CellGrid(size: screen.size)
            form.draw(in: Canvas(grid: grid, text: screen.text))
            screen.present(grid)
            return screen.lines
        }
        #expect(lines(form)[11].contains("^S save") && lines(form)[11].contains("Esc cancel"), "\(lines(form))")
        #expect(lines(form)[11].contains("^N") == (width > 60), "\(lines(form))")
        #expect(lines(form)[0].hasSuffix("fields 1–8 of 14"), "\(lines(form)[0])")
        send("<PgDn>", to: form)
        #expect(lines(form)[0].hasSuffix("fields 7–14 of 14"), "\(lines(form)[0])")
        let short = lines(Form(title: "Edit", fields: Array(fields.prefix(8))))
        #expect(!short[0].contains("fields"), "\(short)")
    }

    @Test func aLineOfItsOwnFormIsTyped() {
        let form = Form(title: "New", fields: [FormField(id: "key", label: "Key", kind: .line, isOptional: false)])
        send("ab<Backspace>c", to: form)
        #expect(form.fields[0].value == "ac")
        send("<C-u>", to: form)
        #expect(form.fields[0].value == nil)
    }

    @Test func aFormIsChangedWhileItsTextIsAnotherOne() {
        let form = form()
        for (keys, isChanged) in [
            ("x", true), ("<Backspace>", false), ("<Left>x<Delete>", true), ("<Backspace>l", false),
        ] {
            send(keys, to: form)
            #expect(form.isChanged == isChanged, "\(keys): \(form.fields[0].value ?? "")")
        }
        send("x<Tab><S-Tab>", to: form)
        #expect(form.isChanged && form.fields[0].value == "Brazilx")
        send("<Backspace>", to: form)
        #expect(!form.isChanged)
    }

    @Test func pastedLinesStayInTextsAlone() {
        let form = form()
        _ = form.handle(.paste("\n\ta"))
        #expect(form.fields[0].value == "Brazil\n\ta")
        send("<Tab>", to: form)
        _ = form.handle(.paste("\n7"))
        #expect(form.fields[1].value == "76 7")
    }

    @Test func altWithAKeyDropsNoText() {
        let form = form()
        let stack = LayerStack()
        stack.push(form)
        form.onDiscard = { close in
            stack.push(Dialog(title: "Leave?", lines: [], choices: [Dialog.Choice("y", "leave", action: close)]))
        }
        for key in KeySequence("x<M-y>").keys { stack.handle(.key(key)) }
        #expect(!form.isFinished && form.fields[0].value == "Brazilx" && stack.top === form)
        let untouched = self.form()
        stack.push(untouched)
        stack.handle(.key(Key(.character("y"), .alt)))
        #expect(untouched.isFinished)
    }

    /// Escape opens a question; the key that arrived with it must not answer it.
    @Test func altWithAKeyAnswersNoQuestion() {
        final class Asking: Layer {
            let ask: () -> Void
            var isFinished = false
            init(_ ask: @escaping () -> Void) { self.ask = ask }
            func draw(in canvas: Canvas) {}
            func handle(_ event: Event) -> Bool {
                guard event == .key(Key(.escape)) else { return false }
                ask()
                return true
            }
        }
        let stack = LayerStack()
        var isDropped = false
        stack.push(
            Asking {
                stack.push(
                    Dialog(title: "?", lines: [], choices: [Dialog.Choice("y", "drop") { isDropped = true }]))
            })
        stack.handle(.key(Key(.character("y"), .alt)))
        #expect(!isDropped && stack.layers.count == 2)
    }

    /// A long text is truncated and edited like a short one.
    @Test(arguments: [TextWidth.Repertoire.unicode, .ascii]) func onlyTheVisiblePartOfALongTextIsMeasured(
        _ repertoire: TextWidth.Repertoire
    ) {
        let text = TextWidth(repertoire)
        for sample in ["", "abc", "日本語日本語", "a\u{301}b\u{301}c", "👩‍👩‍👧 x", "æœß…"] {
            for columns in 0...14 {
                let cut = text.truncated(sample, to: columns)
                #expect(
                    text.width(cut) <= columns
                        && (text.width(sample) > columns || text.width(cut) == text.width(sample)))
                #expect(text.width(sample, upTo: columns) == min(columns, text.width(sample)))
            }
        }
        var editor = LineEditor(String(repeating: "日本a", count: 300))
        let grid = CellGrid(size: Size(width: 20, height: 1))
        let canvas = Canvas(grid: grid, text: text)
        for key in KeySequence("<Left><Left>x<Home>y<End>z").keys { _ = editor.handle(key) }
        editor.draw(in: canvas, x: 0, y: 0, width: 10, style: .text, showsCursor: true)
        #expect(grid.cursor.map { $0.x <= 9 } == true)
        #expect(editor.text.hasPrefix("y日本a") && editor.text.hasSuffix("日x本az"))
    }

    @Test func leavingAChangedFormAsks() {
        let form = form()
        var asked = 0
        form.onDiscard = { _ in asked += 1 }
        send("x<Esc>", to: form)
        #expect(asked == 1)
        #expect(!form.isFinished)
        let untouched = self.form()
        send("<Esc>", to: untouched)
        #expect(untouched.isFinished)
    }

    @Test func errorsOfTheOwnerAreShownAtTheirFields() {
        let form = form()
        form.onAccept = { _, _ in ["wins": "must not exceed matches", "": "not accepted"] }
        send("<Enter>", to: form)
        #expect(!form.isFinished)
        #expect(form.fields[1].error == "must not exceed matches")
        #expect(form.message == "not accepted")
    }

    @Test func aPromptShowsTheProblemAtItsPlace() throws {
        let prompt = Prompt(label: "filter: ", history: ["wins > 1", "favorite == YES"])
        prompt.onAccept = { $0.hasSuffix("=") ? Prompt.Problem("a value is missing", at: $0.count) : nil }
        send("wins ==<Enter>", to: prompt)
        #expect(!prompt.isFinished)
        let screen = ScriptedScreen(width: 50, height: 4)
        paint(screen) { prompt.draw(in: $0) }
        #expect(screen.lines[3] == "               ^ a value is missing")
        #expect(screen.frame.cursor == Point(x: 15, y: 2))
        send(" 3<Enter>", to: prompt)
        #expect(prompt.isFinished)
    }

    @Test func longProblemsAreShownWhole() {
        let prompt = Prompt(label: "filter: ")
        let text =
            "expected a key, a value or a predicate, found a word that is none of them at all, whatever may be meant by it"
        prompt.onAccept = { _ in Prompt.Problem(text, at: 12) }
        send("teamName == and more<Enter>", to: prompt)
        let screen = ScriptedScreen(width: 40, height: 8)
        paint(screen) { prompt.draw(in: $0) }
        #expect(screen.lines[3] == "filter: teamName == and more")
        #expect(screen.lines[4] == String(repeating: " ", count: 20) + "^")
        #expect(screen.lines[5...].joined(separator: " ").trimmingCharacters(in: .whitespaces) == text)
        // If the text is scrolled, the caret scrolls with it.
        prompt.onAccept = { _ in Prompt.Problem("here", at: 50) }
        send("<C-u>aaaaaaaaa bbbbbbbbb ccccccccc ddddddddd eeeeeeeee fffff<Enter>", to: prompt)
        paint(screen) { prompt.draw(in: $0) }
        let caret = screen.lines[7].firstIndex(of: "^").map {
            screen.lines[7].distance(from: screen.lines[7].startIndex, to: $0)
        }
        #expect(caret.map { Array(screen.lines[6])[$0] } == "f")
    }

    @Test func promptsHaveHistoryAndCompletion() {
        let prompt = Prompt(label: "filter: ", history: ["wins > 1", "favorite == YES"])
        send("dra<Up>", to: prompt)
        #expect(prompt.editor.text == "favorite == YES")
        send("<Up><Down><Down>", to: prompt)
        #expect(prompt.editor.text == "dra")
        prompt.complete = { text, cursor in
            Prompt.Completion(range: 0..<cursor, candidates: text == "draw" || text == "dra" ? ["draws", "drawn"] : [])
        }
        // First the common prefix of the candidates, then each candidate.
        send("<Tab>", to: prompt)
        #expect(prompt.editor.text == "draw")
        send("<Tab>", to: prompt)
        #expect(prompt.editor.text == "draws")
        send("<Tab>", to: prompt)
        #expect(prompt.editor.text == "drawn")
        var cancelled = false
        prompt.onCancel = { cancelled = true }
        send("<Esc>", to: prompt)
        #expect(cancelled && prompt.isFinished)
    }

    /// If the candidates have no longer common prefix, they are shown first, until the text changes.
    @Test func candidatesAreShownBeforeOneIsChosen() {
        let prompt = Prompt(label: ":", hint: "a command")
        prompt.complete = { text, cursor in
            Prompt.Completion(range: 0..<cursor, candidates: ["quit", "write"].filter { $0.hasPrefix(text) })
        }
        send("<Tab>", to: prompt)
        #expect(prompt.editor.text.isEmpty && prompt.hint == "quit  write")
        send("<Tab>", to: prompt)
        #expect(prompt.editor.text == "quit" && prompt.hint == "quit  write")
        send("<Tab>", to: prompt)
        #expect(prompt.editor.text == "write" && prompt.hint == "write  quit")
        send("s", to: prompt)
        #expect(prompt.hint == "a command")
        send("<C-u>w<Tab>", to: prompt)
        #expect(prompt.editor.text == "write")
    }

    @Test func dialogsTakeOnlyTheirKeys() throws {
        var answer = ""
        let dialog = Dialog(
            title: "Delete",
            lines: [TextPane.Line("Delete Brazil?"), TextPane.Line("It takes 3 matches along.", role: .warning)],
            choices: [
                Dialog.Choice("y", "delete") { answer = "yes" },
                Dialog.Choice("n", "keep") { answer = "no" },
            ])
        send("<Enter>x", to: dialog)
        #expect(!dialog.isFinished)
        let screen = ScriptedScreen(width: 50, height: 10)
        paint(screen) { dialog.draw(in: $0) }
        try expectGolden(screen, "dialog")
        send("<Esc>", to: dialog)
        #expect(answer == "no")
    }

    @Test func answersWrapOnANarrowScreen() {
        let dialog = Dialog(
            title: "Unsaved", lines: [TextPane.Line("Three records are changed.")],
            choices: [
                Dialog.Choice("s", "save and quit"), Dialog.Choice("d", "discard and quit"), Dialog.Choice("c", "stay"),
            ])
        let screen = ScriptedScreen(width: 24, height: 9)
        paint(screen) { dialog.draw(in: $0) }
        let text = screen.lines.joined(separator: "\n")
        for answer in ["s save and quit", "d discard and quit", "c stay"] { #expect(text.contains(answer)) }
        let small = ScriptedScreen(width: 24, height: 5)
        paint(small) { dialog.draw(in: $0) }
        for answer in ["s save and quit", "d discard and quit", "c stay"] {
            #expect(small.lines.joined(separator: "\n").contains(answer))
        }
    }

    @Test func pickersNarrowWhileTyping() throws {
        var picked: Int?
        let items = ["Brazil", "Argentina", "日本", "Bolivia"].map { (text: $0, detail: "team") }
        let picker = Picker(title: "Team", items: items) { picked = $0 }
        send("bo", to: picker)
        let screen = ScriptedScreen(width: 50, height: 12)
        paint(screen) { picker.draw(in: $0) }
        try expectGolden(screen, "picker")
        send("<Enter>", to: picker)
        #expect(picked == 3)
        let keys = Picker(
            title: "Key", items: [("Name", ""), ("Home venue name", "")], aliases: ["name", "homeVenue.name"]
        ) { picked = $0 }
        send("homeVenue.n<Enter>", to: keys)
        #expect(picked == 1)
    }

    @Test func finishedLayersAreRemovedAndAltFallsBackToEscape() {
        let stack = LayerStack()
        let below = TextPane(title: "below", lines: [TextPane.Line("text")])
        stack.push(below)
        stack.push(Prompt(label: "find: "))
        stack.handle(.key(Key(.character("q"), .alt)))
        #expect(stack.layers.isEmpty)
    }

    @Test func panesScroll() {
        let pane = TextPane(title: "Help", lines: (1...30).map { TextPane.Line("line \($0)") })
        let screen = ScriptedScreen(width: 40, height: 8)
        paint(screen) { pane.draw(in: $0) }
        send("G", to: pane)
        paint(screen) { pane.draw(in: $0) }
        #expect(screen.lines[6] == "line 30")
        send("gj", to: pane)
        paint(screen) { pane.draw(in: $0) }
        #expect(screen.lines[1] == "line 2")
    }

    @Test func panesAreSearched() {
        let lines = (1...90).map { $0 % 30 == 0 ? "Zürich \($0)" : "line \($0)" }
        let pane = TextPane(title: "Help", lines: lines.map { TextPane.Line(runs: [(" ", .key), ($0, .text)]) })
        let screen = ScriptedScreen(width: 60, height: 8)
        func shown(after keys: String) -> [String] {
            send(keys, to: pane)
            paint(screen) { pane.draw(in: $0) }
            return screen.lines
        }
        #expect(shown(after: "jj/")[7] == "/" && pane.acceptsText)
        #expect(shown(after: "q")[7].hasSuffix("not found") && !pane.isFinished)
        #expect(shown(after: "<Backspace>zur")[7].hasSuffix("match 1 of 3"))
        let place = screen.lines.firstIndex { $0.contains("Zürich 30") } ?? 0
        #expect((0..<3).allSatisfy { screen.frame[1 + $0, place].style.role == .match })
        #expect(screen.frame[4, place].style.role == .text)
        #expect(shown(after: "<Enter>n")[7].contains("match 2 of 3") && !pane.acceptsText)
        #expect(shown(after: "nn")[7].contains("match 1 of 3"))
        #expect(shown(after: "N")[7].contains("match 3 of 3") && screen.lines.contains { $0.contains("Zürich 90") })
        // Escape forgets the text and goes back.
        #expect(shown(after: "gj/zu<Esc>")[1] == " line 2" && !screen.lines[7].contains("match"))
        #expect(!pane.isFinished)
        #expect(shown(after: "nNq")[1] == " line 2" && pane.isFinished)
    }

    /// Hints act as their keys when they are clicked, unless something is drawn over them.
    @Test func hintsAreLinks() {
        let screen = ScriptedScreen(width: 90, height: 4)
        func links(_ draw: @escaping (Canvas) -> Void) -> [String] {
            var links: [KeyLink] = []
            paint(screen) { canvas in
                draw(canvas)
                links = canvas.links
            }
            return links.map { link in
                let line = screen.frame.line(link.frame.minY).map(\.text)
                return KeySequence(keys: link.keys).label + "=" + line[link.frame.minX..<link.frame.maxX].joined()
            }
        }
        #expect(
            links {
                $0.writeHints("Space show  J K move  ^S save  type to narrow  0 as at first  东 x  Esc close", y: 3)
            }
                == ["Space=Space show", "J=J", "K=K", "^S=^S save", "0=0 as at first", "Esc=Esc close"])
        #expect(links { $0.link(labels: "gs", x: 1, y: 0, length: 99) }.first?.hasPrefix("gs= ") == true)
        #expect(links { $0.link(labels: "unknown", x: 1, y: 0, length: 9) } == [])
        let hidden = links { canvas in
            canvas.writeHints("q close  j down", y: 3)
            canvas.part(x: 5, y: 2, width: 20, height: 2).clear()
        }
        #expect(hidden == ["q=q clo  "])
    }
}
