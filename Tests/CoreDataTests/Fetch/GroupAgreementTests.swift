import Foundation
import PostgreSQLCluster
import TestSupport
import Testing

@testable import CoreData

/// Random groupings have the same results in SQL and in memory: for all attribute types, NULLs, Unicode, decimals,
/// subentities, empty relationships and one of a hundred objects, and with unsaved changes.
@Suite(.needs(.campaign)) struct GroupAgreementTests {
    /// `ROSTER_LONG_TESTS=10` runs 10,000.
    private static let count =
        ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"].flatMap { Int($0) }.map { $0 * 1_000 } ?? 100
    /// Number of groupings for each set of objects.
    private static let rounds = 500

    // MARK: The world

    @MainActor private static func model() -> NSManagedObjectModel {
        let team = MigrationDesk.entity(
            "Team",
            [
                MigrationDesk.attribute("name"), MigrationDesk.attribute("zone"),
                MigrationDesk.attribute("wins", .integer32AttributeType),
                MigrationDesk.attribute("points", .integer64AttributeType),
                MigrationDesk.attribute("rank", .integer16AttributeType),
                MigrationDesk.attribute("rating", .doubleAttributeType),
                MigrationDesk.attribute("share", .floatAttributeType),
                MigrationDesk.attribute("price", .decimalAttributeType),
                MigrationDesk.attribute("favorite", .booleanAttributeType),
                MigrationDesk.attribute("founded", .dateAttributeType),
                MigrationDesk.attribute("code", .UUIDAttributeType), MigrationDesk.attribute("site", .URIAttributeType),
            ])
        let club = MigrationDesk.entity("ClubTeam", [MigrationDesk.attribute("owner")])
        let venue = MigrationDesk.entity(
            "Venue",
            [
                MigrationDesk.attribute("name"), MigrationDesk.attribute("city"),
                MigrationDesk.attribute("size", .integer32AttributeType),
            ])
        let player = MigrationDesk.entity(
            "Player", [MigrationDesk.attribute("name"), MigrationDesk.attribute("age", .integer16AttributeType)])
        MigrationDesk.relate(venue, "teams", many: true, ordered: false, team, "venue")
        MigrationDesk.relate(team, "players", many: true, ordered: false, player, "team")
        team.subentities = [club]
        return MigrationDesk.model([team, club, venue, player])
    }

    private static let names: [String?] = ["É", "E\u{301}", "e", "", "🏝", nil, "Zürich", "zürich", "中国", "مصر"]
    private static let decimals: [String?] = [
        "0.1", "0.10", "-2.5", "12345678901234567890.12", "0.0000000000000000001", "3", nil,
    ]
    private static let codes = ["3CEF7AEA-11C2-48AB-B289-C3C02E6A38A6", "00000000-0000-0000-0000-000000000001", nil]

    private static func values(_ random: inout SeededGenerator) -> [String: Any?] {
        func number(_ list: [Double?]) -> Double? { list.randomElement(using: &random)! }
        return [
            "name": names.randomElement(using: &random)!, "zone": ["AFC", "UEFA", nil].randomElement(using: &random)!,
            "wins": [-3, -2, -1, nil, 1, 2, Int(Int32.max)].randomElement(using: &random)!,
            "points": [Int64.max, .min, 0, 1, 9_007_199_254_740_993, nil].randomElement(using: &random)!,
            "rank": [1, 2, 3, nil].randomElement(using: &random)!, "rating": number([0, -1.5, 0.1, 0.5, 1e300, nil]),
            "share": number([0.25, -0.5, 2, nil]).map { Float($0) },
            "price": decimals.randomElement(using: &random)!.map { NSDecimalNumber(string: $0) },
            "favorite": [true, false, nil].randomElement(using: &random)!,
            "founded": number([0, 86_400, -0.5, 700_000_000, nil]).map { Date(timeIntervalSinceReferenceDate: $0) },
            "code": codes.randomElement(using: &random)!.flatMap { UUID(uuidString: $0) },
            "site": ["http://a", "http://b/c", nil].randomElement(using: &random)!.flatMap { URL(string: $0) },
        ]
    }

    private static func filled(
        _ type: String, _ model: NSManagedObjectModel, seed: UInt64, server: PostgreSQLCluster? = nil
    ) throws -> NSManagedObjectContext {
        MemoryStore.register()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let path = type == NSSQLiteStoreType ? "/dev/null" : "/memory/Groups-\(UUID().uuidString)"
        let url = server?.url(schema: "groups_\(UUID().uuidString)") ?? URL(fileURLWithPath: path)
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
        let context = League.context(coordinator)
        try context.performAndWait { () throws in
            var random = SeededGenerator(seed: seed)
            func make(_ entity: String, _ values: [String: Any?]) throws -> NSManagedObject {
                let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                for (key, value) in values { object.setValue(value, forKey: key) }
                // Saved one by one, so that both stores give them the same keys.
                try context.save()
                return object
            }
            let venues = try ["Azteca", "", "体育场", "ملعب"].enumerated().map { number, name in
                let size: Any? = number == 1 ? nil : number * 10
                return try make("Venue", ["name": name, "city": String(name.prefix(1)), "size": size])
            }
            for index in 0..<100 {
                var values = Self.values(&random)
                if index % 4 != 0 { values["venue"] = venues.randomElement(using: &random)! }
                let team = try make(index % 5 == 0 ? "ClubTeam" : "Team", values)
                for member in 0..<(index == 7 ? 100 : index % 3) {
                    let player = NSEntityDescription.insertNewObject(forEntityName: "Player", into: context)
                    player.setValue(Self.names.randomElement(using: &random)!, forKey: "name")
                    player.setValue(member % 7 == 6 ? nil : member % 7 - 2, forKey: "age")
                    player.setValue(team, forKey: "team")
                }
            }
            try context.save()
        }
        return context
    }

    /// Makes changes that stay unsaved, so that no dictionary contains them.
    private static func change(_ context: NSManagedObjectContext, seed: UInt64) throws {
        try context.performAndWait { () throws in
            var random = SeededGenerator(seed: seed)
            let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
            let teams = try context.fetch(request)
            for team in teams.prefix(30) { team.setValue(Self.values(&random)["wins"]!, forKey: "wins") }
            context.delete(teams[40])
            let new = NSEntityDescription.insertNewObject(forEntityName: "ClubTeam", into: context)
            for (key, value) in Self.values(&random) { new.setValue(value, forKey: key) }
            context.processPendingChanges()
        }
    }

    // MARK: Requests

    private struct Form {
        var columns: [(name: String, format: String)]
        var groups: [String]
        var having: String?
        var filter: String?
        var sort: [(String, Bool)]
        var cut: (limit: Int, offset: Int)
        var includesSubentities: Bool

        init(_ random: inout SeededGenerator) {
            let keys = [
                "zone", "name", "wins", "points", "rank", "rating", "share", "price", "favorite", "founded", "code",
                "site", "venue", "venue.name", "venue.city", "venue.size",
            ].shuffled(using: &random)
            groups = Array(keys.prefix(Int.random(in: 0...2, using: &random)))
            let calls = [
                "sum:(wins)", "count:(wins)", "count:(name)", "min:(wins)", "max:(name)", "average:(wins)",
                "max:(zone)", "median:(wins)", "sum:(wins) + count:(zone) * 2", "min:(venue.name)", "count:(SELF)",
                "count:(venue)", "sum:(price)", "average:(price)", "min:(price)", "sum:(points)", "max:(points)",
                "sum:(rating)", "average:(rating)", "max:(share)", "sum:(share)", "min:(founded)", "max:(founded)",
                "count:(favorite)", "sum:(venue.size)", "sum:(rank * wins)", "mode:(rank)", "stddev:(rank)",
                "count:(code)", "sum:(TERNARY(favorite == YES, 1, 0))", "max:(length:(name))", "min:(uppercase:(zone))",
                "sum:(players.age)", "count:(players)", "max:(players.name)",
            ].shuffled(using: &random)
            columns = calls.prefix(Int.random(in: 1...3, using: &random)).enumerated().map { ("c\($0)", $1) }
            let conditions = [
                "c0 != nil", "count:(wins) > 4", "sum:(wins) > 0 OR c0 = nil", "$c0 != nil AND count:(SELF) > 1",
                "max:(wins) BETWEEN {1, 2}", "sum:(price) > 1", "min:(founded) < CAST(1000, 'NSDate')",
            ]
            having = groups.isEmpty || Bool.random(using: &random) ? nil : conditions.randomElement(using: &random)
            filter = [
                "wins > -2", "zone = 'AFC' OR wins = nil", "name CONTAINS[cd] 'e'", "ANY players.age > 1",
                "players.@count == 0", nil, nil,
            ].randomElement(using: &random)!
            sort = Bool.random(using: &random) ? [("c0", Bool.random(using: &random))] : []
            // The values of a mode have no order.
            if columns[0].format.hasPrefix("mode:") { sort = [] }
            cut = Int.random(in: 0...2, using: &random) == 0 ? (3, 1) : (0, 0)
            includesSubentities = Int.random(in: 0...3, using: &random) > 0
        }

        func request() throws -> NSFetchRequest<NSDictionary> {
            let request = NSFetchRequest<NSDictionary>(entityName: "Team")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch =
                groups
                + (try columns.map { name, format in
                    let description = NSExpressionDescription()
                    description.name = name
                    description.expression = try NSExpression.parse(format: format)
                    return description
                })
            request.propertiesToGroupBy = groups
            request.havingPredicate = having.map { NSPredicate(format: $0) }
            request.predicate = filter.map { NSPredicate(format: $0) }
            request.sortDescriptors = sort.map { NSSortDescriptor(key: $0.0, ascending: $0.1) }
            (request.fetchLimit, request.fetchOffset) = cut
            request.includesSubentities = includesSubentities
            return request
        }
    }

    /// The result of a request as texts that are comparable between two stores, or the error.
    private func outcome(_ form: Form, _ context: NSManagedObjectContext) -> [String] {
        context.performAndWait {
            do {
                return try context.fetch(form.request()).map { row in
                    row.map { key, value in
                        switch value {
                        case let id as NSManagedObjectID: "\(key)=\(id.entity.name ?? "") \(id.rowKey?.reference ?? 0)"
                        case let number as NSDecimalNumber: "\(key)=decimal \(number)"
                        case let date as Date: "\(key)=date \(date.timeIntervalSinceReferenceDate)"
                        default: "\(key)=\(type(of: value)) \(value)"
                        }
                    }.sorted().joined(separator: ", ")
                }
            } catch {
                return ["error: \(error.localizedDescription)"]
            }
        }
    }

    @MainActor @Test func sqlAndMemoryGiveTheSameGroups() throws {
        try compare(seed: 7) { try [Self.filled(NSSQLiteStoreType, Self.model(), seed: $0)] }
    }

    #if PostgreSQL
        @MainActor @Test(.needs(.server), .enabled(if: PostgreSQLCluster.shared != nil, "PostgreSQL is not installed"))
        func aServerAndAFileGiveTheGroupsOfMemory() throws {
            try compare(seed: 8) { seed in
                try [
                    Self.filled(NSSQLiteStoreType, Self.model(), seed: seed),
                    Self.filled("PostgreSQL", Self.model(), seed: seed, server: PostgreSQLCluster.shared),
                ]
            }
        }
    #endif

    /// Compares the stores that `others` creates for each seed with a store in memory.
    @MainActor private func compare(
        seed: UInt64, _ others: @MainActor (UInt64) throws -> [NSManagedObjectContext]
    ) throws {
        var random = SeededGenerator(seed: seed)
        var (number, refused, empty) = (0, 0, 0)
        for seed in UInt64(20)... {
            let memory = try Self.filled(MemoryStore.storeType, Self.model(), seed: seed)
            let others = try others(seed)
            for round in 0..<Self.rounds {
                // In the second half, the contexts have changes.
                if round == Self.rounds / 2 || Self.count < Self.rounds && round == Self.count / 2 {
                    for context in [memory] + others { try Self.change(context, seed: seed) }
                }
                let form = Form(&random)
                let expected = outcome(form, memory)
                for other in others {
                    let found = outcome(form, other)
                    let type = other.persistentStoreCoordinator?.persistentStores.first?.type ?? ""
                    #expect(found == expected, "\(number), \(type): \(form)")
                    if found != expected { return }
                }
                if expected.first?.hasPrefix("error") == true { refused += 1 }
                if expected.isEmpty { empty += 1 }
                number += 1
                if number == Self.count { return report(refused: refused, empty: empty) }
            }
        }
    }

    private func report(refused: Int, empty: Int) {
        if Self.count > 1_000 { print("\(Self.count) groupings: \(refused) refused by all, \(empty) without a group") }
        #expect(refused < Self.count / 10 && empty < Self.count / 3)
    }
}
