import CoreData
import Foundation
import TerminalKit
import Testing

@testable import Roster

/// The command line, counts before commands, and the last line.
@MainActor
@Suite(.serialized) struct BrowserCommandLineTests {
    let fixture: Fixture

    init() throws {
        fixture = try Fixture()
        try fixture.fill()
    }

    // MARK: Issue 23, defect 4

    @Test func thePaletteShowsNamesBeforeDescriptions() throws {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys("<C-p>")
        driver.type("s")
        let save = try #require(driver.line(of: "save: "))
        let filter = try #require(driver.line(of: "section by letter: "))
        let half = try #require(driver.line(of: "add sort key: "))
        #expect(save < half && filter < half, "\(driver.text)")
        driver.keys("<C-u>")
        driver.type("q")
        driver.keys("<Enter>")
        #expect(driver.browser.isFinished, "\(driver.text)")
    }

    @Test func qAndWqQuit() throws {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.command("q")
        #expect(driver.browser.isFinished)
        let other = BrowserDriver(teamsOf: fixture)
        other.edit("Wins", of: "Spain", to: "99")
        other.command("q")
        #expect(!other.browser.isFinished && other.text.contains("Unsaved changes"))
        other.keys("<Esc>")
        other.command("wq")
        #expect(other.browser.isFinished)
        let wins = try fixture.elsewhere { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
            request.predicate = NSPredicate(format: "wins == 99")
            return try context.count(for: request)
        }
        #expect(wins == 1)
    }

    @Test func wSavesAndQWithAMarkDrops() throws {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.edit("Wins", of: "Spain", to: "99")
        driver.command("w")
        #expect(driver.text.contains("saved 1 record") && !driver.browser.isFinished)
        driver.edit("Wins", of: "Spain", to: "98")
        driver.command("q!")
        #expect(driver.browser.isFinished && driver.browser.status == 0)
    }

    @Test func listsAreArrangedByWords() {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.command("sort wins:desc,teamName")
        #expect(driver.text.contains("sorted ↓Wins ↑Team name"), "\(driver.text)")
        driver.command("section none")
        driver.keys("gg")
        #expect(driver.selectedLine?.contains("Brazil") == true, "\(driver.text)")
        driver.command("section qualifyingZone:desc")
        driver.keys("gg")
        #expect(driver.selectedLine?.contains("Germany") == true, "\(driver.text)")
        driver.command("filter titles > 3")
        #expect(driver.text.contains("3 of 16 Teams"), "\(driver.text)")
        driver.command("entity ven")
        #expect(driver.text.contains("3 Venues"), "\(driver.text)")
        driver.command("2")
        #expect(driver.text.contains("2/3"), "\(driver.text)")
        driver.command("99")
        #expect(driver.text.contains("3/3"), "\(driver.text)")
    }

    @Test(arguments: [
        ("sort winz", "winz"), ("filter winz > 3", "winz"),
        ("entity Nowhere", "valid names: Location, Match, Team, Venue"),
        ("section wins:up", "unknown “up”. Use year, month"), ("frobnicate", "unknown command “frobnicate”"),
        ("export", "such as export teams.csv"), ("export all.sqlite", "cannot export to .sqlite"),
        ("sort", "“sort” needs an argument, such as sort wins:desc"), ("import", "such as import teams.csv"),
        ("entity", "such as entity Venue"), ("filter", "such as filter teamName CONTAINS"),
        ("q now", "takes no other arguments"),
    ])
    func anErrorIsShownAndThePromptStays(_ text: String, _ problem: String) {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.command(text)
        #expect(driver.text.contains(problem), "\(driver.text)")
        #expect(driver.text.contains(":" + text) && !driver.browser.isFinished)
    }

    @Test func wordsAreCompleted() {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys(":")
        driver.type("ent")
        driver.keys("<Tab>")
        driver.type(" Ve")
        driver.keys("<Tab><Enter>")
        #expect(driver.text.contains("3 Venues"), "\(driver.text)")
        driver.keys(":")
        driver.type("sort cap")
        driver.keys("<Tab>")
        driver.type(":desc")
        driver.keys("<Enter>")
        #expect(driver.text.contains("sorted ↓Capacity"), "\(driver.text)")
    }

