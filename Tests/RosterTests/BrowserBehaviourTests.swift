import CoreData
import Foundation
import TerminalKit
import Testing

@testable import Roster

/// Using the list: searching, filtering, sorting, jumping.
@MainActor
@Suite(.serialized) struct BrowserBehaviourTests {
    let fixture: Fixture

    init() throws {
        fixture = try Fixture()
        try fixture.fill()
    }

    @Test func searchingMovesAndReturns() {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys("/")
        driver.type("an")
        #expect(driver.selectedLine?.contains("Atlantis") == true)
        driver.type("y")
        #expect(driver.selectedLine?.contains("Germany") == true)
        driver.keys("<Esc>")
        #expect(driver.selectedLine?.contains("Atlantis") == true)
        driver.keys("/")
        driver.type("mexico")
        driver.keys("<Enter>")
        #expect(driver.selectedLine?.contains("Mexico") == true)
        driver.keys("/")
        driver.type("land")
        driver.keys("<Enter>")
        #expect(driver.selectedLine?.contains("Germany") == true)
        driver.keys("n")
        #expect(driver.selectedLine?.contains("England") == true)
        driver.keys("n")
        #expect(driver.text.contains("continued at the top"))
        #expect(driver.selectedLine?.contains("Germany") == true)
        driver.keys("N")
        #expect(driver.selectedLine?.contains("England") == true)
        driver.keys("/")
        driver.type("zzz")
        #expect(driver.text.contains("nothing found"))
    }

    @Test func searchingUnfoldsWhereTheMatchIs() {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys("zM/")
        driver.type("england")
        driver.keys("<Enter>")
        #expect(driver.selectedLine?.contains("England") == true)
        #expect(driver.text.contains("▾ UEFA"))
        #expect(driver.text.contains("▸ AFC"))
    }

    @Test func filtersNarrowTheStore() {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys("\\")
        driver.type("titles >= 4 OR homeVenue.name BEGINSWITH[c] \"wem\"")
        driver.keys("<Enter>")
        #expect(driver.text.contains("4 of 16 Teams"))
        #expect(driver.text.contains("England"))
        driver.keys("<Esc>")
        #expect(driver.text.contains("16 Teams"))
        driver.keys("\\")
        driver.type("winz > 3")
        driver.keys("<Enter>")
        #expect(driver.text.contains("winz"))
        #expect(driver.text.contains("filter: winz"))
        driver.keys("<C-u>wi<Tab> > 70<Enter>")
        #expect(driver.text.contains("1 of 16 Teams"))
    }

    @Test(arguments: [
        (#"wins = "abc""#, 7), (#"teamName MATCHES "[""#, 17), ("homeVenue.nam = 1", 10), ("@foo > 3", 0),
        ("wins > 3 AND winz > 3", 13),
    ])
    func filtersThatDoNotFitKeepThePrompt(_ text: String, _ place: Int) throws {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys("\\")
        driver.type(text)
        driver.keys("<Enter>")
        let line = try #require(driver.line(of: "filter: \(text)"), "\(driver.text)")
        // The caret is below the error, and the message is complete.
        let beneath = driver.lines[(line + 1)...].joined(separator: " ")
        #expect(
            driver.lines[line + 1].firstIndex(of: "^").map {
                driver.lines[line + 1].distance(from: driver.lines[line + 1].startIndex, to: $0)
            } == 8 + place, "\(driver.text)")
        #expect(!beneath.contains("…"), "\(driver.text)")
        driver.keys("<C-u>wins > 70<Enter>")
        #expect(driver.text.contains("1 of 16 Teams"))
    }

    @Test func sortKeysAreAddedReplacedAndTurned() {
        let driver = BrowserDriver(BrowserOptions(storeURL: fixture.storeURL, entityName: "Team"))
        #expect(driver.selectedLine?.hasPrefix("Argentina") == true)
        driver.keys("S")
        driver.type("wins")
        driver.keys("<Enter>gg")
        #expect(driver.selectedLine?.hasPrefix("Atlantis") == true)
        driver.keys("S")
        driver.type("wins")
        driver.keys("<Enter>gg")
        #expect(driver.selectedLine?.hasPrefix("Brazil") == true)
        driver.keys("s")
        driver.type("team")
        driver.keys("<Enter>")
        #expect(driver.text.contains("sorted ↓Wins ↑Team name"))
        // Key paths work too, as everywhere else.
        driver.keys("S")
        driver.type("homeVenue.cap")
        #expect(driver.text.contains("1 item") && !driver.text.contains("1 items"))
        driver.keys("<Enter>")
        #expect(driver.text.contains("sorted ↑Home venue capacity"))
    }

    @Test func sectionsGoByAnyKey() {
        let driver = BrowserDriver(BrowserOptions(storeURL: fixture.storeURL, entityName: "Team"))
        driver.keys("gs")
        driver.type("favorite")
        driver.keys("<Enter>gg")
        #expect(driver.text.contains("▾ Not favorite (13)"))
        driver.keys("G")
        #expect(driver.text.contains("▾ Favorite (3)"))
        driver.keys("gs")
        driver.type("homeVenue.name")
        driver.keys("<Enter>gg")
        #expect(driver.text.contains("▾ (none) (13)"))
        driver.keys("gs<Home><Enter>")
        #expect(!driver.text.contains("▾"))
    }

