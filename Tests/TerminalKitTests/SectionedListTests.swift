import TerminalKit
import Testing

/// Sections of numbered rows. Counts the requests.
private final class Numbers: ListSource {
    var sections: [(title: String, rows: [String])]
    var marks: [String: RowMark] = [:]
    var textsAsked = 0
    var countsAsked = 0

    init(_ sections: [(String, [String])]) { self.sections = sections }

    var sectionCount: Int { sections.count }
    func title(ofSection section: Int) -> String { sections[section].title }
    func rowCount(inSection section: Int) -> Int {
        countsAsked += 1
        return sections[section].rows.count
    }
    func text(ofColumn column: Int, at row: ListPath) -> String {
        textsAsked += 1
        let name = sections[row.section].rows[row.row]
        return column == 0 ? name : String(name.unicodeScalars.count * 10 + column)
    }
    func mark(at row: ListPath) -> RowMark? { marks[sections[row.section].rows[row.row]] }
}

@MainActor
@Suite struct SectionedListTests {
    private let columns = [
        ListColumn(id: "name", title: "Name"),
        ListColumn(id: "wins", title: "Wins", alignment: .right, isFlexible: false),
        ListColumn(id: "goals", title: "Goals for", alignment: .right, isFlexible: false),
        ListColumn(id: "best", title: "Best finish"),
    ]

    private func teams() -> Numbers {
        Numbers([
            ("AFC", ["日本 Japan", "대한민국 South Korea", "العربية السعودية", "Iran"]),
            ("CAF", ["Cameroon", "Côte d’Ivoire"]),
            ("CONMEBOL", ["Brazil 🏆", "Argentina", "Uruguay"]),
            ("OFC", []),
            ("UEFA", (1...30).map { "Europe \($0)" }),
        ])
    }

    private func draw(_ list: SectionedList, width: Int = 40, height: Int = 10) -> ScriptedScreen {
        let screen = ScriptedScreen(width: width, height: height)
        paint(screen) { list.draw(in: $0) }
        return screen
    }

    /// The titles show the number of columns hidden at each side.
    @Test func hiddenColumnsAreCounted() {
        let wide = (0..<12).map { ListColumn(id: "\($0)", title: "Column \($0)", isFlexible: false) }
        for width in 40...160 {
            let list = SectionedList(source: teams(), columns: wide)
            list.reset()
            for focus in 0..<12 {
                list.focusedColumn = focus
                let titles = draw(list, width: width).lines[0]
                // A column that is cut has the beginning of a title.
                let shown = titles.matches(of: /Col?u?m?n? ?(\d+|…)/).count
                let left = titles.firstMatch(of: /‹(\d+)/).flatMap { Int($0.1) } ?? 0
                let right = titles.firstMatch(of: /\+(\d+)›$/).flatMap { Int($0.1) } ?? 0
                #expect(left + shown + right == 12, "\(width): \(titles)")
                #expect(titles.contains("Column \(focus)"), "\(width): \(titles)")
            }
        }
    }

    @Test(arguments: [(40, 10), (80, 24), (120, 40)])
    func goldenList(_ width: Int, _ height: Int) throws {
        let source = teams()
        source.marks = ["Iran": .inserted, "Cameroon": .updated, "Argentina": .moved]
        let list = SectionedList(source: source, columns: columns)
        list.reset()
        list.titleSuffix = { $0.id == "wins" ? "↓" : "" }
        let screen = ScriptedScreen(width: width, height: height)
        paint(screen) { list.draw(in: $0) }
        list.move(by: 3)
        list.highlight = { _ in ["ro"] }
        paint(screen) { list.draw(in: $0) }
        try expectGolden(screen, "list-\(width)x\(height)")
        list.moveToEnd()
        list.setFolded(true, section: 2)
        paint(screen) { list.draw(in: $0) }
        try expectGolden(screen, "list-end-\(width)x\(height)")
    }

