import CoreData
import Foundation
import SQLiteAccess
import TerminalKit
import Testing

@testable import Roster
@testable import RosterCommands

/// The list as it was after a transaction of the history.
@MainActor
@Suite(.serialized) struct BrowserPastTests {
    let fixture: Fixture

    init() throws {
        fixture = try Fixture()
        try fixture.fill()
    }

    private func commit(by author: String, _ change: (NSManagedObjectContext) throws -> Void) throws {
        try fixture.elsewhere { context in
            context.transactionAuthor = author
            try change(context)
            try context.save()
        }
    }

    private func record(_ entity: String, _ name: String, in context: NSManagedObjectContext) throws -> NSManagedObject
    {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = NSPredicate(format: "%K == %@", entity == "Team" ? "teamName" : "name", name)
        return try #require(try context.fetch(request).first)
    }

    /// Spain is renamed, England changes and loses its zone, Wales is inserted, Japan and Mexico are deleted.
    private func makeHistory() throws {
        try commit(by: "importer") { try record("Team", "Spain", in: $0).setValue("Espagne", forKey: "teamName") }
        try commit(by: "referee") { context in
            let england = try record("Team", "England", in: context)
            england.setValue(99, forKey: "wins")
            england.setValue(2, forKey: "titles")
        }
        try commit(by: "sync") { context in
            let wales = NSEntityDescription.insertNewObject(forEntityName: "Team", into: context)
            wales.setValue("Wales", forKey: "teamName")
            wales.setValue("UEFA", forKey: "qualifyingZone")
        }
        try commit(by: "sync") { context in
            for name in ["Japan", "Mexico"] { context.delete(try record("Team", name, in: context)) }
        }
        // Timestamps at midnight are the same in every time zone.
        let connection = try Connection(path: fixture.storeURL.path, access: .readWrite)
        defer { connection.close() }
        try connection.execute("UPDATE ATRANSACTION SET ZTIMESTAMP = 86400 * (9000 + Z_PK)")
    }

    /// Opens the list as it was after the transaction of an author.
    private func past(of author: String, _ driver: BrowserDriver) async throws -> PastScreen {
        driver.keys("Hgg")
        while driver.selectedLine?.contains(author) != true, driver.lines[1...].contains(where: { $0.contains(author) })
        { driver.keys("j") }
        driver.keys("a")
        try await driver.wait(for: "the list as it was") { driver.text.contains("as of transaction") }
        return try #require(driver.browser.layers.top as? PastScreen)
    }

    @Test func theListIsShownAsItWas() async throws {
        try makeHistory()
        let driver = BrowserDriver(teamsOf: fixture, height: 30)
        _ = try await past(of: "importer", driver)
        let japan = try #require(driver.line(of: "Japan"))
        #expect(driver.lines[japan].hasPrefix("− Japan") && driver.lines[japan].contains("deleted in #5"))
        let england = try #require(driver.lines.first { $0.contains("England") })
        #expect(england.hasPrefix("~ England") && england.contains("Titles, Wins"), "\(england)")
        #expect(driver.lines.contains { $0.contains("Espagne") && !$0.contains("~") && !$0.contains("Team name") })
        #expect(!driver.text.contains("Wales"))
        try driver.expectGolden("past")
        driver.keys("<Esc>")
        #expect(driver.lines[0].contains("History of") && driver.selectedLine?.contains("importer") == true)
        driver.keys("<Esc>")
        #expect(driver.text.contains("Wales") && driver.text.contains("15 Teams"))
    }

    @Test func theScreenFitsAWideAndAPlainTerminal() async throws {
        try makeHistory()
        let wide = BrowserDriver(teamsOf: fixture, width: 200, height: 50)
        _ = try await past(of: "importer", wide)
        try wide.expectGolden("past-200")
        let plain = BrowserDriver(teamsOf: fixture, repertoire: .ascii)
        _ = try await past(of: "importer", plain)
        #expect(plain.text.contains("x Japan"))
        #expect(plain.lines.joined().unicodeScalars.allSatisfy { $0.isASCII }, "\(plain.text)")
        let small = BrowserDriver(teamsOf: fixture, width: 40, height: 8)
        _ = try await past(of: "importer", small)
        #expect(small.text.contains("Japan") || small.text.contains("AFC"), "\(small.text)")
    }

    @Test func stepsAreTransactionsAndTheCursorStays() async throws {
        try makeHistory()
        let driver = BrowserDriver(teamsOf: fixture, height: 30)
        _ = try await past(of: "importer", driver)
        driver.keys("n")
        #expect(driver.selectedLine?.contains("Japan") == true, "\(driver.text)")
        func go(_ key: String, to number: Int, _ counts: String) async throws {
            driver.keys(key)
            try await driver.wait(for: "transaction \(number)") {
                driver.lines[0].contains("as of transaction \(number),")
            }
            #expect(driver.lines[1].contains(counts), "\(driver.text)")
            #expect(driver.selectedLine?.contains("Japan") == (number < 5), "\(driver.text)")
        }
        try await go(")", to: 3, "16 Teams   − 2 deleted since   + 1 later, left out")
        try await go(")", to: 4, "17 Teams   − 2 deleted since")
        #expect(driver.text.contains("Wales"))
        try await go(")", to: 5, "15 Teams")
        driver.keys(")")
        #expect(driver.text.contains("this is the newest transaction"))
        driver.keys("n")
        #expect(driver.text.contains("no record of this list was changed or deleted later"))
        driver.keys("<Esc>")
        #expect(driver.selectedLine?.contains("#5") == true, "\(driver.text)")
    }

