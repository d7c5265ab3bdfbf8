import CoreData
import Foundation
import Testing

@testable import Roster

/// Showing unknown stores: default sections and order, and messages longer than a line.
@MainActor
@Suite(.serialized) struct BrowserArrivalTests {
    let fixture: Fixture

    init() throws { fixture = try Fixture() }

    private func entity(_ name: String, _ attributes: [(String, NSAttributeType)]) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.properties = attributes.map { name, type in
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            attribute.isOptional = true
            return attribute
        }
        return entity
    }

    private func context(_ entity: NSEntityDescription) throws -> NSManagedObjectContext {
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil,
            at: fixture.folder.appendingPathComponent("Guess.sqlite"),
            options: nil)
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// Small numbers are measurements or counts and do not make useful sections. Many countries still do.
    @Test func sectionsAreGuessedByKindsAndNotByCounts() throws {
        let stadium = entity(
            "Stadium",
            [
                ("name", .stringAttributeType), ("country", .stringAttributeType),
                ("specialCount", .integer16AttributeType),
            ])
        let context = try context(stadium)
        for number in 0..<240 {
            let object = NSManagedObject(entity: stadium, insertInto: context)
            object.setValue("Stadium \(number)", forKey: "name")
            object.setValue("Country \(number % 80)", forKey: "country")
            object.setValue(number % 5, forKey: "specialCount")
        }
        try context.save()
        #expect(SectionGuess(entity: stadium, context: context).keyPath == "country")
        for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Stadium")) {
            object.setValue(nil, forKey: "country")
        }
        try context.save()
        #expect(SectionGuess(entity: stadium, context: context).keyPath == nil)
    }

    @Test func recordsWithoutNamesAreSortedByDistinguishingValues() {
        let page = entity("Page", [("isBookmarked", .booleanAttributeType), ("number", .integer32AttributeType)])
        #expect(ListSettings(entity: page).sortKeys.map(\.keyPath) == ["number"])
        let flag = entity("Flag", [("isSet", .booleanAttributeType)])
        #expect(ListSettings(entity: flag).sortKeys.map(\.keyPath) == ["isSet"])
    }

    @Test func sectionsOfQuestionsAreEnglish() {
        let attribute = NSAttributeDescription()
        attribute.attributeType = .booleanAttributeType
        func title(_ value: Bool, _ key: String) -> String {
            ValueDisplay.sectionTitle(value as NSNumber, key: key, attribute: attribute, name: "")
        }
        #expect(title(false, "isFolder") == "Is folder: no" && title(true, "isFolder") == "Is folder")
        #expect(title(false, "favorite") == "Not favorite")
    }

    @Test func longErrorsAreShownCompletely() throws {
        try fixture.fill()
        let driver = BrowserDriver(BrowserOptions(storeURL: fixture.storeURL, entityName: "Team"), width: 60)
        let error = "not imported: teams.csv:3: record 2: wins: “x” is not a whole number; 0 records were written"
        driver.browser.say(error, role: .error)
        driver.draw()
        #expect(driver.lines.suffix(2).joined(separator: " ").hasSuffix("0 records were written"), "\(driver.text)")
        driver.browser.say(String(repeating: "sixteen ", count: 40), role: .error)
        driver.draw()
        #expect(
            driver.lines.suffix(3).allSatisfy { $0.hasPrefix("sixteen") } && driver.lines.last?.hasSuffix("…") == true)
        driver.keys("j")
        #expect(!driver.text.contains("sixteen"))
    }
}