    @Test func goldenListInASCII() throws {
        let source = teams()
        let list = SectionedList(source: source, columns: columns)
        list.reset()
        list.setFolded(true, section: 1)
        let screen = ScriptedScreen(width: 50, height: 12, repertoire: .ascii)
        paint(screen) { list.draw(in: $0) }
        #expect(screen.dump(styles: false).utf8.allSatisfy { $0 < 0x80 })
        try expectGolden(screen, "list-ascii")
    }

    @Test func theHeaderOfTheCurrentSectionSticks() {
        let list = SectionedList(source: teams(), columns: columns)
        list.reset()
        _ = draw(list)
        list.moveToEnd()
        let lines = draw(list).lines
        #expect(lines[1].hasPrefix("▾ UEFA (30)"))
        #expect(lines[9].contains("Europe 30"))
    }

    @Test func theCursorIsAlwaysSeenAndNeverUnderTheStickyHeader() {
        let list = SectionedList(source: teams(), columns: columns)
        list.reset()
        _ = draw(list)
        for step in Array(repeating: 1, count: 45) + Array(repeating: -1, count: 45) {
            list.move(by: step)
            let screen = draw(list)
            let selected = (0..<10).filter { y in
                screen.frame.line(y).contains { $0.style.isSelected && $0.style.role != .columnTitle }
            }
            #expect(selected.count == 1)
            #expect(list.cursor.map { if case .row = $0 { true } else { $0.section == 3 } } == true)
        }
        #expect(list.cursor == .row(ListPath(section: 0, row: 0)))
    }

    /// The bar covers the record's name and the focused cell, so that a step changes few cells, or the whole line.
    @Test func theBarCoversTheNameAndTheCellWithTheFocusOrTheLine() {
        let list = SectionedList(source: teams(), columns: columns)
        list.reset()
        func bar() -> String {
            let screen = draw(list)
            let line = (2..<screen.size.height).first { screen.frame.line($0).contains { $0.style.isSelected } } ?? 0
            return screen.frame.line(line).map { $0.style.isSelected ? $0.text : "_" }.joined()
        }
        let named = bar()
        #expect(named.hasPrefix("  日本 Japan") && named.filter { $0 == "_" }.count > 10, "\(named)")
        list.focusedColumn = 2
        #expect(bar().contains("_ ") && bar().contains(" 82_") && !bar().contains("81"))
        list.frozenColumns = 2
        #expect(bar().hasPrefix("  日本 Japan") && bar().contains(" 81_") && bar().contains(" 82_"))
        list.barCoversLine = true
        #expect(!bar().contains("_"))
        list.barCoversLine = false
        list.setFolded(true, section: 0)
        let header = draw(list).frame.line(1).map { $0.style.isSelected ? $0.text : "_" }.joined()
        #expect(header.hasPrefix("▸ AFC (4) _"))
    }

    @Test func foldingHidesRowsAndKeepsTheCursorOnTheHeader() {
        let list = SectionedList(source: teams(), columns: columns)
        list.reset()
        _ = draw(list)
        list.move(by: 2)
        list.setFolded(true, section: 0)
        #expect(list.cursor == .header(0))
        #expect(draw(list).lines[1].hasPrefix("▸ AFC (4)"))
        list.move(by: 1)
        #expect(list.cursor == .row(ListPath(section: 1, row: 0)))
        list.setAllFolded(true)
        #expect(list.cursor == .header(1))
        #expect(draw(list).lines.filter { $0.hasPrefix("▸") }.count == 5)
        list.setAllFolded(false)
        #expect(list.cursor == .row(ListPath(section: 1, row: 0)))
    }

    @Test func foldsBelongToTitlesAndSurviveAReload() {
        let source = teams()
        let list = SectionedList(source: source, columns: columns)
        list.reset()
        list.setFolded(true, section: 1)
        source.sections.insert(("AAA", ["new"]), at: 0)
        list.reload(cursor: .header(2))
        #expect(list.isFolded(section: 2))
        #expect(!list.isFolded(section: 1))
    }

