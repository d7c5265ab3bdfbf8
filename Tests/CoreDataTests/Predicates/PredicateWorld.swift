import Foundation
import SQLiteAccess

@testable import CoreData

extension SeededGenerator {
    mutating func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &self)] }
    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
}

/// An object as evaluators read it, without a context.
final class PredicateRow: RowReadable {
    let rowLayout: EntityLayout
    let objectID: NSManagedObjectID
    var slots: [SlotValue]
    var toOnes: [Int: PredicateRow] = [:]
    var toManys: [[PredicateRow]]

    init(_ entity: NSEntityDescription, number: Int64, store: NSPersistentStore) {
        rowLayout = entity.layout
        objectID = NSManagedObjectID(entity: entity, reference: number, store: store)
        slots = rowLayout.slots.map { _ in .null }
        toManys = rowLayout.toManyRelationships.map { _ in [] }
    }

    func slotValue(_ slot: Int) -> SlotValue { slots[slot] }
    func toOneDestination(_ slot: Int) -> (any RowReadable)? { toOnes[slot] }
    func toManyDestinations(_ number: Int) -> [any RowReadable] { toManys[number] }
    func value(forKey key: String) -> Any? { nil }

    func set(_ key: String, _ value: SlotValue) {
        if case .attribute(let slot) = rowLayout.place(of: key) { slots[slot] = value }
    }

    func set(_ key: String, _ destination: PredicateRow?) {
        guard case .toOne(let slot) = rowLayout.place(of: key) else { return }
        slots[slot] = destination.map { .reference($0.objectID) } ?? .null
        toOnes[slot] = destination
    }

    func add(_ key: String, _ destination: PredicateRow) {
        if case .toMany(let number) = rowLayout.place(of: key) { toManys[number].append(destination) }
    }
}

extension ObjectOrdering {
    func sorted<Row: RowReadable>(_ rows: [Row]) -> [Row] { places(of: rows).map { rows[$0] } }
}

/// Tables named as by Apple's framework, as far as the translation needs them.
final class PredicateSchema: SQLSchema {
    let dialect = SQLDialect.sqlite
    let numbers: [String: Int64]
    init(_ model: NSManagedObjectModel) {
        let names = model.entities.compactMap(\.name).sorted()
        numbers = Dictionary(uniqueKeysWithValues: zip(names, 1...))
    }

    func table(of entity: NSEntityDescription) -> String { "Z" + (entity.rootName ?? "").uppercased() }

    func column(of property: NSPropertyDescription, in entity: NSEntityDescription) -> String? {
        property.isTransient ? nil : "Z" + property.name.uppercased()
    }

    func entityColumn(of relationship: NSRelationshipDescription, in entity: NSEntityDescription) -> String? {
        guard let destination = relationship.destinationEntity, !destination.subentities.isEmpty else { return nil }
        return "Z\(numbers[destination.name ?? ""] ?? 0)_\(relationship.name.uppercased())"
    }

    func entityNumbers(of entity: NSEntityDescription, includingSubentities: Bool) -> [Int64] {
        (includingSubentities ? entity.family : [entity]).compactMap { numbers[$0.name ?? ""] }
    }

    func sharesTable(_ entity: NSEntityDescription) -> Bool { entity.superentity != nil || !entity.subentities.isEmpty }

    func storage(of relationship: NSRelationshipDescription) -> SQLToManyStorage {
        guard let inverse = relationship.inverseRelationship, inverse.isToMany else {
            return .foreignKey(
                column: "Z" + (relationship.inverseRelationship?.name ?? "").uppercased(), orderColumn: nil)
        }
        let (own, other) = ("Z_" + inverse.name.uppercased(), "Z_" + relationship.name.uppercased())
        let table = "Z_PAIRS_" + [relationship.name, inverse.name].sorted().joined(separator: "_").uppercased()
        return .joinTable(table, ownerColumn: own, destinationColumn: other, orderColumn: nil)
    }
}

/// Random teams, venues, players and tags, as objects and as tables with the same content.
final class PredicateWorld {
    final class Store: NSPersistentStore, @unchecked Sendable {}

    let model = NSManagedObjectModel()
    let store: Store
    let schema: PredicateSchema
    let connection: Connection
    let team: NSEntityDescription
    let place: NSEntityDescription
    let venue: NSEntityDescription
    let stadium: NSEntityDescription
    let player: NSEntityDescription
    let tag: NSEntityDescription
    private(set) var teams: [PredicateRow] = []
    private(set) var places: [PredicateRow] = []
    private(set) var players: [PredicateRow] = []
    private(set) var tags: [PredicateRow] = []

