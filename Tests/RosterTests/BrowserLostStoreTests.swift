import CoreData
import Foundation
import SQLiteAccess
import TerminalKit
import Testing

@testable import Roster

/// A store whose file is moved, replaced or deleted while open: the program saves elsewhere or follows the file.
@MainActor
@Suite(.serialized) struct BrowserLostStoreTests {
    let fixture: Fixture

    init() throws {
        fixture = try Fixture()
        try fixture.fill()
    }

    private func wins(_ url: URL) throws -> Int64? {
        let connection = try Connection(path: url.path, access: .readWrite)
        defer { connection.close() }
        #expect(try connection.value("PRAGMA integrity_check") == .text("ok"))
        return try connection.integer("SELECT ZWINS FROM ZTEAM WHERE ZTEAMNAME = 'Spain'")
    }

    private func move(_ name: String, to new: String) throws {
        try FileManager.default.moveItem(
            at: fixture.folder.appendingPathComponent(name), to: fixture.folder.appendingPathComponent(new))
    }

    @Test func aMovedFileIsFollowed() throws {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.edit("Wins", of: "Spain", to: "99")
        try move("Cup.sqlite", to: "Moved.sqlite")
        driver.keys("<C-s>")
        #expect(
            driver.text.contains("follow the moved file") && driver.text.contains("save elsewhere"), "\(driver.text)")
        #expect(!driver.text.contains("saved 1 record"))
        driver.keys("f")
        #expect(driver.text.contains("saved 1 record") && driver.text.contains("Moved.sqlite"), "\(driver.text)")
        try driver.browser.close()
        #expect(try wins(fixture.folder.appendingPathComponent("Moved.sqlite")) == 99)
    }

    @Test func aDeletedStoreIsSavedElsewhere() throws {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.edit("Wins", of: "Spain", to: "99")
        try FileManager.default.removeItem(at: fixture.storeURL)
        driver.keys("<C-s>")
        #expect(
            !driver.text.contains("follow the moved file") && driver.text.contains("save elsewhere"), "\(driver.text)")
        let url = fixture.folder.appendingPathComponent("New.sqlite")
        driver.keys("e")
        driver.type(url.path)
        driver.keys("<Enter>")
        #expect(driver.text.contains("saved 1 record") && driver.text.contains("New.sqlite"), "\(driver.text)")
        driver.edit("Wins", of: "Spain", to: "98")
        driver.keys("<C-s>")
        #expect(driver.text.contains("saved 1 record"), "\(driver.text)")
        try driver.browser.close()
        #expect(try wins(url) == 98)
        #expect(!FileManager.default.fileExists(atPath: fixture.storeURL.path))
    }

    @Test func anotherStoreInItsPlaceIsLeftAlone() throws {
        let other = try Fixture()
        try other.fill()
        let driver = BrowserDriver(teamsOf: fixture)
        driver.edit("Wins", of: "Spain", to: "99")
        try FileManager.default.removeItem(at: fixture.storeURL)
        try FileManager.default.copyItem(at: other.storeURL, to: fixture.storeURL)
        let content = try Data(contentsOf: other.storeURL)
        driver.keys("<C-s>")
        #expect(driver.text.contains("another file has replaced it"), "\(driver.text)")
        driver.keys("<Esc>")
        #expect(driver.text.contains("1 unsaved"), "\(driver.text)")
        driver.browser.quitWithoutSaving()
        try driver.browser.close()
        #expect(try Data(contentsOf: fixture.storeURL) == content)
    }

    /// The note about the missing file stays. The replacement is opened on demand.
    @Test func theFileThatReplacedItIsOpened() async throws {
        let other = try Fixture()
        try other.fill()
        try other.elsewhere { context in
            for team in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Team"))
            where team.value(forKey: "teamName") as? String != "Spain" { context.delete(team) }
            try context.save()
        }
        let driver = BrowserDriver(teamsOf: fixture)
        driver.edit("Wins", of: "Spain", to: "99")
        try FileManager.default.removeItem(at: fixture.storeURL)
        try FileManager.default.moveItem(at: other.storeURL, to: fixture.storeURL)
        try await driver.wait(for: "the message") { driver.text.contains("another file replaced Cup.sqlite") }
        driver.keys("j")
        #expect(
            driver.lines[0].contains("replaced by another file") && !driver.text.contains("another file replaced"),
            "\(driver.text)")
        driver.keys("R")
        #expect(driver.text.contains("o open the new one, drop my edits"), "\(driver.text)")
        driver.keys("o")
        try await driver.wait(for: "the other store") { driver.text.contains("1 Team ") }
        #expect(!driver.lines[0].contains("moved or deleted") && !driver.text.contains("unsaved"), "\(driver.text)")
    }

    /// The first line shows the state when the file is moved, replaced, and moved back.
    @Test func theTitleFollowsTheFile() async throws {
        let driver = BrowserDriver(teamsOf: fixture)
        try move("Cup.sqlite", to: "Moved.sqlite")
        try await driver.wait(for: "the title") { driver.lines[0].contains("moved or deleted") }
        try Data("other".utf8).write(to: fixture.storeURL)
        driver.keys("j")
        #expect(
            driver.lines[0].contains("replaced by another file") && !driver.lines[0].contains("moved or deleted"),
            "\(driver.text)")
        try FileManager.default.removeItem(at: fixture.storeURL)
        try move("Moved.sqlite", to: "Cup.sqlite")
        driver.keys("j")
        #expect(!driver.lines[0].contains("file is"), "\(driver.text)")
    }

    @Test func aMovedStoreIsReportedAtOnce() async throws {
        let driver = BrowserDriver(teamsOf: fixture)
        try move("Cup.sqlite", to: "Moved.sqlite")
        try await driver.wait(for: "the message") { driver.text.contains("was moved or deleted") }
        // The file can be followed even if there is nothing to save.
        driver.keys("<C-s>f")
        #expect(driver.text.contains("Moved.sqlite"), "\(driver.text)")
        driver.edit("Wins", of: "Spain", to: "97")
        driver.keys("<C-s>")
        #expect(driver.text.contains("saved 1 record"), "\(driver.text)")
    }
}
