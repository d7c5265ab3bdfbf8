import CoreData
import Foundation
import SQLiteAccess
import TerminalKit
import Testing

@testable import Roster

/// Slow work runs in the background (issue 23, defect 3).
@MainActor
@Suite(.serialized) struct BrowserWaitingTests {
    let fixture: Fixture

    init() throws {
        fixture = try Fixture()
        try fixture.fill()
    }

    /// The teams in sections. A waiting save is retried at each turn of the loop.
    private func driver() -> BrowserDriver {
        var options = BrowserOptions(storeURL: fixture.storeURL, entityName: "Team", sectionKeyPath: "qualifyingZone")
        options.sortKeys = "wins:desc,teamName"
        options.limits.lockPause = .zero
        return BrowserDriver(options)
    }

    /// Locks the store as another program.
    private func lock(_ sql: String...) throws -> Connection {
        let connection = try Connection(path: fixture.storeURL.path, access: .readWrite)
        for statement in sql { try connection.execute(statement) }
        return connection
    }

    @Test func aSaveWaitsForALockInTheBackground() async throws {
        let driver = driver()
        driver.edit("Wins", of: "Spain", to: "99")
        let other = try lock("BEGIN IMMEDIATE")
        // An attempt blocks the keys while SQLite waits for the lock.
        let descriptions = try #require(driver.browser.session).container.persistentStoreDescriptions
        #expect(descriptions.map(\.timeout) == [StoreLock.attempt] && StoreLock.attempt <= 0.1)
        driver.keys("<C-s>")
        #expect(driver.text.contains("another program has locked the store"), "\(driver.text)")
        driver.keys("gg")
        #expect(driver.selectedLine?.contains("Atlantis") == true && driver.text.contains("1 unsaved"))
        for keys in ["<Enter>", "gu"] {
            driver.keys(keys)
            #expect(driver.browser.layers.top !== driver.browser.list)
            #expect(driver.lines[23].contains("another program has locked the store"), "\(driver.text)")
            driver.keys("q")
        }
        try other.execute("ROLLBACK")
        other.close()
        try await driver.wait(for: "the save") { driver.text.contains("saved 1 record") }
        #expect(!driver.text.contains("unsaved") && !driver.text.contains("locked"))
    }

    /// Keys typed into a cell do not answer a question of a retried save.
    @Test func aSaveThatWaitsAsksNothingWhileTextIsTyped() async throws {
        let driver = driver()
        driver.edit("Wins", of: "Spain", to: "99")
        driver.find("Italy")
        let other = try lock(
            "BEGIN IMMEDIATE", "UPDATE ZTEAM SET ZWINS = 50, Z_OPT = Z_OPT + 1 WHERE ZTEAMNAME = 'Spain'")
        driver.keys("<C-s>e")
        #expect(driver.browser.layers.top is CellEditor && driver.browser.waitingSave != nil, "\(driver.text)")
        try other.execute("COMMIT")
        defer { other.close() }
        for _ in 0..<3 {
            #expect(driver.browser.nextWake.map { $0 <= .now } == true)
            driver.browser.wake()
        }
        driver.type("m")
        #expect(driver.browser.layers.top is CellEditor && driver.browser.waitingSave != nil, "\(driver.text)")
        #expect(try other.integer("SELECT ZWINS FROM ZTEAM WHERE ZTEAMNAME = 'Spain'") == 50)
        driver.keys("<Enter>")
        try await driver.wait(for: "the question") { driver.text.contains("Wins: ›mine 99   theirs 50") }
        driver.keys("m")
        #expect(try other.integer("SELECT ZWINS FROM ZTEAM WHERE ZTEAMNAME = 'Spain'") == 99)
    }

    @Test func aSaveThatWaitsCanBeStopped() async throws {
        let driver = driver()
        driver.edit("Wins", of: "Spain", to: "99")
        let other = try lock("BEGIN IMMEDIATE")
        driver.keys("<C-s>")
        driver.keys("<Esc>")
        #expect(driver.text.contains("not saved; your changes are kept"), "\(driver.text)")
        try other.execute("ROLLBACK")
        other.close()
        // The save is not retried any more.
        #expect(driver.browser.waitingSave == nil)
        driver.browser.wake()
        driver.draw()
        #expect(driver.text.contains("1 unsaved"), "\(driver.text)")
        driver.keys("<C-s>")
        #expect(driver.text.contains("saved 1 record"), "\(driver.text)")
    }

    @Test func openingWaitsForALockInTheBackground() async throws {
        let other = try lock("PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE")
        var options = BrowserOptions(storeURL: fixture.storeURL, entityName: "Team")
        options.limits.quickOpening = .zero
        for (delay, isExplained) in [(Duration.seconds(3600), false), (.zero, true)] {
            options.limits.openingNote = delay
            let driver = BrowserDriver(options, settles: false)
            #expect(driver.text.contains("opening Cup.sqlite"), "\(driver.text)")
            #expect(driver.text.contains("Another program may have locked it") == isExplained, "\(driver.text)")
        }
        let driver = BrowserDriver(options, settles: false)
        try other.execute("ROLLBACK")
        other.close()
        try await driver.wait(for: "the list") { driver.text.contains("Brazil") }
        driver.keys("j")
        #expect(driver.selectedLine?.contains("Atlantis") == true, "\(driver.text)")
    }

    @Test func openingCanBeGivenUp() throws {
        let other = try lock("PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE")
        defer { other.close() }
        var options = BrowserOptions(storeURL: fixture.storeURL)
        options.limits.quickOpening = .zero
        let driver = BrowserDriver(options, settles: false)
        driver.keys("<Esc>")
        #expect(driver.browser.isFinished && driver.browser.status == 1)
        #expect(driver.browser.lastWords?.contains("stopped opening") == true)
        try other.execute("ROLLBACK")
    }
}