    static let texts = [
        "", "a", "A", "b", "ab", "aB", "AB", "abc", "Zürich", "zurich", "ZURICH", "Zu\u{308}rich", "e", "é", "e\u{301}",
        "E\u{301}",
        "Straße", "STRASSE", "中国", "中", "国", "日本", "مصر", "مِصْر", "İstanbul", "istanbul", "ı", "😀", "😀b", "👩‍👩‍👧", "x\u{0}y",
        "x",
        "10", "9", "_%", "*a?", "\\", "\"q\"", "'", "\u{10FFFF}", "\u{10FFFF}a", "ガ", "カ\u{3099}", "ΣΑΣ", "σας",
        "line\nbreak",
    ]
    static let integers: [Int64] = [-3, -1, 0, 1, 2, 3, 5, 9, 10, 127]
    static let longs: [Int64] = [.min, .max, 0, 1, -1, 9_007_199_254_740_993, 9_007_199_254_740_992, 42]
    static let reals: [Double] = [-1.5, 0, 0.1, 0.5, 1, 2.5, 3, 1e300, 9_007_199_254_740_992, -0.1]
    static let decimals = ["0.1", "0.10", "1", "-2.5", "3", "12345.678901", "99", "9007199254740993"]
    static let dates: [Double] = [0, 1, 86_400, -86_400.5, 700_000_000, 0.25]
    static let uuids = [
        "3CEF7AEA-11C2-48AB-B289-C3C02E6A38A6", "00000000-0000-0000-0000-000000000001",
        "FFFFFFFF-0000-0000-0000-000000000000",
    ]

