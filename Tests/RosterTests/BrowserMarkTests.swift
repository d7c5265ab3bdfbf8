import CoreData
import Foundation
import TerminalKit
import Testing

@testable import Roster

/// Marked records, and commands for all of them.
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

    @Test func spaceMarksAndMovesDown() {
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
        // Marks stay with the records after sorting.
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

    @Test func copiesOfManyArePreviewed() throws {
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
        #expect(driver.text.contains("name a .csv, .tsv or .json file"), "\(driver.text)")
        driver.keys("<C-u>")
        driver.type(file.path)
        driver.keys("<Enter>")
        let lines = try String(contentsOf: file, encoding: .utf8).split(whereSeparator: \.isNewline)
        #expect(lines.count == 3 && lines[1].contains("Argentina") && lines[2].contains("Atlantis"), "\(lines)")
        driver.keys("gw")
        driver.type(file.path)
        driver.keys("<Enter>")
        #expect(driver.text.replacing("\n", with: " ").contains("exists; type another name"), "\(driver.text)")
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

    /// Names in the rows that the range would mark.
    private var pending: [String] {
        driver.lines.filter { $0.dropFirst().hasPrefix("│") }.map { String($0.dropFirst(2).prefix { $0 != " " }) }
    }

    @Test func aRangeThatIsBegunIsSeenAndMarkedBySpace() {
        driver.keys("jv")
        #expect(pending == ["Atlantis"] && driver.text.contains("range: 1"), "\(driver.text)")
        driver.keys("jj")
        #expect(pending == ["Atlantis", "Brazil", "Cameroon"] && marked.isEmpty, "\(driver.text)")
        #expect(driver.text.contains("range: 3") && driver.lines[23].contains("Space mark the range"))
        driver.keys("kkk")
        #expect(pending == ["Argentina", "Atlantis"] && driver.text.contains("range: 2"), "\(driver.text)")
        driver.keys("4j<Space>")
        #expect(marked == ["Atlantis", "Brazil", "Cameroon", "England"] && pending.isEmpty, "\(driver.text)")
        #expect(driver.text.contains("4 records marked") && !driver.text.contains("range of"), "\(driver.text)")
        // Escape cancels the range; the marks stay.
        driver.keys("vj<Esc>")
        #expect(pending.isEmpty && marked.count == 4 && !driver.text.contains("range of"), "\(driver.text)")
        driver.keys("<Space>")
        #expect(driver.text.contains(" 5 marked"), "\(driver.text)")
    }

    @Test func deletingTheStartOfARangeElsewhereIsReported() async throws {
        driver.keys("jv")
        #expect(pending == ["Atlantis"], "\(driver.text)")
        driver.keys("jj")
        try fixture.elsewhere { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
            request.predicate = NSPredicate(format: "teamName == 'Atlantis'")
            for team in try context.fetch(request) { context.delete(team) }
            try context.save()
        }
        let driver = driver
        try await driver.wait(for: "the word") {
            driver.text.contains("the first record of the range was deleted")
        }
        #expect(!driver.text.contains("range of") && marked.isEmpty, "\(driver.text)")
        driver.keys("v")
        #expect(driver.text.contains("range: 1"), "\(driver.text)")
    }

    @Test func narrowScreensAlsoShowHowToMarkARange() {
        let driver = BrowserDriver(teamsOf: fixture, width: 40, height: 12)
        driver.keys("vj")
        driver.keys("j")
        #expect(driver.lines[11].contains("Space mark the range") && driver.lines[11].contains("Esc cancel range"))
    }

    @Test func aCopiedPredicateNamesEachValueOnce() {
        var copied: [String] = []
        driver.browser.copyText = {
            copied.append($0)
            return true
        }
        driver.command("mark by predicate")
        driver.type("qualifyingZone == 'AFC' OR qualifyingZone == 'UEFA'")
        driver.keys("<Enter>")
        for _ in 0..<9 where driver.browser.list?.focusedKey != "qualifyingZone" { driver.keys("l") }
        driver.keys("yp")
        #expect(copied == ["qualifyingZone IN {\"UEFA\", \"AFC\"}"], "\(copied)")
        driver.keys("<Esc>*")
        driver.type("qualifyingZone == 'AFC'")
        driver.keys("<Enter>yp")
        #expect(copied.last == "qualifyingZone == \"AFC\"", "\(copied)")
    }

    @Test func theUndoMessageNamesTheEntity() {
        driver.keys("<Space><Space>")
        for _ in 0..<9 where driver.browser.list?.focusedKey != "wins" { driver.keys("l") }
        driver.keys("e77<Enter>y")
        driver.keys("u")
        #expect(driver.text.contains("undone: edit Wins of 2 Teams"), "\(driver.text)")
    }

    @Test func marksThatAFilterHidesAreNotTakenForTheRecordUnderTheCursor() {
        driver.keys("<Space><Space>")
        driver.command("filter wins > 60")
        driver.browser.copyText = { _ in true }
        for keys in ["D", "e", "gd", "gw", "yc", "yy"] {
            driver.keys("k")
            driver.keys(keys)
            #expect(driver.text.contains("no marked record is in the list"), "\(keys): \(driver.text)")
        }
    }
}
