import CoreData
import Foundation
import TerminalKit
import Testing

@testable import Roster

/// The panes with the store's history and statements.
@MainActor
@Suite(.serialized) struct BrowserHistoryTests {
    let fixture: Fixture

    init() throws {
        fixture = try Fixture()
        try fixture.fill()
    }

    private func rename(_ name: String, to other: String, by author: String) throws {
        try fixture.elsewhere { context in
            context.transactionAuthor = author
            let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
            request.predicate = NSPredicate(format: "teamName == %@", name)
            try context.fetch(request).first?.setValue(other, forKey: "teamName")
            try context.save()
        }
    }

    @Test func transactionsAreListedAndUnfolded() async throws {
        try rename("Spain", to: "Espagne", by: "importer")
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys("H")
        #expect(driver.lines[1].contains("importer") && driver.lines[1].contains("1 Team changed"), "\(driver.text)")
        #expect(driver.lines[2].contains("3 Locations inserted"), "\(driver.text)")
        driver.keys("<Enter>")
        #expect(driver.lines[2].hasPrefix("    ~ Team Espagne  Team name"), "\(driver.text)")
        // Commits of others appear while the history is open.
        try rename("Japan", to: "Nippon", by: "sync")
        try await driver.wait(for: "the next transaction") { driver.lines[1].contains("sync") }
        #expect(driver.selectedLine?.contains("importer") == true, "\(driver.text)")
        driver.keys("j<Enter>")
        #expect(driver.text.contains("┌─ Espagne"), "\(driver.text)")
        // The line below the record is the list's status line, not a line of the history.
        #expect(driver.lines[22].contains("16 Teams") && !driver.lines[22].contains("inserted"), "\(driver.text)")
        driver.keys("<Esc>zM")
        #expect(!driver.text.contains("~ Team"))
        driver.keys("H")
        #expect(driver.text.contains("16 Teams"))
    }

    @Test func newTransactionsAreAddedAboveTheOthers() async throws {
        for number in 1...3 { try rename("Spain", to: "Spain", by: "early \(number)") }
        try rename("Spain", to: "Espagne", by: "importer")
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys("HG")
        let last = driver.selectedLine
        #expect(last?.contains("3 Locations inserted") == true, "\(driver.text)")
        for number in 1...3 {
            try rename("Italy", to: "Italy \(number)", by: "sync \(number)")
            try rename("Italy \(number)", to: "Italy", by: "back \(number)")
        }
        try await driver.wait(for: "all of them") { driver.lines[1].contains("back 3") }
        let authors = driver.lines[1...6].compactMap { $0.firstMatch(of: /(sync|back) \d/).map { String($0.0) } }
        #expect(authors == ["back 3", "sync 3", "back 2", "sync 2", "back 1", "sync 1"], "\(driver.text)")
        #expect(driver.selectedLine == last, "\(driver.text)")
        // The transaction that was read last has been removed: the history is read again.
        try fixture.elsewhere { context in
            for name in ["Italien", "Italia"] {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
                request.predicate = NSPredicate(format: "teamName BEGINSWITH 'Ital'")
                try context.fetch(request).first?.setValue(name, forKey: "teamName")
                context.transactionAuthor = name
                try context.save()
            }
            let token = context.persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil)
            _ = try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: token))
        }
        try await driver.wait(for: "what is left") {
            driver.lines[1].contains("Italia") && !driver.text.contains("importer")
        }
    }

    @Test func thePlaceInALongHistoryIsReadable() throws {
        try fixture.elsewhere { context in
            for number in 0..<1100 {
                let team = NSEntityDescription.insertNewObject(forEntityName: "Team", into: context)
                team.setValue("Team \(number)", forKey: "teamName")
            }
            try context.save()
        }
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys("H<Enter>G")
        #expect(driver.lines[0].contains(" 1,102/1,102"), "\(driver.lines[0])")
    }

    @Test func aStoreWithoutHistorySaysSo() throws {
        let fixture = try Fixture()
        try fixture.fill(keepsHistory: false)
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys("H")
        #expect(driver.text.contains("this store has no history"), "\(driver.text)")
        driver.keys("j<Enter>zaG<Esc>")
        #expect(driver.text.contains("16 Teams"))
    }

    @Test func statementsAreShownWithRowsAndTime() throws {
        let driver = BrowserDriver(teamsOf: fixture, height: 30)
        driver.keys("gt")
        driver.keys(":")
        driver.type("sort titles:desc")
        driver.keys("<Enter>")
        #expect(driver.text.contains("Statements of the store"), "\(driver.text)")
        #expect(driver.lines.contains { $0.contains(" row") && $0.contains(" ms  ") }, "\(driver.text)")
        // Other tests in this process may fill the pane, so search all recorded statements.
        let log = try #require(driver.browser.list?.statements)
        let lines = log.lines(StatementLog.limit).map { $0.runs.map(\.text).joined() }
        #expect(lines.contains { $0.contains("rows") && $0.contains(" ms  SELECT") && $0.contains("ZTITLES") })
        driver.keys("gt")
        #expect(!driver.text.contains("Statements of the store"))
        driver.keys("gtc")
        #expect(driver.text.contains("Callbacks of the results controller"))
    }

    @Test func anObservationHearsStatementsWhileItLives() throws {
        final class Heard: @unchecked Sendable {
            var statements: [ExecutedStatement] = []
        }
        let heard = Heard()
        try fixture.elsewhere { context in
            var observation: StatementObservation? = StatementObservation { heard.statements.append($0) }
            _ = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Team"))
            let count = heard.statements.count
            #expect(heard.statements.contains { $0.sql.contains("ZTEAM") && $0.rows == 16 && $0.duration > .zero })
            withExtendedLifetime(observation) {}
            observation = nil
            _ = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Venue"))
            #expect(heard.statements.count == count)
        }
    }

    @Test func numbersBeforeKeysCountLines() throws {
        for number in 1...15 {
            try rename("Spain", to: "Espagne", by: "author \(number)")
            try rename("Espagne", to: "Spain", by: "author \(number)")
        }
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys("H11")
        #expect(driver.lines[0].contains(" 11… "), "\(driver.text)")
        driver.keys("j")
        #expect(driver.lines[0].contains(" 12/"), "\(driver.text)")
        driver.keys("4k")
        #expect(driver.lines[0].contains(" 8/"), "\(driver.text)")
        driver.keys("20G")
        #expect(driver.lines[0].contains(" 20/"), "\(driver.text)")
        driver.keys("5gg")
        #expect(driver.lines[0].contains(" 5/"), "\(driver.text)")
        driver.keys("G")
        let last = driver.browser.layers.top.flatMap { $0 as? HistoryPane }?.cursor
        driver.keys("gg")
        #expect(driver.lines[0].contains(" 1/") && last.map { $0 > 20 } == true, "\(driver.text)")
    }

    /// Rows unfolded below the last line are scrolled into view.
    @Test func whatIsUnfoldedBeneathTheLastLineIsSeen() throws {
        for _ in 1...8 {
            try rename("Spain", to: "Espagne", by: "author")
            try rename("Espagne", to: "Spain", by: "author")
        }
        let driver = BrowserDriver(teamsOf: fixture, height: 14)
        driver.keys("HG")
        let first = try #require(driver.selectedLine)
        driver.keys("za")
        #expect(driver.selectedLine?.contains(first.dropFirst(2).prefix(10)) == true, "\(driver.text)")
        #expect(driver.text.contains("+ Team"), "\(driver.text)")
    }
}
