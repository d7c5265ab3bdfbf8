import Foundation
import SQLiteAccess
import Testing

@testable import CoreData

/// Batches run as one statement write the same file as row by row. A trigger on the table, which must see each row,
/// forces the store to go row by row. Serialized, because statements are counted and both tests use the same tables.
@Suite(.serialized) struct BatchSetTests {
    private static let rounds =
        ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"].flatMap { Int($0) }.map { 25 * $0 } ?? 10

    private static func model() -> NSManagedObjectModel {
        func entity(_ name: String, _ attributes: [(String, NSAttributeType)]) -> NSEntityDescription {
            let entity = NSEntityDescription()
            entity.name = name
            entity.properties = attributes.map { name, type in
                let attribute = NSAttributeDescription()
                (attribute.name, attribute.attributeType) = (name, type)
                return attribute
            }
            return entity
        }
        func pair(_ one: NSEntityDescription, _ name: String, _ many: Bool, _ two: NSEntityDescription, _ back: String)
        {
            let (there, home) = (NSRelationshipDescription(), NSRelationshipDescription())
            (there.name, there.destinationEntity, there.maxCount) = (name, two, many ? 0 : 1)
            (home.name, home.destinationEntity) = (back, one)
            for side in [there, home] { side.deleteRule = .nullifyDeleteRule }
            (there.inverseRelationship, home.inverseRelationship) = (home, there)
            one.properties += [there]
            two.properties += [home]
        }
        let squad = entity(
            "Squad",
            [
                ("name", .stringAttributeType), ("zone", .stringAttributeType), ("wins", .integer32AttributeType),
                ("total", .integer64AttributeType), ("rating", .doubleAttributeType), ("founded", .dateAttributeType),
                ("active", .booleanAttributeType),
            ])
        let club = entity("ClubSquad", [("owner", .stringAttributeType)])
        let (ground, badge) = (
            entity("Ground", [("city", .stringAttributeType)]), entity("Badge", [("word", .stringAttributeType)])
        )
        squad.subentities = [club]
        pair(squad, "ground", false, ground, "squads")
        pair(squad, "badges", true, badge, "squads")
        let model = NSManagedObjectModel()
        model.entities = [squad, club, ground, badge]
        return model
    }

    private final class Desk {
        let container: NSPersistentContainer
        private let folder: URL
        private var url: URL { folder.appendingPathComponent("Squads.sqlite") }
        let context: NSManagedObjectContext

