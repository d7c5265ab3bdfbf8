import CoreData
import Foundation
import RosterCommands
import TerminalKit
import Testing

@testable import Roster

/// Messages and notes of the program: the footer, the status line, and messages about copies, exports and changes.
@MainActor
@Suite(.serialized) struct BrowserSayingTests {
    let fixture: Fixture

    init() throws {
        fixture = try Fixture()
        try fixture.fill()
    }

    @Test func aFormWithoutChangesReportsThat() {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.find("Brazil")
        driver.keys("E<Enter>")
        #expect(driver.text.contains("nothing was changed"), "\(driver.text)")
        #expect(!driver.text.contains("not saved yet") && !driver.text.contains("unsaved"))
        driver.keys("E<C-s>")
        #expect(driver.browser.session?.context.hasChanges == false && !driver.text.contains("changed Brazil"))
        driver.set("Wins", to: "77")
        #expect(driver.text.contains("changed Brazil, not saved yet"), "\(driver.text)")
    }

    @Test func configurationErrorsAreShownAtTheStart() {
        var options = BrowserOptions(storeURL: fixture.storeURL, entityName: "Team")
        options.preferences = Preferences(text: "\n\ncolour = red\nmouse = perhaps\nbar = none\n")
        let driver = BrowserDriver(options, width: 200, height: 24)
        #expect(driver.text.contains("config: line 3: unknown key “colour”"), "\(driver.text)")
        #expect(driver.text.contains("(and 2 more: run “roster config”)"), "\(driver.text)")
        driver.keys("j")
        #expect(!driver.text.contains("config:"))
        options.preferences = Preferences(text: "mouse = off\n")
        #expect(!BrowserDriver(options).text.contains("config:"))
    }

    @Test(arguments: [30, 40, 60, 80, 100]) func helpAndTheWayOutStayInTheFooter(_ width: Int) {
        let driver = BrowserDriver(teamsOf: fixture, width: width)
        #expect(driver.lines[23].contains("? help") && driver.lines[23].contains("q quit"), "\(driver.text)")
        driver.set("Wins", to: "3")
        driver.keys("j")
        #expect(driver.lines[23].contains("? help") && driver.lines[23].contains("q quit"), "\(driver.text)")
        #expect(driver.lines[23].contains("^S save"), "\(driver.text)")
    }

    @Test func aFilteredListShowsTheTotal() async throws {
        var options = BrowserOptions(storeURL: fixture.storeURL, entityName: "Team", sectionKeyPath: "qualifyingZone")
        options.sortKeys = "wins:desc,teamName"
        options.limits.countInterval = .zero
        let driver = BrowserDriver(options)
        driver.command("filter wins > 30")
        #expect(driver.text.contains(" 7 of 16 Teams  filter: wins > 30"), "\(driver.text)")
        let count = { (text: String) in driver.text.contains(text) }
        try fixture.elsewhere { context in
            let team = NSEntityDescription.insertNewObject(forEntityName: "Team", into: context)
            team.setValue("Iceland", forKey: "teamName")
            try context.save()
        }
        try await driver.wait(for: "the other program's team") { count(" 7 of 17 Teams") }
        driver.find("Italy")
        driver.keys("Dy")
        #expect(count(" 6 of 16 Teams"), "\(driver.text)")
        driver.keys("<C-s>")
        try await driver.wait(for: "the save") { !count("unsaved") && count(" 6 of 16 Teams") }
        // The total is counted again after the save.
        let total = try #require(driver.browser.list?.total)
        try await driver.wait(for: "the count") { total.isCurrent }
        #expect(count(" 6 of 16 Teams"), "\(driver.text)")
        driver.command("filter")
        #expect(count(" 16 Teams"), "\(driver.text)")
    }

    @Test func longCountsAreGrouped() throws {
        let many = try Fixture()
        try many.fillWithManyTeams(1200)
        let driver = BrowserDriver(
            BrowserOptions(storeURL: many.storeURL, entityName: "Team", sortKeys: "teamName"))
        #expect(driver.text.contains(" 1,200 Teams ") && driver.text.contains("1/1,200"), "\(driver.text)")
        driver.keys("G")
        #expect(driver.text.contains("1,200/1,200"))
        driver.keys("~")
        #expect(driver.text.contains("1,200 marked"), "\(driver.text)")
        driver.command("section favorite")
        #expect(driver.text.contains("(1,200) "), "\(driver.text)")
    }

