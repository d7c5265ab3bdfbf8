import CoreData
import Foundation
import TerminalKit
import Testing

@testable import Roster

/// Sections by derived values: months, first letters, ranges, several levels.
@MainActor
@Suite(.serialized) struct BrowserSectionTests {
    let fixture: Fixture

    init() throws {
        fixture = try Fixture()
        try fixture.fill()
        try fixture.elsewhere { context in
            let teams = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Team"))
            for team in teams {
                // Noon, to get the same day in every time zone.
                let wins = team.value(forKey: "wins") as? Int ?? 0
                let text =
                    wins > 40 ? "1930-07-13T12:00:00Z" : wins > 10 ? "1930-08-20T12:00:00Z" : "1950-06-25T12:00:00Z"
                team.setValue(ISO8601DateFormatter().date(from: text), forKey: "firstAppearance")
            }
            try context.save()
        }
    }

    private func open(section: String? = nil, stateFolder: URL? = nil) -> BrowserDriver {
        var options = BrowserOptions(
            storeURL: fixture.storeURL, entityName: "Team", sectionKeyPath: section, sortKeys: "wins:desc")
        options.stateFolder = stateFolder
        return BrowserDriver(options, height: 30)
    }

    private func headers(_ driver: BrowserDriver) -> [String] {
        driver.lines.filter { $0.hasPrefix("▾ ") || $0.hasPrefix("▸ ") }.map { line in
            String(line.dropFirst(2).prefix { $0 != "─" }).trimmingCharacters(in: .whitespaces)
        }
    }

    @Test func theCommandLineMakesThem() {
        let driver = open(section: "firstAppearance:month")
        #expect(headers(driver) == ["1930-07 (4)", "1930-08 (5)", "1950-06 (7)"], "\(driver.text)")
        #expect(driver.text.contains("by First appearance (month, UTC)") && driver.text.contains("sorted ↓Wins"))
        // Within a section the sort key determines the order.
        #expect(driver.line(of: "Brazil").map { driver.lines[$0 + 1].contains("Germany") } == true, "\(driver.text)")
        let wrong = open(section: "firstAppearance:fortnight")
        #expect(wrong.browser.isFinished && wrong.browser.status == 2)
        #expect(wrong.browser.lastWords?.contains("unknown “fortnight”. Use year, month") == true)
    }

    @Test func aDateAsksForThePeriodAndTextsHaveLetters() {
        let driver = open()
        driver.keys("gs")
        driver.type("first app")
        driver.keys("<Enter>")
        #expect(
            ["year", "month", "week", "day", "each value"].allSatisfy { driver.text.contains($0) }, "\(driver.text)")
        driver.type("year")
        driver.keys("<Enter>")
        #expect(headers(driver) == ["1930 (9)", "1950 (7)"], "\(driver.text)")
        // The key `gr` reverses the order of the sections.
        driver.keys("gr")
        #expect(headers(driver) == ["1950 (7)", "1930 (9)"], "\(driver.text)")
        driver.keys("gs")
        driver.type("team name first letter")
        driver.keys("<Enter>")
        #expect(headers(driver).prefix(3) == ["A (2)", "B (1)", "C (1)"], "\(driver.text)")
        #expect(driver.text.contains("by Team name (first letter)"))
    }

    @Test func wordsMakeThemAndAreCompleted() {
        let driver = open()
        driver.keys(":")
        driver.type("section firstApp")
        driver.keys("<Tab>")
        driver.type(":mo")
        driver.keys("<Tab>")
        driver.type("/favorite")
        driver.keys("<Enter>")
        #expect(headers(driver).count == 4, "\(driver.text)")
        #expect(driver.text.contains("by First appearance (month, UTC) / Favorite"), "\(driver.text)")
        driver.command("section wins:bucket(50):desc")
        #expect(headers(driver) == ["50–99 (2)", "0–49 (14)"], "\(driver.text)")
        driver.command("section wins:month")
        #expect(driver.text.contains("it is not a date"), "\(driver.text)")
    }

    /// The section key can also be a sort key.
    @Test func theKeyMayBeSortedByInside() {
        let driver = open(section: "wins:bucket(50)")
        driver.command("sort wins")
        #expect(driver.text.contains("by Wins (bucket(50))") && driver.text.contains("sorted ↑Wins"), "\(driver.text)")
        #expect(headers(driver) == ["0–49 (14)", "50–99 (2)"])
        #expect(driver.line(of: "Germany") == driver.line(of: "Brazil").map { $0 - 1 }, "\(driver.text)")
    }

    @Test func theyFollowAndAreThereTheNextTime() async throws {
        let state = fixture.folder.appendingPathComponent("state")
        let driver = open(section: "firstAppearance:year:desc", stateFolder: state)
        #expect(headers(driver) == ["1950 (7)", "1930 (9)"], "\(driver.text)")
        try fixture.elsewhere { context in
            let team = NSEntityDescription.insertNewObject(forEntityName: "Team", into: context)
            team.setValue("Aland", forKey: "teamName")
            team.setValue(ISO8601DateFormatter().date(from: "1970-06-15T12:00:00Z"), forKey: "firstAppearance")
            try context.save()
        }
        try await driver.wait(for: "the section") { headers(driver) == ["1970 (1)", "1950 (7)", "1930 (9)"] }
        driver.keys("zM")
        try driver.browser.close()
        var options = BrowserOptions(storeURL: fixture.storeURL)
        options.stateFolder = state
        let again = BrowserDriver(options)
        #expect(headers(again) == ["1970 (1)", "1950 (7)", "1930 (9)"], "\(again.text)")
        #expect(
            again.text.contains("by ↓First appearance (year, UTC)") && again.text.contains("▸ 1970"), "\(again.text)")
    }

    @Test(arguments: [
        ("zone", "zone", nil, true), ("zone:desc", "zone", nil, false), ("day:month", "day", ":month", true),
        ("day:month:desc/kind:last", "day", ":month/kind:last", false), ("n:value", "n", nil, true),
    ])
    func textsAreTakenApart(_ text: String, _ key: String, _ form: String?, _ ascends: Bool) {
        let choice = SectionChoice(text)
        #expect(choice == SectionChoice(keyPath: key, form: form, ascends: ascends))
        #expect(SectionChoice(choice.text) == choice)
    }

    @Test func aListWithoutSectionsHasNoneUnderALetter() {
        let driver = BrowserDriver(
            BrowserOptions(storeURL: fixture.storeURL, entityName: "Team", sortKeys: "teamName"))
        for keys in ["'", "B", "'B"] {
            driver.keys(keys)
            #expect(driver.text.contains("this list has no sections; gs chooses a section key"), "\(driver.text)")
        }
        driver.command("section qualifyingZone")
        driver.keys("'x")
        #expect(driver.text.contains("no section begins with x; initials: A C U"), "\(driver.text)")
    }
}