        init(history: Bool, rowByRow: Bool) throws {
            folder = FileManager.default.temporaryDirectory.appendingPathComponent("sets-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            container = NSPersistentContainer(name: "Squads", managedObjectModel: BatchSetTests.model())
            let description = NSPersistentStoreDescription(url: folder.appendingPathComponent("Squads.sqlite"))
            description.setOption(history as NSNumber, forKey: NSPersistentHistoryTrackingKey)
            container.persistentStoreDescriptions = [description]
            var failure: (any Error)?
            container.loadPersistentStores { failure = $1 }
            if let failure { throw failure }
            context = container.newBackgroundContext()
            guard rowByRow else { return }
            let connection = try Connection(path: url.path, access: .readWrite)
            try connection.execute("CREATE TRIGGER looks AFTER UPDATE ON ZSQUAD BEGIN SELECT 1; END")
            connection.close()
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        /// The file's contents, except times and change counts of a batch.
        func contents() throws -> [String] {
            let connection = try Connection(path: url.path, access: .readOnly)
            defer { connection.close() }
            var queries = ["SELECT * FROM ZSQUAD ORDER BY Z_PK", "SELECT Z_ENT, Z_MAX FROM Z_PRIMARYKEY ORDER BY 1"]
            let tables = try connection.rows("SELECT name FROM sqlite_master WHERE type = 'table'").map { "\($0[0])" }
            if tables.contains(where: { $0.contains("ACHANGE") }) {
                queries += [
                    "SELECT ZTRANSACTIONID, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZCOLUMNS FROM ACHANGE ORDER BY 1, 2, 3, 4",
                    "SELECT COUNT(*), MIN(Z_PK), MAX(Z_PK) FROM ACHANGE", "SELECT Z_PK FROM ATRANSACTION",
                ]
            }
            let pairs = try connection.rows(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*'")
            for case .text(let name)? in pairs.map(\.first) { queries.append("SELECT * FROM \(name) ORDER BY 1, 2") }
            return try queries.flatMap { query in try connection.rows(query).map { "\(query): \($0)" } }
        }
    }

    /// A batch that can be executed in several stores.
    private struct Batch {
        let label: String
        let send: (NSManagedObjectContext) throws -> Any?
    }

    private static let predicates = [
        "wins > 3", "wins BETWEEN {-2, 4}", "zone == 'AFC' OR zone == nil", "name CONTAINS[cd] 'é'",
        "ground.city == 'X'",
        "ANY badges.word == 'b'", "badges.@count == 0", "active", "total > wins", "TRUEPREDICATE", "wins == 12345",
        "founded < CAST(50000, 'NSDate')",
    ]
    private static var updates: [[String: Any]] {
        [
            ["wins": 7], ["wins": NSExpression(format: "wins + 1"), "zone": "UEFA"],
            ["wins": NSExpression(format: "modulus:by:(wins * 7 + 3, 11)")],
            ["total": NSExpression(format: "total + 1")],
            ["total": NSExpression(format: "wins * wins")], ["rating": NSExpression(format: "rating / 3")],
            ["zone": NSExpression(format: "name"), "name": "é"],
            ["founded": Date(timeIntervalSinceReferenceDate: 77.5)],
            ["founded": NSExpression(format: "founded")], ["active": NSExpression(format: "wins")], ["name": NSNull()],
            ["active": true, "rating": 2], ["wins": NSExpression(format: "rating")],
            ["zone": NSExpression(format: "ground.city")], ["zone": NSExpression(format: "uppercase:(name)")],
        ]
    }

    private static func batch(_ random: inout SeededGenerator) -> Batch {
        let entity = random.pick(["Squad", "ClubSquad"])
        let predicate = random.pick(predicates)
        let includesSubentities = random.chance(70)
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            return Batch(label: "delete \(entity) \(predicate)") { context in
                let fetch = NSFetchRequest<NSFetchRequestResult>(entityName: entity)
                fetch.predicate = NSPredicate(format: "wins < 1 AND (\(predicate))")
                fetch.includesSubentities = includesSubentities
                let request = NSBatchDeleteRequest(fetchRequest: fetch)
                request.resultType = .resultTypeCount
                return (try context.execute(request) as? NSBatchDeleteResult)?.result
            }
        case 1:
            let seed = UInt64.random(in: 0...(.max), using: &random)
            return Batch(label: "insert \(entity)") { context in
                var random = SeededGenerator(seed: seed)
                var left = random.chance(10) ? 1_100 : 20
                let request = NSBatchInsertRequest(entityName: entity) { (row: NSMutableDictionary) in
                    if left == 0 { return true }
                    left -= 1
                    // Keys in random order and number, some repeated.
                    for key in ["name", "wins", "total", "rating", "wins", "founded"].shuffled(using: &random)
                    where random.chance(80) {
                        switch key {
                        case "name": row[key] = random.pick(["Ä", "é", "中国", ""])
                        case "wins": row[key] = Int.random(in: -5...9, using: &random)
                        case "total":
                            row.setObject(Int64.random(in: -9...9, using: &random), forKey: NSString(string: key))
                        case "rating": row[key] = 0.25 * Double(left)
                        default: row[key] = Date(timeIntervalSinceReferenceDate: Double(left) * 10_000)
                        }
                    }
                    if random.chance(10) { row.removeObject(forKey: "wins") }
                    if random.chance(10) { row.setDictionary(["zone": "AFC", "unknown": 1]) }
                    return false
                }
                request.resultType = .count
                return (try context.execute(request) as? NSBatchInsertResult)?.result
            }
        default:
            let values = random.pick(updates)
            return Batch(label: "update \(entity) \(values) \(predicate)") { context in
                let request = NSBatchUpdateRequest(entityName: entity)
                request.predicate = NSPredicate(format: predicate)
                request.includesSubentities = includesSubentities
                request.propertiesToUpdate = values
                request.resultType = .updatedObjectsCountResultType
                return (try context.execute(request) as? NSBatchUpdateResult)?.result
            }
        }
    }

    private static func fill(_ context: NSManagedObjectContext) throws {
        var random = SeededGenerator(seed: 4)
        func make(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
            let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
            object.setValuesForKeys(values)
            return object
        }
        // Saved one by one, so that both stores give them the same keys.
        let grounds = ["X", "Y"].map { make("Ground", ["city": $0]) }
        try context.save()
        let badges = ["a", "b"].map { make("Badge", ["word": $0]) }
        try context.save()
        for number in 0..<40 {
            let squad = make(number.isMultiple(of: 3) ? "ClubSquad" : "Squad", ["name": "Squad é \(number)"])
            squad.setValue(number % 9 - 3, forKey: "wins")
            squad.setValue(number % 4 == 0 ? nil : Int64(number), forKey: "total")
            squad.setValue(Double(number), forKey: "rating")
            squad.setValue(random.chance(50), forKey: "active")
            squad.setValue(random.chance(50) ? random.pick(grounds) : nil, forKey: "ground")
            if random.chance(50) { squad.setValue(Set([random.pick(badges)]), forKey: "badges") }
            try context.save()
        }
    }

    @Test(arguments: [true, false]) func setsLeaveWhatRowByRowLeaves(history: Bool) throws {
        let desks = [
            try Desk(history: history, rowByRow: false), try Desk(history: history, rowByRow: true),
        ]
        for desk in desks { try desk.context.performAndWait { try Self.fill(desk.context) } }
        var random = SeededGenerator(seed: history ? 11 : 12)
        for round in 0..<Self.rounds {
            let batch = Self.batch(&random)
            let results = desks.map { desk in
                desk.context.performAndWait { () -> String in
                    do { return "\(try batch.send(desk.context) ?? "-")" } catch {
                        return (error as NSError).localizedDescription
                    }
                }
            }
            #expect(results[0] == results[1], "round \(round): \(batch.label)")
            let (sets, rows) = (try desks[0].contents(), try desks[1].contents())
            #expect(sets == rows, "round \(round): \(batch.label)")
            if sets != rows { return }
        }
    }

    @Test func aBatchOfManyRowsIsAFewStatements() throws {
        final class Heard: @unchecked Sendable {
            let lock = NSLock()
            private var statements: [String] = []
            func take(_ statement: String) {
                lock.withLock { if statement.contains("ZSQUAD") { statements.append(statement) } }
            }
            func count(_ body: () throws -> Void) rethrows -> Int {
                lock.withLock { statements = [] }
                try body()
                return lock.withLock { statements.count }
            }
        }
        let heard = Heard()
        let observation = StatementObservation { heard.take($0.sql) }
        let desk = try Desk(history: true, rowByRow: false)
        try desk.context.performAndWait {
            let rows: [[String: Any]] = (0..<3_000).map { ["name": "Squad \($0)", "wins": $0] }
            let insertions = try heard.count {
                try desk.context.execute(NSBatchInsertRequest(entityName: "ClubSquad", objects: rows))
            }
            #expect(insertions < 150)
            let update = NSBatchUpdateRequest(entityName: "Squad")
            update.predicate = NSPredicate(format: "wins >= 1000")
            update.propertiesToUpdate = ["wins": NSExpression(format: "wins - 1000")]
            #expect(try heard.count { try desk.context.execute(update) } < 8)
            let deletion = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSFetchRequestResult>(entityName: "Squad"))
            #expect(try heard.count { try desk.context.execute(deletion) } < 10)
            #expect(try desk.context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Squad")) == 0)
        }
        withExtendedLifetime(observation) {}
    }
}
