import Testing

@testable import RosterCommands

@Suite struct TextTableTests {
    private func table(columns: Int? = nil, _ rows: [[String]]) throws -> String {
        let surroundings = TestSurroundings()
        var table = TextTable(
            headings: ["name", "wins", "zone"], rightAligned: [false, true, false],
            style: surroundings.surroundings(columns: columns).textStyle, output: surroundings)
        for row in rows { try table.row(row) }
        try table.end()
        return surroundings.text
    }

    @Test func alignsByWidthOnScreen() throws {
        let text = try table([["日本", "7", "AFC"], ["Brazil", "76", "CONMEBOL"]])
        #expect(text == "name    wins  zone\n日本       7  AFC\nBrazil    76  CONMEBOL\n")
    }

    @Test func leavesOutWhatDoesNotFit() throws {
        #expect(try table(columns: 20, [["Brazil", "76", "CONMEBOL"]]) == "name    wins  …\nBrazil    76\n")
        #expect(try table(columns: 4, [["Brazil", "76", "CONMEBOL"]]) == "name\nBra…\n")
    }

    @Test func showsControlCharacters() throws {
        let text = try table([["a\u{1B}[31mb\nc\u{7F}\u{202E}", "1", ""]])
        #expect(text.contains("a␛[31mb␊c␡\\u{202E}"))
        #expect(!text.unicodeScalars.contains("\u{1B}"))
    }

    @Test func longListsStream() throws {
        let surroundings = TestSurroundings()
        var table = TextTable(
            headings: ["n"], rightAligned: [true], style: surroundings.surroundings().textStyle, output: surroundings)
        for number in 0..<1500 { try table.row([String(number)]) }
        #expect(surroundings.lines.count == 1501)
        try table.end()
        #expect(surroundings.lines.last == "1499")
    }
}
