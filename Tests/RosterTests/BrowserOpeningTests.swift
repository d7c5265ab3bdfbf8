import CoreData
import Foundation
import SQLiteAccess
import TerminalKit
import Testing

@testable import Roster

/// Stores that cannot be opened normally, and changes of other programs.
@MainActor
@Suite(.serialized) struct BrowserOpeningTests {
    let fixture: Fixture

    init() throws { fixture = try Fixture() }

    /// A file that is not a database cannot be read either, so reading is not offered.
    @Test func aFileThatIsNotAStoreIsReportedInOneLine() throws {
        try Data(repeating: 0x55, count: 20000).write(to: fixture.storeURL)
        let driver = BrowserDriver(BrowserOptions(storeURL: fixture.storeURL))
        #expect(driver.text.contains("Cannot open the store"))
        // The dialog has one line for the path, whatever its length.
        let lines = driver.lines.filter { $0.contains("│") }.map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(lines.count == 3 && lines[0].contains("Cup.sqlite: ") && lines[2].contains("q quit"))
        #expect(!driver.text.contains("read-only"))
        driver.keys("q")
        #expect(driver.browser.isFinished)
        #expect(driver.browser.status == 1)
        #expect(driver.browser.lastWords?.contains("\n") == false)
    }

    @Test func anEmptyFileIsNotOfferedForReading() throws {
        try Data().write(to: fixture.storeURL)
        let driver = BrowserDriver(BrowserOptions(storeURL: fixture.storeURL))
        #expect(driver.text.contains("Cup.sqlite is empty; “roster create” makes a store"), "\(driver.text)")
        #expect(!driver.text.contains("read-only") && driver.text.contains("q quit"))
    }

    /// Reading is offered only if it can succeed.
    @Test func whatCannotBeReadEitherIsNotOfferedForReading() throws {
        try fixture.fill()
        let file = try FileHandle(forWritingTo: fixture.storeURL)
        try file.truncate(atOffset: 9000)
        try file.close()
        let driver = BrowserDriver(BrowserOptions(storeURL: fixture.storeURL))
        #expect(driver.text.contains("Cannot open the store") && driver.text.contains("q quit"), "\(driver.text)")
        #expect(!driver.text.contains("read-only"), "\(driver.text)")
    }

    /// The tables of another program's file are entities.
    @Test func aFileOfAnotherProgramOpensForReading() throws {
        let connection = try Connection(path: fixture.storeURL.path, access: .create)
        try connection.execute("CREATE TABLE shelf (name TEXT)")
        connection.close()
        let driver = BrowserDriver(BrowserOptions(storeURL: fixture.storeURL))
        #expect(driver.text.contains("shelf") && driver.text.contains("read-only"), "\(driver.text)")
    }

    /// A store without a column is shown without its values, with a note.
    @Test func unreadableValuesAreReported() throws {
        try fixture.fill()
        let connection = try Connection(path: fixture.storeURL.path, access: .readWrite)
        try connection.execute("ALTER TABLE ZTEAM RENAME COLUMN ZLOCALNAME TO ZOTHER")
        connection.close()
        let driver = BrowserDriver(BrowserOptions(storeURL: fixture.storeURL, entityName: "Team"))
        #expect(driver.text.contains("Brazil") && !driver.text.contains("Brasil"))
        #expect(driver.text.contains("Team.localName: the table ZTEAM has no column"))
    }

    @Test func anUnwritableStoreIsOfferedReadOnly() throws {
        if geteuid() == 0 { try Test.cancel("root may write everything: RealTerminalTests asks as somebody else") }
        try fixture.fill()
        let manager = FileManager.default
        try manager.setAttributes([.posixPermissions: 0o500], ofItemAtPath: fixture.folder.path)
        defer { try? manager.setAttributes([.posixPermissions: 0o700], ofItemAtPath: fixture.folder.path) }
        let driver = BrowserDriver(BrowserOptions(storeURL: fixture.storeURL, entityName: "Team"))
        #expect(driver.text.contains("not writable"))
        driver.keys("r")
        #expect(driver.text.contains("Brazil"))
        #expect(driver.browser.status == 0)
    }

    @Test func anotherModelIsReportedWithTheDifferingEntities() throws {
        try fixture.fill()
        let model = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("sample-data/WorldCup.xcdatamodeld")
        let driver = BrowserDriver(BrowserOptions(storeURL: fixture.storeURL, modelURL: model, entityName: "Team"))
        #expect(driver.text.contains("Team"))
        #expect(driver.text.contains("Match"))
        driver.keys("o")
        #expect(driver.text.contains("Brazil"))
    }

    @Test func anUnknownEntityOrKeyIsReportedAtOnce() throws {
        try fixture.fill()
        let url = fixture.storeURL
        let mistakes = [
            ("Club", BrowserOptions(storeURL: url, entityName: "Club")),
            ("zone", BrowserOptions(storeURL: url, entityName: "Team", sectionKeyPath: "zone")),
            ("invalid predicate", BrowserOptions(storeURL: url, entityName: "Team", predicate: "wins >")),
            ("winz", BrowserOptions(storeURL: url, entityName: "Team", predicate: "winz > 3")),
        ]
        for (word, options) in mistakes {
            let driver = BrowserDriver(options)
            #expect(driver.browser.isFinished && driver.browser.status == 2)
            #expect(driver.browser.lastWords?.contains(word) == true)
        }
        // An unreadable model does not cause a question either.
        let model = fixture.folder.appendingPathComponent("none.momd")
        let driver = BrowserDriver(BrowserOptions(storeURL: url, modelURL: model))
        #expect(driver.browser.isFinished && driver.browser.status == 1)
        #expect(driver.browser.lastWords?.contains("none.momd: the file does not exist") == true)
    }

