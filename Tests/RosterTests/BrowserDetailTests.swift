import CoreData
import Foundation
import RosterCommands
import TerminalKit
import Testing

@testable import Roster

/// Reading a record: the pane that follows the cursor, and unfolding.
@MainActor
@Suite(.serialized) struct BrowserDetailTests {
    let fixture: Fixture

    init() throws {
        fixture = try Fixture()
        try fixture.fill()
    }

    private func change(_ name: String, _ values: [String: Any]) throws {
        try fixture.elsewhere { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
            request.predicate = NSPredicate(format: "teamName == %@", name)
            let team = try #require(try context.fetch(request).first)
            for (key, value) in values { team.setValue(value, forKey: key) }
            try context.save()
        }
    }

    @Test func thePaneFollowsTheCursorNextToOrBelowTheList() throws {
        let wide = BrowserDriver(teamsOf: fixture, width: 120, height: 24)
        wide.keys("p")
        try wide.expectGolden("pane-wide")
        wide.keys("j")
        #expect(wide.text.contains("┌─ Japan"), "\(wide.text)")
        wide.keys("p")
        #expect(!wide.text.contains("┌─"), "\(wide.text)")
        let narrow = BrowserDriver(teamsOf: fixture)
        narrow.keys("jp")
        try narrow.expectGolden("pane-narrow")
        narrow.keys("G")
        #expect(narrow.text.contains("┌─ Spain") && narrow.selectedLine?.contains("Spain") == true, "\(narrow.text)")
    }

    @Test func aValueIsWrittenToAFileAndOpened() throws {
        try change("Japan", ["localName": "日本 🏆\n二"])
        let driver = BrowserDriver(teamsOf: fixture)
        driver.find("Japan")
        driver.keys("<Enter>/")
        driver.type("local")
        driver.keys("<Enter>w")
        #expect(driver.text.contains("write Local name to: localName.txt"), "\(driver.text)")
        let file = fixture.folder.appendingPathComponent("out.txt")
        driver.keys("<C-u>")
        driver.type(file.path)
        driver.keys("<Enter>")
        #expect(try String(contentsOf: file, encoding: .utf8) == "日本 🏆\n二", "\(driver.text)")
        // A file is not replaced.
        driver.keys("w<C-u>")
        driver.type(file.path)
        driver.keys("<Enter>")
        #expect(driver.text.contains("out.txt exists; type"), "\(driver.text)")
        driver.keys("<Esc>")
        var opened: URL?
        driver.browser.openFile = { file, ended in
            opened = file
            MainActor.assumeIsolated { ended(127) }
        }
        driver.keys("x")
        let copy = try #require(opened)
        #expect(copy.lastPathComponent == "localName.txt")
        #expect(try String(contentsOf: copy, encoding: .utf8) == "日本 🏆\n二")
        // A number has no file.
        driver.keys("/")
        driver.type("wins")
        driver.keys("<Enter>w")
        #expect(driver.text.contains("Wins has no bytes and no text to write"), "\(driver.text)")
    }

    /// Moving to a record wraps only the rows that the pane shows, not all of a long text.
    @Test func aLongTextIsBrokenAsFarAsItIsShown() throws {
        try change("Japan", ["localName": String(repeating: "nippón ", count: 100_000)])
        let driver = BrowserDriver(teamsOf: fixture, width: 120, height: 24)
        driver.keys("pj")
        let pane = try #require(driver.browser.list?.detailPane)
        #expect(driver.text.contains("┌─ Japan") && driver.text.contains("+ ─"), "\(driver.text)")
        #expect(pane.rows.known.count < 2 * 24 && !pane.rows.isComplete)
        driver.keys("<Tab><PgDn><PgDn>")
        #expect(pane.rows.known.count < 4 * 24)
        // Properties after the text are found, and G moves to the last row.
        driver.keys("/")
        driver.type("wins")
        driver.keys("<Enter>")
        #expect(pane.current?.title == "Wins", "\(driver.text)")
        driver.keys("G")
        #expect(pane.rows.isComplete && pane.cursor == pane.rows.known.count - 1)
    }