    @Test func entitiesAreSwitchedAndRememberTheirState() {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys("zM]]")
        let selected = driver.selectedLine
        driver.keys("4<Enter>")
        #expect(driver.text.contains("3 Venues"))
        #expect(driver.text.contains("19.30°N 99.15°W"))
        driver.keys("ge")
        driver.type("team")
        driver.keys("<Enter>")
        #expect(driver.text.contains("▸ AFC (3)"))
        #expect(driver.selectedLine != nil && selected != nil)
        driver.keys("9<Enter>")
        #expect(driver.text.contains("the store has only 4 entities"))
    }

    @Test func indexLettersJump() {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys("'")
        #expect(driver.text.contains("section beginning with:"))
        driver.keys("U")
        #expect(driver.selectedLine?.contains("Germany") == true)
        driver.keys("'c")
        #expect(driver.selectedLine?.contains("Cameroon") == true)
        driver.keys("'c'c")
        #expect(driver.selectedLine?.contains("Brazil") == true)
        driver.keys("'c")
        #expect(driver.selectedLine?.contains("Cameroon") == true)
        driver.keys("'x")
        #expect(driver.text.contains("no section begins with x"))
    }

    @Test func theMouseMovesFoldsAndSorts() {
        let driver = BrowserDriver(teamsOf: fixture)
        let row = driver.line(of: "South Korea") ?? 0
        driver.send(.mouse(MouseEvent(.press, at: Point(x: 5, y: row))))
        #expect(driver.selectedLine?.hasPrefix("South Korea") == true)
        driver.send(.mouse(MouseEvent(.press, at: Point(x: 5, y: 2))))
        #expect(driver.text.contains("▸ (none)"))
        driver.send(.mouse(MouseEvent(.press, at: Point(x: 4, y: 1))))
        #expect(driver.text.contains("sorted ↑Team name"))
        driver.send(.mouse(MouseEvent(.wheelDown, at: Point(x: 4, y: 5))))
        driver.send(.mouse(MouseEvent(.doubleClick, at: Point(x: 5, y: 8))))
        #expect(driver.text.contains("Esc back"))
    }

    @Test func pastedTextIsNotACommand() {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.send(.paste("Dyq"))
        #expect(!driver.browser.isFinished)
        #expect(driver.text.contains("16 Teams"))
        driver.keys("/")
        driver.send(.paste("Brazil"))
        #expect(driver.selectedLine?.contains("Brazil") == true)
    }

    @Test func theScreenIsRedrawnUnderAnyLayer() {
        let driver = BrowserDriver(teamsOf: fixture)
        var count = 0
        driver.browser.redraw = { count += 1 }
        driver.keys("<C-l>")
        driver.keys("E")
        driver.type("x")
        driver.keys("<Esc><C-l>")
        #expect(count == 2 && driver.text.contains("Leave the form?"), "\(driver.text)")
    }

    @Test func anUnknownKeyShowsWhereHelpIs() {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys("X")
        #expect(driver.text.contains("X has no command on this screen; ? lists the keys"))
        driver.keys("<C-l>z")
        #expect(driver.text.contains("z…"))
        driver.keys("<Esc>j")
        #expect(driver.selectedLine?.contains("Japan") == true)
    }

    @Test func goodNewsDisappearsByItself() throws {
        var options = BrowserOptions(storeURL: fixture.storeURL, entityName: "Team")
        for time in [options.limits.messageTime, .zero] {
            options.limits.messageTime = time
            let driver = BrowserDriver(options)
            driver.keys("<C-s>")
            #expect(driver.lines.last == "nothing to save")
            let end = try #require(driver.browser.message?.end)
            #expect(driver.browser.nextWake == end)
            guard time == .zero else { continue }
            driver.browser.wake()
            driver.draw()
            #expect(driver.lines.last != "nothing to save" && driver.browser.nextWake == nil)
            driver.keys("<C-s>j")
            #expect(driver.lines.last != "nothing to save" && driver.browser.nextWake == nil)
        }
    }

    @Test func withoutSectionsTheBracketsGoToTheEnds() {
        let driver = BrowserDriver(BrowserOptions(storeURL: fixture.storeURL, entityName: "Team"))
        driver.keys("jj]")
        #expect(driver.selectedLine?.contains("Uruguay") == true)
        driver.keys("[")
        #expect(driver.selectedLine?.contains("Argentina") == true)
        let teams = BrowserDriver(teamsOf: fixture)
        teams.keys("'U")
        teams.keys("j]")
        #expect(teams.selectedLine?.contains("Spain") == true)
    }

    @Test func readOnlyStoresCannotBeChanged() {
        let driver = BrowserDriver(BrowserOptions(storeURL: fixture.storeURL, entityName: "Team", isReadOnly: true))
        #expect(driver.text.contains("read-only"))
        #expect(driver.lines.last?.contains("/ find") == true && driver.lines.last?.contains("edit") == false)
        for key in ["o", "e", "E", "D", "u", "<C-s>"] {
            driver.keys(key)
            #expect(driver.text.contains("the store is open read-only"))
        }
    }
}