    @Test(arguments: [true, false])
    func changesOfOtherProgramsAppearWhereTheCursorIs(_ keepsHistory: Bool) async throws {
        try fixture.fill(keepsHistory: keepsHistory)
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys("/")
        driver.type("Spain")
        driver.keys("<Enter>")
        let line = driver.line(of: "Spain")
        try fixture.elsewhere(keepsHistory: keepsHistory) { context in
            let ghana = NSEntityDescription.insertNewObject(forEntityName: "Team", into: context)
            ghana.setValue("Ghana", forKey: "teamName")
            ghana.setValue("CAF", forKey: "qualifyingZone")
            try context.save()
        }
        try await driver.wait(for: "the new team") { driver.text.contains("Ghana") || driver.text.contains("17 Teams") }
        #expect(driver.selectedLine?.contains("Spain") == true)
        #expect(driver.line(of: "Spain") == line)
    }

    @Test(arguments: [("m", 99), ("t", 50)])
    func savingAsksAboutAConflict(_ key: String, _ expected: Int) async throws {
        try fixture.fill()
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys("/")
        driver.type("Spain")
        driver.keys("<Enter>ll")
        while !(driver.screen.frame.cursor.map { driver.lines[$0.y].contains("Wins") } ?? false) {
            driver.keys(driver.text.contains("Edit Team") ? "<Tab>" : "E")
        }
        driver.keys("<C-u>99<Enter>")
        let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
        request.predicate = NSPredicate(format: "teamName == %@", "Spain")
        try fixture.elsewhere { context in
            let spain = try #require(try context.fetch(request).first)
            spain.setValue(50, forKey: "wins")
            try context.save()
        }
        driver.keys("<C-s>")
        #expect(driver.text.contains("Changed by another program too"))
        #expect(driver.text.contains("mine 99"))
        #expect(driver.text.contains("theirs 50"))
        driver.keys(key)
        let wins = try fixture.elsewhere { try $0.fetch(request).first?.value(forKey: "wins") as? Int }
        #expect(wins == expected)
        try await driver.wait(for: "the value in the list") { driver.selectedLine?.contains("\(expected)") == true }
    }

    /// Deletes a team as another program.
    private func deleteElsewhere(_ name: String) throws {
        try fixture.elsewhere { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
            request.predicate = NSPredicate(format: "teamName == %@", name)
            for team in try context.fetch(request) { context.delete(team) }
            try context.save()
        }
    }

    @Test func aRecordDeletedElsewhereLeavesTheScreenInOrder() async throws {
        try fixture.fill()
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys("/")
        driver.type("Spain")
        driver.keys("<Enter><Enter>")
        #expect(driver.text.contains("España"))
        try deleteElsewhere("Spain")
        try await driver.wait(for: "the end of the record") { driver.text.contains("This record was deleted") }
        driver.keys("jEDu<Enter><C-s>")
        driver.keys("<Esc>")
        #expect(driver.text.contains("15 Teams"))
        #expect(driver.selectedLine?.contains("England") == true)
        driver.keys("n")
        #expect(driver.text.contains("nothing found"))
    }

    @Test func anEditedRecordDeletedElsewhereCanBeLetGo() async throws {
        try fixture.fill()
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys("/")
        driver.type("Spain")
        driver.keys("<Enter>le<C-u>77<Enter>")
        #expect(driver.selectedLine?.contains("77") == true)
        try deleteElsewhere("Spain")
        // Whether or not the deletion has been merged, a save must neither crash nor restore half a record.
        driver.keys("<C-s>")
        driver.keys("t")
        try await driver.wait(for: "the end of the record") { driver.text.contains("15 Teams") }
        driver.keys("<Esc><C-s>jjkk")
        let count = try fixture.elsewhere { try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: "Team")) }
        #expect(count == 15)
    }

    @Test func aFormReportsThatOthersDeletedItsRecord() async throws {
        try fixture.fill()
        let driver = BrowserDriver(teamsOf: fixture)
        driver.keys("/")
        driver.type("Spain")
        driver.keys("<Enter>E")
        try deleteElsewhere("Spain")
        try await driver.wait(for: "the change in the list") { driver.browser.list?.records.objectCount == 15 }
        driver.keys("x<Enter>")
        #expect(driver.text.contains("The record with your edits was deleted"), "\(driver.text)")
        #expect(driver.text.contains("Team name: Spainx"), "\(driver.text)")
        driver.keys("r")
        #expect(driver.text.contains("16 Teams"), "\(driver.text)")
        #expect(driver.selectedLine?.contains("Spainx") == true && driver.selectedLine?.contains("España") == true)
        // Nothing was typed, so nothing is asked.
        driver.keys("uE")
        #expect(driver.text.contains("Edit Team"), "\(driver.text)")
        driver.keys("<Enter>")
        #expect(driver.text.contains("nothing was changed"), "\(driver.text)")
    }

    @Test func aSignalEndsTheProgramWithItsStatus() throws {
        try fixture.fill()
        let driver = BrowserDriver(teamsOf: fixture)
        driver.send(.terminate(signal: SIGTERM))
        #expect(driver.browser.isFinished)
        #expect(driver.browser.status == 128 + SIGTERM)
    }
}