    @Test func tabMovesToThePaneAndBack() {
        let driver = BrowserDriver(teamsOf: fixture, width: 120, height: 24)
        driver.keys("'U<Tab>")
        driver.keys("[")
        #expect(driver.text.contains("[ has no command on this screen"), "\(driver.text)")
        driver.keys("<Tab>[")
        #expect(driver.text.contains("┌─ Brazil"), "\(driver.text)")
        driver.keys("<Tab>G<Enter>")
        #expect(driver.text.contains("Brazil › Maracanã"), "\(driver.text)")
        // The list's cursor stays on the team.
        driver.keys("<Esc>")
        #expect(driver.text.contains("┌─ Brazil ─"))
        driver.keys("<Esc>j")
        #expect(driver.text.contains("┌─ Argentina"), "\(driver.text)")
        driver.keys("<Tab>q")
        #expect(!driver.text.contains("┌─"))
    }

    @Test func longTextsAreBrokenAndSearched() throws {
        let text = (1...80).map { "word\($0)" }.joined(separator: " ") + "\nsecond paragraph"
        try change("Spain", ["localName": text])
        let driver = BrowserDriver(teamsOf: fixture)
        driver.find("Spain")
        driver.keys("<Enter>")
        for word in ["word1 ", "word40", "word80", "second paragraph"] {
            #expect(driver.text.contains(word), "\(word): \(driver.text)")
        }
        driver.keys("/")
        driver.type("WORD66")
        driver.keys("<Enter>")
        #expect(driver.selectedLine?.contains("word66") == true, "\(driver.text)")
        // A text longer than the screen can be paged.
        driver.screen.resize(width: 40, height: 12)
        driver.send(.resumed)
        driver.keys("G")
        #expect(driver.text.contains("Wins"), "\(driver.text)")
        driver.keys("gg<Space><Space>")
        #expect(driver.text.contains("word"))
    }

    @Test func jsonUnfolds() throws {
        try change("Spain", ["localName": #"{"coach": {"name": "Luis", "years": [2022, 2024]}, "ok": true}"#])
        let driver = BrowserDriver(teamsOf: fixture)
        driver.find("Spain")
        driver.keys("<Enter>/")
        driver.type("local")
        driver.keys("<Enter>")
        #expect(driver.selectedLine?.contains("▸ {2}") == true, "\(driver.text)")
        driver.keys("<Enter>")
        #expect(driver.text.contains("▸ {2}") && driver.text.contains("true"), "\(driver.text)")
        driver.keys("j<Enter>jj<Enter>")
        try driver.expectGolden("record-json")
        driver.keys("kkkza")
        #expect(!driver.text.contains("Luis"))
    }

    @Test func relatedRecordsUnfoldInPlace() throws {
        let driver = BrowserDriver(BrowserOptions(storeURL: fixture.storeURL, entityName: "Venue"))
        driver.find("Wembley")
        driver.keys("<Enter>")
        try driver.expectGolden("record-relations")
        driver.keys("G")
        #expect(driver.selectedLine?.contains("England") == true, "\(driver.text)")
        driver.keys("za")
        #expect(driver.text.contains("Qualifying zone") && driver.text.contains("UEFA"), "\(driver.text)")
        driver.keys("za")
        #expect(!driver.text.contains("Qualifying zone"))
    }

    @Test func manyRelatedRecordsAreCountedAndNotRead() throws {
        try fixture.elsewhere { context in
            let venue = try #require(
                try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Venue")).first {
                    $0.value(forKey: "name") as? String == "Azteca"
                })
            for index in 0..<700 {
                let team = NSEntityDescription.insertNewObject(forEntityName: "Team", into: context)
                team.setValue("Club \(1000 + index)", forKey: "teamName")
                team.setValue(venue, forKey: "homeVenue")
            }
            try context.save()
        }
        let driver = BrowserDriver(BrowserOptions(storeURL: fixture.storeURL, entityName: "Venue"))
        driver.find("Azteca")
        driver.keys("<Enter>")
        #expect(driver.text.contains("701 Teams") && driver.text.contains("Club 1000"), "\(driver.text)")
        #expect(driver.text.contains("all 701…"))
        let read = driver.browser.session?.context.registeredObjects.count { $0.entity.name == "Team" } ?? 0
        #expect(read < 50, "\(read) teams were read")
        driver.keys("G<Enter>")
        driver.type("1699")
        #expect(driver.text.contains("1 item"), "\(driver.text)")
        driver.keys("<Enter>")
        #expect(driver.text.contains("Azteca › Club 1699"), "\(driver.text)")
    }

