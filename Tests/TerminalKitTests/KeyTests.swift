import TerminalKit
import Testing

@Suite struct KeyTests {
    /// Feeds characters as sent by the terminal, and flushes at the end.
    private func read(_ text: String) -> [KeyReader.Output] {
        var reader = KeyReader()
        return text.unicodeScalars.flatMap { reader.read(.scalar($0.value)) } + reader.flush()
    }

    private func keys(_ text: String) -> [Key] {
        read(text).compactMap { output in
            if case .event(.key(let key)) = output { return key }
            return nil
        }
    }

    @Test func charactersAndControls() {
        #expect(keys("a東") == [Key(.character("a")), Key(.character("東"))])
        #expect(keys("\u{13}\r\t\u{7F}") == [Key(.character("s"), .control), Key(.enter), Key(.tab), Key(.backspace)])
        #expect(keys("\u{0}") == [Key(.character(" "), .control)])
    }

    @Test func escapeAloneAndWithACharacter() {
        #expect(keys("\u{1B}") == [Key(.escape)])
        #expect(keys("\u{1B}x") == [Key(.character("x"), .alt)])
        #expect(keys("\u{1B}\u{1B}") == [Key(.escape), Key(.escape)])
        var reader = KeyReader()
        _ = reader.read(.scalar(0x1B))
        #expect(reader.read(.key(Key(.up))) == [.event(.key(Key(.up, .alt)))])
    }

    @Test func pastedTextIsOnePieceAndNoCommands() {
        #expect(read("\u{1B}[200~dd\rq\u{1B}[201~j") == [.event(.paste("dd\nq")), .event(.key(Key(.character("j"))))])
    }

    /// Text after an escape in pasted text is text. Line breaks are kept.
    @Test func escapesInPastedTextAreNotCommands() {
        #expect(read("\u{1B}[200~a\u{1B}Dd\u{1B}]0;x\u{1B}\u{1B}q\u{1B}[201~j").first == .event(.paste("aDd]0;xq")))
        #expect(read("\u{1B}[200~a\u{1B}") == [])
        #expect(read("\u{1B}[200~a\r\nb\rc\td\u{1B}[201~") == [.event(.paste("a\nb\nc\td"))])
    }

    @Test func unknownSequencesAndFocusReportsAreSwallowed() {
        #expect(read("\u{1B}[I\u{1B}[Oj") == [.event(.key(Key(.character("j"))))])
        #expect(read("\u{1B}[97;5uj") == [.event(.key(Key(.character("j"))))])
        #expect(read("\u{1B}]11;rgb:0000/0000/0000\u{1B}\\j") == [.event(.key(Key(.character("j"))))])
    }

    /// Terminals may send keys of another terminal's description: tmux sends `ESC [ 1 ~` for Home, whatever TERM is.
    @Test func keysThatCursesDoesNotKnowAreUnderstood() {
        #expect(keys("\u{1B}[1~\u{1B}[4~\u{1B}[7~\u{1B}[8~") == [Key(.home), Key(.end), Key(.home), Key(.end)])
        #expect(keys("\u{1B}[H\u{1B}[F\u{1B}[A") == [Key(.home), Key(.end), Key(.up)])
        #expect(keys("\u{1B}[2~\u{1B}[3~\u{1B}[5~\u{1B}[6~").map(\.code) == [.insert, .delete, .pageUp, .pageDown])
        #expect(keys("\u{1B}[1;5C\u{1B}[3;2~") == [Key(.right, .control), Key(.delete, .shift)])
        #expect(keys("\u{1B}[27;5;9~\u{1B}[9;5C\u{1B}[1;99C\u{1B}[~j") == [Key(.character("j"))])
        #expect(read("\u{1B}[200~a\u{1B}[Hb\u{1B}[201~") == [.event(.paste("ab"))])
    }

    /// Mouse reports that curses does not read, because the description of the terminal has only older ones.
    @Test func mouseReportsBeyondTheOldLimitAreRead() {
        #expect(
            read("\u{1B}[<0;250;41M\u{1B}[<0;250;41m") == [.event(.mouse(MouseEvent(.press, at: Point(x: 249, y: 40))))]
        )
        #expect(
            read("\u{1B}[<64;1;1M\u{1B}[<65;1;2M\u{1B}[<16;3;4M")
                == [
                    .event(.mouse(MouseEvent(.wheelUp, at: Point(x: 0, y: 0)))),
                    .event(.mouse(MouseEvent(.wheelDown, at: Point(x: 0, y: 1)))),
                    .event(.mouse(MouseEvent(.press, at: Point(x: 2, y: 3)))),
                ])
        for report in ["<", "<M", "<0;5M", "<0;0;1M", "<2;1;1M", "<32;1;1M", "<x;1;1M", "<99999999999999999999;1;1M"] {
            #expect(read("\u{1B}[\(report)j").last == .event(.key(Key(.character("j")))) || report == "<", "\(report)")
            #expect(!read("\u{1B}[\(report)").contains { if case .event(.mouse) = $0 { true } else { false } })
        }
        #expect(read("\u{1B}[200~a\u{1B}[<0;1;1Mb\u{1B}[201~") == [.event(.paste("ab"))])
    }

    @Test func labelsReadBack() {
        for notation in [
            "gs", "za", "<C-s>", "<Esc>", "<Space>", "<S-Tab>", "<M-x>", "<F5>", "<C-Left>", "<PgDn>", "<lt>", "?",
        ] {
            let sequence = KeySequence(notation)
            #expect(KeySequence(label: sequence.label) == sequence, "\(notation)")
        }
        for word in ["", "close", "type", "1–10"] { #expect(KeySequence(label: word) == nil) }
    }

    @Test func repliesOfTheTerminalAreEvents() {
        #expect(read("\u{1B}[?2026;2$y") == [.reply("?2026;2$y")])
    }

    @Test func anUnfinishedSequenceWaitsAndIsDropped() {
        var reader = KeyReader()
        for scalar in "\u{1B}[?20".unicodeScalars { #expect(reader.read(.scalar(scalar.value)).isEmpty) }
        #expect(reader.isWaiting)
        #expect(reader.flush().isEmpty)
        #expect(!reader.isWaiting)
    }

    @Test(arguments: [
        ("za", "za"), ("<C-s>", "^S"), ("<Enter>", "Enter"), ("<S-Tab>", "Shift-Tab"), ("<M-x>", "Alt-x"),
        ("<F5>", "F5"),
        ("<Space>", "Space"), ("<", "<"), ("<lt>", "<"), ("<C-Left>", "Ctrl-Left"), ("<PgDn>", "PgDn"), ("g<", "g<"),
    ])
    func notation(_ notation: String, _ label: String) {
        #expect(KeySequence(notation).label == label)
    }

    @Test func editingKeysOfALine() {
        var line = LineEditor("wins > 3")
        for key in KeySequence("<C-a><M-f><C-k>").keys { _ = line.handle(key) }
        #expect(line.text == "wins")
        for key in KeySequence("<C-w>Año<Left><Delete>").keys { _ = line.handle(key) }
        #expect(line.text == "Añ")
        line.insert("\u{301}")
        #expect(line.characters.count == 2)
        for key in KeySequence("<C-u>東京<Backspace>").keys { _ = line.handle(key) }
        #expect(line.text == "東")
        let isEditing = line.handle(Key(.function(5)))
        #expect(!isEditing)
    }
}
