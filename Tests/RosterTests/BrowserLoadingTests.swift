import CoreData
import Foundation
import TerminalKit
import Testing

@testable import Roster

/// Long lists are read in the background (issue 23, defect 3).
@MainActor
@Suite(.serialized) struct BrowserLoadingTests {
    let fixture: Fixture

    init() throws { fixture = try Fixture() }

    private func open(_ change: (inout BrowserOptions) -> Void = { _ in }) async throws -> BrowserDriver {
        try fixture.fillWithManyTeams(400)
        var options = BrowserOptions(storeURL: fixture.storeURL, entityName: "Team", sortKeys: "teamName")
        options.limits = .small
        change(&options)
        let driver = BrowserDriver(options)
        #expect(driver.text.contains("reading Teams") && !driver.text.contains("There are no"), "\(driver.text)")
        try await driver.wait(for: "the list") { driver.text.contains("400 Teams") }
        return driver
    }

    @Test func theOldListStaysInUseWhileAFilterIsAtWork() async throws {
        let driver = try await open()
        driver.command("filter teamName CONTAINS[cd] '99'")
        #expect(driver.text.contains("filtering, Esc stops"), "\(driver.text)")
        #expect(driver.text.contains("400 Teams"))
        driver.keys("jjj")
        #expect(driver.selectedLine?.contains("Team 000004") == true, "\(driver.text)")
        try await driver.wait(for: "the filter") {
            driver.text.contains("4 of 400 Teams") && !driver.text.contains("filtering")
        }
        #expect(driver.text.contains("Team 000099"), "\(driver.text)")
        driver.keys("<Esc>")
        try await driver.wait(for: "all teams") {
            driver.text.contains("400 Teams") && !driver.text.contains("filter:")
        }
    }

    @Test func runningWorkCanBeStopped() async throws {
        let driver = try await open()
        driver.command("sort wins:desc")
        #expect(driver.text.contains("sorting, Esc stops"), "\(driver.text)")
        let work = try #require(driver.browser.list?.work)
        driver.keys("<C-c>")
        #expect(driver.text.contains("stopped sorting; the list was not changed"), "\(driver.text)")
        await work.job.task?.value
        driver.draw()
        #expect(driver.text.contains("sorted ↑Team name") && driver.selectedLine?.contains("Team 000001") == true)
        driver.keys("R")
        try await driver.wait(for: "the list") { !driver.text.contains("Esc stops") }
        #expect(driver.text.contains("400 Teams"))
    }

    @Test func theCursorFollowsItsRecord() async throws {
        let driver = try await open()
        driver.command("42")
        driver.command("sort wins:desc,teamName")
        driver.keys("j")
        try await driver.wait(for: "the order") { driver.text.contains("sorted ↓Wins") }
        #expect(driver.selectedLine?.contains("Team 000043") == true, "\(driver.text)")
    }

    @Test func theLastOfSeveralOrdersHolds() async throws {
        let driver = try await open()
        driver.command("sort wins")
        let first = try #require(driver.browser.list?.work)
        driver.command("sort teamName:desc")
        try await driver.wait(for: "the order") { driver.text.contains("sorted ↓Team name") }
        driver.keys("gg")
        #expect(driver.text.contains("Team 000400"), "\(driver.text)")
        await first.job.task?.value
        driver.draw()
        #expect(driver.text.contains("sorted ↓Team name"))
    }

    /// A choice made while a list is read builds on the previous choice.
    @Test func aChoiceBuildsOnTheOneThatIsStillAtWork() async throws {
        let driver = try await open()
        driver.command("filter wins > 60")
        try await driver.wait(for: "the filter") { !driver.text.contains("Esc stops") }
        driver.command("filter")
        #expect(driver.text.contains("filtering") && driver.text.contains("Esc stops"), "\(driver.text)")
        driver.command("sort wins:desc")
        try await driver.wait(for: "the order") { driver.text.contains("sorted ↓Wins") }
        #expect(driver.text.contains("400 Teams") && !driver.text.contains("filter:"), "\(driver.text)")
    }

    /// A search typed while a list is read continues in the new list.
    @Test func aSearchContinuesInTheNextList() async throws {
        let driver = try await open()
        driver.command("filter wins < 0")
        try await driver.wait(for: "the filter") { driver.text.contains("No Teams match") }
        driver.command("filter")
        driver.keys("/")
        driver.type("000377")
        #expect(driver.text.contains("nothing found"), "\(driver.text)")
        try await driver.wait(for: "the match") { driver.text.contains("1 found") }
        driver.keys("<Enter>")
        #expect(driver.selectedLine?.contains("Team 000377") == true, "\(driver.text)")
    }

    @Test func anErrorIsShownAndTheListStays() async throws {
        let driver = try await open()
        driver.command("filter teamName MATCHES '['")
        try await driver.wait(for: "the end") { !driver.text.contains("filtering") }
        #expect(driver.text.contains("400 Teams") && !driver.text.contains("filter:"), "\(driver.text)")
    }

    @Test func marksByPredicateAreSetInTheBackground() async throws {
        let driver = try await open()
        driver.keys("*")
        driver.type("teamName ENDSWITH '99'")
        driver.keys("<Enter>")
        #expect(driver.text.contains("marking"), "\(driver.text)")
        try await driver.wait(for: "the marks") { driver.text.contains("4 marked") }
    }

    @Test func recordsToRelateAreSearchedInTheBackground() async throws {
        let driver = try await open()
        let session = try #require(driver.browser.session)
        let entity = try #require(session.model.entitiesByName["Team"])
        let source = RecordPickerSource(
            entity: entity, session: session, chosen: [],
            onDisplay: { [unowned browser = driver.browser] in browser.needsDisplay = true })
        #expect(source.isReading && source.count == 0)
        nonisolated(unsafe) var picked: [String] = []
        driver.browser.layers.push(Picker(title: "Teams", source: source) { picked.append(source.text(at: $0)) })
        driver.draw()
        #expect(driver.text.contains("looking…"), "\(driver.text)")
        // Enter picks the match of the typed text, not the item that happens to be shown.
        driver.type("00359")
        driver.keys("<Enter>")
        #expect(picked.isEmpty)
        try await driver.wait(for: "the record") { picked == ["Team 000359"] }
        driver.keys("j")
        #expect(driver.selectedLine?.contains("Team") == true)
    }
}