    @Test func theMessageShowsWhatWasCopied() {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.browser.copyText = { _ in true }
        driver.find("Brazil")
        for (keys, text) in [
            ("yc", "copied Team name: Brazil"), ("llyc", "copied Wins: 76"), ("yy", "copied 1 record as JSON"),
            ("yv", "copied 1 record as CSV"), ("yt", "copied 1 record as text"), ("yp", "copied wins == 76"),
            ("yu", "copied the URI of 1 record"), ("<Space><Space>yc", "copied Wins of 2 records"),
        ] {
            driver.keys(keys)
            #expect(driver.text.contains(text), "\(keys): \(driver.text)")
        }
    }

    @Test func theListIsExportedAsItIsShown() async throws {
        let driver = BrowserDriver(teamsOf: fixture, width: 60)
        driver.keys("lgh")
        driver.keys("<S-Left>")
        let shown = driver.browser.list?.records.display.columns.map(\.key) ?? []
        #expect(shown.first == "wins" && shown.contains("firstAppearance") && !shown.contains("localName"), "\(shown)")
        func export(_ name: String, _ file: String) async throws -> [String] {
            let url = fixture.folder.appendingPathComponent(file)
            driver.command("\(name) \(url.path)")
            try await driver.wait(for: name, seconds: 60) {
                driver.browser.work == nil && (try? Data(contentsOf: url).count) ?? 0 > 0
            }
            return try String(contentsOf: url, encoding: .utf8).split(whereSeparator: \.isNewline).map(String.init)
        }
        let table = try await export("export", "shown.csv")
        #expect(table[0] == shown.joined(separator: ",") && table.count == 17, "\(table)")
        let whole = try await export("exportall", "whole.csv")
        #expect(whole[0].contains("localName") && whole[0].hasPrefix("favorite,"), "\(whole)")
        driver.command("exportall \(fixture.folder.path)/whole.csv")
        #expect(driver.text.replacing("\n", with: "").contains("exportall! replaces it"), "\(driver.text)")
    }

    @Test func backgroundWorkShowsItsDuration() throws {
        let began = ContinuousClock.now
        #expect(Activity.text("filtering", since: began, now: began) == "| filtering")
        #expect(Activity.text("filtering", since: began, now: began + .milliseconds(1250)) == "- filtering 1.2 s")
        #expect(Activity.text("filtering", since: began, now: began + .seconds(75)).hasSuffix(" filtering 75 s"))
        let job = Job("filtering") {
        } then: { _ in
        }
        let unknown = ListWork(job: job, list: nil, usual: nil)
        #expect(unknown.saying(now: unknown.began + .seconds(1)) == "filtering")
        let known = ListWork(job: job, list: nil, usual: .seconds(4))
        #expect(known.saying(now: known.began + .seconds(1)) == "filtering ~25 %")
        #expect(known.saying(now: known.began + .seconds(9)) == "filtering ~99 %")
        let export = Job("export") {
        } then: { _ in
        }
        #expect(export.progress == "export 0 %")
    }

    /// Work without a previous duration has a percentage too if the store scans all rows.
    @Test func backgroundWorkShowsItsProgress() throws {
        var work = ListWork(
            job: Job("filtering") {
            } then: { _ in
            }, list: nil, usual: nil, total: 2000)
        func said(_ time: Duration) -> String { work.saying(now: work.began + time) }
        #expect(said(.seconds(1)) == "filtering")
        work.progress.completedUnitCount = 500
        #expect(said(.milliseconds(100)) == "filtering")
        #expect(said(.seconds(1)) == "filtering ~25 %")
        // A table may also have rows of other entities.
        work.progress.completedUnitCount = 5000
        #expect(said(.seconds(1)) == "filtering ~99 %")
        work.total = nil
        #expect(said(.seconds(1)) == "filtering")
        // A filter ends when all rows are scanned, a sort does not.
        let progress = Progress(totalUnitCount: -1)
        progress.completedUnitCount = 1000
        for (what, share) in [("filtering", "50"), ("sorting", "25")] {
            work = ListWork(
                job: Job(what) {
                } then: { _ in
                }, list: nil, usual: .seconds(4), progress: progress, total: 2000)
            #expect(said(.seconds(1)) == "\(what) ~\(share) %")
        }
    }

