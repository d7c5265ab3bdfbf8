import CoreData
import Foundation
import SQLiteAccess
import TerminalKit
import Testing

@testable import Roster

/// A save of many records, which checks for keys, and the pane of unsaved changes.
@MainActor
@Suite(.serialized) struct BrowserLongSaveTests {
    private static let teams = 300
    let fixture: Fixture
    let driver: BrowserDriver

    init() async throws {
        fixture = try Fixture()
        driver = try await BrowserDriver.ofManyTeams(Self.teams, in: fixture)
        try editAll()
    }

    private func editAll() throws {
        let list = try #require(driver.browser.list)
        let all = list.records.controller.objectIDs(at: 0..<Self.teams).map { list.session.context.object(with: $0) }
        driver.browser.editMany("edit Wins of 300 Teams", doing: "changing", count: all.count) { context, index in
            all[index].setValue(71, forKey: "wins")
        } then: {
        }
        driver.settle()
        driver.draw()
        #expect(driver.text.contains("300 unsaved"), "\(driver.text)")
    }

    /// Number of teams with the new value in the store.
    private func stored() throws -> Int {
        try fixture.elsewhere { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
            request.predicate = NSPredicate(format: "wins == 71")
            return try context.count(for: request)
        }
    }

    /// Calls `body` whenever the save checks for keys, with the last line and the number of previous calls.
    private func attending(_ body: @escaping (BrowserDriver, String, Int) -> Void) {
        var calls = 0
        driver.browser.attend = { [unowned driver] in
            driver.draw()
            body(driver, driver.lines[23], calls)
            calls += 1
        }
    }

    private static func key(_ character: Character) -> Event { .key(Key(.character(character))) }

