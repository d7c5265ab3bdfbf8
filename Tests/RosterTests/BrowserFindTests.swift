import CoreData
import Foundation
import TerminalKit
import Testing

@testable import Roster

/// Finding what the rows of a list show.
@MainActor
@Suite(.serialized) struct BrowserFindTests {
    let fixture: Fixture

    init() throws { fixture = try Fixture.filled() }

    private func teams(width: Int = 160) -> BrowserDriver {
        BrowserDriver(
            BrowserOptions(storeURL: fixture.storeURL, entityName: "Team", sortKeys: "teamName"), width: width)
    }

    @Test(arguments: [
        ("maracana BRA", "Brazil", "1 of 1 “maracana BRA” in Team name, Local name, …"),
        ("76", "Brazil", "1 of 1 “76” in Wins"), ("1930-06 wembley", "England", "in Home venue, First appearance"),
        ("日本", "Japan", "1 of 1 “日本” in Local name"), ("السعودية", "Saudi Arabia", "in Local name"),
        ("korea south", "South Korea", "1 of 1"), ("\"south korea\"", "South Korea", "1 of 1"),
        ("/^b.*l$/", "Brazil", "1 of 1 “/^b.*l$/” in Team name"), ("/^7/", "Brazil", "1 of 3 “/^7/” in Wins"),
        ("Uruguay\\C", "Uruguay", "1 of 1"), ("/^S.*a$/\\C", "Saudi Arabia", "1 of 2"),
        ("conmebol 47", "Argentina", "in Wins, Qualifying zone"), ("-06-", "Argentina", "1 of 16"),
    ])
    func whatIsSeenIsFound(_ text: String, _ name: String, _ status: String) {
        let driver = teams(width: 200)
        driver.keys("/")
        driver.type(text)
        driver.keys("<Enter>")
        #expect(driver.selectedLine?.hasPrefix(name) == true, "\(driver.text)")
        #expect(driver.lines[22].contains(status), "\(driver.text)")
    }

    @Test(arguments: [
        "uruguay\\C", "\"korea south\"", "/^razil/", "777", "1931-06", "brazil 47", "/^S.*A$/\\C", "\"", "Brazil\u{7}x",
    ])
    func whatIsNotSeenIsNotFound(_ text: String) {
        let driver = teams()
        driver.keys("/")
        driver.type(text)
        #expect(driver.text.contains("nothing found"), "\(driver.text)")
        driver.keys("<Enter>")
        #expect(driver.selectedLine?.hasPrefix("Argentina") == true, "\(driver.text)")
    }

    @Test func anExpressionThatIsNoneIsSaid() {
        let driver = teams()
        driver.keys("/")
        driver.type("/([")
        #expect(driver.text.contains("([ is not a regular expression"), "\(driver.text)")
        driver.keys("<Enter>")
        #expect(driver.text.contains("find: /(["), "\(driver.text)")
        driver.keys("<C-u>")
        driver.type("/it(aly)?$")
        #expect(driver.selectedLine?.hasPrefix("Italy") == true && driver.text.contains("1 found"), "\(driver.text)")
    }

    @Test func theFocusGoesToAMatchThatIsHidden() {
        let driver = teams(width: 40)
        #expect(!driver.text.contains("Qualifying zone"), "\(driver.text)")
        driver.keys("/")
        driver.type("concacaf")
        #expect(driver.browser.list?.focusedKey == "qualifyingZone", "\(driver.text)")
        #expect(driver.text.contains("CONCACAF"), "\(driver.text)")
        driver.keys("<Esc>")
        #expect(driver.browser.list?.focusedKey == "teamName", "\(driver.text)")
        // A visible match leaves the focus where it is.
        driver.keys("/")
        driver.type("mexico")
        driver.keys("<Enter>")
        #expect(driver.browser.list?.focusedKey == "teamName", "\(driver.text)")
    }

    @Test func wordsAreHighlightedInEveryColumn() throws {
        let driver = teams()
        driver.keys("/")
        driver.type("brazil 76")
        driver.keys("<Enter>")
        let line = try #require(driver.line(of: "Brasil"))
        let found = driver.screen.frame.line(line).filter { $0.style.role == .match }.map(\.text).joined()
        #expect(found == "Brazil76", "\(found)")
    }

