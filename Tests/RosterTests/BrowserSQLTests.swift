import CoreData
import Foundation
import TerminalKit
import Testing

@testable import Roster

/// `:sql`: an answer as a list that is sorted and exported.
@MainActor
@Suite(.serialized) struct BrowserSQLTests {
    let fixture: Fixture

    init() throws {
        fixture = try Fixture()
        try fixture.fill()
    }

    private func ask(_ statement: String, _ driver: BrowserDriver) async throws {
        driver.keys(":")
        driver.type("sql " + statement)
        driver.keys("<Enter>")
        try await driver.wait(for: "the answer") { !driver.text.contains("asking") }
    }

    @Test func anAnswerIsAListThatIsSorted() async throws {
        let driver = BrowserDriver(teamsOf: fixture)
        try await ask("SELECT teamName AS team, wins FROM Team WHERE wins > 60 ORDER BY wins", driver)
        let rows = try #require(Int(driver.text.firstMatch(of: /(\d+) rows/)?.1 ?? ""))
        #expect(rows > 1)
        #expect(driver.text.contains("team") && driver.text.contains("Brazil"), "\(driver.text)")
        driver.keys("ls")
        #expect(driver.text.contains("wins ↑"))
        driver.keys("s")
        #expect(driver.text.contains("wins ↓"))
        #expect(driver.screen.frame.line(2).map(\.text).joined().contains("76"), "\(driver.text)")
        driver.keys("<Esc>")
        #expect(driver.text.contains("16 Teams"))
    }

    @Test func withoutAStatementTheTablesAreListed() async throws {
        let driver = BrowserDriver(teamsOf: fixture)
        try await ask("", driver)
        #expect(driver.text.contains("teamName") && driver.text.contains("key of Venue"), "\(driver.text)")
    }

    @Test func anErrorIsOneLineAndTheListStays() async throws {
        let driver = BrowserDriver(teamsOf: fixture)
        try await ask("DELETE FROM Team", driver)
        #expect(driver.text.contains("the SQL does not run"), "\(driver.text)")
        #expect(driver.text.contains("16 Teams"))
    }

    @Test func anAnswerIsExportedWhole() async throws {
        let driver = BrowserDriver(teamsOf: fixture)
        let file = fixture.storeURL.deletingLastPathComponent().appendingPathComponent("answer.csv")
        try await ask("SELECT COUNT(*) AS n FROM Team", driver)
        driver.keys(">")
        driver.type(file.path)
        driver.keys("<Enter>")
        try await driver.wait(for: "the file") { FileManager.default.fileExists(atPath: file.path) }
        #expect(try String(contentsOf: file, encoding: .utf8) == "n\r\n16\r\n")
    }
}
