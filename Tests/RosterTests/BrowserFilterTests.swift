import CoreData
import Foundation
import TerminalKit
import Testing

@testable import Roster

/// Filtering by cells and sections, without a typed predicate.
@MainActor
@Suite(.serialized) struct BrowserFilterTests {
    let fixture: Fixture

    init() throws { fixture = try Fixture.filled() }

    private func teams(width: Int = 160) -> BrowserDriver {
        BrowserDriver(
            BrowserOptions(storeURL: fixture.storeURL, entityName: "Team", sortKeys: "teamName"), width: width)
    }

    @Test func conditionsAddUpAndTheFilterLineEditsThem() {
        let driver = teams()
        driver.find("Japan")
        driver.focus("qualifyingZone")
        driver.keys("=")
        #expect(driver.text.contains(" 3 of 16 Teams  filter: qualifyingZone == \"AFC\"  "), "\(driver.text)")
        #expect(driver.selectedLine?.contains("Japan") == true)
        driver.focus("wins")
        driver.keys(">")
        #expect(driver.text.contains(" 2 of 16 Teams  filter: qualifyingZone == \"AFC\" AND wins >= 7 "))
        driver.keys(">")
        #expect(driver.text.contains("filtered by that already"), "\(driver.text)")
        driver.focus("teamName")
        driver.keys("!")
        #expect(driver.selectedLine?.contains("South Korea") == true && driver.text.contains(" 1 of 16 Teams"))
        driver.keys("\\")
        #expect(
            driver.text.contains(#"filter: qualifyingZone == "AFC" AND wins >= 7 AND teamName != "Japan""#),
            "\(driver.text)")
        driver.keys("<C-u>titles > 3 OR wins < 1<Enter>")
        #expect(driver.text.contains(" 4 of 16 Teams  filter: titles > 3 OR wins < 1 "), "\(driver.text)")
        // An alternative stays together when a condition is added.
        driver.find("Italy")
        driver.keys("!")
        #expect(
            driver.text.contains(#" 3 of 16 Teams  filter: (titles > 3 OR wins < 1) AND teamName != "Italy""#),
            "\(driver.text)")
    }

    @Test func aNewLimitReplacesTheOneOfItsDirection() {
        let driver = teams()
        driver.focus("wins")
        for name in ["Germany", "Italy"] {
            driver.find(name)
            driver.keys("<")
        }
        #expect(driver.text.contains("filter: wins <= 45  "), "\(driver.text)")
        driver.find("Spain")
        driver.keys(">")
        #expect(driver.text.contains("filter: wins <= 45 AND wins >= 31  "), "\(driver.text)")
    }

    @Test func conditionsAreTakenOutByKeyAndByClick() throws {
        let driver = teams()
        driver.keys("g=")
        #expect(driver.text.contains("the list has no filter: \\ sets one"), "\(driver.text)")
        driver.command("filter wins > 5 AND titles > 0 AND favorite == NO")
        let status = driver.lines[22]
        #expect(status.contains("filter: wins > 5 AND titles > 0 AND favorite == 0"), "\(driver.text)")
        let place = try #require(status.range(of: "titles"))
        driver.click(x: status.distance(from: status.startIndex, to: place.lowerBound), y: 22)
        #expect(driver.lines[22].contains("filter: wins > 5 AND favorite == 0  "), "\(driver.text)")
        #expect(driver.text.contains("taken out of the filter: titles > 0"))
        driver.keys("g=")
        #expect(driver.text.contains("Take out of the filter"), "\(driver.text)")
        driver.keys("<Up><Enter>")
        #expect(driver.lines[22].contains("filter: favorite == 0  "), "\(driver.text)")
        driver.keys("g=")
        #expect(driver.lines[22].contains(" 16 Teams  sorted"), "\(driver.text)")
    }

