import Foundation
import SQLiteAccess
import Testing

@testable import CoreData

/// The generated statements, and their use of indexes in SQLite.
@Suite struct SelectBuilderTests {
    let world: PredicateWorld

    init() throws { world = try PredicateWorld(seed: 1, teamCount: 12) }

    private func query(
        _ entity: NSEntityDescription, _ format: String? = nil, _ arguments: [Any?] = [], sort: [NSSortDescriptor] = []
    ) throws -> StoreQuery {
        var query = StoreQuery(entity: entity)
        query.predicate = try format.map { try NSPredicate.parse(format: $0, arguments: arguments).syntaxTree }
        query.sortKeys = sort.map(\.storeSortKey)
        return query
    }

    private func keys(_ query: StoreQuery) throws -> SelectStatement {
        try SelectBuilder(query: query, schema: world.schema).keys()
    }

    private func condition(_ format: String, _ arguments: [Any?] = []) throws -> String {
        let text = try keys(try query(world.team, format, arguments)).fragment.text
        let start = try #require(text.range(of: " WHERE "))
        let end = try #require(text.range(of: " ORDER BY", options: .backwards))
        return String(text[start.upperBound..<end.lowerBound])
    }

    @Test func joinsAreSharedByPredicateAndSort() throws {
        let sort = [
            NSSortDescriptor(key: "homeVenue.label", ascending: true, selector: .localizedStandardCompare),
            NSSortDescriptor(key: "wins", ascending: false),
        ]
        let statement = try keys(try query(world.team, "homeVenue.capacity > 3 AND homeVenue.label != 'x'", sort: sort))
        #expect(
            statement.fragment
                == SQLFragment(
                    "SELECT t0.Z_PK FROM ZTEAM AS t0 LEFT JOIN ZPLACE AS t1 ON t1.Z_PK = t0.ZHOMEVENUE"
                        + " WHERE t1.ZCAPACITY > ? AND t1.ZLABEL IS NOT ?"
                        + " ORDER BY t1.ZLABEL COLLATE NSCollateFinderlike, t0.ZWINS DESC, t0.Z_PK",
                    [.integer(3), .text("x")]))
        #expect(statement.onlyEntity === world.team && statement.unsupported.isEmpty)
    }

    @Test func entitiesThatShareATableAreDistinguished() throws {
        #expect(
            try keys(try query(world.place)).fragment.text
                == "SELECT t0.Z_PK, t0.Z_ENT FROM ZPLACE AS t0 ORDER BY t0.Z_PK")
        let numbers = world.schema.entityNumbers(of: world.venue, includingSubentities: true).map(String.init)
        #expect(
            try keys(try query(world.venue)).fragment.text
                == "SELECT t0.Z_PK, t0.Z_ENT FROM ZPLACE AS t0 WHERE t0.Z_ENT IN (\(numbers.joined(separator: ", "))) ORDER BY t0.Z_PK"
        )
        let stadium = world.schema.numbers["Stadium"] ?? 0
        let statement = try keys(try query(world.stadium))
        #expect(
            statement.fragment.text == "SELECT t0.Z_PK FROM ZPLACE AS t0 WHERE t0.Z_ENT = \(stadium) ORDER BY t0.Z_PK")
    }

    @Test(arguments: [
        ("name == 'x'", "t0.ZNAME = ?"), ("name == nil", "t0.ZNAME IS NULL"),
        ("NOT wins < 3", "(t0.ZWINS < ?) IS NOT TRUE"),
        ("name BEGINSWITH 'ab'", "(t0.ZNAME >= ? AND t0.ZNAME < ?)"), ("name CONTAINS 'x'", "instr(t0.ZNAME, ?) > 0"),
        ("name CONTAINS[cd] 'x'", "NSCoreDataStringSearch(t0.ZNAME, ?, 0, 3)"),
        ("wins IN {1, 2}", "t0.ZWINS IN (?, ?)"),
        ("wins IN {}", "0"), ("wins BETWEEN {1, 2}", "(t0.ZWINS >= ? AND t0.ZWINS <= ?)"),
        ("homeVenue == nil", "t0.ZHOMEVENUE IS NULL"),
        ("name == homeVenue.label", "t0.ZNAME IS t1.ZLABEL"),
        ("wins == 1 OR wins == 2", "(t0.ZWINS = ? OR t0.ZWINS = ?)"),
        ("players.@count > 2", "(SELECT COUNT(*) FROM ZPLAYER AS t1 WHERE t1.ZTEAM = t0.Z_PK) > ?"),
        ("ANY players.age > 3", "EXISTS (SELECT 1 FROM ZPLAYER AS t1 WHERE t1.ZTEAM = t0.Z_PK AND t1.ZAGE > ?)"),
        ("favorite", "t0.ZFAVORITE = ?"), ("TRUEPREDICATE", "1"),
    ])
    func conditionsAreWhatAPersonWouldWrite(_ format: String, _ sql: String) throws {
        #expect(try condition(format) == sql)
    }

    @Test func longListsAreOneArgument() throws {
        let names = (0..<40_000).map { "name \($0)" } + ["x"]
        let statement = try keys(try query(world.team, "name IN %@", [names]))
        #expect(statement.fragment.arguments.count == 1)
        #expect(
            try world.connection.rows(statement.fragment.text, statement.fragment.bound).count
                == world.teams.count { row in
                    if case .text("x") = row.slots[row.rowLayout.slots.firstIndex { $0.name == "name" } ?? 0] {
                        true
                    } else {
                        false
                    }
                })
    }

    @Test(arguments: [
        "name == 'x'", "name BEGINSWITH 'x'", "name IN {'a', 'b'}", "name BETWEEN {'a', 'b'}",
        "name == nil", "homeVenue IN %@",
        "name IN %@", "wins == 3", "wins >= 2 AND wins < 5", "wins BETWEEN {2, 5}",
    ])
    func indexesServeWhatIsPlain(_ format: String) throws {
        try world.connection.execute("CREATE INDEX Z_Team_byName ON ZTEAM (ZNAME COLLATE BINARY ASC)")
        try world.connection.execute("CREATE INDEX ZTEAM_ZHOMEVENUE_INDEX ON ZTEAM (ZHOMEVENUE)")
        try world.connection.execute("CREATE INDEX Z_Team_byWins ON ZTEAM (ZWINS COLLATE BINARY ASC)")
        let list: [Any] =
            format.hasPrefix("homeVenue") == false ? (0..<50).map { "t\($0)" } : [world.places[0], world.places[1]]
        let statement = try keys(try query(world.team, format, [list]))
        let plan = try world.connection.rows(
            "EXPLAIN QUERY PLAN " + statement.fragment.text, statement.fragment.bound)
        #expect(plan.contains { "\($0)".contains("SEARCH t0 USING") }, "\(plan)")
    }

    @Test(arguments: ["wins > 3", "wins <= 3", "wins != 3 AND wins > 1"])
    func rangesAreSearchedInTheOrderOfTheirIndex(_ format: String) throws {
        try world.connection.execute("CREATE INDEX Z_Team_byWins ON ZTEAM (ZWINS COLLATE BINARY ASC)")
        let statement = try keys(
            try query(world.team, format, sort: [NSSortDescriptor(key: "wins", ascending: true)]))
        let plan = try world.connection.rows(
            "EXPLAIN QUERY PLAN " + statement.fragment.text, statement.fragment.bound)
        #expect(plan.count == 1 && "\(plan)".contains("SEARCH t0 USING COVERING INDEX Z_Team_byWins"), "\(plan)")
    }

    @Test func longJunctionsStayWithinTheLimitsOfSQLite() throws {
        let wins = (0..<2_000).map { NSPredicate(format: "wins == %d", $0 % 4) }
        let any = NSCompoundPredicate(orPredicateWithSubpredicates: wins)
        #expect(try world.keysBySQL(world.team, any) == world.keysInMemory(world.team, any))
        let all = NSCompoundPredicate(
            andPredicateWithSubpredicates: (0..<2_000).map { NSPredicate(format: "wins != %d", $0 + 4) })
        #expect(try world.keysBySQL(world.team, all) == world.keysInMemory(world.team, all))
        // A predicate with more values than a statement can bind is evaluated in memory.
        let tooMany = NSCompoundPredicate(
            andPredicateWithSubpredicates: (0..<40_000).map { NSPredicate(format: "wins != %d", $0) })
        #expect(try world.keysBySQL(world.team, tooMany) == nil)
    }

    @Test func objectsOfOtherStoresAreNotRows() throws {
        let query = try query(world.team, "SELF == %@ OR homeVenue == %@", [world.teams[0], world.places[0]])
        let here = try SelectBuilder(query: query, schema: world.schema, storeIdentifier: world.store.identifier).keys()
        #expect(here.fragment.arguments == [.integer(1), .integer(1)])
        let elsewhere = try SelectBuilder(query: query, schema: world.schema, storeIdentifier: "another").keys()
        #expect(elsewhere.fragment.arguments == [.integer(-1), .integer(-1)])
    }

    @Test func sortKeysAreServedByAnIndexWithoutTheTable() throws {
        try world.connection.execute("CREATE INDEX Z_Team_sorted ON ZTEAM (ZFAVORITE, ZWINS DESC, ZNAME)")
        let sort = [
            NSSortDescriptor(key: "favorite", ascending: true), NSSortDescriptor(key: "wins", ascending: false),
            NSSortDescriptor(key: "name", ascending: true),
        ]
        let statement = try keys(try query(world.team, sort: sort))
        let plan = try world.connection.rows("EXPLAIN QUERY PLAN " + statement.fragment.text)
        #expect(plan.count == 1 && "\(plan)".contains("USING COVERING INDEX Z_Team_sorted"), "\(plan)")
    }

    @Test func groupsAreServedByAnIndexWithoutTheTable() throws {
        try world.connection.execute("CREATE INDEX Z_Team_grouped ON ZTEAM (ZFAVORITE, ZWINS)")
        func group(_ function: String) throws -> GroupSelect? {
            let rows = try query(world.team)
            var wanted = StoreGroupQuery(
                rows: rows, columns: [.keyPath(["favorite"]), .function(function, [.keyPath(["wins"])])])
            wanted.groups = [.keyPath(["favorite"])]
            return try SelectBuilder(query: rows, schema: world.schema).groups(wanted)
        }
        let statement = try #require(try group("sum:"))
        let plan = try world.connection.rows("EXPLAIN QUERY PLAN " + statement.fragment.text)
        #expect("\(plan)".contains("USING COVERING INDEX Z_Team_grouped"), "\(plan)")
        #expect(!"\(plan)".contains("TEMP B-TREE"), "\(plan)")
        #expect(try group("median:") == nil, "SQLite knows no median")
    }

    @Test func theExactPartOfAConjunctionStillNarrows() throws {
        var mixed = try query(world.team, "note == 'x' AND wins > 3 AND (name == 'a' OR note == 'b')")
        mixed.limit = 3
        let builder = SelectBuilder(query: mixed, schema: world.schema)
        let statement = try builder.keys()
        #expect(statement.unsupported == .predicate)
        #expect(statement.fragment.text == "SELECT t0.Z_PK FROM ZTEAM AS t0 WHERE t0.ZWINS > ? ORDER BY t0.Z_PK")
        #expect(try builder.count() == nil)
        let unsorted = try keys(
            try query(world.team, "wins > 3", sort: [NSSortDescriptor(key: "note", ascending: true)]))
        #expect(unsorted.unsupported == .sort)
        #expect(!unsorted.fragment.text.contains("ORDER BY"))
    }

    @Test func countsApplyLimitAndOffset() throws {
        func count(limit: Int, offset: Int) throws -> Int64? {
            var query = try query(world.team, "wins != 99")
            query.limit = limit
            query.offset = offset
            let fragment = try #require(try SelectBuilder(query: query, schema: world.schema).count())
            return try world.connection.integer(fragment.text, fragment.bound)
        }
        #expect(try count(limit: 0, offset: 0) == 12)
        #expect(try count(limit: 5, offset: 0) == 5)
        #expect(try count(limit: 5, offset: 10) == 2)
        #expect(try count(limit: 0, offset: 4) == 8)
    }

    @Test func theGroupingValueFollowsTheKey() throws {
        let path = ["homeVenue", "label"]
        let sorted = try query(
            world.team, "name != 'x'", sort: [NSSortDescriptor(key: "homeVenue.label", ascending: false)])
        let builder = SelectBuilder(query: sorted, schema: world.schema)
        let statement = try builder.keys(groupedBy: path)
        #expect(
            statement.fragment.text
                == "SELECT t0.Z_PK, t1.ZLABEL FROM ZTEAM AS t0 LEFT JOIN ZPLACE AS t1 ON t1.Z_PK = t0.ZHOMEVENUE"
                + " WHERE t0.ZNAME IS NOT ? ORDER BY t1.ZLABEL DESC, t0.Z_PK")
        #expect(statement.group?.attribute.name == "label" && statement.group?.column == 1)
        // A relationship has no single value.
        #expect(try builder.keys(groupedBy: ["homeVenue"]).group == nil)
        // For an entity with subentities, the entity's column is between the key and the value.
        let places = SelectBuilder(query: try query(world.place), schema: world.schema)
        #expect(try places.keys(groupedBy: ["label"]).group?.column == 2)
    }

    @Test func valuesForSortingInMemoryAreLastColumns() throws {
        let sort = [
            NSSortDescriptor(key: "wins", ascending: false), NSSortDescriptor(key: "homeVenue.label", ascending: true),
        ]
        var sorted = try query(world.team, sort: sort)
        let keys = try #require(try SelectBuilder(query: sorted, schema: world.schema).keysToSort())
        #expect(
            keys.fragment.text
                == "SELECT t0.Z_PK, t0.ZWINS, t1.ZLABEL FROM ZTEAM AS t0 LEFT JOIN ZPLACE AS t1 ON t1.Z_PK = t0.ZHOMEVENUE"
        )
        #expect(keys.sortColumns?.map(\.index) == [1, 2])
        #expect(keys.sortColumns?.map(\.isAscending) == [false, true])
        let rows = try #require(try SelectBuilder(query: sorted, schema: world.schema).rowsToSort())
        let count = try #require(rows.columns).names.count
        #expect(rows.sortColumns?.map(\.index) == [count, count + 1])
        // The order of a collation differs from that of the bytes.
        sorted = try query(
            world.team, sort: [NSSortDescriptor(key: "name", ascending: true, selector: .caseInsensitiveCompare)])
        #expect(try SelectBuilder(query: sorted, schema: world.schema).keysToSort() == nil)
        #expect(try SelectBuilder(query: sorted, schema: world.schema).rowsToSort() == nil)
    }

    @Test func rowsHaveTheColumnsOfTheWholeFamily() throws {
        let statement = try SelectBuilder(query: try query(world.place), schema: world.schema).rows()
        let columns = try #require(statement.columns)
        #expect(Array(columns.names.prefix(3)) == ["Z_PK", "Z_ENT", "Z_OPT"])
        #expect(Set(columns.names.dropFirst(3)) == ["ZLABEL", "ZSIZE", "ZCAPACITY", "ZOPENED", "ZROOF"])
        for place in world.places {
            let entity = try #require(columns.entities[world.schema.numbers[place.rowLayout.entity.name ?? ""] ?? 0])
            #expect(entity.entity === place.rowLayout.entity)
            #expect(
                entity.slots.map { columns.names[$0.value] } == place.rowLayout.slots.map { "Z" + $0.name.uppercased() }
            )
        }
        let teams = RowColumns(entity: world.team, includingSubentities: true, schema: world.schema)
        let slots = try #require(teams.entities.values.first?.slots)
        let venue = try #require(world.team.layout.slots.firstIndex { $0.name == "homeVenue" })
        #expect(
            teams.names[slots[venue].value] == "ZHOMEVENUE" && teams.names[slots[venue].entity].hasSuffix("_HOMEVENUE"))
        let note = try #require(world.team.layout.slots.firstIndex { $0.name == "note" })
        #expect(slots[note] == RowColumns.SlotColumn(value: -1, entity: -1))
    }

    @Test func namesAreQuotedWhereTheyMust() {
        #expect(SQLName.quoted("ZNAME_1") == "ZNAME_1")
        #expect(SQLName.quoted("ZÉTÉ") == "\"ZÉTÉ\"")
        #expect(SQLName.quoted("1A") == "\"1A\"")
        #expect(SQLName.quoted("A\"B") == "\"A\"\"B\"")
        #expect(SQLName.quoted("") == "\"\"")
    }

    @Test func thePrefixRangeEndsAfterAllTextsWithThePrefix() {
        #expect(PredicateToSQL.successor(of: "ab") == "ac")
        #expect(PredicateToSQL.successor(of: "a\u{10FFFF}") == "b")
        #expect(PredicateToSQL.successor(of: "\u{10FFFF}") == nil)
        #expect(PredicateToSQL.successor(of: "\u{D7FF}") == "\u{E000}")
    }
}
