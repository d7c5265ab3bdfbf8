import CoreData
import Foundation
import TerminalKit
import Testing

@testable import Roster

/// Commands for many marked records, during which keys are handled.
@MainActor
@Suite(.serialized) struct BrowserManyMarkedTests {
    private static let teams = 600
    let fixture: Fixture
    let driver: BrowserDriver

    init() async throws {
        fixture = try Fixture()
        driver = try await BrowserDriver.ofManyTeams(Self.teams, in: fixture, settles: false)
        driver.keys("~")
        #expect(finish() >= Self.walk)
        #expect(driver.text.contains("600 records marked"), "\(driver.text)")
    }

    private var isWorking: Bool { driver.browser.layers.top is PiecewiseWork }

    // Minimum numbers of turns of the event loop if no piece of work gets any time: the clock is checked after a number
    // of steps.

    /// Iterating over the rows.
    private static let walk = teams / WorkLimits.small.rowsAtOnce - 1
    /// Gathering the marked records: two steps for each, and sixteen steps between two checks of the clock.
    private static let gathering = 2 * teams / 16 - 1
    /// Making, undoing or redoing an edit, group by group.
    private static let groups = teams / WorkLimits.small.editGroup - 1

    /// Lets the work run to its end. Returns the number of turns of the event loop.
    @discardableResult
    private func finish() -> Int {
        var turns = 0
        while isWorking {
            #expect(driver.browser.nextWake.map { $0 <= .now } == true)
            driver.browser.wake()
            turns += 1
        }
        driver.draw()
        return turns
    }

    @Test func copyingTooMuchIsRefusedAtOnce() {
        var copied: [String] = []
        driver.browser.copyText = {
            copied.append($0)
            return true
        }
        for keys in ["yy", "yc", "yv", "yt", "yu"] {
            driver.keys(keys)
            // Copying does not gather all records first.
            let turns = finish()
            #expect(turns < Self.gathering / 2, "\(keys): \(turns)")
            #expect(driver.text.contains("cannot copy more than 2 kB"), "\(keys): \(driver.text)")
        }
        // A predicate for a few different values is short, regardless of the number of records.
        for _ in 0..<9 where driver.browser.list?.focusedKey != "titles" { driver.keys("l") }
        driver.keys("yp")
        #expect(finish() >= Self.gathering && copied == ["titles == 0"], "\(copied)")
    }

