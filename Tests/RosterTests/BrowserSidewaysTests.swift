import CoreData
import Foundation
import TerminalKit
import Testing

@testable import Roster

/// A list whose columns scroll sideways: keys, frozen columns, numbers of hidden columns, and marks.
@MainActor
@Suite(.serialized) struct BrowserSidewaysTests {
    let fixture: Fixture

    init() throws {
        fixture = try Fixture()
    }

    private static let chinese = ["沙特阿拉伯国家足球队", "日本", "大韩民国国家足球代表队及其教练组", "伊朗", "澳大利亚"]

    /// A store with one entity of five records: a name, and numbered columns of texts and numbers.
    private func fill(columns: Int, name: String? = "name") throws {
        func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
            return attribute
        }
        let numbered = (1..<max(1, columns)).map { number in
            attribute(
                "value\(number < 10 ? "0" : "")\(number)",
                number % 3 == 0 ? .stringAttributeType : .integer32AttributeType)
        }
        let entity = NSEntityDescription()
        entity.name = "Sheet"
        entity.properties = (name.map { [attribute($0, .stringAttributeType)] } ?? []) + numbered
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let container = NSPersistentContainer(name: "Sheet", managedObjectModel: model)
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: fixture.storeURL)]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        for row in 0..<5 {
            let record = NSEntityDescription.insertNewObject(forEntityName: "Sheet", into: container.viewContext)
            if let name { record.setValue(Self.chinese[row], forKey: name) }
            for (index, attribute) in numbered.enumerated() {
                let isText = attribute.attributeType == .stringAttributeType
                let value: Any = isText ? "第\(index)列 text \(row)" : 1000 * row + index
                record.setValue(value, forKey: attribute.name)
            }
        }
        try container.viewContext.save()
    }

    private func sheet(width: Int = 80, height: Int = 24, repertoire: TextWidth.Repertoire = .unicode) -> BrowserDriver
    {
        BrowserDriver(
            BrowserOptions(storeURL: fixture.storeURL, entityName: "Sheet"), width: width, height: height,
            repertoire: repertoire)
    }

    @Test func columnsScrollWholeAndTheNameStays() throws {
        try fill(columns: 60)
        let driver = sheet()
        let all = try #require(driver.browser.list).view.columns
        #expect(all.count == 60 && driver.lines[1].hasPrefix("  Name↑"))
        try driver.expectGolden("sideways-80x24")
        driver.keys("20l")
        #expect(driver.browser.list?.view.focusedColumn == 20)
        try driver.expectGolden("sideways-20-80x24")
        driver.keys("$")
        #expect(driver.lines[1].hasSuffix(all[59].title) && !driver.lines[1].contains("›"), "\(driver.text)")
        // Every column is visible from its start when it has the focus.
        for column in all.reversed() {
            #expect(driver.lines[1].contains(column.title) && driver.lines[1].hasPrefix("  Name↑"), "\(driver.text)")
            driver.keys("h")
        }
        driver.keys("$^")
        #expect(driver.browser.list?.focusedKey == "name" && !driver.lines[1].contains("‹"), "\(driver.text)")
        driver.keys("<Right>0")
        #expect(driver.browser.list?.focusedKey == "name")
    }

    @Test func wideAndNarrowAndPlainScreens() throws {
        try fill(columns: 60)
        let wide = sheet(width: 200, height: 50)
        wide.keys("30l")
        try wide.expectGolden("sideways-200x50")
        let narrow = sheet(width: 32, height: 10)
        narrow.keys("4l")
        try narrow.expectGolden("sideways-32x10")
        let plain = sheet(width: 60, height: 10, repertoire: .ascii)
        plain.keys("9l")
        #expect(plain.text.utf8.allSatisfy { $0 < 0x80 })
        #expect(plain.lines[1].contains("<") && plain.lines[1].hasSuffix(">"), "\(plain.text)")
        let pane = sheet(width: 120)
        pane.keys("p7l")
        try pane.expectGolden("sideways-pane")
    }

    /// The screen is used up to its end, whatever is visible.
    @Test func noScreenStaysEmpty() throws {
        try fill(columns: 30)
        for width in [40, 57, 80, 100, 133] {
            let driver = sheet(width: width)
            for _ in 0..<30 {
                // A number is hidden if not even its beginning fits before the number of hidden columns.
                let ends = (2...6).map { y in driver.screen.frame.line(y).reversed().prefix { $0.text == " " }.count }
                #expect((ends.min() ?? 0) < 10, "\(driver.text)")
                driver.keys("l")
            }
        }
    }

    @Test func anyTwoColumnsStandSideBySide() throws {
        try fill(columns: 60)
        let driver = sheet()
        for (first, second) in [(3, 55), (40, 7), (59, 58)] {
            let driver = sheet()
            let titles = try #require(driver.browser.list).view.columns.map(\.title)
            driver.keys("\(first)lgF")
            #expect(driver.text.contains("2 columns frozen"), "\(driver.text)")
            let keys = try #require(driver.browser.list).view.columns.map(\.id)
            let place = try #require(driver.browser.list?.view.columns.firstIndex { $0.title == titles[second] })
            driver.keys("^\(place)l")
            #expect(driver.browser.list?.focusedKey == keys[place])
            #expect(
                driver.lines[1].contains(titles[first]) && driver.lines[1].contains(titles[second]), "\(driver.text)")
        }
        driver.keys("gF")
        #expect(driver.text.contains("1 column frozen"), "\(driver.text)")
        driver.keys("5l3<S-Right>")
        #expect(driver.browser.list?.view.focusedColumn == 8)
    }

    @Test func columnsAreMarkedInTheirWholeHeight() throws {
        try fill(columns: 12)
        let driver = sheet()
        driver.keys("ll")
        let line = driver.screen.frame.line(1)
        let x = try #require(line.firstIndex { $0.style.isSelected }) - line.startIndex
        for y in 3...6 { #expect(driver.screen.frame[x, y].style.role == .focusedColumn, "\(driver.screen.dump())") }
        #expect(driver.screen.frame[x, 2].style.isSelected && driver.screen.frame[2, 2].style.isSelected)
        #expect(driver.screen.frame[2, 4].style.role == .text)
    }

    @Test func listsOfOneColumnAndOfNone() throws {
        try fill(columns: 1)
        let driver = sheet(width: 30)
        driver.keys("ll$h^gfgF")
        #expect(driver.lines[1] == "  Name↑" && driver.lines.contains { $0.contains("沙特阿拉伯国家足球队") }, "\(driver.text)")
        let other = try Fixture()
        let list = BrowserSidewaysTests(other)
        try list.fill(columns: 0, name: nil)
        let empty = list.sheet(width: 50)
        empty.keys("ll$h^gfgFjk")
        #expect(empty.lines[1] == "  Record" && empty.text.contains("Sheet p1"), "\(empty.text)")
    }

    private init(_ fixture: Fixture) { self.fixture = fixture }

    /// Frozen columns are kept, and a file of an older version, in which no column was frozen, freezes the name.
    @Test func frozenColumnsAreRemembered() throws {
        let layout = try JSONDecoder().decode(
            ColumnLayout.self, from: Data(#"{"order":[],"hidden":[],"added":[],"widths":{},"frozen":0}"#.utf8))
        #expect(layout.frozen == 1 && layout.isDefault)
        var changed = ColumnLayout()
        changed.frozenCount = 0
        let again = try JSONDecoder().decode(ColumnLayout.self, from: JSONEncoder().encode(changed))
        #expect(again.frozen == 0 && again == changed)
    }

    /// A frame reads the visible columns of the visible rows, whatever the list's size.
    @Test func aStepReadsOnlyWhatIsVisible() async throws {
        let driver = try await BrowserDriver.ofManyTeams(3000, in: fixture)
        let list = try #require(driver.browser.list)
        driver.keys("G")
        driver.keys("$")
        driver.keys("^")
        #expect(list.records.objectCount == 3000 && driver.text.contains("3,000/3,000"))
        let registered = list.session.context.registeredObjects.count { !$0.isFault }
        #expect(registered < 600, "\(registered) records were read")
    }
}