    @Test func aFirstFilterHearsHowManyRowsAreDone() async throws {
        let count = 8000
        let many = try Fixture()
        try many.fillWithManyTeams(count)
        var options = BrowserOptions(storeURL: many.storeURL, entityName: "Team", sortKeys: "teamName")
        options.limits = .small
        let driver = BrowserDriver(options, settles: false)
        try await driver.wait(for: "the list") { driver.text.contains("Team 000001") }
        driver.command("filter localName == nil AND teamName MATCHES '.*7'")
        let work = try #require(driver.browser.list?.work)
        #expect(work.total == count)
        try await driver.wait(for: "the filter") { driver.browser.list?.work == nil }
        #expect(driver.text.contains("800 of 8,000 Teams"), "\(driver.text)")
        // The last rows may arrive before SQLite reports them.
        let done = Int(work.progress.completedUnitCount)
        #expect(done > count * 3 / 4 && done <= count, "\(done)")
    }

    /// The end of a message is visible even if a name in it is long.
    @Test func longNamesAreShortenedInMessages() throws {
        let name = String(repeating: "Another journey chamber way yet females man ", count: 10)
        try fixture.elsewhere { context in
            let team = NSEntityDescription.insertNewObject(forEntityName: "Team", into: context)
            team.setValue(name, forKey: "teamName")
            try context.save()
        }
        let driver = BrowserDriver(
            BrowserOptions(storeURL: fixture.storeURL, entityName: "Team", predicate: "teamName BEGINSWITH 'Another'"))
        driver.browser.copyText = { _ in true }
        func said() -> String { driver.lines[23].trimmingCharacters(in: .whitespaces) }
        driver.keys("yc")
        #expect(said().hasPrefix("copied Team name: Another journey") && said().hasSuffix("…"), "\(driver.text)")
        driver.set("Wins", to: "77")
        #expect(said().hasPrefix("changed Another journey") && said().hasSuffix("…, not saved yet"), "\(driver.text)")
        for _ in 0..<9 where driver.browser.list?.focusedKey != "wins" { driver.keys("l") }
        driver.keys("e<C-u>78<Enter>")
        #expect(said().hasSuffix("…, not saved yet") && said().hasPrefix("changed Wins of Another"), "\(driver.text)")
        driver.keys("u")
        #expect(said().hasPrefix("undone: edit Wins of Another") && said().hasSuffix("…"), "\(driver.text)")
        driver.keys("Dy")
        #expect(said().hasPrefix("deleted Another") && said().hasSuffix("…; u undoes it"), "\(driver.text)")
    }

    @Test func anExportReportsTheNumberOfRecords() async throws {
        let driver = BrowserDriver(teamsOf: fixture, width: 200)
        let url = fixture.folder.appendingPathComponent("teams.csv")
        for (filter, text) in [("wins > 30", "7 Teams"), ("wins > 70", "1 Team")] {
            driver.command("filter \(filter)")
            driver.command("export! \(url.path)")
            try await driver.wait(for: text) { driver.text.contains("exported \(text) to \(url.path)") }
        }
    }

    @Test func unfreezingReportsThatNothingChanged() {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys("ZZ")
        #expect(driver.text.contains("nothing changed while the list was frozen") && !driver.text.contains("0 changes"))
    }

    // MARK: Completing values

    @Test func valuesAreCompletedAfterAComparison() throws {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys("\\")
        driver.type("qualifyingZone == ")
        driver.keys("<Tab>")
        #expect(driver.text.contains("\"AFC\"  \"CAF\"  \"CONCACAF\""), "\(driver.text)")
        driver.type("c")
        driver.keys("<Tab>")
        #expect(driver.text.contains("\"CAF\"  \"CONCACAF\"  \"CONMEBOL\"") && !driver.text.contains("\"AFC\""))
        driver.type("ON")
        driver.keys("<Tab><Tab>")
        #expect(driver.text.contains("filter: qualifyingZone == \"CONCACAF\""), "\(driver.text)")
        driver.type(" AND homeVenue.name BEGINSWITH[cd] \"Az")
        driver.keys("<Tab>")
        #expect(driver.text.contains("BEGINSWITH[cd] \"Azteca\""), "\(driver.text)")
        driver.type(" AND wins > 1")
        driver.keys("<Tab>")
        #expect(driver.text.contains("wins > 17"), "\(driver.text)")
        driver.keys("<Enter>")
        #expect(driver.text.contains(" 0 of 16 Teams"), "\(driver.text)")
        driver.keys(":")
        driver.type("filter teamName == \"Ger")
        driver.keys("<Tab>")
        #expect(driver.text.contains(":filter teamName == \"Germany\""), "\(driver.text)")
    }

