import Foundation
import SQLiteAccess
import Synchronization
import Testing

@testable import CoreData

/// A batch of many new rows restores the existing indexes with all rows in them.
@Suite(.serialized) struct PostponedIndexTests {
    private final class Place {
        let container: NSPersistentContainer
        let context: NSManagedObjectContext
        let folder: URL
        var path: String { folder.appendingPathComponent("Teams.sqlite").path }

        init() throws {
            folder = FileManager.default.temporaryDirectory.appendingPathComponent("indexes-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let team = NSEntityDescription()
            team.name = "IndexedTeam"
            let name = NSAttributeDescription()
            (name.name, name.attributeType, name.isOptional) = ("name", .stringAttributeType, false)
            let wins = NSAttributeDescription()
            (wins.name, wins.attributeType) = ("wins", .integer64AttributeType)
            team.properties = [name, wins]
            team.indexes = [
                NSFetchIndexDescription(
                    name: "byWins",
                    elements: [
                        NSFetchIndexElementDescription(property: wins, collationType: .binary),
                        NSFetchIndexElementDescription(property: name, collationType: .binary),
                    ])
            ]
            let model = NSManagedObjectModel()
            model.entities = [team]
            container = NSPersistentContainer(name: "Teams", managedObjectModel: model)
            let description = NSPersistentStoreDescription(url: folder.appendingPathComponent("Teams.sqlite"))
            description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
            container.persistentStoreDescriptions = [description]
            var failure: (any Error)?
            container.loadPersistentStores { failure = $1 }
            if let failure { throw failure }
            context = container.newBackgroundContext()
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        func insert(_ count: Int, lastIsWhole: Bool = true) throws {
            var number = 0
            let request = NSBatchInsertRequest(entityName: "IndexedTeam") { (row: NSMutableDictionary) in
                guard number < count else { return true }
                number += 1
                if lastIsWhole || number < count { row["name"] = "Team \(number)" }
                row["wins"] = number * 7919 % 1009
                return false
            }
            try context.performAndWait { _ = try context.execute(request) }
        }

        /// Reads the file as another program does.
        func look<Result>(_ body: (Connection) throws -> Result) throws -> Result {
            let connection = try Connection(path: path, access: .readWrite)
            defer { connection.close() }
            return try body(connection)
        }

        func indexes() throws -> [String] {
            try look { connection throws -> [String] in
                #expect(try connection.value("PRAGMA integrity_check") == .text("ok"))
                return try connection.rows("SELECT name, sql FROM sqlite_master WHERE type = 'index' ORDER BY name").map
                {
                    "\($0)"
                }
            }
        }
    }

    /// The number of indexes that `body` drops.
    private func dropped(_ place: Place, _ body: () throws -> Void) rethrows -> Int {
        let count = Mutex(0)
        let observation = StatementObservation { statement in
            if statement.sql.hasPrefix("DROP INDEX"), statement.sql.contains("IndexedTeam") {
                count.withLock { $0 += 1 }
            }
        }
        try body()
        withExtendedLifetime(observation) {}
        return count.withLock { $0 }
    }

    @Test func manyRowsInAnEmptyTableAreSortedAtTheEnd() throws {
        let place = try Place()
        let before = try place.indexes()
        #expect(before.contains { $0.contains("byWins") })
        #expect(try dropped(place) { try place.insert(9_000) } == 1)
        #expect(try place.indexes() == before)
        let plan = try place.look {
            try $0.rows("EXPLAIN QUERY PLAN SELECT Z_PK FROM ZINDEXEDTEAM WHERE ZWINS = 7 ORDER BY ZNAME").map {
                "\($0)"
            }
        }
        #expect(plan.contains { $0.contains("byWins") }, "\(plan)")
        let found = try place.context.performAndWait { () throws -> Int in
            let request = NSFetchRequest<NSManagedObject>(entityName: "IndexedTeam")
            request.predicate = NSPredicate(format: "wins == 7")
            return try place.context.count(for: request)
        }
        #expect(found == (1...9_000).count { $0 * 7919 % 1009 == 7 })
    }

    @Test func fewRowsGoIntoTheIndexOneByOne() throws {
        let place = try Place()
        #expect(try dropped(place) { try place.insert(5_000) } == 0)
        try place.insert(20_000)
        #expect(try dropped(place) { try place.insert(9_000) } == 0)
    }

    @Test func statisticsOfAnalyzeAreKept() throws {
        let place = try Place()
        try place.insert(10)
        try place.look { try $0.execute("ANALYZE") }
        #expect(try dropped(place) { try place.insert(9_000) } == 0)
        #expect(try place.look { try $0.integer("SELECT COUNT(*) FROM sqlite_stat1") } ?? 0 > 0)
    }

    @Test func aBatchThatFailsLeavesTheIndexes() throws {
        let place = try Place()
        let before = try place.indexes()
        #expect(throws: CocoaError.self) { try place.insert(9_000, lastIsWhole: false) }
        #expect(try place.indexes() == before)
        #expect(try place.look { try $0.integer("SELECT COUNT(*) FROM ZINDEXEDTEAM") } == 0)
    }
}