    /// - Parameter crowd: number of additional players of the first team.
    init(seed: UInt64, teamCount: Int = 60, crowd: Int = 0) throws {
        let (team, venue, player) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
        let (place, stadium, tag) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
        (self.team, self.venue, self.player, self.place, self.stadium, self.tag) = (
            team, venue, player, place, stadium, tag
        )
        for (entity, name) in [
            (team, "Team"), (venue, "Venue"), (player, "Player"), (place, "Place"), (stadium, "Stadium"), (tag, "Tag"),
        ] { entity.name = name }
        func attribute(_ name: String, _ type: NSAttributeType, transient: Bool = false) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            attribute.isTransient = transient
            return attribute
        }
        func relationship(_ name: String, _ to: NSEntityDescription, many: Bool) -> NSRelationshipDescription {
            let relationship = NSRelationshipDescription()
            relationship.name = name
            relationship.destinationEntity = to
            relationship.maxCount = many ? 0 : 1
            return relationship
        }
        func pair(_ one: NSRelationshipDescription, _ other: NSRelationshipDescription) {
            one.inverseRelationship = other
            other.inverseRelationship = one
        }
        let homeVenue = relationship("homeVenue", venue, many: false)
        let teamsOfVenue = relationship("teams", team, many: true)
        pair(homeVenue, teamsOfVenue)
        let playersOfTeam = relationship("players", player, many: true)
        let teamOfPlayer = relationship("team", team, many: false)
        pair(playersOfTeam, teamOfPlayer)
        let tagsOfTeam = relationship("tags", tag, many: true)
        let teamsOfTag = relationship("taggedTeams", team, many: true)
        pair(tagsOfTeam, teamsOfTag)
        let blob = attribute("blob", .binaryDataAttributeType)
        team.properties = [
            attribute("name", .stringAttributeType), attribute("wins", .integer16AttributeType),
            attribute("points", .integer64AttributeType), attribute("rating", .doubleAttributeType),
            attribute("price", .decimalAttributeType), attribute("favorite", .booleanAttributeType),
            attribute("founded", .dateAttributeType), attribute("code", .UUIDAttributeType),
            attribute("site", .URIAttributeType), blob, attribute("note", .stringAttributeType, transient: true),
            attribute("extra", .transformableAttributeType), homeVenue, playersOfTeam, tagsOfTeam,
        ]
        place.properties = [attribute("label", .stringAttributeType), attribute("size", .integer32AttributeType)]
        venue.properties = [
            attribute("capacity", .integer32AttributeType), attribute("opened", .dateAttributeType), teamsOfVenue,
        ]
        stadium.properties = [attribute("roof", .booleanAttributeType)]
        place.subentities = [venue]
        venue.subentities = [stadium]
        player.properties = [
            attribute("name", .stringAttributeType), attribute("age", .integer16AttributeType),
            attribute("score", .doubleAttributeType), teamOfPlayer,
        ]
        tag.properties = [attribute("word", .stringAttributeType), teamsOfTag]
        model.entities = [team, place, venue, stadium, player, tag]
        schema = PredicateSchema(model)
        store = Store(
            persistentStoreCoordinator: nil, configurationName: nil, at: URL(fileURLWithPath: "/nowhere"), options: nil)
        store.identifier = "3CEF7AEA-0000-0000-0000-000000000000"
        connection = try Connection(path: ":memory:", access: .create)
        try SQLFunctions.register(on: connection)
        fill(seed: seed, teamCount: teamCount, crowd: crowd)
        try writeTables()
    }

    // MARK: Content

    private func fill(seed: UInt64, teamCount: Int, crowd: Int) {
        var random = SeededGenerator(seed: seed)
        for number in 1...8 {
            let row = PredicateRow(random.pick([place, venue, stadium]), number: Int64(number), store: store)
            row.set("label", text(&random))
            row.set("size", integer(&random))
            row.set("capacity", integer(&random))
            row.set("opened", random.chance(20) ? .null : .real(random.pick(Self.dates)))
            row.set("roof", random.chance(30) ? .null : .integer(random.chance(50) ? 1 : 0))
            places.append(row)
        }
        for number in 1...6 {
            let row = PredicateRow(tag, number: Int64(number), store: store)
            row.set("word", text(&random))
            tags.append(row)
        }
        let venues = places.filter { $0.rowLayout.entity !== place }
        for number in 1...teamCount {
            let row = PredicateRow(team, number: Int64(number), store: store)
            row.set("name", text(&random))
            row.set("wins", integer(&random))
            row.set("points", random.chance(20) ? .null : .integer(random.pick(Self.longs)))
            row.set("rating", random.chance(20) ? .null : .real(random.pick(Self.reals)))
            row.set("price", random.chance(20) ? .null : .decimal(NSDecimalNumber(string: random.pick(Self.decimals))))
            row.set("favorite", random.chance(20) ? .null : .integer(random.chance(50) ? 1 : 0))
            row.set("founded", random.chance(20) ? .null : .real(random.pick(Self.dates)))
            row.set(
                "code", random.chance(30) ? .null : UUID(uuidString: random.pick(Self.uuids)).map { .uuid($0) } ?? .null
            )
            row.set("site", random.chance(30) ? .null : .text(random.pick(["http://a", "http://b/c"])))
            row.set("blob", random.chance(30) ? .null : .data(Data(random.pick([[], [1], [1, 2], [255]]))))
            row.set("note", text(&random))
            if random.chance(75), !venues.isEmpty {
                let venue = random.pick(venues)
                row.set("homeVenue", venue)
                venue.add("teams", row)
            }
            for tag in tags where random.chance(25) {
                row.add("tags", tag)
                tag.add("taggedTeams", row)
            }
            teams.append(row)
        }
        for number in 1...(teamCount * 2 + crowd) {
            let row = PredicateRow(player, number: Int64(number), store: store)
            row.set("name", text(&random))
            row.set("age", integer(&random))
            row.set("score", random.chance(20) ? .null : .real(random.pick(Self.reals)))
            if random.chance(90) {
                let team = number > teamCount * 2 ? teams[0] : random.pick(teams)
                row.set("team", team)
                team.add("players", row)
            }
            players.append(row)
        }
    }

    private func text(_ random: inout SeededGenerator) -> SlotValue {
        random.chance(15) ? .null : .text(random.pick(Self.texts))
    }

    private func integer(_ random: inout SeededGenerator) -> SlotValue {
        random.chance(20) ? .null : .integer(random.pick(Self.integers))
    }

    // MARK: Tables

    func rows(of entity: NSEntityDescription) -> [PredicateRow] {
        (teams + places + players + tags).filter { $0.rowLayout.entity.isKindOf(entity: entity) }
    }

    private func writeTables() throws {
        for root in [team, place, player, tag] {
            var columns: [String: String] = [:]
            for entity in root.family {
                for property in entity.layout.slots {
                    guard let column = schema.column(of: property, in: entity) else { continue }
                    columns[column] = Self.declaredType(property)
                    if let relationship = property as? NSRelationshipDescription,
                        let column = schema.entityColumn(of: relationship, in: entity)
                    {
                        columns[column] = "INTEGER"
                    }
                }
            }
            let list = columns.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
            let table = schema.table(of: root)
            try connection.execute(
                "CREATE TABLE \(table) (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, \(list.joined(separator: ", ")))"
            )
            for row in rows(of: root) { try insert(row, into: table) }
        }
        guard
            case .joinTable(let table, let owner, let destination, _) = schema.storage(
                of: team.relationship(named: "tags") ?? NSRelationshipDescription())
        else { return }
        try connection.execute("CREATE TABLE \(table) (\(owner) INTEGER, \(destination) INTEGER)")
        for row in teams {
            for case let tag as PredicateRow in row.toManyDestinations(Self.number("tags", row)) {
                try connection.execute(
                    "INSERT INTO \(table) (\(owner), \(destination)) VALUES (?, ?)", [row.primaryKey, tag.primaryKey])
            }
        }
    }

    private static func number(_ key: String, _ row: PredicateRow) -> Int {
        if case .toMany(let number) = row.rowLayout.place(of: key) { return number }
        return 0
    }

    private func insert(_ row: PredicateRow, into table: String) throws {
        let entity = row.rowLayout.entity
        var columns = ["Z_PK", "Z_ENT", "Z_OPT"]
        var values: [SQLiteValue] = [row.primaryKey, .integer(schema.numbers[entity.name ?? ""] ?? 0), .integer(1)]
        for (slot, property) in row.rowLayout.slots.enumerated() {
            guard let column = schema.column(of: property, in: entity) else { continue }
            columns.append(column)
            values.append(Self.stored(row.slots[slot]))
            guard let relationship = property as? NSRelationshipDescription,
                let column = schema.entityColumn(of: relationship, in: entity), let far = row.toOnes[slot]
            else { continue }
            columns.append(column)
            values.append(.integer(schema.numbers[far.rowLayout.entity.name ?? ""] ?? 0))
        }
        let marks = values.map { _ in "?" }.joined(separator: ", ")
        try connection.execute("INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(marks))", values)
    }

    private static func stored(_ value: SlotValue) -> SQLiteValue {
        switch value {
        case .null, .object: .null
        case .integer(let number): .integer(number)
        case .real(let number): .real(number)
        case .text(let text): .text(text)
        case .data(let data): .blob(data)
        case .uuid(let uuid): .blob(withUnsafeBytes(of: uuid.uuid) { Data($0) })
        case .decimal(let decimal):
            switch Number(decimal.decimalValue) {
            case .integer(let number): .integer(number)
            case .real(let number): .real(number)
            }
        case .reference(let id): .integer(id.rowKey?.reference ?? 0)
        }
    }

    /// Column types as declared by Apple's framework.
    private static func declaredType(_ property: NSPropertyDescription) -> String {
        switch (property as? NSAttributeDescription)?.attributeType {
        case .doubleAttributeType, .floatAttributeType: "FLOAT"
        case .dateAttributeType: "TIMESTAMP"
        case .decimalAttributeType: "DECIMAL"
        case .stringAttributeType, .URIAttributeType: "VARCHAR"
        case .UUIDAttributeType, .binaryDataAttributeType, .transformableAttributeType: "BLOB"
        default: "INTEGER"
        }
    }

    // MARK: Both evaluators

    /// The keys of the rows that match in SQL, in order; `nil` if SQL cannot evaluate the predicate.
    func keysBySQL(
        _ entity: NSEntityDescription, _ predicate: NSPredicate?, sort: [NSSortDescriptor] = [], limit: Int = 0,
        offset: Int = 0
    ) throws -> [Int64]? {
        var query = StoreQuery(entity: entity)
        query.predicate = predicate?.syntaxTree
        query.sortKeys = sort.map(\.storeSortKey)
        query.limit = limit
        query.offset = offset
        let statement = try SelectBuilder(query: query, schema: schema).keys()
        guard statement.unsupported.isEmpty else { return nil }
        return try connection.rows(statement.fragment.text, statement.fragment.bound).map { row in
            if case .integer(let key) = row[0] { key } else { -1 }
        }
    }

    /// The keys that match in memory, sorted.
    func keysInMemory(_ entity: NSEntityDescription, _ predicate: NSPredicate) throws -> [Int64] {
        let compiled = try CompiledPredicate(predicate.syntaxTree, entity: entity)
        return rows(of: entity).filter { compiled.evaluate($0) }.map(\.number).sorted()
    }

    /// The same without the model: every key is read by name.
    func keysByName(_ entity: NSEntityDescription, _ predicate: NSPredicate) throws -> [Int64] {
        let tree = try PredicateResolver(entity: entity).resolve(predicate.syntaxTree)
        let compiled = try CompiledPredicate(tree)
        return rows(of: entity).filter { compiled.evaluate($0) }.map(\.number).sorted()
    }
}

extension PredicateRow {
    var number: Int64 { objectID.rowKey?.reference ?? 0 }
    var primaryKey: SQLiteValue { .integer(number) }
}
