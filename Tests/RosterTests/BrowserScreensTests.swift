import CoreData
import Foundation
import TerminalKit
import Testing

@testable import Roster

/// Appearance of the main screens.
@MainActor
@Suite(.serialized) struct BrowserScreensTests {
    let fixture: Fixture

    init() throws {
        fixture = try Fixture()
        try fixture.fill()
    }

    @Test(arguments: [(40, 10), (80, 24), (120, 40), (200, 50)])
    func firstScreen(_ width: Int, _ height: Int) throws {
        let driver = BrowserDriver(teamsOf: fixture, width: width, height: height)
        try driver.expectGolden("first-\(width)x\(height)")
    }

    @Test func firstScreenInASCII() throws {
        let driver = BrowserDriver(teamsOf: fixture, repertoire: .ascii)
        #expect(driver.text.utf8.allSatisfy { $0 < 0x80 })
        try driver.expectGolden("first-ascii")
    }

    @Test func foldedSections() throws {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys("]]]za]")
        try driver.expectGolden("folded-one")
        driver.keys("zM")
        try driver.expectGolden("folded-all")
        driver.keys("zRG")
        #expect(driver.selectedLine?.hasPrefix("Spain") == true)
    }

    @Test func recordAndItsRelationships() throws {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys("'U")
        driver.keys("[<Enter>")
        try driver.expectGolden("record")
        driver.keys("G<Enter>")
        try driver.expectGolden("record-followed")
        driver.keys("<Esc><Esc>")
        #expect(driver.selectedLine?.hasPrefix("Brazil") == true)
        let wide = BrowserDriver(teamsOf: fixture, width: 120, height: 24)
        wide.keys("j<Enter>")
        try wide.expectGolden("record-wide")
    }

    @Test func formsAndTheirErrors() throws {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys("E")
        try driver.expectGolden("form")
        driver.keys("<S-Tab><S-Tab><C-u>-3<Enter>")
        try driver.expectGolden("form-error")
        driver.keys("<Esc>y")
        #expect(driver.text.contains("Japan") && !driver.text.contains("unsaved"))
    }

    @Test func deletingAsksAndNames() throws {
        let driver = BrowserDriver(BrowserOptions(storeURL: fixture.storeURL, entityName: "Venue"))
        driver.keys("jD")
        try driver.expectGolden("delete")
        driver.keys("n")
        #expect(driver.text.contains("Maracanã"))
        driver.keys("jD")
        #expect(driver.text.contains("its delete rule is Deny"))
    }

    @Test func aFilterThatDoesNotParseIsExplained() throws {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys("\\")
        driver.type("wins > ")
        driver.keys("<Enter>")
        try driver.expectGolden("filter-error")
        driver.type("30")
        driver.keys("<Enter>")
        try driver.expectGolden("filtered")
    }

    @Test func helpListsEveryCommand() throws {
        func problems<Screen: CommandScreen>(of screen: Screen.Type) -> [String] { screen.table.problems }
        for screen in CommandTables.screens { #expect(problems(of: screen) == [], "\(screen.keysName)") }
        let driver = BrowserDriver(teamsOf: fixture, width: 80, height: 140)
        driver.keys("?")
        for command in ListCommands.table.commands { #expect(driver.text.contains(command.help)) }
        try driver.expectGolden("help")
    }

    @Test func callbacksAreShown() throws {
        let driver = BrowserDriver(teamsOf: fixture, height: 30)
        driver.keys("c")
        driver.keys("'U")
        driver.keys("[le<C-u>1<Enter>")
        try driver.expectGolden("callbacks")
    }

    @Test func emptyListsShowWhatToDo() throws {
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys("\\")
        driver.type("wins > 1000")
        driver.keys("<Enter>")
        try driver.expectGolden("empty")
        #expect(driver.text.contains("No Teams match the filter"))
    }

    /// Keys that open and close each pane in turn.
    private static let tour = [
        "p", "<Tab>", "jza", "<Tab>p", "gaga", "ga", "gu", "<Esc>", "H", "<Enter>j", "<Esc>", "gt", "jj", "gt", "c",
        "c",
        "|", "jJ<Space>f?<Esc>0<Esc>", "e", "<Esc>", "lle", "<C-u>x<Enter><Esc>", "Z", "Z", "F", "F", "ge", "<Esc>",
        "<Space><Space>gd", "n", "gw", "<Esc>", "<Esc>",
    ]

    @Test func everyPaneCanBeDrawnInEverySize() throws {
        for (width, height) in [(1, 1), (3, 2), (10, 3), (20, 5), (40, 9), (300, 80)] {
            let driver = BrowserDriver(teamsOf: fixture, width: width, height: height)
            for keys in Self.tour { driver.keys(keys) }
            #expect(driver.lines.count == height && !driver.browser.isFinished)
        }
    }

    @Test func everyPaneCanBeDrawnInASCII() throws {
        let driver = BrowserDriver(teamsOf: fixture, height: 30, repertoire: .ascii)
        for keys in Self.tour {
            driver.keys(keys)
            #expect(driver.text.utf8.allSatisfy { $0 < 0x80 }, "\(keys): \(driver.text)")
        }
        driver.set("Wins", to: "3")
        driver.keys("gu")
        #expect(driver.text.contains("-> 3") || driver.text.contains("> 3"), "\(driver.text)")
    }

    @Test func everySizeCanBeDrawn() throws {
        for (width, height) in [(1, 1), (3, 2), (10, 3), (20, 5), (300, 80)] {
            let driver = BrowserDriver(teamsOf: fixture, width: width, height: height)
            driver.keys("j<Enter>e<Esc><Esc>?<Esc>/a<Enter>\\<Esc>c:<Esc>D<Esc>gs<Esc>")
            driver.screen.resize(width: 50, height: 10)
            driver.send(.resumed)
            #expect(driver.lines.count == 10)
        }
    }
}

@Suite struct CountedNounTests {
    @Test(arguments: [
        ("Team", "2 Teams"), ("Match", "2 Matches"), ("Country", "2 Countries"), ("Day", "2 Days"),
        ("Address", "2 Addresses"), ("Status", "2 Statuses"), ("Box", "2 Boxes"),
        ("AdditionalAssetAttributes", "2 AdditionalAssetAttributes"), ("Settings", "2 Settings"),
    ])
    func severalRecordsAreNamedInThePlural(_ noun: String, _ expected: String) {
        #expect(CountedNoun.text(2, noun) == expected && CountedNoun.text(1, noun) == "1 \(noun)")
    }
}