    @Test(arguments: [
        ("Cameroon", "localName", "=", "localName == nil", 7), ("Cameroon", "localName", "!", "localName != nil", 9),
        ("Brazil", "homeVenue", "=", #"homeVenue.name == "Maracanã""#, 1),
        ("Brazil", "homeVenue", "!", #"homeVenue.name != "Maracanã""#, 15),
        ("Japan", "homeVenue", "=", "homeVenue == nil", 13), ("Brazil", "favorite", "=", "favorite == 1", 3),
        ("Brazil", "firstAppearance", "=", #"firstAppearance == "1930-06-22""#, 16),
        ("Brazil", "firstAppearance", "!", #"firstAppearance != "1930-06-22""#, 0),
        ("Japan", "localName", "=", #"localName == "日本""#, 1),
        ("Saudi Arabia", "localName", "!", #"localName != "السعودية""#, 15),
        ("Japan", "wins", "<", "wins <= 7", 6), ("Brazil", "wins", ">", "wins >= 76", 1),
        ("Mexico", "teamName", "<", #"teamName <= "Mexico""#, 11),
    ])
    func cellsFilterByWhatTheyAre(
        _ name: String, _ key: String, _ relation: String, _ filter: String, _ count: Int
    ) {
        let driver = teams()
        driver.find(name)
        driver.focus(key)
        driver.keys(relation)
        #expect(driver.text.contains(" \(count) of 16 Teams  filter: \(filter) "), "\(driver.text)")
    }

    @Test func whatIsNoLimitIsSaid() {
        let driver = teams()
        driver.find("Cameroon")
        for (key, text) in [("favorite", "the values of Favorite have no order"), ("localName", "no value that could")]
        {
            driver.focus(key)
            driver.keys("<")
            #expect(driver.text.contains(text) && driver.text.contains(" 16 Teams  sorted"), "\(driver.text)")
        }
    }

    // MARK: Kinds of values

    private static func things() -> NSManagedObjectModel {
        func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
            return attribute
        }
        let thing = NSEntityDescription()
        thing.name = "Thing"
        thing.properties = [
            attribute("name", .stringAttributeType), attribute("id", .UUIDAttributeType),
            attribute("page", .URIAttributeType), attribute("price", .decimalAttributeType),
            attribute("rate", .doubleAttributeType), attribute("part", .floatAttributeType),
            attribute("made", .dateAttributeType), attribute("picture", .binaryDataAttributeType),
            attribute("tags", .transformableAttributeType),
        ]
        let model = NSManagedObjectModel()
        model.entities = [thing]
        return model
    }

    private static let odd = "\"quoted\" \\ 'it’s' 👩‍👩‍👧"

    private func fillThings() throws -> URL {
        let url = fixture.folder.appendingPathComponent("Things.sqlite")
        let container = NSPersistentContainer(name: "Things", managedObjectModel: Self.things())
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        let context = container.viewContext
        for (place, name) in [Self.odd, "plain", "bare"].enumerated() {
            let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
            thing.setValue(name, forKey: "name")
            guard name != "bare" else { continue }
            let bytes = UInt8(place)
            thing.setValue(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, bytes)), forKey: "id")
            thing.setValue(URL(string: "https://example.org/\(place)"), forKey: "page")
            thing.setValue(NSDecimalNumber(string: "12.\(place + 1)"), forKey: "price")
            thing.setValue(0.1 + Double(place), forKey: "rate")
            thing.setValue(Float(0.3) + Float(place), forKey: "part")
            thing.setValue(Date(timeIntervalSinceReferenceDate: 1234.5678 + Double(place)), forKey: "made")
            thing.setValue(Data([1, 2, bytes]), forKey: "picture")
            thing.setValue(["a", "b"] as NSArray, forKey: "tags")
        }
        try context.save()
        return url
    }

    @Test func everyKindOfValueFiltersOrSaysWhyNot() throws {
        let url = try fillThings()
        for key in ["name", "id", "page", "price", "rate", "part", "made", "picture", "tags"] {
            let driver = BrowserDriver(
                BrowserOptions(storeURL: url, entityName: "Thing", sortKeys: "name"), width: 200)
            let list = try #require(driver.browser.list)
            driver.focus(key)
            #expect(list.focusedKey == key, "\(driver.text)")
            driver.keys("=")
            if key == "picture" || key == "tags" {
                #expect(driver.text.contains("cannot be compared"), "\(key): \(driver.text)")
                driver.keys("j=")
                #expect(driver.text.contains(" 1 of 3 Things  filter: \(key) == nil"), "\(key): \(driver.text)")
                driver.keys("<Esc>j!")
            } else {
                #expect(list.records.objectCount == 1, "\(key): \(driver.text)")
                #expect(driver.selectedLine?.contains("quoted") == true, "\(key): \(driver.text)")
                // The text that \ opens makes the same filter.
                driver.keys("\\ <Enter>")
                #expect(list.records.objectCount == 1, "\(key): \(driver.text)")
                driver.keys("<Esc>gg!")
            }
            #expect(list.records.objectCount == 2 || key == "picture" || key == "tags", "\(key): \(driver.text)")
        }
    }

    // MARK: Sections

    @Test(arguments: [
        ("qualifyingZone", "AFC", "=", #"qualifyingZone == "AFC""#, 3),
        ("qualifyingZone", "AFC", "!", #"qualifyingZone != "AFC""#, 13),
        ("qualifyingZone", "(none)", "=", #"qualifyingZone == nil OR qualifyingZone == """#, 1),
        ("wins", "Wins 7", "=", "wins == 7", 2), ("wins", "Wins 7", ">", "wins >= 7", 12),
        ("favorite", "Favorite (", "=", "favorite == 1", 3),
        ("firstAppearance:year", "1930", "=", "firstAppearance >= \"1930-01-01\"", 16),
        ("firstAppearance:month", "1930-06", "<", "firstAppearance < \"1930-07-01\"", 16),
        ("wins:bucket(10)", "40", "=", "wins >= 40 AND wins < 50", 2),
        ("teamName:letter", "S", "=", "teamName MATCHES[cd]", 3),
        ("teamName:letter", "S", "!", "NOT teamName MATCHES[cd]", 13),
        ("qualifyingZone/titles", "UEFA/4", "=", #"qualifyingZone == "UEFA" AND titles == 4"#, 2),
    ])
    func aFoldedSectionIsACondition(
        _ section: String, _ title: String, _ relation: String, _ filter: String, _ count: Int
    ) throws {
        let driver = teams()
        driver.command("section \(section)")
        driver.keys("zMgg")
        for _ in 0..<30 where driver.selectedLine?.dropFirst(2).hasPrefix(title) != true { driver.keys("j") }
        #expect(driver.selectedLine?.contains(title) == true, "\(driver.text)")
        driver.keys(relation)
        #expect(driver.text.contains(" \(count) of 16 Teams  filter: \(filter)"), "\(driver.text)")
    }

    // MARK: Any number of records, and changes

    @Test func aDoubleClickTakesOneConditionOut() throws {
        let driver = teams()
        driver.command("filter wins > 5 AND wins < 40 AND titles > 0")
        let status = driver.lines[22]
        let place = try #require(status.range(of: "wins > 5"))
        let point = Point(x: status.distance(from: status.startIndex, to: place.lowerBound), y: 22)
        driver.send(.mouse(MouseEvent(.press, at: point)))
        driver.send(.mouse(MouseEvent(.doubleClick, at: point)))
        #expect(driver.lines[22].contains("filter: wins < 40 AND titles > 0  "), "\(driver.text)")
    }

    /// A frozen list shows records that others deleted, which have no values any more.
    @Test func aDeletedRecordIsNoCondition() async throws {
        let driver = teams()
        driver.find("Japan")
        driver.keys("<Esc>Z")
        try fixture.elsewhere { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
            request.predicate = NSPredicate(format: "teamName == %@", "Japan")
            for team in try context.fetch(request) { context.delete(team) }
            try context.save()
        }
        let list = try #require(driver.browser.list)
        try await driver.wait(for: "the deletion") {
            list.view.cursor?.path.map { list.records.object(at: $0) == nil } ?? true
        }
        for key in ["=", "#", ">"] {
            driver.keys(key)
            #expect(driver.text.contains("no record under the cursor"), "\(driver.text)")
        }
    }

    @Test func anEmptyListHasNothingToFilterBy() {
        let driver = teams()
        driver.command("wins > 1000")
        driver.keys("=")
        #expect(driver.text.contains("no record under the cursor"), "\(driver.text)")
        driver.keys("g=")
        #expect(driver.text.contains(" 16 Teams"))
    }

    @Test func manyRecordsAreFilteredBesideTheKeysAndTwoKeysAddUp() async throws {
        let many = try Fixture()
        let driver = try await BrowserDriver.ofManyTeams(400, in: many)
        driver.focus("wins")
        driver.keys("=")
        driver.focus("titles")
        driver.keys("=")
        try await driver.wait(for: "the filter") { driver.text.contains("filter: wins == 1 AND titles == 0") }
        try await driver.wait(for: "the list") { driver.text.contains(" 6 of 400 Teams") }
        driver.keys("\\")
        #expect(driver.text.contains("filter: wins == 1 AND titles == 0"), "\(driver.text)")
        driver.keys("<Esc>")
        // An empty filter also takes back one that is still being read.
        driver.command("filter wins > 60")
        driver.command("filter")
        try await driver.wait(for: "the whole list") { driver.text.contains(" 400 Teams  sorted") }
    }

    @Test func changesOfOthersFollowTheFilter() async throws {
        var options = BrowserOptions(storeURL: fixture.storeURL, entityName: "Team", sortKeys: "teamName")
        options.limits.countInterval = .zero
        let driver = BrowserDriver(options, width: 160)
        driver.find("Japan")
        driver.focus("firstAppearance")
        driver.keys("=")
        driver.focus("qualifyingZone")
        driver.keys("=")
        #expect(driver.text.contains(" 3 of 16 Teams"), "\(driver.text)")
        try fixture.elsewhere { context in
            for (name, zone, date) in [("Iran", "AFC", -1_247_443_200.0), ("Qatar", "AFC", 0), ("Peru", "CONMEBOL", 0)]
            {
                let team = NSEntityDescription.insertNewObject(forEntityName: "Team", into: context)
                team.setValue(name, forKey: "teamName")
                team.setValue(zone, forKey: "qualifyingZone")
                team.setValue(Date(timeIntervalSince1970: date), forKey: "firstAppearance")
            }
            try context.save()
        }
        try await driver.wait(for: "the new team") { driver.text.contains(" 4 of 19 Teams") }
        #expect(driver.text.contains("Iran") && !driver.text.contains("Qatar"), "\(driver.text)")
        // A record that the user edits leaves the list when it no longer matches.
        driver.keys("e<C-u>CAF<Enter>")
        #expect(driver.text.contains(" 3 of 19 Teams") && driver.text.contains("− Japan"), "\(driver.text)")
    }

    // MARK: The command line

    @Test(arguments: ["wins > 31", "wins>31", "filter wins > 31", "31 < wins"])
    func aConditionIsACommand(_ text: String) {
        let driver = teams()
        driver.command(text)
        #expect(driver.text.contains(" 6 of 16 Teams"), "\(driver.text)")
    }

    @Test(arguments: [
        ("wins >", "expected"), ("winz > 5", "winz"), ("sort", "such as sort"),
        ("section", "such as section"), ("entity", "such as entity"),
        ("filter", "such as filter teamName"), ("import", "such as import teams.csv"),
        ("sort wins sideways", "sideways"), ("sort -", "is not a list of sort keys"),
    ])
    func whatIsMissingIsSaid(_ text: String, _ problem: String) {
        let driver = teams()
        driver.command(text)
        #expect(driver.text.contains(problem) && driver.text.contains(":" + text), "\(driver.text)")
    }

    @Test func sortKeysNeedNoColon() {
        let driver = teams()
        driver.command("sort -wins teamName asc")
        #expect(driver.text.contains("sorted ↓Wins ↑Team name"), "\(driver.text)")
        driver.keys(":")
        driver.type("sort wins d")
        driver.keys("<Tab>")
        #expect(driver.text.contains(":sort wins desc"), "\(driver.text)")
        driver.keys("<Enter>")
        #expect(driver.text.contains("sorted ↓Wins  "), "\(driver.text)")
    }

    @Test func keysOfViDoOrSay() throws {
        let driver = teams()
        driver.find("Spain")
        driver.keys("dd")
        #expect(driver.text.contains("Delete") && driver.lines.last?.hasPrefix("y delete") == true, "\(driver.text)")
        driver.keys("n")
        for (key, text) in [
            ("x", "D deletes the record; e, then ^U empties the field"),
            ("P", "gd copies the record here; yy copies it to the clipboard"),
        ] {
            driver.keys(key)
            #expect(driver.text.contains(text), "\(driver.text)")
        }
        driver.focus("wins")
        for key in ["i", "a"] {
            driver.keys(key)
            #expect(driver.screen.frame.cursor != nil, "\(driver.text)")
            driver.keys("<Esc>")
        }
        driver.keys("z>z<")
        driver.focus("firstAppearance")
        driver.keys("#")
        #expect(driver.selectedLine?.contains("South Korea") == true, "\(driver.text)")
    }
}

extension BrowserDriver {
    /// Moves the focus to a column.
    func focus(_ key: String) {
        for _ in 0..<30 { keys("h") }
        for _ in 0..<30 where browser.list?.focusedKey != key { keys("l") }
    }
}
