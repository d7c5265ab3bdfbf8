import CoreData
import Foundation
import TerminalKit
import Testing

@testable import Roster

/// Fading rows, a frozen list, a following cursor.
@MainActor
@Suite(.serialized) struct BrowserLivingTests {
    let fixture: Fixture
    let driver: BrowserDriver

    init() throws {
        fixture = try Fixture()
        try fixture.fill()
        driver = BrowserDriver(teamsOf: fixture)
    }

    private func delete(_ names: String...) throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
        request.predicate = NSPredicate(format: "teamName IN %@", names)
        try fixture.elsewhere { context in
            for team in try context.fetch(request) { context.delete(team) }
            try context.save()
        }
    }

    private func insert(_ name: String, zone: String = "UEFA") throws {
        try fixture.elsewhere { context in
            let team = NSEntityDescription.insertNewObject(forEntityName: "Team", into: context)
            team.setValue(name, forKey: "teamName")
            team.setValue(zone, forKey: "qualifyingZone")
            try context.save()
        }
    }

    @Test func deletedRowsFade() async throws {
        let line = try #require(driver.line(of: "Argentina"))
        driver.find("Uruguay")
        try delete("Argentina", "South Korea")
        try await driver.wait(for: "the sign") { driver.lines[line].hasPrefix("− Argentina") }
        #expect(driver.text.contains("14 Teams") && driver.text.contains("CONMEBOL (3)") == false, "\(driver.text)")
        #expect(driver.text.contains("− South Korea"))
        #expect(driver.selectedLine?.hasPrefix("Uruguay") == true, "\(driver.text)")
        // The cursor can move over the row, but commands are refused.
        driver.keys("k")
        driver.keys("D")
        #expect(driver.text.contains("no record under the cursor"), "\(driver.text)")
        driver.keys("k")
        #expect(driver.selectedLine?.hasPrefix("Brazil") == true, "\(driver.text)")
        try await driver.wait(for: "the end of the row") { !driver.text.contains("Argentina") }
        #expect(driver.selectedLine?.hasPrefix("Brazil") == true && !driver.text.contains("South Korea"))
    }

    @Test func recordsDeletedByTheUserDisappearAtOnce() {
        driver.find("Spain")
        driver.keys("Dy")
        // The status line still shows the search text.
        #expect(!driver.lines.dropLast(2).joined().contains("Spain"), "\(driver.text)")
    }

    @Test func aFrozenListDoesNotChange() async throws {
        driver.keys("Z")
        try insert("Aland", zone: "AFC")
        try delete("Japan")
        try await driver.wait(for: "the note") { driver.text.contains("frozen: 2 changes not shown") }
        #expect(driver.text.contains("16 Teams") && !driver.text.contains("Aland"), "\(driver.text)")
        driver.keys("j")
        // The deleted record is still shown, but cannot be edited.
        #expect(driver.selectedLine?.hasPrefix("− Japan") == true, "\(driver.text)")
        driver.keys("e")
        #expect(driver.text.contains("no record under the cursor"), "\(driver.text)")
        driver.keys("k")
        driver.keys("Z")
        #expect(driver.text.contains("Aland") && driver.text.contains("2 changes arrived"), "\(driver.text)")
        #expect(!driver.text.contains("Japan"))
        try insert("Bland", zone: "AFC")
        try await driver.wait(for: "the next change") { driver.text.contains("Bland") }
    }

    /// A frozen list keeps not only its order but also its values, except for the user's edits.
    @Test func valuesOfAFrozenListDoNotChange() async throws {
        driver.keys("Z")
        let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
        request.predicate = NSPredicate(format: "teamName IN {'Brazil', 'Germany'}")
        try fixture.elsewhere { context in
            for team in try context.fetch(request) { team.setValue(88, forKey: "wins") }
            try context.save()
        }
        try await driver.wait(for: "the note") { driver.text.contains("frozen: 2 changes not shown") }
        #expect(!driver.text.contains("88") && driver.text.contains("76"), "\(driver.text)")
        driver.edit("Wins", of: "Brazil", to: "89")
        #expect(driver.line(of: "Brazil").map { driver.lines[$0].contains("89") } == true, "\(driver.text)")
        driver.keys("u")
        #expect(driver.line(of: "Brazil").map { driver.lines[$0].contains("88") } == true, "\(driver.text)")
        // Moved columns keep their values.
        driver.keys("l<S-Right>")
        #expect(driver.line(of: "Germany").map { driver.lines[$0].contains("68") } == true, "\(driver.text)")
        driver.keys("Z")
        #expect(driver.line(of: "Germany").map { driver.lines[$0].contains("88") } == true, "\(driver.text)")
    }

    @Test func sortingUnfreezesTheList() async throws {
        driver.keys("Z")
        try delete("Japan")
        try await driver.wait(for: "the note") { driver.text.contains("frozen: 1 change not shown") }
        driver.keys(":")
        driver.type("sort teamName")
        driver.keys("<Enter>")
        #expect(!driver.text.contains("frozen") && driver.text.contains("15 Teams"), "\(driver.text)")
    }

    @Test func theCursorFollowsTheNewest() async throws {
        driver.keys("F")
        try insert("Zealand", zone: "UEFA")
        try await driver.wait(for: "the new team") { driver.selectedLine?.contains("Zealand") == true }
        driver.keys("ggF")
        try insert("Yland", zone: "UEFA")
        try await driver.wait(for: "the change") { driver.text.contains("18 Teams") }
        #expect(driver.selectedLine?.contains("Atlantis") == true, "\(driver.text)")
    }

    @Test func placesWithFadingRows() {
        var fading = FadingRows()
        let now = ContinuousClock.now
        fading.add(["b"], place: 1, in: "s")
        fading.add(["d"], place: 3, in: "s")
        fading.settle(counts: ["s": 3])
        // Five rows, of which `b` and `d` were deleted: a −b c −d e
        #expect([0, 1, 2].map { fading.place(ofRecord: $0, in: "s") } == [0, 2, 4])
        #expect([0, 2, 4].map { fading.record(at: $0, in: "s") } == [0, 1, 2])
        #expect(fading.row(at: 1, in: "s")?.texts == ["b"] && fading.row(at: 2, in: "s") == nil)
        // Rows begin to fade in the first frame that shows them.
        fading.removeEnded(now: now + .seconds(60))
        #expect(fading.nextEnd == nil && fading.count == 2)
        fading.noteShown(now: now)
        #expect(fading.nextEnd == now + FadingRows.duration)
        fading.settle(counts: ["s": 0])
        #expect(fading.sections["s"]?.map(\.place) == [0, 1])
        fading.removeEnded(now: now + .seconds(60))
        #expect(fading.isEmpty)
        fading.add(["b"], place: 1, in: "s")
        fading.settle(counts: [:])
        #expect(fading.isEmpty)
    }
}
