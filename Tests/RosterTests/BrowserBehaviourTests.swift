import CoreData
import Foundation
import TerminalKit
import Testing

@testable import Roster

/// What the keys do to the records.
@MainActor
@Suite(.serialized) struct BrowserBehaviourTests {
    let fixture: Fixture

    init() throws {
        fixture = try Fixture()
        try fixture.fill()
    }

    /// The wins of a team as another program reads them.
    private func wins(_ name: String) throws -> Int? {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
        request.predicate = NSPredicate(format: "teamName == %@", name)
        return try fixture.elsewhere { try $0.fetch(request).first?.value(forKey: "wins") as? Int }
    }

    /// Puts the cursor on a team by searching for it.
    private func find(_ name: String, _ driver: BrowserDriver) {
        driver.keys("/")
        driver.type(name)
        driver.keys("<Enter>")
        #expect(driver.selectedLine?.contains(name) == true)
    }

    /// Sets a field of the team under the cursor.
    private func set(_ title: String, to text: String, _ driver: BrowserDriver) {
        driver.keys("E")
        for _ in 0..<20 where driver.screen.frame.cursor.map({ driver.lines[$0.y].contains(title) }) != true {
            driver.keys("<Tab>")
        }
        driver.keys("<C-u>")
        driver.type(text)
        driver.keys("<Enter>")
    }

    @Test func anEditedRowMovesAndTheCursorStaysOnIt() throws {
        let driver = BrowserDriver(teamsOf: fixture, height: 16)
        find("Spain", driver)
        let line = try #require(driver.line(of: "Spain"))
        set("Wins", to: "99", driver)
        #expect(driver.selectedLine?.contains("Spain") == true)
        // The row stays where the eye is, and the others go round it.
        #expect(driver.line(of: "Spain") == line)
        #expect(driver.selectedLine?.hasPrefix("↕") == true)
        #expect(driver.text.contains("1 unsaved"))
        let order = ["Spain", "Germany", "Italy"].compactMap { driver.line(of: $0) }
        #expect(order == order.sorted())
        #expect(try wins("Spain") == 31)
        driver.keys("<C-s>")
        #expect(driver.text.contains("saved 1 record"))
        #expect(try wins("Spain") == 99)
    }

    @Test func editsAreUndoneAndDoneAgain() throws {
        let driver = BrowserDriver(teamsOf: fixture)
        find("Spain", driver)
        set("Wins", to: "99", driver)
        driver.keys("u")
        #expect(driver.text.contains("undone: edit Spain"))
        #expect(driver.selectedLine?.contains("31") == true)
        #expect(!driver.text.contains("unsaved"))
        driver.keys("<C-r>")
        #expect(driver.selectedLine?.contains("99") == true)
        driver.keys("u<C-s>")
        #expect(try wins("Spain") == 31)
        driver.keys("u")
        #expect(driver.text.contains("nothing to undo"))
    }

    @Test func rowsGlowForAWhile() async throws {
        let driver = BrowserDriver(teamsOf: fixture)
        find("Spain", driver)
        set("Wins", to: "32", driver)
        let wake = try #require(driver.browser.nextWake)
        #expect(wake > .now && wake < .now + .seconds(2))
        try await driver.wait(for: "the end of the glow") {
            if let wake = driver.browser.nextWake, wake <= .now { driver.browser.wake() }
            return driver.browser.list?.nextWake == nil
        }
        driver.draw()
        #expect(driver.selectedLine?.hasPrefix("*") == true)
    }

    @Test func recordsAreAddedInTheSectionOfTheCursor() throws {
        let driver = BrowserDriver(teamsOf: fixture)
        find("Cameroon", driver)
        driver.keys("o")
        #expect(driver.text.contains("New Team"))
        driver.keys("<Enter>")
        #expect(driver.text.contains("must have a value"))
        driver.type("Ghana")
        driver.keys("<Enter>")
        #expect(driver.selectedLine?.contains("Ghana") == true)
        #expect(driver.text.contains("CAF (3)"))
        driver.keys("<C-s>")
        #expect(try wins("Ghana") == 0)
    }

    @Test func deletingTakesAlongWhatTheRulesSay() throws {
        let driver = BrowserDriver(BrowserOptions(storeURL: fixture.storeURL, entityName: "Venue"))
        driver.keys("jD")
        #expect(driver.text.contains("Takes along 1 Location"))
        #expect(driver.text.contains("1 Team loses its Home venue"))
        #expect(driver.text.contains("Venue “Maracanã”"))
        driver.keys("<Enter>")
        #expect(driver.text.contains("y delete"))
        driver.keys("y")
        #expect(!driver.text.contains("Maracanã  "))
        driver.keys("u")
        #expect(driver.text.contains("Maracanã  "))
        driver.keys("<C-r><C-s>")
        let counts = try fixture.elsewhere { context in
            try ["Location", "Team"].map { try context.count(for: NSFetchRequest<NSManagedObject>(entityName: $0)) }
        }
        #expect(counts == [2, 16])
    }

    @Test func whatATeamLeavesBehindIsSaidExactly() throws {
        let driver = BrowserDriver(teamsOf: fixture)
        find("Brazil", driver)
        driver.keys("D")
        #expect(driver.text.contains("1 Venue loses one of its Teams"))
        driver.keys("n")
    }