    @Test func bytesAreShownAsHexAndPicturesByTheirKind() throws {
        let png = try #require(
            Data(
                base64Encoded:
                    "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAYAAACddGYaAAAAEklEQVR4nGP4z8DwHxkzIAsAAKXgB/n0pAv3AAAAAElFTkSuQmCC"
            ))
        #expect(PictureHeader(png)?.text == "PNG image, 3×2")
        #expect(PictureHeader(Data("GIF89a".utf8) + Data([5, 0, 7, 0]))?.text == "GIF image, 5×7")
        let jpeg = Data([0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 0, 0, 0xFF, 0xC0, 0, 11, 8, 0, 9, 0, 16, 1, 0, 0, 0, 0])
        #expect(PictureHeader(jpeg)?.text == "JPEG image, 16×9")
        #expect(PictureHeader(Data([1, 2, 3])) == nil && PictureHeader(Data()) == nil)
        #expect(PictureHeader(Data([0xFF, 0xD8, 0xFF])) != nil)
        let lines = HexDump.lines(of: Data(0..<40), width: 100)
        #expect(lines.count == 3 && lines[2].hasPrefix("000020  20 21 22 23 24 25 26 27 "), "\(lines)")
        #expect(lines[2].hasSuffix("   !\"#$%&'"), "\(lines[2])")
        #expect(HexDump.lines(of: Data(count: 70_000), width: 40).last == "and 4,464 bytes more")
        #expect(HexDump.lines(of: Data(count: 65_537), width: 40).last == "and 1 byte more")
    }

    @Test func picturesCoverEmptyLinesIfTheTerminalShowsThem() throws {
        let png = try #require(
            Data(
                base64Encoded:
                    "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAYAAACddGYaAAAAEklEQVR4nGP4z8DwHxkzIAsAAKXgB/n0pAv3AAAAAElFTkSuQmCC"
            ))
        let attribute = NSAttributeDescription()
        attribute.name = "photo"
        attribute.attributeType = .binaryDataAttributeType
        let entity = NSEntityDescription()
        entity.name = "Photo"
        entity.properties = [attribute]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let object = NSManagedObject(entity: entity, insertInto: nil)
        object.setValue(png, forKey: "photo")
        let folded = RecordLines(unfolded: [], width: 40).lines(of: object)
        #expect(folded.map(\.value) == ["PNG image, 3×2, 75 bytes"] && folded[0].fold == .closed)
        let hex = RecordLines(unfolded: ["photo"], width: 40).lines(of: object)
        #expect(hex.count == 11 && hex[1].value.hasPrefix("000000  89 50 4e 47"), "\(hex.map(\.value))")
        let shown = RecordLines(unfolded: ["photo"], width: 40, showsPictures: true).lines(of: object)
        #expect(shown.count == 13 && shown[1].picture == png && shown[2].picture == nil)
        let area = PictureArea(try #require(PictureHeader(png)), width: 40)
        #expect(area.width == 36 && area.height == 12)
        #expect(PictureArea(try #require(PictureHeader(png)), width: 6).height == 2)
    }

    @Test func propertyListsAreTrees() throws {
        let list: [String: Any] = ["name": "x", "tags": ["a", "b"], "raw": Data([1, 2])]
        let data = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
        let tree = try #require(ValueTree(data))
        #expect(tree.summary == "{3}")
        #expect(tree.parts.map(\.title) == ["name", "raw", "tags"])
        #expect(tree.parts.map(\.value.summary) == ["x", "2 bytes", "[2]"])
        #expect(ValueTree(["raw": Data([1])])?.parts.first?.value.summary == "1 byte")
        #expect(ValueTree("{broken") == nil && ValueTree("plain") == nil && ValueTree(Data([0, 1])) == nil)
        #expect(ValueTree([1, 2, 3])?.summary == "[3]" && ValueTree(3) == nil)
    }

    @Test func datesAreShownShortAndExactly() throws {
        let date = Date(timeIntervalSinceReferenceDate: 693_075_723.25)
        try change("Spain", ["firstAppearance": date])
        let driver = BrowserDriver(teamsOf: fixture)
        driver.find("Spain")
        driver.keys("<Enter>")
        #expect(driver.text.contains("2022-12-18 17:02:03.25Z"), "\(driver.text)")
        #expect(DateDisplay.short(date) == "2022-12-18 17:02Z")
    }

    /// Dates are shown, grouped, counted and typed with the same calendar and time zone.
    @Test func datesOfAllTimesAreThoseOfOneCalendar() throws {
        for text in ["1500-01-01", "0004-02-29", "-0044-03-15", "+12000-06-30", "2022-12-18"] {
            let date = try #require(JSONValue.string(text).date)
            #expect(DateDisplay.short(date) == text && DateDisplay.exact(date) == text)
            var picked: Date?
            let picker = CalendarPicker(date) { picked = $0 }
            for key in KeySequence("lh").keys { _ = picker.handle(.key(key)) }
            picker.pick()
            #expect(picked == date)
        }
        #expect(DateDisplay.short(Date(timeIntervalSinceReferenceDate: 1e20)) == "1e+20")
        let attribute = try #require(Fixture.makeModel().entitiesByName["Team"]?.attributesByName["firstAppearance"])
        let early = try (0..<40).map { try #require(JSONValue.string("15\(10 + $0)-01-01").date) }
        let buckets = ValueBuckets(early.map { ($0, 1) }, of: attribute, at: "firstAppearance", greatestCount: 9)
            .buckets
        #expect(
            buckets.first?.title == "1510 – 1514" && buckets.allSatisfy { $0.count == 5 }, "\(buckets.map(\.title))")
        #expect(SectionChoice("firstAppearance:month").title == "First appearance (month, UTC)")
    }

    @Test func thePaneClosesWithTheLastRecordOfAFilter() {
        let driver = BrowserDriver(teamsOf: fixture, width: 120)
        driver.find("Spain")
        driver.browser.list?.openDetailPane()
        driver.draw()
        #expect(driver.text.contains("España"))
        driver.command("filter teamName == \"none\"")
        #expect(driver.browser.list?.detailPane == nil && !driver.text.contains("España"), "\(driver.text)")
        driver.command("filter wins > 0")
        #expect(driver.browser.list?.detailPane != nil)
    }

    /// Rows unfolded below the last line are scrolled into view.
    @Test func whatIsUnfoldedBeneathTheLastLineIsSeen() {
        for height in [12, 13, 14, 15, 16] {
            let driver = BrowserDriver(teamsOf: fixture, height: height)
            driver.find("Brazil")
            driver.keys("<Enter>G")
            let last = driver.selectedLine ?? ""
            #expect(last.contains("Maracanã"), "\(driver.text)")
            driver.keys("za")
            #expect(driver.text.contains("78838"), "\(driver.text)")
            #expect(driver.selectedLine?.contains("Maracanã") == true, "\(driver.text)")
        }
    }
}