    @Test func directionsAndPeriodsAreCompletedAfterAColon() {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys(":")
        driver.type("sort wins:")
        driver.keys("<Tab>")
        #expect(driver.text.contains("asc  desc"), "\(driver.text)")
        driver.type("d")
        driver.keys("<Tab>")
        driver.type(",teamName:a")
        driver.keys("<Tab>")
        #expect(driver.text.contains(":sort wins:desc,teamName:asc"), "\(driver.text)")
        driver.keys("<C-u>")
        driver.type("section firstAppearance:")
        driver.keys("<Tab>")
        #expect(driver.text.contains("year  month  week  day"), "\(driver.text)")
    }

    @Test func noCandidateIsListedTwice() {
        let driver = BrowserDriver(teamsOf: fixture, width: 200)
        driver.keys(":")
        driver.type("exp")
        driver.keys("<Tab>")
        #expect(driver.text.contains("export  export!  exportall  exportall!  export marked"), "\(driver.text)")
        #expect(!driver.text.contains("export marked  export"), "\(driver.text)")
    }

    @Test func numbersOfRecordsBeginAtOne() {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.command("-3")
        #expect(driver.text.contains("record numbers start at 1") && driver.text.contains(":-3"), "\(driver.text)")
        driver.keys("<Esc>")
        driver.command("3")
        #expect(driver.text.contains(" 3/16\n"), "\(driver.text)")
    }

    /// Tab followed by Enter must not quit the program.
    @Test func tabAloneListsTheCommands() {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys(":<Tab>")
        #expect(driver.text.contains("q  q!  w  wq  sort"), "\(driver.text)")
        driver.keys("<Enter>")
        #expect(!driver.browser.isFinished && driver.text.contains("16 Teams"))
    }

    @Test func commandsOfTheTableGoByTheirNames() {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.command("fold all")
        #expect(driver.text.contains("▸ UEFA (5)"), "\(driver.text)")
        driver.command("unfold")
        #expect(driver.text.contains("▾"), "\(driver.text)")
    }

    @Test func theListIsExportedInTheBackground() async throws {
        let driver = BrowserDriver(teamsOf: fixture)
        let file = fixture.folder.appendingPathComponent("teams.csv")
        driver.command("filter titles > 0")
        driver.command("export \(file.path)")
        // The message disappears by itself, so wait for the file.
        func length() -> Int { (try? Data(contentsOf: file).count) ?? 0 }
        try await driver.wait(for: "the export", seconds: 60) { driver.browser.work == nil && length() > 0 }
        let lines = try String(contentsOf: file, encoding: .utf8).split(whereSeparator: \.isNewline)
        #expect(lines.count == 9 && lines[1].contains("Brazil"), "\(lines)")
        driver.command("export \(file.path)")
        #expect(driver.text.replacing("\n", with: " ").contains("exists; export! replaces it"), "\(driver.text)")
        driver.keys("<Esc>")
        try Data("x".utf8).write(to: file)
        driver.command("export! \(file.path)")
        try await driver.wait(for: "the second export", seconds: 60) { driver.browser.work == nil && length() > 1 }
        #expect(length() > 100)
    }

    // MARK: Issue 23, defects 5 and 6

    @Test func sectionsTurnRoundAndTheOtherKeysStay() {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys("grgg")
        #expect(driver.selectedLine?.contains("Germany") == true, "\(driver.text)")
        #expect(driver.text.contains("by ↓Qualifying zone  sorted ↓Wins"), "\(driver.text)")
        driver.keys("gs")
        #expect(driver.text.contains("↓ sections; Enter flips"), "\(driver.text)")
        driver.keys("<Enter>gg")
        #expect(driver.selectedLine?.contains("Germany") == false, "\(driver.text)")
        driver.keys("s")
        driver.type("qualifying")
        #expect(driver.text.contains("↑ sections"), "\(driver.text)")
        driver.keys("<Enter>gg")
        #expect(driver.selectedLine?.contains("Germany") == true, "\(driver.text)")
    }

    @Test func hintsInTheLastLineAreClicked() throws {
        let driver = BrowserDriver(teamsOf: fixture)
        func click(_ hint: String) throws {
            let line = try #require(driver.lines.last)
            let range = try #require(line.range(of: hint), "\(driver.text)")
            driver.click(x: line.distance(from: line.startIndex, to: range.lowerBound), y: 23)
        }
        try click("sort")
        #expect(driver.text.contains("Add sort key"), "\(driver.text)")
        try click("Esc cancel")
        #expect(!driver.text.contains("Add sort key"))
        // The keys that may follow are hints too.
        driver.keys("z")
        try click("R unfold all")
        #expect(driver.lines.last?.contains("? help") == true, "\(driver.text)")
        try click("? help")
        #expect(driver.text.contains("Keys of the list"))
        try click("/ find")
        driver.type("each value of the")
        driver.keys("<Enter>")
        #expect(driver.lines.last?.contains("match 1 of") == true && driver.text.contains("gb"), "\(driver.text)")
        try click("q close")
        try click("q quit")
        #expect(driver.browser.isFinished)
        // A message covers the hints.
        let other = BrowserDriver(teamsOf: fixture)
        other.keys("<C-a>")
        other.click(x: other.screen.size.width - 5, y: 23)
        #expect(!other.browser.isFinished)
    }