    @Test func theCursorGoesToWhatUndoBringsBack() throws {
        let driver = BrowserDriver(BrowserOptions(storeURL: fixture.storeURL, entityName: "Team"), height: 12)
        #expect(driver.selectedLine?.contains("Argentina") == true)
        driver.keys("Dy")
        #expect(!driver.text.contains("Argentina  "))
        driver.keys("Gu")
        #expect(driver.selectedLine?.contains("Argentina") == true)
        driver.keys("G<C-r>")
        #expect(driver.text.contains("15 Teams"))
        #expect(driver.selectedLine?.contains("Uruguay") == true)
    }

    @Test func deletedRecordsAreNamedInTheCallbacks() throws {
        let driver = BrowserDriver(teamsOf: fixture, height: 30)
        driver.keys("c")
        find("Brazil", driver)
        driver.keys("Dy")
        #expect(driver.text.contains("delete [4, 0] → nil  Brazil"))
    }

    @Test func searchingMovesAndGoesBack() {
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
        #expect(driver.text.contains("went on at the top"))
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
        #expect(driver.text.contains("4 Teams"))
        #expect(driver.text.contains("England"))
        driver.keys("<Esc>")
        #expect(driver.text.contains("16 Teams"))
        driver.keys("\\")
        driver.type("winz > 3")
        driver.keys("<Enter>")
        #expect(driver.text.contains("winz"))
        #expect(driver.text.contains("filter: winz"))
        driver.keys("<C-u>wi<Tab> > 70<Enter>")
        #expect(driver.text.contains("1 Team"))
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
        // The caret stands under what is wrong, and the whole message is there.
        let beneath = driver.lines[(line + 1)...].joined(separator: " ")
        #expect(
            driver.lines[line + 1].firstIndex(of: "^").map {
                driver.lines[line + 1].distance(from: driver.lines[line + 1].startIndex, to: $0)
            } == 8 + place, "\(driver.text)")
        #expect(!beneath.contains("…"), "\(driver.text)")
        driver.keys("<C-u>wins > 70<Enter>")
        #expect(driver.text.contains("1 Team"))
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
        // Also by the key path, as it is written everywhere else.
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
        driver.keys("4")
        #expect(driver.text.contains("3 Venues"))
        #expect(driver.text.contains("19.30°N 99.15°W"))
        driver.keys("ge")
        driver.type("team")
        driver.keys("<Enter>")
        #expect(driver.text.contains("▸ AFC (3)"))
        #expect(driver.selectedLine != nil && selected != nil)
        driver.keys("9")
        #expect(driver.text.contains("there are only 4 entities"))
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

    @Test func quittingAsksWhenSomethingIsUnsaved() throws {
        let driver = BrowserDriver(teamsOf: fixture)
        find("Spain", driver)
        set("Wins", to: "99", driver)
        driver.keys("q")
        #expect(!driver.browser.isFinished)
        driver.keys("c")
        #expect(!driver.browser.isFinished)
        driver.keys("qn")
        #expect(!driver.browser.isFinished && !driver.text.contains("Unsaved changes"))
        driver.keys("qs")
        #expect(driver.browser.isFinished)
        #expect(try wins("Spain") == 99)
        let untouched = BrowserDriver(teamsOf: fixture)
        untouched.keys("q")
        #expect(untouched.browser.isFinished)
    }

    @Test func aRecordThatOthersPointAtIsNotCountedAsChanged() throws {
        let driver = BrowserDriver(teamsOf: try Fixture.filled())
        let session = try #require(driver.browser.session)
        let teams = try session.context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Team"))
        let home = try #require(teams.first { $0.value(forKey: "homeVenue") != nil })
        home.setValue(nil, forKey: "homeVenue")
        session.context.processPendingChanges()
        #expect(session.context.updatedObjects.count == 2 && session.unsavedCount == 1)
    }

    @Test func recordsThatCannotBeReadAreTold() throws {
        let fixture = try Fixture.filled()
        let driver = BrowserDriver(BrowserOptions(storeURL: fixture.storeURL, entityName: "Venue"))
        try fixture.damage(table: "ZTEAM")
        driver.keys("<Enter>")
        #expect(driver.text.contains("Cannot read the store Cup.sqlite: "))
    }

    @Test func relationshipsAreChosenFromAList() throws {
        let driver = BrowserDriver(teamsOf: fixture)
        find("Argentina", driver)
        driver.keys("E<S-Tab><Enter>")
        driver.type("mara")
        driver.keys("<Enter><C-s>")
        driver.keys("<Enter>")
        #expect(driver.text.contains("Maracanã"))
        let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
        request.predicate = NSPredicate(format: "homeVenue.name == %@", "Maracanã")
        let count = try fixture.elsewhere { try $0.count(for: request) }
        #expect(count == 2)
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

    @Test func pastedTextIsNoCommand() {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.send(.paste("Dyq"))
        #expect(!driver.browser.isFinished)
        #expect(driver.text.contains("16 Teams"))
        driver.keys("/")
        driver.send(.paste("Brazil"))
        #expect(driver.selectedLine?.contains("Brazil") == true)
    }

    @Test func anUnknownKeySaysWhereHelpIs() {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys("x")
        #expect(driver.text.contains("x means nothing here; ? lists the keys"))
        driver.keys("<C-l>z")
        #expect(driver.text.contains("z…"))
        driver.keys("<Esc>j")
        #expect(driver.selectedLine?.contains("Japan") == true)
    }

    @Test func goodNewsGoesByItself() async throws {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys("<C-s>")
        #expect(driver.lines.last == "nothing to save")
        let wake = try #require(driver.browser.nextWake)
        #expect(wake > .now + .seconds(1) && wake < .now + .seconds(10))
        driver.keys("j")
        #expect(driver.browser.nextWake == nil)
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
            #expect(driver.text.contains("nothing can be changed"))
        }
    }
}
