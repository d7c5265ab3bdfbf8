import CoreData
import Foundation
import TerminalKit
import Testing

@testable import Roster

/// Histogram, pivot table and model map.
@MainActor
@Suite(.serialized) struct BrowserLookingTests {
    let fixture: Fixture

    init() throws {
        fixture = try Fixture()
        try fixture.fill()
    }

    private func focus(_ title: String, _ driver: BrowserDriver) {
        for _ in 0..<12 { driver.keys("h") }
        for _ in 0..<12 {
            let line = driver.screen.frame.line(1)
            let focused = line.filter { $0.style.isSelected }.map(\.text).joined()
            if focused.contains(title) { return }
            driver.keys("l")
        }
        Issue.record("no column \(title): \(driver.text)")
    }

    @Test func aHistogramCountsWordsAndEnterShowsThem() throws {
        let driver = BrowserDriver(teamsOf: fixture)
        focus("Qualifying zone", driver)
        driver.keys("gb")
        try driver.expectGolden("histogram")
        driver.keys("j<Enter>")
        #expect(driver.text.contains("filter: qualifyingZone == \"AFC\""), "\(driver.text)")
        #expect(driver.text.contains("3 of 16 Teams") && driver.text.contains("Japan"))
        // A second filter is added to the first.
        focus("Wins", driver)
        driver.keys("gb")
        driver.keys("<Enter>")
        #expect(driver.text.contains("1 of 16 Teams") && driver.text.contains("AND"), "\(driver.text)")
    }

    @Test func aHistogramOfNumbersHasBoundsAndASparkline() throws {
        let driver = BrowserDriver(teamsOf: fixture)
        focus("Wins", driver)
        driver.keys("gb")
        #expect(driver.text.contains("least 0, greatest 76, mean 25.9375, sum 415"), "\(driver.text)")
        #expect(driver.text.contains("▁") || driver.text.contains("█"))
        driver.keys("s")
        #expect(driver.text.contains("by value"))
        driver.keys("<Esc>")
        #expect(driver.text.contains("16 Teams"))
    }

