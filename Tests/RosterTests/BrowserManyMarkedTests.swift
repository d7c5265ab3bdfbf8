import CoreData
import Foundation
import TerminalKit
import Testing

@testable import Roster

/// What is done with very many marked records, while the keys are read.
@MainActor
@Suite(.serialized) struct BrowserManyMarkedTests {
    private static let teams = 20_000
    let fixture: Fixture
    let driver: BrowserDriver

    init() async throws {
        fixture = try Fixture()
        try fixture.fillWithManyTeams(Self.teams)
        driver = BrowserDriver(
            BrowserOptions(storeURL: fixture.storeURL, entityName: "Team", sortKeys: "teamName"), settles: false)
        let driver = driver
        try await driver.wait(for: "the list") { driver.text.contains("20,000 Teams") }
        driver.keys("~")
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
}
