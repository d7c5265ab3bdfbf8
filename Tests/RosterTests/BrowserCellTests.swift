import CoreData
import Foundation
import TerminalKit
import Testing

@testable import Roster

/// Editing values in their cells, by the rules of the model.
@MainActor
@Suite(.serialized) struct BrowserCellTests {
    let fixture: Fixture
    let driver: BrowserDriver

    init() throws {
        fixture = try Fixture()
        try fixture.fill()
        driver = BrowserDriver(teamsOf: fixture)
    }

    private func focus(_ key: String) {
        for _ in 0..<9 { driver.keys("h") }
        for _ in 0..<9 where driver.browser.list?.focusedKey != key { driver.keys("l") }
        #expect(driver.browser.list?.focusedKey == key, "\(driver.text)")
    }

    @Test func aValueIsEditedInItsCell() throws {
        driver.find("Spain")
        focus("wins")
        driver.keys("e")
        try driver.expectGolden("cell")
        driver.keys("<C-u>-3<Enter>")
        #expect(driver.text.contains("wins must be at least 0"), "\(driver.text)")
        driver.keys("<C-u>40<Enter>")
        #expect(driver.text.contains("changed Wins of Spain, not saved yet"), "\(driver.text)")
        #expect(driver.selectedLine?.contains("Spain") == true && driver.selectedLine?.contains("40") == true)
        driver.keys("u")
        #expect(driver.selectedLine?.contains("31") == true, "\(driver.text)")
        driver.keys("e99<Esc>")
        #expect(driver.selectedLine?.contains("31") == true && !driver.text.contains("unsaved"))
    }

    /// Alt is not Escape in a cell with text, and pasted lines are kept.
    @Test func altWithAKeyDropsNoTextOfACell() {
        driver.find("Spain")
        focus("localName")
        driver.keys("e<C-u>Spanien<M-u>")
        #expect(driver.browser.layers.top is CellEditor)
        driver.send(.paste("\n\tx"))
        driver.keys("<Enter>")
        #expect(driver.browser.list?.cursorObject?.value(forKey: "localName") as? String == "Spanien\n\tx")
    }

    @Test func tabMovesFromCellToCell() {
        driver.find("Spain")
        driver.keys("hhhhhhe")
        driver.keys("<C-u>España<Tab>")
        driver.keys("<C-u>Spanien<Enter>")
        #expect(driver.selectedLine?.contains("España") == true, "\(driver.text)")
        #expect(driver.selectedLine?.contains("Spanien") == true)
    }

    @Test func numbersAndDatesGoByStepsAndBooleansByAKey() {
        driver.find("Spain")
        focus("wins")
        driver.keys("e<S-Up><S-Up><S-Down><Enter>")
        #expect(driver.selectedLine?.contains("32") == true, "\(driver.text)")
        focus("favorite")
        driver.keys("ey<Enter>")
        #expect(driver.selectedLine?.contains("✓") == true, "\(driver.text)")
        focus("firstAppearance")
        driver.keys("e<S-Up><Enter>")
        #expect(driver.selectedLine?.contains("1930-06-23") == true, "\(driver.text)")
    }

    @Test func aDayIsPickedFromTheCalendar() throws {
        driver.find("Spain")
        focus("firstAppearance")
        driver.keys("e<C-t>")
        try driver.expectGolden("calendar")
        driver.keys("j<PgDn>l<Enter>")
        #expect(driver.text.contains("1930-07-30"), "\(driver.text)")
        driver.keys("<Enter>")
        #expect(driver.selectedLine?.contains("1930-07-30") == true, "\(driver.text)")
        driver.keys("E")
        for _ in 0..<9 where driver.screen.frame.cursor.map({ driver.lines[$0.y].contains("First app") }) != true {
            driver.keys("<Tab>")
        }
        driver.keys("<C-t><lt><Enter><Enter>")
        #expect(driver.selectedLine?.contains("1929-07-30") == true, "\(driver.text)")
    }

    @Test func calendarsHoldAnyDate() {
        for seconds in [Double.infinity, -.infinity, .nan, 1e18, -6e10, 0] {
            let calendar = CalendarPicker(Date(timeIntervalSinceReferenceDate: seconds)) { _ in }
            calendar.move(by: .year, 1)
            let screen = ScriptedScreen(width: 40, height: 12)
            let grid = CellGrid(size: screen.size)
            calendar.draw(in: Canvas(grid: grid, text: screen.text))
            #expect(abs(calendar.day.timeIntervalSinceReferenceDate) < 1e12)
        }
    }

    @Test func aTextIsEditedInAnotherProgram() throws {
        let editor = fixture.folder.appendingPathComponent("editor.sh")
        try Data("#!/bin/sh\nprintf 'first\\nsecond\\n' > \"$1\"\n".utf8).write(to: editor)
        // Run by `sh`, because another test that starts a process may hold the file open for writing.
        let command = "sh '\(editor.path)'"
        #expect(OutsideEditor.run(command, on: fixture.folder.appendingPathComponent("it's.txt").path) == 0)
        #expect(OutsideEditor.run("false", on: "x") == 1)
        setenv("VISUAL", command, 1)
        defer { unsetenv("VISUAL") }
        var wasLent = false
        driver.browser.lendTerminal = {
            wasLent = true
            $0()
        }
        driver.find("Spain")
        focus("localName")
        driver.keys("e<C-o><Enter>")
        #expect(wasLent)
        let list = try #require(driver.browser.list)
        #expect(list.cursorObject?.value(forKey: "localName") as? String == "first\nsecond")
        // A text with several lines is edited in the form.
        driver.keys("e")
        #expect(driver.text.contains("Edit Team “Spain”"), "\(driver.text)")
    }