    @Test func aDeletionIsCheckedInTheBackground() {
        driver.keys("D")
        #expect(isWorking && driver.lines[23].contains("Esc stops"), "\(driver.text)")
        // Keys typed ahead do not answer the question.
        driver.keys("yn")
        #expect(isWorking)
        // The records are gathered, and then each is examined three times.
        #expect(finish() >= Self.gathering + 3 * Self.teams / 16 - 1)
        #expect(
            driver.text.contains("600 Teams: “Team 000001”, “Team 000002”, “Team 000003”, …"), "\(driver.text)")
        driver.keys("n")
        driver.keys("D<Esc>")
        #expect(!isWorking && driver.text.contains("stopped ") && !driver.text.contains("Delete?"), "\(driver.text)")
        #expect(driver.browser.session?.context.hasChanges == false)
    }

    @Test func aBulkEditIsCheckedInTheBackground() {
        for _ in 0..<9 where driver.browser.list?.focusedKey != "wins" { driver.keys("l") }
        driver.keys("e")
        #expect(finish() >= Self.gathering)
        #expect(driver.text.contains("Wins of 600 Teams:"), "\(driver.text)")
        driver.type("-3")
        driver.keys("<Enter>")
        #expect(driver.text.contains("must be at least 0"), "\(driver.text)")
        driver.keys("<C-u>")
        driver.type("71")
        driver.keys("<Enter>")
        #expect(isWorking, "\(driver.text)")
        #expect(finish() >= Self.teams / 16 - 1)
        #expect(
            driver.text.contains("Team 000001: 1 → 71") && driver.text.contains("and 594 more"), "\(driver.text)")
    }

    /// Records that move or are deleted while being gathered are neither lost nor passed on twice.
    @Test func recordsThatMoveDuringTheRunAreChosenOnce() throws {
        let list = try #require(driver.browser.list)
        var chosen = ChosenRecords(of: list)
        var found: [NSManagedObject] = []
        func goOn(upTo count: Int) {
            _ = chosen.handOn(until: .now + .seconds(60)) {
                found.append($0)
                return found.count < count
            }
        }
        goOn(upTo: 150)
        let context = try #require(driver.browser.session?.context)
        found[10].setValue("Team 000570 x", forKey: "teamName")
        let ahead = list.records.controller.object(at: IndexPath(row: 450, section: 0))
        ahead.setValue("Team 000003 x", forKey: "teamName")
        context.delete(list.records.controller.object(at: IndexPath(row: 480, section: 0)))
        context.processPendingChanges()
        goOn(upTo: .max)
        #expect(found.count == Self.teams - 1 && Set(found).count == found.count && found.contains(ahead))
    }

    private var context: NSManagedObjectContext {
        get throws { try #require(driver.browser.session).context }
    }

    /// Number of records with an unsaved value.
    private func changed() throws -> Int {
        try context.updatedObjects.count { $0.value(forKey: "wins") as? Int == 71 }
    }

    private func askForWins() {
        for _ in 0..<9 where driver.browser.list?.focusedKey != "wins" { driver.keys("l") }
        driver.keys("e")
        finish()
        driver.type("71")
        driver.keys("<Enter>")
        finish()
        #expect(driver.text.contains("y change"), "\(driver.text)")
    }

    /// Continues for some pieces.
    private func work(_ pieces: Int) {
        for _ in 0..<pieces where isWorking { driver.browser.wake() }
        driver.draw()
        #expect(isWorking, "\(driver.text)")
    }

    @Test func aRangeIsMarkedInTheBackground() throws {
        driver.keys("<Esc>")
        driver.keys("ggvG")
        driver.keys("v")
        #expect(finish() >= Self.walk)
        #expect(driver.text.contains("600 records marked"), "\(driver.text)")
        // Marking that is stopped with Esc marks nothing.
        driver.keys("<Esc>")
        driver.keys("ggvG")
        driver.keys("v")
        driver.keys("<Esc>")
        #expect(!isWorking && driver.text.contains("stopped marking"), "\(driver.text)")
        #expect(try #require(driver.browser.list).marks.isEmpty)
    }

    @Test func rowsThatMoveWhileTheyAreMarkedAreMarked() throws {
        let list = try #require(driver.browser.list)
        let some = list.records.controller.objectIDs(at: 0..<10).map { list.session.context.object(with: $0) }
        var walk = RowWalk(of: list, except: Set(some))
        let all = 0..<Self.teams
        let isDone = walk.goOn(in: all, until: .now)
        #expect(!isDone)
        let (early, late) = (walk.found.first, list.records.controller.object(at: IndexPath(row: 450, section: 0)))
        early?.setValue("Team 000570 x", forKey: "teamName")
        late.setValue("Team 000003 x", forKey: "teamName")
        for row in 2..<5 { try context.delete(list.records.controller.object(at: IndexPath(row: row, section: 0))) }
        try context.processPendingChanges()
        while !walk.goOn(in: 0..<list.records.objectCount, until: .now + .seconds(60)) {}
        let found = walk.found
        #expect(found.count == Self.teams - 10 && found.contains(late), "\(found.count)")
    }

    @Test func aBulkEditRunsInTheBackgroundAndIsOneUndoStep() throws {
        askForWins()
        driver.keys("y")
        #expect(isWorking && driver.lines[23].contains("Esc stops"), "\(driver.text)")
        // Keys typed ahead are ignored.
        driver.keys("uD")
        #expect(finish() >= Self.groups)
        #expect(driver.text.contains("changed 600 records, not saved yet"), "\(driver.text)")
        let session = try #require(driver.browser.session)
        #expect(try changed() == Self.teams && session.unsavedCount == counted(in: session.context))
        #expect(!driver.browser.baseline.isEmpty)
        driver.keys("u")
        #expect(isWorking && driver.lines[23].contains("undoing: edit Wins of"), "\(driver.text)")
        #expect(finish() >= Self.groups)
        #expect(driver.text.contains("undone: edit Wins of"), "\(driver.text)")
        #expect(try changed() == 0 && session.unsavedCount == 0)
        driver.keys("u")
        #expect(driver.text.contains("nothing to undo"), "\(driver.text)")
        driver.keys("U")
        #expect(finish() >= Self.groups)
        #expect(driver.text.contains("redone: edit Wins of"), "\(driver.text)")
        #expect(try changed() == Self.teams && session.unsavedCount == counted(in: session.context))
    }

    @Test func aBulkEditThatIsStoppedLeavesNothing() throws {
        askForWins()
        driver.keys("y")
        work(2)
        #expect(try changed() > 0)
        driver.keys("<Esc>")
        finish()
        #expect(driver.text.contains("nothing was changed"), "\(driver.text)")
        #expect(try changed() == 0)
        driver.keys("u")
        #expect(driver.text.contains("nothing to undo"), "\(driver.text)")
        driver.keys("U")
        #expect(driver.text.contains("nothing to redo"), "\(driver.text)")
        // An undo that was stopped changes nothing.
        askForWins()
        driver.keys("y")
        finish()
        driver.keys("u")
        work(2)
        driver.keys("<C-c>")
        finish()
        #expect(try changed() == Self.teams, "\(driver.text)")
        driver.keys("U")
        #expect(driver.text.contains("nothing to redo"), "\(driver.text)")
    }

    @Test func markedRecordsAreDeletedInTheBackgroundAndRestored() throws {
        driver.keys("D")
        finish()
        driver.keys("y")
        #expect(isWorking && driver.lines[23].contains("deleting 600 records"), "\(driver.text)")
        work(2)
        driver.keys("<Esc>")
        finish()
        let list = try #require(driver.browser.list)
        #expect(list.records.objectCount == Self.teams && list.marks.objects.count == Self.teams, "\(driver.text)")
        driver.keys("D")
        finish()
        driver.keys("yn")
        #expect(finish() >= Self.groups)
        #expect(driver.text.contains("deleted 600 records; u undoes it"), "\(driver.text)")
        #expect(list.records.objectCount == 0 && list.marks.isEmpty)
        let session = try #require(driver.browser.session)
        #expect(session.unsavedCount == Self.teams && session.unsavedGrowth(of: list.entity) == -Self.teams)
        driver.keys("u")
        #expect(finish() >= Self.groups)
        #expect(list.records.objectCount == Self.teams && session.unsavedCount == 0, "\(driver.text)")
        #expect(driver.text.contains("1/600"), "\(driver.text)")
    }

    /// Number of records with something to save, counted by examining all.
    private func counted(in context: NSManagedObjectContext) -> Int {
        context.insertedObjects.count + context.updatedObjects.count(where: UnsavedRecords.isChangedItself)
            + context.deletedObjects.count
    }
}