    @Test func theCursorKeepsItsScreenLineWhenRowsComeAbove() {
        let source = teams()
        let list = SectionedList(source: source, columns: columns)
        list.reset()
        _ = draw(list)
        list.moveToRow(ListPath(section: 4, row: 15))
        _ = draw(list)
        let line = list.screenLine
        source.sections[0].rows += ["One more", "And another"]
        source.sections[4].rows.insert("Europe 0", at: 0)
        list.reload(cursor: .row(ListPath(section: 4, row: 16)))
        #expect(list.screenLine == line)
        #expect(draw(list).lines.contains { $0.contains("Europe 16") })
    }

    @Test func aVanishedCursorRowLeavesTheNearest() {
        let source = teams()
        let list = SectionedList(source: source, columns: columns)
        list.reset()
        list.moveToRow(ListPath(section: 1, row: 1))
        source.sections[1].rows.removeLast()
        list.reload()
        #expect(list.cursor == .row(ListPath(section: 1, row: 0)))
        source.sections = []
        list.reload()
        #expect(list.cursor == nil)
        _ = draw(list)
        source.sections = [("Only", ["row"])]
        list.reload()
        #expect(list.cursor == .row(ListPath(section: 0, row: 0)))
    }

    @Test func sectionsAreSteppedThrough() {
        let list = SectionedList(source: teams(), columns: columns)
        list.reset()
        _ = draw(list)
        list.moveBySection(1)
        #expect(list.cursor == .row(ListPath(section: 1, row: 0)))
        list.moveBySection(2)
        #expect(list.cursor == .header(3))
        list.moveToRow(ListPath(section: 4, row: 7))
        list.moveBySection(-1)
        #expect(list.cursor == .row(ListPath(section: 4, row: 0)))
        list.moveBySection(-9)
        #expect(list.cursor == .row(ListPath(section: 0, row: 0)))
    }

    @Test func onlyVisibleRowsAreRequested() {
        let rows = (0..<20).map { "row \($0)" }
        let source = Numbers((0..<5000).map { ("section \($0)", rows) })
        let list = SectionedList(source: source, columns: columns)
        list.reset()
        #expect(source.countsAsked == 5000)
        for _ in 0..<50 {
            list.moveToEnd()
            _ = draw(list)
            list.moveToStart()
            _ = draw(list)
            list.reload()
        }
        #expect(source.textsAsked <= 100 * 9 * columns.count)
        #expect(list.rowCount == 100_000)
        // Each reload reads all sections once; frames and steps read only the counts of visible sections.
        #expect(source.countsAsked <= 51 * 5000 + 200 * 9, "\(source.countsAsked)")
    }

    @Test func aListWithoutSectionsHasNoHeaders() {
        let list = SectionedList(source: Numbers([("", ["a", "b"])]), columns: columns)
        list.hasHeaders = false
        list.reset()
        let lines = draw(list).lines
        #expect(lines[1].hasPrefix("  a"))
        #expect(lines[2].hasPrefix("  b"))
    }

    @Test func theNameStaysAndTheRestScrolls() {
        let list = SectionedList(source: teams(), columns: columns)
        list.reset()
        #expect(draw(list, width: 24).lines[0] == "  Name         Wins  Go…")
        list.moveFocus(by: 3)
        #expect(draw(list, width: 24).lines[0] == "  Name         Best fin…")
        list.moveFocus(by: -9)
        #expect(draw(list, width: 24).lines[0] == "  Name         Wins  Go…")
        #expect(draw(list, width: 1, height: 1).lines.count == 1)
        #expect(draw(list, width: 3, height: 2).lines.count == 2)
    }

    @Test func theMouseFindsLines() {
        let list = SectionedList(source: teams(), columns: columns)
        list.reset()
        _ = draw(list)
        #expect(list.position(at: Point(x: 5, y: 1)) == .header(0))
        #expect(list.position(at: Point(x: 5, y: 3)) == .row(ListPath(section: 0, row: 1)))
        #expect(list.position(at: Point(x: 5, y: 0)) == nil)
        #expect(list.columnTitle(at: Point(x: 3, y: 0)) == 0)
        list.scroll(by: 3)
        _ = draw(list)
        #expect(list.cursor != nil)
        #expect(list.position(at: Point(x: 5, y: 1)) == .header(0))
    }
}
