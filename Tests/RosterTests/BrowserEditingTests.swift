import CoreData
import Foundation
import TerminalKit
import Testing

@testable import Roster

/// Edits, undo, and questions before data is lost.
@MainActor
@Suite(.serialized) struct BrowserEditingTests {
    let fixture: Fixture

    init() throws {
        fixture = try Fixture()
        try fixture.fill()
    }

    /// The wins of a team, as read by another program.
    private func wins(_ name: String) throws -> Int? {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
        request.predicate = NSPredicate(format: "teamName == %@", name)
        return try fixture.elsewhere { try $0.fetch(request).first?.value(forKey: "wins") as? Int }
    }

    private func find(_ name: String, _ driver: BrowserDriver) { driver.find(name) }

    private func set(_ title: String, to text: String, _ driver: BrowserDriver) { driver.set(title, to: text) }

    @Test func anEditedRowMovesAndTheCursorStaysOnIt() throws {
        let driver = BrowserDriver(teamsOf: fixture, height: 16)
        find("Spain", driver)
        let line = try #require(driver.line(of: "Spain"))
        set("Wins", to: "99", driver)
        #expect(driver.selectedLine?.contains("Spain") == true)
        // The row stays on its line of the screen, and the others move around it.
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

    @Test func deletingAppliesTheDeleteRules() throws {
        let driver = BrowserDriver(BrowserOptions(storeURL: fixture.storeURL, entityName: "Venue"))
        driver.keys("jD")
        #expect(driver.text.contains("Also deletes 1 Location"))
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

    @Test func theEffectsOfDeletingATeamAreListedExactly() throws {
        let driver = BrowserDriver(teamsOf: fixture)
        find("Brazil", driver)
        driver.keys("D")
        #expect(driver.text.contains("1 Venue loses one of its Teams"))
        driver.keys("n")
    }

    @Test func theCursorMovesToTheRestoredRecord() throws {
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

    @Test func unreadableRecordsAreListed() throws {
        let fixture = try Fixture.filled()
        let driver = BrowserDriver(BrowserOptions(storeURL: fixture.storeURL, entityName: "Venue"))
        try fixture.damage(table: "ZTEAM")
        driver.keys("<Enter>")
        #expect(driver.text.contains("Cannot read the store Cup.sqlite: "))
    }

    @Test func relationshipsAreChosenFromAList() throws {
        let driver = BrowserDriver(teamsOf: fixture)
        find("Argentina", driver)
        driver.keys("E<S-Tab><Space>")
        driver.type("mara")
        // Enter in a relationship's field accepts the form, as in other fields.
        driver.keys("<Enter><Enter>")
        #expect(driver.text.contains("changed Argentina, not saved yet"))
        driver.keys("<C-s><Enter>")
        #expect(driver.text.contains("Maracanã"))
        let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
        request.predicate = NSPredicate(format: "homeVenue.name == %@", "Maracanã")
        let count = try fixture.elsewhere { try $0.count(for: request) }
        #expect(count == 2)
    }
}
