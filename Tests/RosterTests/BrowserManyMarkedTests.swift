import CoreData
import Foundation
import TerminalKit
import TestSupport
import Testing

@testable import Roster

/// What is done with very many marked records, while the keys are read.
@MainActor
@Suite(.needs(.campaign), .serialized) struct BrowserManyMarkedTests {
    private static let teams = 20_000
    let fixture: Fixture
    let driver: BrowserDriver

    init() async throws {
        fixture = try Fixture()
        driver = try await BrowserDriver.ofManyTeams(Self.teams, in: fixture, settles: false)
        driver.keys("~")
        #expect(finish() < .milliseconds(100))
        #expect(driver.text.contains("20,000 records marked"), "\(driver.text)")
    }

    private var isWorking: Bool { driver.browser.layers.top is PiecewiseWork }

    /// Lets the work go on to its end. Answers how long half of the pieces took at most.
    private func finish() -> Duration {
        var times: [Duration] = []
        while isWorking {
            #expect(driver.browser.nextWake.map { $0 <= .now } == true)
            times.append(ContinuousClock().measure { driver.browser.wake() })
        }
        driver.draw()
        return times.sorted().dropFirst(times.count / 2).first ?? .zero
    }

    @Test func whatIsTooMuchToCopyIsRefusedAtOnce() {
        var copied: [String] = []
        driver.browser.copyText = {
            copied.append($0)
            return true
        }
        for keys in ["yy", "yc", "yv", "yt", "yu"] {
            let time = ContinuousClock().measure { driver.keys(keys) }
            #expect(finish() < .milliseconds(100))
            #expect(driver.text.contains("too much to copy: more than 74 kB"), "\(keys): \(driver.text)")
            #expect(time < .milliseconds(700), "\(keys): \(time)")
        }
        // Of a few different values there is a predicate, however many records have them.
        for _ in 0..<9 where driver.browser.list?.focusedKey != "titles" { driver.keys("l") }
        driver.keys("yp")
        #expect(finish() < .milliseconds(100) && copied == ["titles == 0"], "\(copied)")
    }

    @Test func deletingIsLookedAtBesideTheKeys() {
        driver.keys("D")
        #expect(isWorking && driver.lines[23].contains("Esc stops"), "\(driver.text)")
        // What is typed ahead answers nothing.
        driver.keys("yn")
        #expect(isWorking)
        #expect(finish() < .milliseconds(100))
        #expect(
            driver.text.contains("20,000 Teams: “Team 000001”, “Team 000002”, “Team 000003”, …"), "\(driver.text)")
        driver.keys("n")
        driver.keys("D<Esc>")
        #expect(!isWorking && driver.text.contains("stopped ") && !driver.text.contains("Delete?"), "\(driver.text)")
        #expect(driver.browser.session?.context.hasChanges == false)
    }

    @Test func aBulkEditIsLookedAtBesideTheKeys() {
        for _ in 0..<9 where driver.browser.list?.focusedKey != "wins" { driver.keys("l") }
        driver.keys("e")
        #expect(finish() < .milliseconds(100))
        #expect(driver.text.contains("Wins of 20,000 Teams:"), "\(driver.text)")
        driver.type("-3")
        driver.keys("<Enter>")
        #expect(driver.text.contains("must be at least 0"), "\(driver.text)")
        driver.keys("<C-u>")
        driver.type("71")
        driver.keys("<Enter>")
        #expect(isWorking, "\(driver.text)")
        #expect(finish() < .milliseconds(100))
        #expect(
            driver.text.contains("Team 000001: 1 → 71") && driver.text.contains("and 19,994 more"), "\(driver.text)")
    }

    /// Records that move or go while they are gathered are neither forgotten nor taken twice.
    @Test func recordsThatMoveMeanwhileAreChosenOnce() throws {
        let list = try #require(driver.browser.list)
        var chosen = ChosenRecords(of: list)
        var found: [NSManagedObject] = []
        func goOn(upTo count: Int) {
            _ = chosen.handOn(until: .now + .seconds(60)) {
                found.append($0)
                return found.count < count
            }
        }
        goOn(upTo: 5000)
        let context = try #require(driver.browser.session?.context)
        found[10].setValue("Team 019000 x", forKey: "teamName")
        let ahead = list.records.controller.object(at: IndexPath(row: 15_000, section: 0))
        ahead.setValue("Team 000100 x", forKey: "teamName")
        context.delete(list.records.controller.object(at: IndexPath(row: 16_000, section: 0)))
        context.processPendingChanges()
        goOn(upTo: .max)
        #expect(found.count == Self.teams - 1 && Set(found).count == found.count && found.contains(ahead))
    }

    private var context: NSManagedObjectContext {
        get throws { try #require(driver.browser.session).context }
    }

    /// How many records have a value that is not saved.
    private func changed() throws -> Int {
        try context.updatedObjects.count { $0.value(forKey: "wins") as? Int == 71 }
    }

    private func askForWins() {
        for _ in 0..<9 where driver.browser.list?.focusedKey != "wins" { driver.keys("l") }
        driver.keys("e")
        _ = finish()
        driver.type("71")
        driver.keys("<Enter>")
        _ = finish()
        #expect(driver.text.contains("y change"), "\(driver.text)")
    }

    /// Goes on for some pieces.
    private func work(_ pieces: Int) {
        for _ in 0..<pieces where isWorking { driver.browser.wake() }
        driver.draw()
        #expect(isWorking, "\(driver.text)")
    }

    @Test func aRangeIsMarkedBesideTheKeys() throws {
        driver.keys("<Esc>")
        driver.keys("ggvG")
        driver.keys("v")
        #expect(finish() < .milliseconds(100))
        #expect(driver.text.contains("20,000 records marked"), "\(driver.text)")
        // What is under way when Esc stops it marks nothing.
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
        let (early, late) = (walk.found.first, list.records.controller.object(at: IndexPath(row: 15_000, section: 0)))
        early?.setValue("Team 019000 x", forKey: "teamName")
        late.setValue("Team 000100 x", forKey: "teamName")
        for row in 2..<5 { try context.delete(list.records.controller.object(at: IndexPath(row: row, section: 0))) }
        try context.processPendingChanges()
        while !walk.goOn(in: 0..<list.records.objectCount, until: .now + .seconds(60)) {}
        let found = walk.found
        #expect(found.count == Self.teams - 10 && found.contains(late), "\(found.count)")
    }

    @Test func aBulkEditIsMadeBesideTheKeysAndIsOneStep() throws {
        askForWins()
        driver.keys("y")
        #expect(isWorking && driver.lines[23].contains("Esc stops"), "\(driver.text)")
        // What is typed ahead answers nothing.
        driver.keys("uD")
        #expect(finish() < .milliseconds(150 * slowness))
        #expect(driver.text.contains("changed 20,000 records, not saved yet"), "\(driver.text)")
        let session = try #require(driver.browser.session)
        #expect(try changed() == Self.teams && session.unsavedCount == counted(in: session.context))
        #expect(!driver.browser.baseline.isEmpty)
        driver.keys("u")
        #expect(isWorking && driver.lines[23].contains("undoing: edit Wins of"), "\(driver.text)")
        #expect(finish() < .milliseconds(150 * slowness))
        #expect(driver.text.contains("undone: edit Wins of"), "\(driver.text)")
        #expect(try changed() == 0 && session.unsavedCount == 0)
        driver.keys("u")
        #expect(driver.text.contains("nothing to undo"), "\(driver.text)")
        driver.keys("U")
        #expect(finish() < .milliseconds(150 * slowness))
        #expect(driver.text.contains("done again: edit Wins of"), "\(driver.text)")
        #expect(try changed() == Self.teams && session.unsavedCount == counted(in: session.context))
    }

    @Test func aBulkEditThatIsStoppedLeavesNothing() throws {
        askForWins()
        driver.keys("y")
        work(2)
        #expect(try changed() > 0)
        driver.keys("<Esc>")
        _ = finish()
        #expect(driver.text.contains("everything is as it was"), "\(driver.text)")
        #expect(try changed() == 0)
        driver.keys("u")
        #expect(driver.text.contains("nothing to undo"), "\(driver.text)")
        driver.keys("U")
        #expect(driver.text.contains("nothing to redo"), "\(driver.text)")
        // An undo that is stopped is none.
        askForWins()
        driver.keys("y")
        _ = finish()
        driver.keys("u")
        work(2)
        driver.keys("<C-c>")
        _ = finish()
        #expect(try changed() == Self.teams, "\(driver.text)")
        driver.keys("U")
        #expect(driver.text.contains("nothing to redo"), "\(driver.text)")
    }

    @Test func theMarkedAreDeletedBesideTheKeysAndComeBack() throws {
        driver.keys("D")
        _ = finish()
        driver.keys("y")
        #expect(isWorking && driver.lines[23].contains("deleting 20,000 records"), "\(driver.text)")
        work(2)
        driver.keys("<Esc>")
        _ = finish()
        let list = try #require(driver.browser.list)
        #expect(list.records.objectCount == Self.teams && list.marks.objects.count == Self.teams, "\(driver.text)")
        driver.keys("D")
        _ = finish()
        driver.keys("yn")
        #expect(finish() < .milliseconds(150 * slowness))
        #expect(driver.text.contains("deleted 20,000 records; u takes it back"), "\(driver.text)")
        #expect(list.records.objectCount == 0 && list.marks.isEmpty)
        let session = try #require(driver.browser.session)
        #expect(session.unsavedCount == Self.teams && session.unsavedGrowth(of: list.entity) == -Self.teams)
        driver.keys("u")
        #expect(finish() < .milliseconds(150 * slowness))
        #expect(list.records.objectCount == Self.teams && session.unsavedCount == 0, "\(driver.text)")
        #expect(driver.text.contains("1/20,000"), "\(driver.text)")
    }

    /// How many records have something to save, by a look at all of them.
    private func counted(in context: NSManagedObjectContext) -> Int {
        context.insertedObjects.count + context.updatedObjects.count(where: UnsavedRecords.isChangedItself)
            + context.deletedObjects.count
    }
}