    @Test func unsavedAndForeignValuesAreFound() async throws {
        let driver = teams()
        driver.edit("Wins", of: "Spain", to: "7531")
        driver.keys("gg/")
        driver.type("7531")
        driver.keys("<Enter>")
        #expect(driver.selectedLine?.contains("Spain") == true, "\(driver.text)")
        try fixture.elsewhere { context in
            let team = NSEntityDescription.insertNewObject(forEntityName: "Team", into: context)
            team.setValue("Zanzibar 😀", forKey: "teamName")
            team.setValue(975312, forKey: "wins")
            try context.save()
        }
        try await driver.wait(for: "the new team") { driver.text.contains("17 Teams") }
        driver.keys("n")
        #expect(driver.selectedLine?.contains("Zanzibar") == true, "\(driver.text)")
        try await driver.wait(for: "the count") { driver.text.contains(" 2 of 2 “7531”") }
        driver.keys("/")
        driver.type("😀")
        #expect(driver.selectedLine?.contains("Zanzibar") == true, "\(driver.text)")
    }

    @Test func anEmptyListAndOneRecord() {
        let driver = teams()
        driver.command("filter wins > 1000")
        driver.keys("/")
        driver.type("76")
        #expect(driver.text.contains("nothing found"), "\(driver.text)")
        driver.keys("<Esc>")
        driver.command("filter wins > 70")
        driver.keys("/")
        driver.type("76")
        driver.keys("<Enter>n")
        #expect(driver.text.contains("1 of 1 “76”"), "\(driver.text)")
    }

    /// A key is not delayed by reading the values of many records, and Escape stops it.
    @Test func readingValuesIsStopped() async throws {
        let many = try Fixture()
        let driver = try await BrowserDriver.ofManyTeams(1000, in: many, settles: false)
        let list = try #require(driver.browser.list)
        driver.keys("/")
        driver.type("69")
        try await driver.wait(for: "the match") { driver.selectedLine?.hasPrefix("Team 000069") == true }
        try await driver.wait(for: "all") { !list.find.isSearching }
        driver.keys("<Enter>n")
        let numbers = (1...1000).filter { String(format: "%06d %05d", $0, $0 / 20).contains("69") || $0 % 70 == 69 }
        try await driver.wait(for: "the count") { driver.text.contains(" 2 of \(numbers.count) “69”") }
        #expect(driver.selectedLine?.hasPrefix("Team 000\(numbers[1])") == true, "\(driver.text)")
        driver.keys("gg/")
        driver.type("qq")
        driver.keys("<Enter><Esc>")
        #expect(!list.find.isSearching && driver.text.contains("stopped searching"), "\(driver.text)")
    }

    /// The predicate for the store and the texts of the rows agree.
    @Test(arguments: [
        "7", "a", "é", "E", "0", "1930", "1930-06-22", "22 a", "·", "✓", "/a$/", "/^(4|5)/", "/./", "5 e", "\\C É",
        "- 7",
        "an azteca", "/^1930-0[6-9]/",
    ])
    func theStoreFindsWhatRowsShow(_ text: String) async throws {
        let session = try StoreSession(
            OpenedStore(url: fixture.storeURL, modelURL: nil, isReadOnly: false, stop: JobControl()))
        let entity = try #require(session.model.entitiesByName["Team"])
        let list = try RecordList(entity: entity, settings: ListSettings(entity: entity), context: session.context)
        try list.fetchAgain()
        let teams = (0..<list.objectCount).compactMap { list.object(at: list.path(atIndex: $0)) }
        let query = FindQuery(FindPattern(text), list.display)
        let values = query.valueKeys.map { key in query.shown(key, teams.compactMap { $0.value(forKey: key) }) }
        for method in [query.method(query.found(in: values)), .texts] {
            let search = RecordSearch(query, method, in: list, from: nil, countsAll: true)
            while !search.isFinished { try search.advance(until: .now + .seconds(1)) }
            #expect(search.matches == Set(teams.filter(query.matches).map(\.objectID)), "\(text)")
        }
    }

    /// The moments of a year are one range, not thousands of values.
    @Test func neighboursAreOneRange() throws {
        let entity = try #require(Fixture.makeModel().entitiesByName["Team"])
        let query = FindQuery(FindPattern("1998"), EntityDisplay(entity: entity))
        let moments = (0..<40_000).shuffled().map { Date(timeIntervalSince1970: 850_000_000 + Double($0) * 3600) }
        let found = try #require(query.found(in: [query.shown("firstAppearance", moments)]).first?["firstAppearance"])
        #expect(found.values.isEmpty && found.ranges.count == 1)
        guard case .predicate(let predicate) = query.method([["firstAppearance": found]]) else {
            Issue.record("no predicate")
            return
        }
        #expect(predicate.formatString.contains("firstAppearance BETWEEN"), "\(predicate.formatString)")
    }
}
