import Foundation
import RosterCommands
import TerminalKit
import TestSupport
import Testing

@testable import Roster

/// The demo: a list that changes by itself, with hints.
@MainActor
@Suite(.serialized) struct DemoTests {
    @Test func theListKeepsHalfOfASmallScreen() throws {
        let sample = try SampleFolder()
        var options = BrowserOptions(
            storeURL: URL(fileURLWithPath: sample.store), entityName: "Team", sectionKeyPath: "qualifyingZone")
        options.showsCallbacks = true
        options.notes = DemoVerb.advice
        let driver = BrowserDriver(options, width: 80, height: 24)
        let hint = try #require(driver.line(of: "This list is live"))
        #expect(hint >= 11, "\(driver.text)")
        let pane = try #require(driver.line(of: "Callbacks of the results controller"))
        #expect(pane < 18, "\(driver.text)")
        try driver.browser.close()
    }

    @Test func anotherWriterChangesTheListAndTheHintsStayAboveTheCallbacks() async throws {
        let sample = try SampleFolder()
        var options = BrowserOptions(
            storeURL: URL(fileURLWithPath: sample.store), entityName: "Team", sectionKeyPath: "qualifyingZone",
            sortKeys: "wins:desc,teamName")
        options.showsCallbacks = true
        options.notes = DemoVerb.advice
        let season = SimulateCommand(store: StoreLocation(store: sample.store), rate: 20, count: Int.max, seed: 7)
        options.companion = { try season.run(in: $0) }
        let driver = BrowserDriver(options, width: 120, height: 40)
        let hint = try #require(driver.line(of: "This list is live"))
        let pane = try #require(driver.line(of: "Callbacks of the results controller"))
        #expect(hint < pane && driver.text.contains("gb histogram"), "\(driver.text)")
        try await driver.wait(for: "changes", seconds: 60) { (driver.browser.list?.log.batch ?? 0) > 2 }
        let record = driver.browser.list?.cursorObject
        try await driver.wait(for: "more changes", seconds: 60) { (driver.browser.list?.log.batch ?? 0) > 6 }
        #expect(driver.browser.list?.cursorObject === record)
        driver.keys("c")
        #expect(!driver.text.contains("This list is live"))
        try driver.browser.close()
        try await driver.wait(for: "the end of the season") { driver.browser.companion == nil }
    }
}

/// The demo in a terminal.
@Suite(.serialized, .needs(.terminal), .enabled(if: Terminal.isAvailable, "needs tmux and the built program"))
struct DemoTerminalTests {
    @Test func theDemoShowsItselfAndLeavesNothing() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("roster-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let terminal = try Terminal(
            command: "'\(Terminal.program)' demo --rate 10 --seed 3", width: 100, height: 30,
            environment: "LC_ALL=C.UTF-8 TMPDIR=\(folder.path)")
        try await terminal.wait(for: "the first change", seconds: 60) {
            // Of a large batch, the pane shows only the end.
            $0.contains("This list is live") && ($0.contains("willChangeContent") || $0.contains("didChangeContent"))
        }
        try terminal.type("q")
        try await terminal.wait(for: "the end") { $0.contains("[status 0]") }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }
}