    @Test func aRecordDeletedByOthersIsNotEdited() async throws {
        driver.find("Spain")
        focus("wins")
        driver.keys("e")
        try fixture.elsewhere { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
            request.predicate = NSPredicate(format: "teamName == 'Spain'")
            try context.fetch(request).forEach(context.delete)
            try context.save()
        }
        try await driver.wait(for: "the deletion") { driver.text.contains("15 Teams") }
        #expect(driver.text.contains("the record was deleted"), "\(driver.text)")
        driver.keys("1<Enter>")
        #expect(driver.text.contains("The record with your edits was deleted"), "\(driver.text)")
        #expect(driver.text.contains("Spain") && driver.text.contains("Wins: 311"), "\(driver.text)")
        driver.keys("r")
        #expect(driver.selectedLine?.contains("Spain") == true && driver.selectedLine?.contains("311") == true)
        #expect(driver.selectedLine?.contains("España") == true, "\(driver.text)")
        // Nothing was typed, so nothing is asked.
        driver.keys("<C-s>e")
        try fixture.elsewhere { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
            request.predicate = NSPredicate(format: "teamName == 'Spain'")
            try context.fetch(request).forEach(context.delete)
            try context.save()
        }
        try await driver.wait(for: "the second deletion") { driver.text.contains("15 Teams") }
        driver.keys("<Enter>")
        #expect(driver.text.contains("the record was deleted"), "\(driver.text)")
        #expect(!driver.text.contains("your edits"), "\(driver.text)")
    }

    @Test func newRecordsAreMadeWhereTheyAreRelated() throws {
        driver.find("Spain")
        driver.keys("E<S-Tab>")
        driver.keys("<Space>")
        driver.type("Camp Nou")
        #expect(driver.text.contains("+ new Venue “Camp Nou”"), "\(driver.text)")
        driver.keys("<Enter>")
        #expect(driver.text.contains("New Venue") && driver.text.contains("Camp Nou"), "\(driver.text)")
        driver.keys("<Enter>")
        #expect(driver.text.contains("Edit Team “Spain”") && driver.text.contains("Camp Nou"), "\(driver.text)")
        driver.keys("<C-s>")
        let name = try fixture.elsewhere { context -> String? in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
            request.predicate = NSPredicate(format: "teamName == 'Spain'")
            return try context.fetch(request).first?.value(forKeyPath: "homeVenue.name") as? String
        }
        #expect(name == "Camp Nou")
    }

    @Test func rulesOfTheModelAreShown() {
        func rules(_ format: String, _ arguments: Any...) -> FieldRules {
            let attribute = NSAttributeDescription()
            attribute.name = "x"
            attribute.attributeType = .stringAttributeType
            attribute.setValidationPredicates(
                [NSPredicate(format: format, argumentArray: arguments)], withValidationWarnings: [""])
            return FieldRules(of: attribute)
        }
        #expect(rules("SELF >= 0 AND SELF <= 90").hint == "at least 0, at most 90")
        #expect(rules("SELF > 1.5").hint == "more than 1.5")
        #expect(rules("length >= 2 AND length <= 10").hint == "at least 2 characters, at most 10 characters")
        #expect(rules("SELF IN {'open', 'in work', 'done'}").choices == ["open", "in work", "done"])
        #expect(rules("SELF IN %@", ["a", "b"]).choices == ["a", "b"])
        #expect(rules("SELF MATCHES 'red|green'").choices == ["red", "green"])
        #expect(rules("SELF MATCHES '[a-z]+'").choices == [] && rules("SELF != 'x'").hint == "")
    }
}

/// Attributes with a fixed set of values.
@MainActor
@Suite(.serialized) struct BrowserChoiceTests {
    @Test func theAllowedValuesAreOffered() throws {
        let state = NSAttributeDescription()
        state.name = "state"
        state.attributeType = .stringAttributeType
        state.setValidationPredicates(
            [NSPredicate(format: "SELF IN {'open', 'done'}")], withValidationWarnings: ["is not allowed"])
        let title = NSAttributeDescription()
        title.name = "title"
        title.attributeType = .stringAttributeType
        let entity = NSEntityDescription()
        entity.name = "Task"
        entity.properties = [title, state]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("roster-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("Tasks.sqlite")
        let container = NSPersistentContainer(name: "Tasks", managedObjectModel: model)
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
        container.loadPersistentStores { _, error in #expect(error == nil) }
        for name in ["a", "b"] {
            let task = NSEntityDescription.insertNewObject(forEntityName: "Task", into: container.viewContext)
            task.setValue(name, forKey: "title")
        }
        try container.viewContext.save()

        let driver = BrowserDriver(BrowserOptions(storeURL: url, entityName: "Task"))
        driver.keys("le")
        #expect(driver.text.contains("open") && driver.text.contains("(none)"), "\(driver.text)")
        driver.type("do")
        driver.keys("<Enter>")
        #expect(driver.selectedLine?.contains("done") == true, "\(driver.text)")
        // The form begins at the focused column.
        driver.keys("E")
        #expect(driver.text.contains("one of open, done") && driver.text.contains("Space choose"), "\(driver.text)")
        driver.keys("<Space><Enter><C-s>")
        #expect(driver.text.contains("saved 1 record"), "\(driver.text)")
    }
}