    @Test func movingContinuesAndEditingWaits() throws {
        var lines: [String] = []
        attending { driver, line, number in
            lines.append(line)
            if number == 1 { driver.browser.handle(Self.key("G")) }
            if number == 2 { #expect(driver.selectedLine?.contains("Team 000300") == true, "\(driver.text)") }
            if number == 3 { driver.browser.handle(Self.key("D")) }
            if number == 4 { #expect(line.contains("until it ends you can only move"), "\(line)") }
        }
        driver.keys("<C-s>")
        #expect(lines.count > 8, "\(lines)")
        #expect(lines.contains { $0.contains("saving 300 records") && $0.contains("%") && $0.contains("Esc stops") })
        #expect(driver.text.contains("saved 300 records") && !driver.text.contains("Delete?"), "\(driver.text)")
        #expect(driver.selectedLine?.contains("Team 000300") == true && driver.browser.unsavedCount == 0)
        #expect(try stored() == Self.teams)
        // It can be undone like a short save.
        driver.keys("u")
        #expect(driver.text.contains("undone: edit Wins of") && driver.text.contains("300 unsaved"), "\(driver.text)")
        driver.keys("<C-s>")
        #expect(driver.text.contains("saved 300 records"), "\(driver.text)")
        #expect(try stored() == 0)
    }

    /// The context examines the records of undone edits again.
    @Test func undoneEditsAreCheckedInTheBackground() throws {
        driver.keys("u")
        #expect(driver.text.contains("undone: edit Wins of") && driver.browser.unsavedCount == 0, "\(driver.text)")
        var lines: [String] = []
        attending { _, line, _ in lines.append(line) }
        driver.keys("<C-s>")
        #expect(lines.count > 4 && lines.contains { $0.contains("checking 300 records") }, "\(lines)")
        #expect(driver.text.contains("none of your changes were left to save"), "\(driver.text)")
        #expect(try stored() == 0)
        driver.keys("<C-s>")
        #expect(driver.text.contains("nothing to save"), "\(driver.text)")
    }

    @Test(arguments: [0, 2, 6]) func escapeTakesItBack(_ moment: Int) throws {
        // Over a slow connection, Esc and the next key arrive together.
        let escape = moment == 6 ? Key(.character("j"), .alt) : Key(.escape)
        attending { driver, _, number in if number == moment { driver.browser.handle(.key(escape)) } }
        driver.keys("<C-s>")
        #expect(driver.text.contains("stopped; nothing was saved"), "\(driver.text)")
        #expect(driver.browser.unsavedCount == Self.teams && driver.browser.layers.top === driver.browser.list)
        #expect(try stored() == 0)
        driver.browser.attend = nil
        driver.keys("<C-s>")
        #expect(driver.text.contains("saved 300 records"), "\(driver.text)")
        #expect(try stored() == Self.teams)
    }

    @Test func aLateEscapeIsReported() throws {
        var told = false
        attending { driver, line, _ in
            if line.contains("saving"), !line.contains("Esc stops") {
                told = told || line.contains("can no longer be stopped")
                driver.browser.handle(.key(Key(.escape)))
            }
        }
        driver.keys("<C-s>")
        #expect(told && driver.text.contains("saved 300 records"), "\(driver.text)")
        #expect(try stored() == Self.teams)
    }

    @Test func aSignalEndsTheProgramWithoutTheSave() throws {
        attending { driver, _, number in
            if number == 3 { driver.browser.handle(.terminate(signal: SIGTERM)) }
        }
        driver.keys("<C-s>")
        #expect(driver.browser.isFinished && driver.browser.status == 128 + SIGTERM)
        #expect(driver.browser.lastWords?.contains("300 records were not saved") == true)
        #expect(try stored() == 0)
    }

    @Test func whatOthersChangedIsAskedAboutAsInAShortSave() async throws {
        try fixture.elsewhere { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
            request.predicate = NSPredicate(format: "teamName IN {'Team 000001', 'Team 000002'}")
            for team in try context.fetch(request) { team.setValue(33, forKey: "wins") }
            try context.save()
        }
        driver.keys("<C-s>")
        #expect(driver.text.contains("Changed by another program too"), "\(driver.text)")
        #expect(try stored() == 0)
        driver.keys("t")
        #expect(driver.text.contains("saved"), "\(driver.text)")
        #expect(try stored() == Self.teams - 2)
    }

    // MARK: Other programs

    /// Makes a change as another program that does not use Core Data.
    private func elsewhere(_ sql: String) throws {
        let connection = try Connection(path: fixture.storeURL.path, access: .readWrite)
        defer { connection.close() }
        try connection.execute(sql)
    }

    @Test(arguments: ["d", "r"]) func recordsDeletedByOthersCauseOneQuestion(_ answer: String) async throws {
        let fixture = fixture
        attending { driver, _, number in
            guard number == 1 else { return }
            do {
                let connection = try Connection(path: fixture.storeURL.path, access: .readWrite)
                defer { connection.close() }
                try connection.execute("DELETE FROM ZTEAM WHERE Z_PK = 5")
            } catch { Issue.record(error) }
        }
        let told = try ToldCommits(of: driver)
        let driver = driver
        try await told.next(driver) {
            driver.keys("<C-s>")
            #expect(driver.text.contains("The record with your edits was deleted"), "\(driver.text)")
        }
        #expect(driver.text.contains("Team 000005") && driver.text.contains("Wins: 71"), "\(driver.text)")
        #expect(driver.text.contains("Nothing was saved yet.") && driver.browser.layers.layers.count == 2)
        #expect(try stored() == 0)
        // The watcher found the deletion too, and asked nothing more.
        #expect(driver.browser.layers.layers.count == 2, "\(driver.text)")
        driver.browser.attend = nil
        driver.keys(answer)
        let rest = answer == "d" ? Self.teams - 1 : Self.teams
        #expect(driver.browser.unsavedCount == rest && driver.browser.layers.top === driver.browser.list)
        if answer == "d" { #expect(driver.text.contains("dropped your edits; ^S saves the rest"), "\(driver.text)") }
        driver.keys("<C-s>")
        #expect(driver.text.contains("saved \(GroupedNumber.text(rest)) records"), "\(driver.text)")
        #expect(try stored() == rest)
    }

    /// A record that both deleted is not in conflict: nothing is asked.
    @Test func aRecordThatBothDeletedIsSavedWithoutAQuestion() throws {
        let list = try #require(driver.browser.list)
        let team = list.records.controller.object(at: IndexPath(row: 4, section: 0))
        driver.browser.edit("delete") { $0.delete(team) }
        try elsewhere("DELETE FROM ZTEAM WHERE Z_PK = 5")
        driver.keys("<C-s>")
        #expect(driver.text.contains("saved 299 records") && driver.browser.layers.top === list, "\(driver.text)")
        #expect(try stored() == Self.teams - 1)
    }

    @Test func aLockIsDetectedBeforeRecordsAreExamined() async throws {
        var calls = 0
        driver.browser.attend = { calls += 1 }
        let other = try Connection(path: fixture.storeURL.path, access: .readWrite)
        defer { other.close() }
        try other.execute("BEGIN IMMEDIATE")
        let locked = "another program has locked the store"
        driver.keys("<C-s>")
        #expect(calls == 0 && driver.lines[23].contains(locked), "\(calls) \(driver.text)")
        driver.browser.wake()
        driver.draw()
        #expect(calls == 0 && driver.lines[23].contains(locked), "\(calls) \(driver.text)")
        try other.execute("ROLLBACK")
        let driver = driver
        try await driver.wait(for: "the save") { driver.text.contains("saved 300 records") }
        #expect(try stored() == Self.teams && calls > 0)
    }

    @Test func aDecisionThatWaitsDecidesNothingElse() async throws {
        try elsewhere("UPDATE ZTEAM SET ZWINS = 33, Z_OPT = Z_OPT + 1 WHERE Z_PK < 3")
        driver.keys("<C-s>")
        #expect(driver.text.contains("theirs 33"), "\(driver.text)")
        let other = try Connection(path: fixture.storeURL.path, access: .readWrite)
        defer { other.close() }
        try other.execute("BEGIN IMMEDIATE")
        try other.execute("UPDATE ZTEAM SET ZWINS = 44, Z_OPT = Z_OPT + 1 WHERE Z_PK = 5")
        driver.keys("m")
        #expect(driver.text.contains("another program has locked the store"), "\(driver.text)")
        try other.execute("COMMIT")
        let driver = driver
        try await driver.wait(for: "the question") { driver.text.contains("Wins: ›mine 71   theirs 44") }
        #expect(driver.text.contains("theirs 33") && (try? stored()) == 0, "\(driver.text)")
        driver.keys("m")
        #expect(driver.text.contains("saved 300 records") && (try? stored()) == Self.teams, "\(driver.text)")
    }

    @Test func theListMovesWhileAnAnsweredQuestionIsSaved() throws {
        try elsewhere("UPDATE ZTEAM SET ZWINS = 33, Z_OPT = Z_OPT + 1 WHERE Z_PK < 3")
        driver.keys("<C-s>")
        #expect(driver.text.contains("Changed by another program too"), "\(driver.text)")
        attending { driver, line, number in
            if number == 1 { driver.browser.handle(Self.key("G")) }
            if number == 2 { #expect(driver.selectedLine?.contains("Team 000300") == true, "\(driver.text)") }
        }
        driver.keys("m")
        #expect(driver.text.contains("saved 300 records"), "\(driver.text)")
        #expect(driver.selectedLine?.contains("Team 000300") == true && (try? stored()) == Self.teams)
    }

    @Test func ofVeryManyConflictsAScreenfulIsPainted() throws {
        try elsewhere("UPDATE ZTEAM SET ZWINS = 33, Z_OPT = Z_OPT + 1")
        driver.keys("<C-s>")
        #expect(
            driver.text.contains("Changed by another program too") && driver.text.contains("Team 000001"),
            "\(driver.text)")
        driver.keys("G")
        #expect(driver.text.contains("│ Team 000300") && !driver.text.contains("│ Team 000001"), "\(driver.text)")
        let question = try #require(driver.browser.layers.top as? ConflictScreen)
        func paintsFew() -> Bool { (10...driver.screen.size.height).contains(question.paintedLines) }
        #expect(paintsFew())
        driver.keys("gg")
        #expect(driver.text.contains("│ Team 000001"), "\(driver.text)")
        driver.keys("<PgDn>")
        #expect(driver.text.contains("│ Team 000011") && !driver.text.contains("│ Team 000001"), "\(driver.text)")
        #expect(paintsFew())
        driver.keys("<Esc>")
        #expect(driver.browser.unsavedCount == Self.teams)
    }

    // MARK: Unsaved changes

    @Test func thePaneReadsOnlyTheVisibleChanges() throws {
        let context = try #require(driver.browser.session).context
        driver.keys("gu")
        let pane = try #require(driver.browser.layers.top as? ChangesPane)
        // Only a block or two are sorted.
        func readsFew() -> Bool { (1...(2 * WorkLimits.small.changesBlock)).contains(pane.readCount) }
        #expect(readsFew(), "\(pane.readCount)")
        #expect(
            driver.text.contains("Not saved: 300 records") && driver.lines[0].contains("1/300"), "\(driver.text)")
        #expect(
            driver.lines[1].contains("~ Team Team 000001") && driver.lines[2].contains("Wins: 1 → 71")
                && driver.lines[3].contains("~ Team Team 000002"), "\(driver.text)")
        driver.keys("<PgDn>")
        #expect(driver.lines[0].contains("12/300"), "\(driver.text)")
        driver.keys("<PgUp>jx")
        #expect(
            driver.text.contains("Not saved: 299 records") && !driver.text.contains("Team 000001"), "\(driver.text)")
        #expect(context.updatedObjects.count(where: UnsavedRecords.isChangedItself) == Self.teams - 1)
        driver.keys("G")
        #expect(readsFew(), "\(pane.readCount)")
        #expect(
            driver.lines[0].contains("299/299") && driver.selectedLine?.contains(" → 71") == true
                && driver.text.contains("Team 00029"), "\(driver.text)")
        driver.keys("gg")
        #expect(driver.lines[0].contains("1/299") && driver.lines[1].contains("Team 000002"), "\(driver.text)")
        // The cursor stays on the first and the last line.
        driver.keys("kkkk")
        #expect(driver.selectedLine?.contains("Team 000002") == true, "\(driver.text)")
        driver.keys("u")
        #expect(driver.text.contains("Not saved: 300 records"), "\(driver.text)")
        driver.keys("<Enter>")
        #expect(driver.browser.layers.top === driver.browser.list)
    }
}
