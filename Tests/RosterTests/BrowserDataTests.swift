import CoreData
import Foundation
import RosterCommands
import TerminalKit
import Testing

@testable import Roster

/// Exporting and importing records while the list is open.
@MainActor
@Suite(.serialized) struct BrowserDataTests {
    let fixture: Fixture

    init() throws {
        fixture = try Fixture()
        try fixture.fill()
    }

    private func file(_ name: String, _ text: String) throws -> String {
        let url = fixture.folder.appendingPathComponent(name)
        try Data(text.utf8).write(to: url)
        return url.path
    }

    @Test func recordsAreImportedInTheBackgroundAndTheListFollows() async throws {
        let path = try file("new.csv", "teamName,qualifyingZone,wins\nWales,UEFA,4\nChad,CAF,0\n")
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys("g<lt>")
        driver.type(path)
        driver.keys("<Enter>")
        // The message disappears by itself, so wait for the records.
        try await driver.wait(for: "the new records", seconds: 60) {
            driver.text.contains("18 Teams") && driver.text.contains("Chad")
        }
        #expect(!driver.text.contains("unsaved"), "\(driver.text)")
    }

    @Test func errorsInAFileAreReportedWithTheirLine() async throws {
        let path = try file("bad.csv", "teamName,wins\nWales,many\n")
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys(":")
        driver.type("import \(path)")
        driver.keys("<Enter>")
        try await driver.wait(for: "the refusal") {
            driver.text.contains("not imported:") && driver.text.contains("bad.csv:2")
        }
        driver.keys(":")
        driver.type("import nowhere.csv")
        driver.keys("<Enter>")
        #expect(driver.text.contains("cannot read nowhere.csv"), "\(driver.text)")
    }

    @Test func aLongImportShowsProgressAndCanBeStopped() async throws {
        // Enough records that the import is still running when a busy machine gets to this test.
        let rows = (1...100_000).map { "Extra \($0),\($0 % 9)" }.joined(separator: "\n")
        let path = try file("many.csv", "teamName,wins\n" + rows + "\n")
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys(":")
        driver.type("import \(path)")
        driver.keys("<Enter>")
        try await driver.wait(for: "the share") { driver.text.contains("import ") && driver.text.contains(" % ") }
        driver.keys("<C-c>")
        try await driver.wait(for: "the end") { driver.text.contains("not imported: interrupted") }
        #expect(driver.browser.work == nil)
    }

    @Test func theListIsExported() async throws {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys("g>")
        let path = fixture.folder.appendingPathComponent("all.json").path
        driver.type(path)
        driver.keys("<Enter>")
        // The message disappears by itself, so wait for the file.
        try await driver.wait(for: "the export", seconds: 60) {
            driver.browser.work == nil && FileManager.default.fileExists(atPath: path)
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").count == 16)
    }

    @Test func textIsCopiedInColumns() {
        let driver = BrowserDriver(teamsOf: fixture)
        var copied = ""
        driver.browser.copyText = { text in
            copied = text
            return true
        }
        driver.keys("j<Space><Space>yt")
        let lines = copied.split(separator: "\n")
        #expect(lines.count == 3 && lines[0].hasPrefix("Team name") && lines[1].hasPrefix("Japan"), "\(copied)")
        let widths = lines.map { TextWidth().width(String($0.prefix { $0 != "7" && $0 != "W" })) }
        #expect(Set(widths).count == 1 || widths.isEmpty == false)
    }

    // MARK: Picking

    private func picker(_ key: String) -> BrowserDriver {
        var options = BrowserOptions(storeURL: fixture.storeURL, entityName: "Team", sortKeys: "teamName")
        options.pick = PickRequest(key)
        return BrowserDriver(options)
    }

    @Test func enterPicksTheRecordUnderTheCursor() {
        let driver = picker("teamName")
        #expect(driver.text.contains("Enter pick") && driver.text.contains("pick"))
        driver.keys("jj<Enter>")
        #expect(driver.browser.isFinished && driver.browser.picked == ["Brazil"])
    }

    @Test func enterPicksAllThatAreMarkedInTheirOrder() {
        let driver = picker("")
        driver.keys("G<Space>gg<Space><Enter>")
        #expect(driver.browser.picked.count == 2)
        #expect(driver.browser.picked.allSatisfy { $0.hasPrefix("x-coredata://") && $0.contains("/Team/p") })
    }

    @Test func escapeCancelsWhenNothingIsLeftToClear() {
        let driver = picker("")
        driver.keys("<Space><Esc>")
        #expect(!driver.browser.isFinished)
        driver.keys("<Esc>")
        #expect(driver.browser.isFinished && driver.browser.picked.isEmpty)
    }

    @Test func aMissingKeyIsACommandLineError() {
        let driver = picker("nonsense")
        #expect(driver.browser.isFinished && driver.browser.status == 2)
        #expect(driver.browser.lastWords?.contains("no property “nonsense”") == true)
    }
}
