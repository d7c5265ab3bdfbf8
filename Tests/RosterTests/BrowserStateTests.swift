import CoreData
import Foundation
import TerminalKit
import Testing

@testable import Roster

/// The initial list: the main entity of the store, or the last state.
@MainActor
@Suite(.serialized) struct BrowserStateTests {
    let fixture: Fixture

    init() throws {
        fixture = try Fixture()
        try fixture.fill()
    }

    private var folder: URL { fixture.folder.appendingPathComponent("state") }

    private func driver(_ change: (inout BrowserOptions) -> Void = { _ in }) -> BrowserDriver {
        var options = BrowserOptions(storeURL: fixture.storeURL)
        options.stateFolder = folder
        change(&options)
        return BrowserDriver(options)
    }

    @Test func theFullestEntityIsShownFirstInSections() {
        let driver = driver()
        #expect(driver.text.contains("16 Teams  by Qualifying zone"), "\(driver.text)")
        #expect(driver.text.contains("AFC (3)"))
    }

    @Test func aPhotoLibraryOpensOnItsAssets() throws {
        // `#filePath` is in a folder of `Tests`. The corpus is next to the package, or in `ROSTER_CORPUS`.
        let beside = URL(fileURLWithPath: #filePath + "/../../../../shared/corpus").standardizedFileURL.path
        let root = ProcessInfo.processInfo.environment["ROSTER_CORPUS"] ?? beside
        let corpus = URL(fileURLWithPath: root).appendingPathComponent("stores/photos-11.0")
        guard FileManager.default.fileExists(atPath: corpus.path) else { try Test.cancel("there is no corpus here") }
        let copy = fixture.folder.appendingPathComponent("photos")
        try FileManager.default.copyItem(at: corpus, to: copy)
        let driver = BrowserDriver(BrowserOptions(storeURL: copy.appendingPathComponent("Photos.sqlite")))
        #expect(driver.text.contains("16 Assets  by "), "\(driver.text)")
        driver.keys("ge")
        driver.type("scene")
        #expect(driver.text.contains("SceneClassification") && driver.text.contains("262"), "\(driver.text)")
    }

    @Test func theChooserCounts() {
        let driver = driver()
        driver.keys("ge")
        for line in ["g4 Venue", "g3 Team"] { #expect(driver.text.contains(line), "\(driver.text)") }
        #expect(driver.lines.contains { $0.contains("Team") && $0.contains("16") }, "\(driver.text)")
        driver.type("ven")
        driver.keys("<Enter>")
        #expect(driver.text.contains("3 Venues"))
    }

    @Test func theLastStateIsRestored() throws {
        let first = driver()
        first.keys(":")
        first.type("sort wins:desc")
        first.keys("<Enter>\\")
        first.type("titles < 5")
        first.keys("<Enter>")
        first.find("Spain")
        first.keys("llz>z>")
        first.keys("gh")
        first.keys("'C")
        first.keys("za")
        first.find("Italy")
        // The last column may be hidden: widths depend on the rows seen, and a removed filter leaves wider columns.
        func words(_ driver: BrowserDriver) -> [[Substring]] {
            driver.lines.dropFirst(2).dropLast(2).map { Array($0.split(separator: " ").prefix(4)) }
        }
        let lines = words(first)
        try first.browser.close()
        let second = driver()
        #expect(words(second) == lines, "\(second.text)")
        #expect(second.selectedLine?.contains("Italy") == true)
        // Histories are restored.
        second.keys("\\<C-u><Up>")
        #expect(second.text.contains("filter: titles < 5"), "\(second.text)")
        second.keys("<Esc>/<Up>")
        #expect(second.text.contains("find: Italy"), "\(second.text)")
        second.keys("<Esc>")
        second.keys("g4")
        try second.browser.close()
        let third = driver()
        #expect(third.text.contains("3 Venues"), "\(third.text)")
        third.keys("g3")
        #expect(third.text.contains("filter: titles < 5") && third.selectedLine?.contains("Italy") == true)
    }

    @Test func theCommandLineHasItsWay() throws {
        let first = driver()
        first.keys("g4")
        try first.browser.close()
        let second = driver {
            $0.entityName = "Team"
            $0.sortKeys = "wins:desc"
            $0.predicate = "titles > 0"
        }
        #expect(second.text.contains("sorted ↓Wins") && second.text.contains("filter: titles > 0"), "\(second.text)")
        try second.browser.close()
        // A suggestion applies only without a saved state.
        let third = driver {
            $0.entityName = "Venue"
            $0.isSuggestion = true
        }
        #expect(third.text.contains("filter: titles > 0"), "\(third.text)")
    }

    @Test(arguments: [
        "", "{", "[]", "null", #"{"entity": 3, "lists": {"Team": {"sort": 3}}, "filters": "x"}"#,
        #"{"entity": "Nothing", "lists": {"Team": {"section": "nothing", "sort": [{"key": "x", "ascending": true}]}}}"#,
        #"{"entity": "Team", "lists": {"Team": {"filter": "wins >", "cursor": "x-coredata://x/Team/p9999999"}}}"#,
        #"{"entity": "Team", "lists": {"Team": {"cursor": "nonsense", "columns": {"frozen": -4}}, "Venue": []}}"#,
        #"{"entity": "Team", "lists": {"Team": {"columns": {"order": ["a"], "hidden": ["teamName", "wins", "titles"], "added": ["teams", "x"], "widths": {"teamName": -5, "wins": 99999}, "frozen": 99}}}}"#,
    ])
    func aDamagedStateIsNone(_ text: String) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: BrowserStateFile(folder: folder, store: fixture.storeURL).url)
        let driver = driver()
        #expect(driver.text.contains("16 Teams"), "\(driver.text)")
        driver.keys("jlllG")
        try driver.browser.close()
        #expect(BrowserStateFile(folder: folder, store: fixture.storeURL).read().entity == "Team")
    }

    @Test func aStateThatCannotBeWrittenStopsNothing() throws {
        try Data().write(to: folder)
        let driver = driver()
        driver.keys("j")
        try driver.browser.close()
        #expect(driver.text.contains("16 Teams"))
    }

    @Test func onlyTheUserMayReadTheState() throws {
        let driver = driver()
        try driver.browser.close()
        let path = BrowserStateFile(folder: folder, store: fixture.storeURL).url.path
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }
}
