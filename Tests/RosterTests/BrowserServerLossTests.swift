#if PostgreSQL
    import CoreData
    import Foundation
    import PostgreSQLCluster
    import TerminalKit
    import TestSupport
    import Testing

    @testable import Roster

    /// A store on a server that another program migrates, or that becomes unreachable: the program shows it.
    @MainActor
    @Suite(.serialized, .needs(.server), .enabled(if: PostgreSQLCluster.isInstalled, "PostgreSQL is not installed"))
    struct BrowserServerLossTests {
        private func model(_ version: Int) -> NSManagedObjectModel {
            let (name, size) = (NSAttributeDescription(), NSAttributeDescription())
            (name.name, size.name) = ("name", "size")
            (name.attributeType, size.attributeType) = (.stringAttributeType, .integer16AttributeType)
            (name.isOptional, size.isOptional) = (true, true)
            let item = NSEntityDescription()
            item.name = "Item"
            item.properties = version > 1 ? [name, size] : [name]
            let model = NSManagedObjectModel()
            model.entities = [item]
            return model
        }

        private func fill(_ url: URL, _ version: Int, with names: [String]) throws {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model(version))
            let store = try coordinator.addPersistentStore(
                type: .postgreSQL, at: url,
                options: [
                    NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
                ])
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait {
                for name in names {
                    NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
                        .setValue(name, forKey: "name")
                }
                try context.save()
            }
            try coordinator.remove(store)
        }

        @Test func aMigratedStoreIsReported() async throws {
            let cluster = try #require(PostgreSQLCluster.shared)
            let schema = "browsed_\(UInt32.random(in: 0 ... .max))"
            defer { _ = try? cluster.psql("DROP SCHEMA IF EXISTS \(schema) CASCADE") }
            let url = cluster.url(schema: schema)
            try fill(url, 1, with: ["anvil"])
            let driver = BrowserDriver(BrowserOptions(storeURL: url, entityName: "Item"), width: 100)
            #expect(driver.text.contains("anvil"))
            try fill(url, 2, with: ["bellows"])
            try await driver.wait(for: "the migration") {
                driver.browser.wake()
                driver.draw()
                return driver.text.contains("migrated by another program")
            }
            driver.keys("R")
            #expect(driver.text.contains("open the new one"), "\(driver.text)")
            driver.keys("o")
            #expect(driver.text.contains("bellows") && !driver.text.contains("migrated by"), "\(driver.text)")
            try driver.browser.close()
        }

        @Test func unreadableRecordsAreReported() throws {
            // Without durability, stopping the server could lose the last commits and thus the records.
            let cluster = try #require(PostgreSQLCluster.make(isDurable: true))
            let schema = "unread"
            let url = cluster.url(schema: schema)
            try fill(url, 1, with: (0..<2000).map { "item \($0)" })
            let driver = BrowserDriver(BrowserOptions(storeURL: url, entityName: "Item", sortKeys: "name"), width: 100)
            #expect(driver.text.contains("item 0"))
            driver.keys("p")
            try cluster.stop()
            // Rows that were shown before keep their texts, though their records have to be read again.
            driver.browser.session?.context.refreshAllObjects()
            let shown = driver.lines[2..<18]
            driver.keys("<C-l>")
            #expect(driver.text.contains("connection lost: rows wait for it"), "\(driver.text)")
            #expect(shown.allSatisfy { $0.contains("item ") } && driver.lines[2..<18] == shown, "\(driver.text)")
            driver.keys("pG")
            driver.draw()
            #expect(driver.text.contains("Item p") && !driver.text.contains("–"), "\(driver.text)")
            #expect(driver.text.contains("connection lost: rows wait for it"), "\(driver.text)")
            driver.keys("k")
            #expect(driver.text.contains("connection lost: rows wait for it"), "\(driver.text)")
            try cluster.start()
            for _ in 0..<1200 where driver.text.contains("connection lost: rows wait for it") {
                usleep(50_000)
                driver.browser.wake()
                driver.draw()
            }
            #expect(driver.text.contains("item 999") && !driver.text.contains("connection lost"), "\(driver.text)")
            try driver.browser.close()
        }
    }
#endif