    @Test func valuesOfManyRecordsAreOfferedWhenTheyAreThere() async throws {
        let many = try Fixture()
        try many.fillWithManyTeams(400)
        var options = BrowserOptions(storeURL: many.storeURL, entityName: "Team")
        options.limits = .small
        let driver = BrowserDriver(options)
        try await driver.wait(for: "the list") { driver.text.contains("Team 000001") }
        driver.keys("\\")
        driver.type("qualifyingZone == \"Zone 0001")
        driver.keys("<Tab>")
        #expect(!driver.text.contains("\"Zone 00010\""))
        try await driver.wait(for: "the values") { driver.text.contains("\"Zone 00010\"  \"Zone 00011\"") }
        // Nothing is offered if the text has changed since.
        driver.type("x")
        driver.keys("<C-h><Tab>")
        driver.type("1")
        await (try #require(driver.browser.list?.filter.completion?.task)).value
        driver.draw()
        #expect(driver.text.contains("filter: qualifyingZone == \"Zone 00011"), "\(driver.text)")
        #expect(!driver.text.contains("\"Zone 00012\""), "\(driver.text)")
    }

    // MARK: Panes

    @Test func statementsAreReadAsAWhole() throws {
        let driver = BrowserDriver(teamsOf: fixture, height: 30)
        driver.keys("gT")
        driver.keys("<Esc>")
        #expect(driver.text.contains("gT reads them"), "\(driver.text)")
        for keys in ["titles:desc", "homeVenue.location.latitude,homeVenue.name,wins,localName"] {
            driver.command("sort \(keys)")
        }
        driver.keys("gTg")
        // The statement that is truncated in its line is shown completely below.
        var (selected, whole) = ("", "")
        for _ in 0..<StatementLog.limit where whole.count < 80 || !selected.contains("SELECT") {
            driver.keys("j")
            selected = driver.selectedLines.first ?? ""
            let rule = try #require(driver.lines.lastIndex { $0.hasPrefix("──") })
            let lines = driver.lines[(rule + 1)..<29]
            whole = lines.map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: " ")
        }
        let begun = selected[(selected.range(of: "SELECT")?.lowerBound ?? selected.startIndex)...].prefix(30)
        #expect(whole.hasPrefix(begun) && whole.count > 80, "\(driver.text)")
        var copied = ""
        driver.browser.copyText = {
            copied = $0
            return true
        }
        driver.keys("y")
        #expect(copied.hasPrefix(begun) && driver.text.contains("copied the statement"), "\(driver.text)")
        driver.keys("<Esc>")
        #expect(driver.text.contains("16 Teams"))
    }

    @Test func aSpacePrecedesTheNumberOfHiddenColumns() {
        let driver = BrowserDriver(teamsOf: fixture)
        for width in 50...110 {
            driver.resize(width: width, height: 24)
            let titles = driver.lines[1]
            guard titles.hasSuffix("›") else { continue }
            #expect(titles.contains(#/ \+\d+›$/#), "\(width): \(titles)")
        }
        let (unicode, plain) = (Symbols.unicode, Symbols.ascii)
        for symbols in [unicode, plain] {
            #expect(![symbols.foldOpen, symbols.foldClosed, symbols.horizontal].contains(symbols.removed))
        }
    }

    @Test func longAuthorsHaveTheRoomThatIsThere() throws {
        let author = "com.example.mediaanalysis.daemon"
        try fixture.elsewhere { context in
            context.transactionAuthor = author
            let team = NSEntityDescription.insertNewObject(forEntityName: "Team", into: context)
            team.setValue("Iceland", forKey: "teamName")
            try context.save()
        }
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys("H")
        let line = driver.lines.first { $0.contains("com.example") } ?? ""
        #expect(line.contains("com.example.mediaana") && line.contains("1 Team inserted"), "\(driver.text)")
        let wide = BrowserDriver(teamsOf: fixture, width: 120)
        wide.keys("H")
        #expect(wide.text.contains(author + "  1 Team inserted"), "\(wide.text)")
    }
}

extension BrowserDriver {
    fileprivate var selectedLines: [String] {
        (1..<(screen.size.height - 1)).filter { y in
            screen.frame.line(y).contains { $0.style.isSelected && $0.style.role != .columnTitle }
        }.map { lines[$0] }
    }
}