    @Test func manyNumbersAreCountedInRangesThatFilterAsTheyCount() throws {
        let many = try Fixture()
        try many.fillWithManyTeams(1000)
        let driver = BrowserDriver(BrowserOptions(storeURL: many.storeURL, entityName: "Team"))
        focus("Wins", driver)
        driver.keys("gb")
        #expect(driver.text.contains("70 different values") && driver.text.contains("0 – 4"), "\(driver.text)")
        driver.keys("G")
        let line = try #require(driver.selectedLine)
        let words = line.split(separator: " ")
        #expect(words.prefix(3) == ["65", "–", "69"], "\(line)")
        driver.keys("<Enter>")
        #expect(
            driver.text.contains(" \(words[3]) of 1,000 Teams") && driver.text.contains("wins >= 65 AND wins < 70"),
            "\(driver.text)")
    }

    /// A line for each of many texts would take minutes and all memory.
    @Test func theRarestOfVeryManyTextsAreOneLine() async throws {
        let many = try Fixture()
        try many.fillWithManyTeams(130)
        var options = BrowserOptions(storeURL: many.storeURL, entityName: "Team")
        options.limits.histogramLines = 100
        let driver = BrowserDriver(options)
        focus("Team name", driver)
        driver.keys("gb")
        #expect(driver.text.contains("130 different values"), "\(driver.text)")
        #expect(driver.selectedLine?.contains("30 rarer values") == true, "\(driver.text)")
        driver.keys("<Enter>")
        #expect(driver.text.contains("too many values for a filter"), "\(driver.text)")
        driver.keys("j<Enter>")
        try await driver.wait(for: "the record") { driver.text.contains("1 of 130 Teams") }
    }

    @Test(arguments: [("gb", "Keys of the histogram"), ("gm", "Keys of the map")])
    func aScreenListsItsKeys(_ keys: String, _ title: String) throws {
        let driver = BrowserDriver(teamsOf: fixture)
        focus("Wins", driver)
        driver.keys(keys + "x")
        #expect(driver.text.contains("x has no command on this screen; ? lists the keys"), "\(driver.text)")
        driver.keys("?")
        #expect(driver.text.contains(title) && driver.text.contains("back to the list"), "\(driver.text)")
        driver.keys("?")
        #expect(!driver.text.contains(title), "\(driver.text)")
    }

    @Test func theseScreensHaveTheKeysOfTheUser() throws {
        let text = """
            [keys histogram]
            show = x
            last = L
            [keys pivot]
            close = Q
            [keys map]
            close = Q
            """
        let preferences = Preferences(text: text)
        #expect(preferences.problems == [])
        var options = BrowserOptions(storeURL: fixture.storeURL, entityName: "Team", sortKeys: "wins:desc")
        options.preferences = preferences
        let driver = BrowserDriver(options)
        focus("Qualifying zone", driver)
        driver.keys("gp<Enter>")
        #expect(driver.lines.last?.contains("Q close") == true, "\(driver.text)")
        driver.keys("Qgm")
        #expect(driver.lines.last?.contains("Q close") == true, "\(driver.text)")
        driver.keys("Qgb")
        #expect(driver.lines.last?.contains("x show these") == true, "\(driver.text)")
        driver.keys("<Enter>")
        #expect(driver.text.contains("Enter has no command on this screen"), "\(driver.text)")
        driver.keys("Lggx")
        #expect(driver.text.contains("of 16 Teams") && driver.text.contains("filter:"), "\(driver.text)")
    }

    /// Pages are in all screens.
    @Test func theColumnsHavePages() throws {
        let driver = BrowserDriver(teamsOf: fixture, height: 10)
        driver.keys("|")
        driver.keys("<PgDn>")
        let page = try #require(driver.browser.layers.top as? ColumnsPane)
        #expect(page.cursor > 1)
        driver.keys("<PgUp>")
        #expect(page.cursor == 0)
    }

    @Test func aFormListsItsKeysWhereAQuestionMarkIsText() throws {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys("E?")
        #expect(!driver.text.contains("Keys of the form"))
        driver.keys("<F1>")
        #expect(driver.text.contains("Keys of the form") && driver.text.contains("calendar"), "\(driver.text)")
    }

    @Test func aRelationshipIsCountedByTheNamesBehindIt() throws {
        let driver = BrowserDriver(teamsOf: fixture)
        focus("Home venue", driver)
        driver.keys("gb")
        #expect(driver.text.contains("Wembley") && driver.text.contains("–"), "\(driver.text)")
        driver.moveDown(to: "Wembley")
        driver.keys("<Enter>")
        #expect(
            driver.text.contains("homeVenue.name == \"Wembley\"") && driver.text.contains("England"), "\(driver.text)")
    }

    @Test func datesAreCountedInStepsOfTheCalendar() throws {
        try fixture.elsewhere { context in
            let teams = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Team"))
            for index in 0..<60 {
                let team =
                    index < teams.count
                    ? teams[index]
                    : NSEntityDescription.insertNewObject(
                        forEntityName: "Team", into: context)
                if index >= teams.count { team.setValue("Extra \(index)", forKey: "teamName") }
                // A month and a half apart: more than seven years in total.
                team.setValue(
                    Date(timeIntervalSinceReferenceDate: Double(index) * 45 * 86400), forKey: "firstAppearance")
            }
            try context.save()
        }
        let driver = BrowserDriver(teamsOf: fixture, width: 160)
        focus("First appearance", driver)
        driver.keys("gb")
        #expect(driver.text.contains("2001") && driver.text.contains("2007"), "\(driver.text)")
        driver.keys("G")
        let words = try #require(driver.selectedLine).split(separator: " ")
        driver.keys("<Enter>")
        let count = try #require(words.first { Int($0) != nil && $0.count < 4 })
        #expect(
            driver.text.contains(" \(count) Team") && driver.text.contains("firstAppearance >= CAST"),
            "\(words) \(driver.text)")
    }

    @Test func aHistogramFollowsOtherPrograms() async throws {
        let driver = BrowserDriver(teamsOf: fixture)
        focus("Qualifying zone", driver)
        driver.keys("gb")
        #expect(driver.text.contains("of 16 Teams"))
        try fixture.elsewhere { context in
            let team = NSEntityDescription.insertNewObject(forEntityName: "Team", into: context)
            team.setValue("Wales", forKey: "teamName")
            team.setValue("UEFA", forKey: "qualifyingZone")
            try context.save()
        }
        try await driver.wait(for: "the new count") { driver.text.contains("of 17 Teams") }
    }

    @Test func aPivotSetsTwoColumnsAgainstEachOther() throws {
        let driver = BrowserDriver(teamsOf: fixture)
        focus("Qualifying zone", driver)
        driver.keys("gp")
        driver.type("titles")
        driver.keys("<Enter>")
        try driver.expectGolden("pivot")
        driver.keys("a")
        driver.type("sum of wins")
        driver.keys("<Enter>")
        #expect(driver.text.contains("sum of Wins") && driver.text.contains("415"), "\(driver.text)")
        driver.keys("<Esc>")
        driver.keys("gp")
        driver.type("titles")
        driver.keys("<Enter>")
        driver.keys("<Enter>")
        #expect(
            driver.text.contains("qualifyingZone == \"UEFA\"") && driver.text.contains("titles == 0"), "\(driver.text)")
    }

    /// Records without a value do not count in an average, and commits of others are counted.
    @Test func aPivotAveragesTheValuesThereAreAndCountsAgain() async throws {
        try fixture.elsewhere { context in
            for capacity in [100, 200] {
                let venue = NSEntityDescription.insertNewObject(forEntityName: "Venue", into: context)
                venue.setValue("Arena \(capacity)", forKey: "name")
                venue.setValue(capacity, forKey: "capacity")
                let team = NSEntityDescription.insertNewObject(forEntityName: "Team", into: context)
                team.setValue("Team \(capacity)", forKey: "teamName")
                team.setValue("OFC", forKey: "qualifyingZone")
                team.setValue(venue, forKey: "homeVenue")
            }
            let team = NSEntityDescription.insertNewObject(forEntityName: "Team", into: context)
            team.setValue("Homeless", forKey: "teamName")
            team.setValue("OFC", forKey: "qualifyingZone")
            try context.save()
        }
        let query = ColumnCounts.Query(
            keyPaths: ["qualifyingZone", "favorite"],
            entity: try #require(Fixture.makeModel().entitiesByName["Team"]), filter: "", summed: "homeVenue.capacity")
        let request = try ColumnCounts.request(query)
        let row = try fixture.elsewhere { context in
            request.entity = context.persistentStoreCoordinator?.managedObjectModel.entitiesByName["Team"]
            return ColumnCounts(rows: try context.fetch(request), query).rows.first { $0.values[0] as? String == "OFC" }
        }
        #expect(row?.count == 3 && row?.summed == 2 && row?.sum == 300)
        let driver = BrowserDriver(teamsOf: fixture)
        focus("Qualifying zone", driver)
        driver.keys("gp")
        driver.type("titles")
        driver.keys("<Enter>")
        #expect(driver.text.contains("19"), "\(driver.text)")
        try fixture.elsewhere { context in
            let team = NSEntityDescription.insertNewObject(forEntityName: "Team", into: context)
            team.setValue("Wales", forKey: "teamName")
            try context.save()
        }
        try await driver.wait(for: "the new count") { driver.text.contains("20") }
    }

    @Test func theMapShowsEntitiesAndOpensThem() throws {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys("gm")
        try driver.expectGolden("model-map")
        driver.keys("j<Enter>")
        #expect(driver.selectedLine?.contains("teams ⇉ Team") == true, "\(driver.text)")
        driver.keys("[<Enter>")
        #expect(driver.text.contains("3 Venues"), "\(driver.text)")
    }

    @Test func allOfThemCanBeDrawnAtEverySize() {
        for (width, height) in [(1, 1), (20, 5), (40, 10), (80, 24), (200, 50)] {
            let driver = BrowserDriver(
                teamsOf: fixture, width: width, height: height, repertoire: width == 40 ? .ascii : .unicode)
            for keys in ["gb", "gm", "gp<Enter>"] {
                driver.keys(keys)
                #expect(driver.browser.layers.top !== driver.browser.list)
                for key in ["j", "G", "l", "h", "g", "<PgDn>", "s"] { driver.keys(key) }
                if width == 40 { #expect(driver.text.utf8.allSatisfy { $0 < 0x80 }, "\(driver.text)") }
                for _ in 0..<5 where driver.browser.layers.top !== driver.browser.list { driver.keys("<Esc>") }
            }
        }
    }
}

extension BrowserDriver {
    /// Moves the cursor down to a line that contains a text.
    func moveDown(to text: String) {
        for _ in 0..<30 where selectedLine?.contains(text) != true { keys("j") }
        #expect(selectedLine?.contains(text) == true)
    }
}
