import CoreData
import Foundation
import TerminalKit
import Testing

@testable import Roster

/// The user's column layout, and aggregates.
@MainActor
@Suite(.serialized) struct BrowserColumnsTests {
    let fixture: Fixture
    let driver: BrowserDriver

    init() throws {
        fixture = try Fixture()
        try fixture.fill()
        driver = BrowserDriver(teamsOf: fixture)
    }

    private var titles: [String] {
        driver.lines[1].split(separator: " ").map { String($0.prefix { $0.isLetter }) }.filter { !$0.isEmpty }
    }

    @Test func columnsAreHiddenMovedAndWidened() {
        #expect(titles.starts(with: ["Team", "name", "Local", "name", "Wins"]), "\(driver.text)")
        driver.keys("l")
        driver.keys("gh")
        #expect(!driver.lines[1].contains("Local name") && driver.text.contains("Local name is hidden"))
        driver.keys("<S-Left>")
        #expect(!driver.lines[1].hasPrefix("  Team name"), "\(driver.text)")
        driver.keys("<S-Right>")
        #expect(driver.lines[1].hasPrefix("  Team name"), "\(driver.text)")
        driver.keys("h")
        let before = driver.lines[1].range(of: "Home venue")?.lowerBound.utf16Offset(in: driver.lines[1]) ?? 0
        driver.keys("4z>")
        let after = driver.lines[1].range(of: "Home venue")?.lowerBound.utf16Offset(in: driver.lines[1]) ?? 0
        #expect(after == before + 8, "\(driver.text)")
        driver.keys("9z<lt>9z<lt>")
        #expect(driver.lines[3].hasPrefix("  At… "), "\(driver.text)")
    }

    @Test func aColumnIsComputed() throws {
        driver.find("Brazil")
        driver.command("column wins / (wins + 1) as rate 率")
        driver.keys("9l")
        #expect(driver.lines[1].contains("rate 率"), "\(driver.text)")
        let wins = try #require(driver.browser.list?.cursorObject?.value(forKey: "wins") as? Int)
        let rate = (Double(wins) / Double(wins + 1) * 1e4).rounded() / 1e4
        #expect(driver.selectedLine?.contains("\(rate)") == true, "\(rate) \(driver.text)")
        driver.command("column winz + 1")
        #expect(driver.text.contains("no property “winz”"), "\(driver.text)")
        driver.keys("<Esc>")
        // The layout is kept, and older ones have no such columns.
        let layout = try #require(driver.browser.list?.records.settings.columns)
        #expect(try JSONDecoder().decode(ColumnLayout.self, from: JSONEncoder().encode(layout)) == layout)
        let older = #"{"order":[],"hidden":[],"added":[],"widths":{},"frozen":0}"#
        #expect(try JSONDecoder().decode(ColumnLayout.self, from: Data(older.utf8)) == ColumnLayout())
    }

    @Test func thePaneShowsAllColumns() throws {
        driver.keys("|")
        try driver.expectGolden("columns")
        // The last row is a to-many relationship or a date, which is hidden by default.
        driver.keys("j<Space>")
        #expect(!driver.lines[1].contains("Local name"), "\(driver.text)")
        driver.keys("0")
        #expect(driver.lines[1].contains("Local name"), "\(driver.text)")
        driver.keys("ggjf<Esc>")
        #expect(driver.browser.list?.view.frozenColumns == 2)
    }

    @Test func frozenColumnsStayWhereThereIsNoRoom() {
        let narrow = BrowserDriver(teamsOf: fixture, width: 44)
        // The first column, which names the record, is frozen at first.
        narrow.keys("gf")
        #expect(narrow.text.contains("no frozen columns"))
        narrow.keys("gf")
        #expect(narrow.text.contains("1 column frozen"))
        narrow.keys("lgf")
        #expect(narrow.text.contains("2 columns frozen"))
        for _ in 0..<6 { narrow.keys("l") }
        #expect(narrow.lines[1].contains("Local name"), "\(narrow.text)")
        narrow.keys("ge<Esc>")
        #expect(narrow.lines[1].contains("Local name"))
    }

    @Test func frozenColumnsWithoutRoomGiveWayToTheFocus() throws {
        let narrow = BrowserDriver(teamsOf: fixture, width: 44)
        let columns = try #require(narrow.browser.list?.view.columns)
        for _ in columns { narrow.keys("l") }
        narrow.keys("gf")
        #expect(narrow.browser.list?.view.frozenColumns == columns.count)
        for column in columns.reversed() {
            #expect(narrow.browser.list?.focusedKey == column.id)
            #expect(narrow.lines[1].contains(column.title.prefix(4)), "\(column.title): \(narrow.text)")
            // The first column stays visible, whichever column is focused.
            #expect(narrow.lines[1].contains("Team"), "\(narrow.text)")
            narrow.keys("h")
        }
    }

    @Test func headersAndFooterShowAggregatesAndFollow() async throws {
        for _ in 0..<9 where driver.browser.list?.focusedKey != "wins" { driver.keys("l") }
        driver.keys("ga")
        #expect(driver.text.contains("AFC (3) sum 18  avg 6  min 4  max 7"), "\(driver.text)")
        #expect(driver.text.contains("Wins: sum 415  avg 25.94  min 0  max 76"), "\(driver.text)")
        // The section with the largest sum has the longest bar.
        let bars = driver.lines.filter { $0.contains("■") }.map { $0.count { $0 == "■" } }
        #expect(bars.max() == 20 && bars.contains { $0 < 5 }, "\(driver.text)")
        try driver.expectGolden("aggregates")
        // Unsaved values count.
        driver.edit("Wins", of: "Japan", to: "17")
        #expect(driver.text.contains("AFC (3) sum 28"), "\(driver.text)")
        try fixture.elsewhere { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
            request.predicate = NSPredicate(format: "teamName == 'Saudi Arabia'")
            try context.fetch(request).first?.setValue(14, forKey: "wins")
            try context.save()
        }
        try await driver.wait(for: "the sum") { driver.text.contains("AFC (3) sum 38") }
        driver.keys("h")
        #expect(driver.text.contains(" with a value"), "\(driver.text)")
        driver.keys("ga")
        #expect(!driver.text.contains(" with a value"))
    }

    @Test func theStoreComputesTheAggregatesOfLongLists() async throws {
        let fixture = try Fixture()
        try fixture.fillWithManyTeams(400)
        var options = BrowserOptions(storeURL: fixture.storeURL, entityName: "Team", sectionKeyPath: "qualifyingZone")
        options.sortKeys = "wins:desc,teamName"
        options.limits = .small
        let driver = BrowserDriver(options)
        try await driver.wait(for: "the list") { driver.text.contains("400 Teams") }
        for _ in 0..<9 where driver.browser.list?.focusedKey != "wins" { driver.keys("l") }
        driver.keys("ga")
        let wins = (1...400).map { $0 % 70 }
        let sum = ListAggregates.number(Double(wins.reduce(0, +)))
        try await driver.wait(for: "the sum") { driver.text.contains("Wins: sum \(sum)  avg") }
        let first = (1...19).reduce(0) { $0 + $1 % 70 }
        #expect(driver.text.contains("Zone 00000 (19) sum \(first)"), "\(driver.text)")
    }

    @Test(arguments: [
        (1234567.0, "1,234,567"), (-3.5, "-3.50"), (0.999, "1.00"), (12.345, "12.35"), (.infinity, "inf"),
    ])
    func numbersAreShort(_ value: Double, _ expected: String) {
        #expect(ListAggregates.number(value) == expected)
    }
}
