import CoreData
import Foundation
import TerminalKit
import Testing

@testable import Roster

/// Marked records, and what is done with all of them at once.
@MainActor
@Suite(.serialized) struct BrowserMarkTests {
    let fixture: Fixture
    let driver: BrowserDriver

    init() throws {
        fixture = try Fixture()
        try fixture.fill()
        driver = BrowserDriver(BrowserOptions(storeURL: fixture.storeURL, entityName: "Team", sortKeys: "teamName"))
    }

    private var marked: [String] {
        driver.lines.filter { $0.dropFirst().hasPrefix("›") }.map { line in
            String(line.dropFirst(2).prefix { $0 != " " })
        }
    }

    private func count(_ predicate: String) throws -> Int {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
        request.predicate = NSPredicate(format: predicate)
        return try fixture.elsewhere { try $0.count(for: request) }
    }

    @Test func spaceMarksAndGoesOn() {
        driver.keys("<Space><Space>")
        #expect(marked == ["Argentina", "Atlantis"], "\(driver.text)")
        #expect(driver.text.contains("2 marked") && driver.selectedLine?.hasPrefix("Brazil") == true)
        driver.keys("k<Space>")
        #expect(marked == ["Argentina"])
        driver.keys("3<Space>")
        #expect(driver.text.contains("4 marked"), "\(driver.text)")
        driver.keys("<Esc>")
        #expect(marked.isEmpty)
    }

    @Test func rangesPredicatesAndInversion() {
        driver.keys("jv2jv")
        #expect(marked == ["Atlantis", "Brazil", "Cameroon"], "\(driver.text)")
        driver.keys("~")
        #expect(driver.text.contains("13 marked"))
        driver.keys("<Esc>*")
        driver.type("titles > 3")
        driver.keys("<Enter>")
        #expect(marked == ["Brazil", "Germany", "Italy"], "\(driver.text)")
        // Marks stay with the records, in whatever order they stand.
        driver.keys(":")
        driver.type("sort wins:desc")
        driver.keys("<Enter>")
        #expect(marked == ["Brazil", "Germany", "Italy"], "\(driver.text)")
        driver.keys("*")
        driver.type("nothing = 3")
        driver.keys("<Enter>")
        #expect(driver.text.contains("nothing"), "\(driver.text)")
    }

    @Test func aFieldOfAllMarkedIsSetAfterALook() throws {
        driver.keys("<Space><Space>")
        for _ in 0..<10
        where driver.browser.list?.view.columns[driver.browser.list?.view.focusedColumn ?? 0].id != "wins" {
            driver.keys("l")
        }
        driver.keys("e")
        driver.type("-4")
        driver.keys("<Enter>")
        #expect(driver.text.contains("must be at least 0"), "\(driver.text)")
        driver.keys("<C-u>")
        driver.type("77")
        driver.keys("<Enter>")
        #expect(
            driver.text.contains("Argentina: 47 → 77") && driver.text.contains("Atlantis: 0 → 77"), "\(driver.text)")
        driver.keys("y<C-s>")
        #expect(driver.text.contains("saved 2 records"))
        #expect(try count("wins == 77") == 2)
        driver.keys("u<C-s>")
        #expect(try count("wins == 77") == 0)
    }

    @Test func allMarkedAreDeletedAndCopied() throws {
        driver.keys("<Space><Space>D")
        #expect(driver.text.contains("2 Teams: “Argentina”, “Atlantis”"), "\(driver.text)")
        driver.keys("y<C-s>")
        #expect(try count("TRUEPREDICATE") == 14)
        #expect(!driver.text.contains("marked"))
        driver.keys("gggd")
        driver.keys("<C-s>")
        #expect(try count("teamName == 'Brazil'") == 2)
    }

    @Test func copiesOfManyAreLookedAtFirst() throws {
        driver.keys("<Space><Space>gd")
        #expect(driver.text.contains("Copies of 2 Teams") && driver.text.contains("+ Argentina"), "\(driver.text)")
        driver.keys("n")
        #expect(!driver.text.contains("unsaved"))
        driver.keys("gdy")
        #expect(driver.text.contains("18 Teams") && driver.text.contains("2 unsaved"), "\(driver.text)")
    }

    @Test func theMarkedAreWrittenToAFile() throws {
        let file = fixture.folder.appendingPathComponent("marked.csv")
        driver.keys("<Space><Space>gw")
        #expect(
            driver.text.contains("write 2 Teams to:") && driver.text.contains("Argentina, Atlantis"), "\(driver.text)")
        driver.type(fixture.folder.appendingPathComponent("marked.doc").path)
        driver.keys("<Enter>")
        #expect(driver.text.contains("ends in .csv, .tsv or .json"), "\(driver.text)")
        driver.keys("<C-u>")
        driver.type(file.path)
        driver.keys("<Enter>")
        let lines = try String(contentsOf: file, encoding: .utf8).split(whereSeparator: \.isNewline)
        #expect(lines.count == 3 && lines[1].contains("Argentina") && lines[2].contains("Atlantis"), "\(lines)")
        driver.keys("gw")
        driver.type(file.path)
        driver.keys("<Enter>")
        #expect(driver.text.replacing("\n", with: " ").contains("is there already"), "\(driver.text)")
    }

    @Test func recordsAreCopiedInManyForms() {
        var copied: [String] = []
        driver.browser.copyText = {
            copied.append($0)
            return true
        }
        driver.keys("<Space><Space>yyyvycypyu")
        #expect(copied.count == 5)
        #expect(
            copied[0].split(separator: "\n").count == 2 && copied[0].contains("\"teamName\":\"Argentina\""),
            "\(copied[0])")
        #expect(copied[1].split(whereSeparator: \.isNewline).count == 3, "\(copied[1])")
        #expect(copied[2] == "Argentina\nAtlantis")
        #expect(copied[3] == "teamName IN {\"Argentina\", \"Atlantis\"}")
        #expect(copied[4].hasPrefix("x-coredata://"))
        driver.keys("<Esc>ggyp")
        #expect(copied.last == "teamName == \"Argentina\"")
        #expect(driver.text.contains("copied teamName == \"Argentina\""))
    }
}