    @Test func columnsStayWhereTheyAreWhenTheListIsSortedByThem() throws {
        let driver = BrowserDriver(teamsOf: fixture, width: 120)
        let title = try #require(driver.lines.first { $0.contains("Titles") })
        let place = title.distance(from: title.startIndex, to: try #require(title.range(of: "Titles")).lowerBound)
        let line = try #require(driver.line(of: "Titles"))
        for arrow in ["↑", "↓", "↑"] {
            driver.click(x: place + 1, y: line)
            #expect(driver.text.contains("sorted \(arrow)Titles"), "\(driver.text)")
        }
    }

    @Test func numbersPrecedeCommands() {
        let driver = BrowserDriver(BrowserOptions(storeURL: fixture.storeURL, entityName: "Team"))
        driver.keys("5")
        #expect(driver.text.contains("5…") && driver.text.contains("record 5"), "\(driver.text)")
        driver.keys("G")
        #expect(driver.text.contains(" 5/16"), "\(driver.text)")
        driver.keys("3j")
        #expect(driver.text.contains(" 8/16"), "\(driver.text)")
        driver.keys("2k10")
        driver.keys("<Esc>j")
        #expect(driver.text.contains(" 7/16"), "\(driver.text)")
        driver.keys("3<Enter>")
        #expect(driver.text.contains("Teams"))
        driver.keys("g4")
        #expect(driver.text.contains("3 Venues"), "\(driver.text)")
    }

    @Test func prefixKeysShowTheirContinuations() {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys("z")
        #expect(driver.lines.last?.contains("a toggle fold") == true, "\(driver.text)")
        driver.keys("M")
        #expect(driver.text.contains("▸ UEFA (5)"))
    }

    @Test func theLastLineIsThatOfTheLayerOnTop() {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.find("Spain")
        driver.keys("D")
        #expect(driver.lines.last?.hasPrefix("y delete  n keep") == true, "\(driver.text)")
        driver.keys("n<C-p>")
        #expect(driver.lines.last?.contains("Enter pick") == true, "\(driver.text)")
    }

    @Test func onlySortKeysAreOfferedForRemoval() {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys("s")
        driver.type("draws")
        driver.keys("<Esc>s")
        driver.type("favorite")
        driver.keys("<Enter>gx")
        let items = driver.lines.filter { $0.contains(/[↑↓] key \d/) }
        #expect(items.count == driver.browser.list?.records.settings.sortKeys.count, "\(driver.text)")
        driver.keys("<Enter>")
        #expect(!driver.text.contains("↑Favorite"), "\(driver.text)")
    }

    @Test func tabsThatHaveNoRoomAreCountedAndClicksGoToTheOthers() throws {
        let driver = BrowserDriver(BrowserOptions(storeURL: fixture.storeURL, entityName: "Venue"), width: 44)
        #expect(driver.lines[0].contains("4 Venue") && driver.lines[0].contains("+"), "\(driver.text)")
        let wide = BrowserDriver(teamsOf: fixture)
        let place = try #require(wide.lines[0].range(of: "Venue"))
        wide.click(x: wide.lines[0].distance(from: wide.lines[0].startIndex, to: place.lowerBound), y: 0)
        #expect(wide.text.contains("3 Venues"), "\(wide.text)")
    }

    @Test func anUndoneDeletionLeavesNoMark() {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.find("Spain")
        driver.keys("Dy")
        driver.keys("u")
        driver.browser.list?.records.glow.removeEnded(now: .now + .seconds(60))
        driver.draw()
        #expect(driver.lines.contains { $0.contains("Spain") && !$0.contains("*") }, "\(driver.text)")
        #expect(!driver.text.contains("unsaved"), "\(driver.text)")
    }

    @Test func aFolderIsNotOfferedForReading() throws {
        let driver = BrowserDriver(BrowserOptions(storeURL: fixture.folder))
        #expect(driver.text.contains("is a folder, not a store"), "\(driver.text)")
        #expect(!driver.text.contains("read-only"), "\(driver.text)")
    }
}
