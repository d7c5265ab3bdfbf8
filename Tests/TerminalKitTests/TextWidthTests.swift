import TerminalKit
import Testing

@Suite struct TextWidthTests {
    let text = TextWidth()

    @Test(arguments: [
        ("", 0), ("Brazil", 6), ("東京", 4), ("e\u{301}", 1), ("한국", 4), ("\u{1112}\u{1161}\u{11AB}", 2), ("🏆", 2),
        ("🇩🇪", 2),
        ("❤️", 1), ("👨‍👩‍👧", 2), ("👍🏽", 2), ("ﷺ", 1), ("①", 1), ("कि", 2), ("क्षि", 3), ("a\u{200B}b", 2), ("ｆｕｌｌ", 8),
        ("日本代表", 8), ("السعودية", 8), ("Curaçao", 7), ("\u{1F3F4}\u{E0067}\u{E0062}\u{E007F}", 2),
        ("1\u{FE0F}\u{20E3}", 1),
    ])
    func columnsOfText(_ string: String, _ width: Int) {
        #expect(text.width(string) == width)
        #expect(text.glyphs(string).reduce(0) { $0 + $1.width } == width)
    }

    @Test func invisibleCharactersAreMadeVisible() {
        #expect(text.glyphs("a\u{7}b").map(\.text) == ["a", "␇", "b"])
        #expect(text.glyphs("a\nb\u{1B}[2J").map(\.text).joined() == "a␊b␛[2J")
        #expect(text.glyphs("\u{202E}abc").map(\.text).joined() == "\u{FFFD}abc")
        #expect(text.glyphs("\u{301}x").map(\.text) == ["\u{25CC}\u{301}", "x"])
        #expect(text.glyphs("\u{9B}31m").map(\.text).joined() == "\u{FFFD}31m")
    }

    @Test func aCellHoldsAtMostFourMarks() {
        let stacked = "a" + String(repeating: "\u{301}", count: 20)
        #expect(text.glyphs(stacked).map { $0.text.unicodeScalars.count } == [5])
    }

    @Test func truncationNeverExceedsTheColumns() {
        #expect(text.truncated("Brazil", to: 6) == "Brazil")
        #expect(text.truncated("Brazil", to: 4) == "Bra…")
        #expect(text.truncated("東京都", to: 4) == "東…")
        #expect(text.truncated("東京都", to: 5) == "東京…")
        #expect(text.truncated("Brazil", to: 0) == "")
        for columns in 0..<12 {
            for string in ["日本代表チーム", "Côte d’Ivoire", "🇧🇷 Brazil 🏆", "a\u{301}b\u{302}c"] {
                #expect(text.width(text.truncated(string, to: columns)) <= columns)
            }
        }
    }

    @Test func paddingFillsExactly() {
        #expect(text.padded("東京", to: 6) == "東京  ")
        #expect(text.padded("12", to: 5, alignment: .right) == "   12")
        // A wide glyph that does not fit is replaced by a space.
        #expect(text.padded("東京都", to: 4) == "東… ")
        #expect(text.width(text.padded("日本代表チーム", to: 7)) == 7)
    }

    @Test func asciiTerminalsGetLettersWithoutMarks() {
        let ascii = TextWidth(.ascii)
        func shown(_ string: String) -> String { ascii.glyphs(string).map(\.text).joined() }
        #expect(shown("Curaçao") == "Curacao")
        #expect(shown("Straße Ærø") == "Strasse AEro")
        #expect(shown("東京") == "??")
        #expect(shown("a\u{7}") == "a^G")
        #expect(ascii.truncated("Brazil", to: 4) == "Bra~")
        #expect(ascii.width("Türkiye") == 7)
        for glyph in ascii.glyphs("Ñ🏆한국↕…❤️👨‍👩‍👧\u{202E}") {
            #expect(glyph.text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F })
            #expect(glyph.width == 1)
        }
    }

    @Test func linesBreakBetweenWords() {
        #expect(text.wrapped("one two three", to: 7) == ["one two", "three"])
        #expect(text.wrapped("an unbreakable word", to: 5) == ["an", "unbre", "akabl", "e", "word"])
    }

    /// A line is computed on request, from its visible characters only.
    @Test func aLongTextCostsOnlyTheRequestedLines() {
        let long = String(repeating: "né ", count: 400_000)
        var lines = WrappedLines(long, to: 8, text)
        #expect(lines.next() == "né né né" && lines.next() == "né né né" && !lines.isAtEnd)
        var taken = 0
        let characters = long.lazy.map { character in
            taken += 1
            return character
        }
        #expect(text.width(characters, upTo: 60) == 60 && taken <= 62)
    }

    @Test func linesBreakAsTheTextDoes() {
        func lines(_ string: String, _ columns: Int) -> [String] {
            Array(WrappedLines(string, to: columns, text, breaksAtNewlines: true))
        }
        #expect(lines("", 5) == [""])
        #expect(lines("one\ntwo three\r\n\nlast", 7) == ["one", "two", "three", "", "last"])
        #expect(lines("ends\n", 4) == ["ends", ""])
        #expect(lines("日本語の長い行", 5) == ["日本", "語の", "長い", "行"])
        #expect(lines("日", 1) == ["日"])
        #expect(lines("aaaa bbbb", 4) == ["aaaa", "bbbb"])
    }

    @Test func halfAWideGlyphIsNeverLeft() {
        let grid = CellGrid(size: Size(width: 6, height: 1))
        let canvas = Canvas(grid: grid, text: text)
        canvas.write("東京", x: 0, y: 0)
        canvas.write("x", x: 1, y: 0)
        #expect(grid.line(0).map(\.text) == [" ", "x", "京", "", " ", " "])
        canvas.write("y", x: 2, y: 0)
        #expect(grid.line(0).map(\.text) == [" ", "x", "y", " ", " ", " "])
        // A wide glyph does not fit in the last column.
        #expect(canvas.write("東", x: 5, y: 0) == 1)
        #expect(grid[5, 0].text == "…")
    }
}
