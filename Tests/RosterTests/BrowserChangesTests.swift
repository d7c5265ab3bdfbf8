import CoreData
import Foundation
import TerminalKit
import Testing

@testable import Roster

/// Unsaved changes: shown as differences, dropped one by one, and resolved if others changed the same.
@MainActor
@Suite(.serialized) struct BrowserChangesTests {
    let fixture: Fixture
    let driver: BrowserDriver

    init() throws {
        fixture = try Fixture()
        try fixture.fill()
        driver = BrowserDriver(teamsOf: fixture)
    }

    private func values(of name: String) throws -> [Int?] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
        request.predicate = NSPredicate(format: "teamName == %@", name)
        return try fixture.elsewhere { context in
            let team = try context.fetch(request).first
            return ["wins", "titles"].map { team?.value(forKey: $0) as? Int }
        }
    }

    @Test func changesAreSeenAndDroppedOneByOne() throws {
        driver.edit("Wins", of: "Spain", to: "99")
        driver.edit("Titles", of: "Spain", to: "9")
        driver.find("Japan")
        driver.keys("Dy")
        driver.keys("gu")
        try driver.expectGolden("changes")
        driver.keys("jj")
        #expect(driver.selectedLine?.contains("Wins: 31 → 99") == true, "\(driver.text)")
        driver.keys("x")
        #expect(!driver.text.contains("Wins:") && driver.text.contains("Titles: 1 → 9"), "\(driver.text)")
        driver.keys("Gjjx")
        driver.keys("<Esc>")
        #expect(driver.text.contains("16 Teams") && driver.text.contains("1 unsaved"), "\(driver.text)")
        driver.keys("<C-s>")
        #expect(try values(of: "Spain") == [31, 9])
        #expect(try values(of: "Japan") == [7, 0])
        driver.keys("gu")
        #expect(driver.text.contains("Everything is saved."))
    }

    @Test func allChangesOfARecordAreDroppedAtOnce() throws {
        driver.edit("Wins", of: "Spain", to: "99")
        driver.edit("Titles", of: "Spain", to: "9")
        driver.keys("gux")
        #expect(driver.text.contains("Everything is saved."), "\(driver.text)")
        driver.keys("u")
        #expect(driver.text.contains("Wins: 31 → 99"), "\(driver.text)")
        driver.keys("<Enter>")
        #expect(driver.selectedLine?.contains("Spain") == true, "\(driver.text)")
    }

    @Test func toKeepTheirsIsUndoneByItsName() async throws {
        driver.edit("Wins", of: "Spain", to: "99")
        try fixture.elsewhere { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
            request.predicate = NSPredicate(format: "teamName == 'Spain'")
            try #require(try context.fetch(request).first).setValue(50, forKey: "wins")
            try context.save()
        }
        let driver = driver
        try await driver.wait(for: "the word") { driver.text.contains("another program also changed Wins of Spain") }
        driver.keys("<C-s>t")
        #expect(try values(of: "Spain").first == 50, "\(driver.text)")
        driver.keys("u")
        #expect(driver.text.contains("undone: keep their values of 1 record"), "\(driver.text)")
        #expect(driver.text.contains("1 unsaved") && driver.text.contains("99"), "\(driver.text)")
    }

    @Test func conflictsAreSettledFieldByField() async throws {
        driver.edit("Wins", of: "Spain", to: "99")
        driver.edit("Titles", of: "Spain", to: "9")
        try fixture.elsewhere { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
            request.predicate = NSPredicate(format: "teamName == 'Spain'")
            let spain = try #require(try context.fetch(request).first)
            spain.setValue(50, forKey: "wins")
            spain.setValue(5, forKey: "titles")
            try context.save()
        }
        driver.keys("<C-s>")
        #expect(driver.text.contains("Changed by another program too"), "\(driver.text)")
        try driver.expectGolden("conflicts")
        // Chooses their value for Titles, and the previous value for Wins.
        driver.keys("<Space>j<Space><Space>s")
        #expect(driver.text.contains("saved"), "\(driver.text)")
        #expect(try values(of: "Spain") == [31, 5])
    }
}
