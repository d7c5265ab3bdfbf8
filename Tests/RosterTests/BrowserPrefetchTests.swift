import CoreData
import Foundation
import Synchronization
import Testing

@testable import Roster

/// Number of statements that a list needs for the related records that its columns name.
@MainActor @Suite struct BrowserPrefetchTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("roster-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// No other test has these tables.
    private static func model() -> NSManagedObjectModel {
        func entity(_ name: String) -> NSEntityDescription {
            let entity = NSEntityDescription()
            entity.name = name
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType) = ("name", .stringAttributeType)
            entity.properties = [attribute]
            return entity
        }
        let (ferry, harbour) = (entity("Ferry"), entity("Harbour"))
        let relationship = NSRelationshipDescription()
        (relationship.name, relationship.destinationEntity, relationship.maxCount) = ("harbour", harbour, 1)
        relationship.isOptional = true
        ferry.properties.append(relationship)
        let model = NSManagedObjectModel()
        model.entities = [ferry, harbour]
        return model
    }

    private func store(_ count: Int) throws -> URL {
        let url = folder.appendingPathComponent("Ferries.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        for number in 0..<count {
            let harbour = NSEntityDescription.insertNewObject(forEntityName: "Harbour", into: context)
            harbour.setValue("港 \(number)", forKey: "name")
            let ferry = NSEntityDescription.insertNewObject(forEntityName: "Ferry", into: context)
            ferry.setValue("Ferry \(1000 + number)", forKey: "name")
            ferry.setValue(harbour, forKey: "harbour")
        }
        try context.save()
        try coordinator.remove(store)
        return url
    }

    /// Calls `body` and returns the number of statements that read harbours.
    private func reads(_ body: () throws -> Void) rethrows -> Int {
        let count = Mutex(0)
        let observation = StatementObservation { statement in
            if statement.sql.contains("FROM ZHARBOUR") { count.withLock { $0 += 1 } }
        }
        defer { withExtendedLifetime(observation) {} }
        try body()
        return count.withLock { $0 }
    }

    @Test func aScreenOfRowsReadsItsRelatedRecordsTogether() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = try store(300)
        var driver: BrowserDriver?
        let first = reads {
            driver = BrowserDriver(
                BrowserOptions(storeURL: url, entityName: "Ferry", sortKeys: "name"), width: 100, height: 30)
        }
        let browser = try #require(driver)
        #expect(browser.text.contains("Ferry 1000") && browser.text.contains("港 0"), "\(browser.text)")
        // One page of rows, and the number of harbours for the tabs.
        #expect(first <= 3, "\(first) statements")
        let next = reads { for _ in 0..<4 { browser.keys("<PgDn>") } }
        #expect(browser.text.contains("港 100"), "\(browser.text)")
        #expect(next <= 1, "\(next) statements")
        let last = reads { browser.keys("G") }
        #expect(browser.text.contains("港 299"), "\(browser.text)")
        #expect(last <= 2, "\(last) statements")
    }
}