    @Test func differencesAreVisitedAndRecordsOpened() async throws {
        try makeHistory()
        let driver = BrowserDriver(teamsOf: fixture, width: 120, height: 30)
        _ = try await past(of: "importer", driver)
        driver.keys("ggnn")
        #expect(driver.selectedLine?.contains("Mexico") == true, "\(driver.text)")
        driver.keys("<Enter>")
        #expect(
            driver.text.contains("deleted in #5 by sync; the history has Qualifying zone CONCACAF, Team name Mexico"),
            "\(driver.text)")
        driver.keys("n")
        #expect(driver.selectedLine?.contains("England") == true, "\(driver.text)")
        driver.keys("n")
        #expect(driver.selectedLine?.contains("Japan") == true && driver.text.contains("continued at the top"))
        driver.keys("N")
        #expect(driver.selectedLine?.contains("England") == true && driver.text.contains("continued at the bottom"))
        driver.keys("<Enter>")
        #expect(driver.text.contains("┌─ England") && driver.text.contains("99"), "\(driver.text)")
        driver.keys("<Esc>?")
        #expect(driver.text.contains("Keys of the past list"), "\(driver.text)")
        driver.keys("?q")
        #expect(driver.lines[0].contains("History of"))
    }

    @Test func valuesMissingInTheHistoryAreShownAsUnknown() async throws {
        try commit(by: "importer") { try record("Team", "Spain", in: $0).setValue(3, forKey: "titles") }
        try commit(by: "sync") { context in
            let venue = try record("Venue", "Azteca", in: context)
            try record("Team", "Mexico", in: context).setValue(nil, forKey: "homeVenue")
            context.delete(venue)
        }
        let driver = BrowserDriver(BrowserOptions(storeURL: fixture.storeURL, entityName: "Venue"))
        _ = try await past(of: "importer", driver)
        driver.keys("n")
        let line = try #require(driver.selectedLine)
        #expect(line.hasPrefix("− Venue p") && line.contains("?") && !line.contains("0"), "\(driver.text)")
        driver.keys("<Enter>")
        #expect(driver.text.contains("the history has none of its values"), "\(driver.text)")
    }

    @Test func anUnknownSectionIsReported() async throws {
        try makeHistory()
        for (section, title) in [("wins", "(unknown) (2)"), ("localName", "(none or unknown) (9)")] {
            let driver = BrowserDriver(
                BrowserOptions(storeURL: fixture.storeURL, entityName: "Team", sectionKeyPath: section))
            _ = try await past(of: "importer", driver)
            driver.keys("gg")
            #expect(driver.lines[3].contains(title), "\(driver.text)")
        }
    }

    @Test func sectionsFilterAndFoldsAreThoseOfTheList() async throws {
        try makeHistory()
        let driver = BrowserDriver(teamsOf: fixture, height: 30)
        driver.keys("]za\\")
        driver.type("teamName != 'Germany'")
        driver.keys("<Enter>")
        _ = try await past(of: "importer", driver)
        #expect(!driver.text.contains("Germany") && driver.text.contains("filter: teamName"), "\(driver.text)")
        #expect(driver.text.contains("▸ AFC (3)") && !driver.text.contains("Japan"), "\(driver.text)")
        driver.keys("zRn")
        #expect(driver.text.contains("− Japan"))
    }

    @Test func commitsOfOthersAreReadOnDemand() async throws {
        try makeHistory()
        let driver = BrowserDriver(teamsOf: fixture, height: 30)
        _ = try await past(of: "importer", driver)
        try commit(by: "late") { context in context.delete(try record("Team", "Italy", in: context)) }
        try await driver.wait(for: "the note") { driver.lines[0].contains("changed: R reloads") }
        driver.keys("G")
        #expect(driver.text.contains("Espagne"), "\(driver.text)")
        driver.keys("R")
        try await driver.wait(for: "the list of now") { driver.lines[1].contains("3 deleted since") }
        #expect(driver.lines.contains { $0.contains("− Italy") && $0.contains("deleted in #6") }, "\(driver.text)")
    }

    /// For each transaction of a random history, the list contains the records noted at that time.
    @Test(arguments: [1, 2, 3] as [UInt64]) func everyStateOfAHistoryIsFoundAgain(_ seed: UInt64) throws {
        var random = seed
        func next(_ count: Int) -> Int {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(random >> 33) % count
        }
        try fixture.elsewhere { context in
            let entity = try #require(NSEntityDescription.entity(forEntityName: "Team", in: context))
            func ids() throws -> Set<NSManagedObjectID> {
                let request = NSFetchRequest<NSManagedObjectID>(entityName: "Team")
                request.resultType = .managedObjectIDResultType
                return Set(try context.fetch(request))
            }
            func history(after token: NSPersistentHistoryToken?) throws -> [NSPersistentHistoryTransaction] {
                let result = try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: token))
                return (result as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction] ?? []
            }
            var states: [(token: NSPersistentHistoryToken?, ids: Set<NSManagedObjectID>)] = []
            for _ in 0..<25 {
                states.append((try history(after: nil).last?.token, try ids()))
                for _ in 0...next(4) {
                    let all = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Team"))
                    switch next(3) {
                    case 0 where !all.isEmpty: context.delete(all[next(all.count)])
                    case 1 where !all.isEmpty: all[next(all.count)].setValue(next(90), forKey: "wins")
                    default:
                        let team = NSManagedObject(entity: entity, insertInto: context)
                        team.setValue("T\(next(999))", forKey: "teamName")
                    }
                }
                try context.save()
            }
            let now = try ids()
            for state in states {
                let past = PastRecords(before: try history(after: state.token), of: entity)
                #expect(now.subtracting(past.inserted).union(past.deleted.keys) == state.ids, "seed \(seed)")
                #expect(Set(past.changed.keys).isSubset(of: now.intersection(state.ids)), "seed \(seed)")
            }
        }
    }
}
