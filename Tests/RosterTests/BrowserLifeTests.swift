import CoreData
import Foundation
import Testing

@testable import Roster

/// Background work keeps no reference to a released browser, its store or its lists.
@MainActor
@Suite struct BrowserLifeTests {
    enum Doing: String, CaseIterable {
        case nothing, filtering, sorting, searching, counting, pivoting, history, past, pastLeftOpen, superseding,
            importing, exporting, bulkEdit, undo, marking
    }

    @Test(arguments: Doing.allCases, [false, true])
    func aReleasedBrowserKeepsNothing(_ doing: Doing, keepsHistory: Bool) async throws {
        let fixture = try Fixture()
        if keepsHistory { try fixture.elsewhere { _ in } }
        try fixture.fillWithManyTeams(300)
        weak var browser: Browser?
        weak var context: NSManagedObjectContext?
        weak var coordinator: NSPersistentStoreCoordinator?
        try await {
            var options = BrowserOptions(storeURL: fixture.storeURL, entityName: "Team", sortKeys: "teamName")
            options.limits = .small
            let driver = BrowserDriver(options)
            try await driver.wait(for: "the list") { driver.text.contains("300 Teams") }
            browser = driver.browser
            context = driver.browser.session?.context
            coordinator = driver.browser.session?.context.persistentStoreCoordinator
            try await act(doing, driver, fixture, keepsHistory)
        }()
        #expect(browser == nil)
        // Running background work may keep references until it ends.
        for _ in 0..<6000 where context != nil || coordinator != nil { try await Task.sleep(for: .milliseconds(10)) }
        #expect(
            context == nil && coordinator == nil, "\(String(describing: context)) \(String(describing: coordinator))")
    }

    private func act(
        _ doing: Doing, _ driver: BrowserDriver, _ fixture: Fixture, _ keepsHistory: Bool
    ) async throws {
        switch doing {
        case .nothing: break
        case .filtering:
            driver.command("filter wins > 60")
            try await driver.wait(for: "the filter") {
                driver.text.contains("filter:") && !driver.text.contains("Esc stops")
            }
        case .sorting:
            driver.command("sort wins:desc")
            try await driver.wait(for: "the order") { driver.text.contains("sorted ↓Wins") }
        case .searching:
            driver.keys("/")
            driver.type("000277")
            try await driver.wait(for: "the match") { driver.text.contains("1 found") }
            driver.keys("<Enter>")
        case .counting:
            driver.keys("gb")
            driver.keys("<Esc>")
        case .pivoting:
            driver.keys("gp")
            driver.type("wins")
            driver.keys("<Enter>")
            driver.keys("<Esc>")
        case .history:
            driver.keys("H")
            driver.keys("<Esc>")
        case .past, .pastLeftOpen:
            guard keepsHistory else { return }
            for name in ["Team 000007", "Team 000009"] {
                try fixture.elsewhere { context in
                    let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
                    request.predicate = NSPredicate(format: "teamName == %@", name)
                    for team in try context.fetch(request) { context.delete(team) }
                    try context.save()
                }
            }
            try await driver.wait(for: "the deletions") { driver.text.contains("298 Teams") }
            driver.keys("HG")
            driver.keys("a")
            try await driver.wait(for: "the list as it was") { driver.text.contains("as of transaction") }
            if doing == .past { driver.keys("<Esc>") }
        case .superseding:
            driver.settles = false
            driver.command("filter wins > 60")
            driver.command("filter")
            driver.command("sort wins:desc")
            driver.settles = true
            try await driver.wait(for: "the order") { driver.text.contains("sorted ↓Wins") }
        case .importing:
            let file = fixture.folder.appendingPathComponent("new.csv")
            try Data("teamName,wins\nWales,4\n".utf8).write(to: file)
            driver.keys("g<lt>")
            driver.type(file.path)
            driver.keys("<Enter>")
            try await driver.wait(for: "the import") {
                driver.browser.work == nil && driver.text.contains("301 Teams")
            }
        case .exporting:
            driver.command("export \(fixture.folder.path)/all.csv")
            try await driver.wait(for: "the export") { driver.browser.work == nil }
        case .bulkEdit, .undo:
            try await mark("teamName != NULL", driver)
            driver.keys("D")
            driver.keys("y")
            try await driver.wait(for: "the deletion") { driver.text.contains("There are no Teams") }
            guard doing == .undo else { return }
            driver.keys("u")
            try await driver.wait(for: "the records again") { driver.text.contains("300 Teams") }
        case .marking: try await mark("teamName ENDSWITH '99'", driver)
        }
    }

    private func mark(_ predicate: String, _ driver: BrowserDriver) async throws {
        driver.keys("*")
        driver.type(predicate)
        driver.keys("<Enter>")
        try await driver.wait(for: "the marks") { driver.text.contains("marked") }
    }
}
