import CoreData
import Foundation
import SQLiteAccess

/// A small store with teams, venues, locations and matches, created for each test.
@MainActor
final class Fixture {
    let folder: URL
    let storeURL: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("roster-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        storeURL = folder.appendingPathComponent("Cup.sqlite")
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// A fixture with its teams.
    static func filled() throws -> Fixture {
        let fixture = try Fixture()
        try fixture.fill()
        return fixture
    }

    /// Overwrites the first page of a table, as a failing disk might.
    func damage(table: String) throws {
        let connection = try Connection(path: storeURL.path, access: .readOnly)
        let page = try connection.integer("SELECT rootpage FROM sqlite_schema WHERE name = ?", [.text(table)]) ?? 0
        let size = try connection.integer("PRAGMA page_size") ?? 0
        let file = try FileHandle(forWritingTo: storeURL)
        try file.seek(toOffset: UInt64((page - 1) * size))
        try file.write(contentsOf: Data(repeating: 0xFF, count: Int(size)))
        try file.close()
    }

    /// Opens a separate container for the store: to the browser, this is another program.
    func container(keepsHistory: Bool = true) throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Cup", managedObjectModel: Self.makeModel())
        let description = NSPersistentStoreDescription(url: storeURL)
        if keepsHistory { description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey) }
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        return container
    }

    /// Changes the store as another program would, in a separate container.
    @discardableResult
    func elsewhere<Result>(
        keepsHistory: Bool = true, _ body: (NSManagedObjectContext) throws -> Result
    ) throws -> Result {
        let container = try container(keepsHistory: keepsHistory)
        return try withExtendedLifetime(container) { try body(container.viewContext) }
    }

    /// Fills the store with sixteen teams in five zones.
    func fill(keepsHistory: Bool = true) throws { try elsewhere(keepsHistory: keepsHistory, fill) }

    private func fill(_ context: NSManagedObjectContext) throws {
        func venue(_ name: String, _ capacity: Int, _ latitude: Double, _ longitude: Double) -> NSManagedObject {
            let location = NSEntityDescription.insertNewObject(forEntityName: "Location", into: context)
            location.setValue(latitude, forKey: "latitude")
            location.setValue(longitude, forKey: "longitude")
            let venue = NSEntityDescription.insertNewObject(forEntityName: "Venue", into: context)
            venue.setValue(name, forKey: "name")
            venue.setValue(capacity, forKey: "capacity")
            venue.setValue(location, forKey: "location")
            return venue
        }
        let venues = [
            "Maracanã": venue("Maracanã", 78838, -22.9122, -43.2302),
            "Wembley": venue("Wembley", 90000, 51.5560, -0.2795),
            "Azteca": venue("Azteca", 87523, 19.3029, -99.1505),
        ]
        for (zone, name, local, wins, titles, home) in Self.teams {
            let team = NSEntityDescription.insertNewObject(forEntityName: "Team", into: context)
            team.setValue(name, forKey: "teamName")
            team.setValue(local, forKey: "localName")
            team.setValue(zone, forKey: "qualifyingZone")
            team.setValue(wins, forKey: "wins")
            team.setValue(titles, forKey: "titles")
            team.setValue(titles > 3, forKey: "favorite")
            team.setValue(home.flatMap { venues[$0] }, forKey: "homeVenue")
            team.setValue(Date(timeIntervalSince1970: -1_247_443_200), forKey: "firstAppearance")
        }
        let match = NSEntityDescription.insertNewObject(forEntityName: "Match", into: context)
        match.setValue("Final 1966", forKey: "title")
        match.setValue(venues["Wembley"], forKey: "venue")
        try context.save()
    }

    private static let teams: [(String?, String, String?, Int, Int, String?)] = [
        ("AFC", "Japan", "日本", 7, 0, nil), ("AFC", "South Korea", "대한민국", 7, 0, nil),
        ("AFC", "Saudi Arabia", "السعودية", 4, 0, nil),
        ("CAF", "Cameroon", nil, 5, 0, nil), ("CAF", "Ivory Coast", "Côte d’Ivoire", 3, 0, nil),
        ("CONCACAF", "Mexico", "México", 17, 0, "Azteca"), ("CONCACAF", "United States", nil, 9, 0, nil),
        ("CONMEBOL", "Brazil", "Brasil", 76, 5, "Maracanã"), ("CONMEBOL", "Argentina", nil, 47, 3, nil),
        ("CONMEBOL", "Uruguay", nil, 25, 2, nil),
        ("UEFA", "Germany", "Deutschland", 68, 4, nil), ("UEFA", "Italy", "Italia", 45, 4, nil),
        ("UEFA", "England", nil, 32, 1, "Wembley"), ("UEFA", "France", nil, 39, 2, nil),
        ("UEFA", "Spain", "España", 31, 1, nil), (nil, "Atlantis", nil, 0, 0, nil),
    ]

    /// Fills the store with any number of teams in sections of twenty, quickly by SQL and without a history.
    func fillWithManyTeams(_ count: Int) throws {
        try elsewhere(keepsHistory: false) { try $0.save() }
        let connection = try Connection(path: storeURL.path, access: .readWrite)
        defer { connection.close() }
        try connection.execute(
            """
            INSERT INTO ZTEAM (Z_PK, Z_ENT, Z_OPT, ZTEAMNAME, ZQUALIFYINGZONE, ZWINS, ZTITLES, ZFAVORITE)
            WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < \(count))
            SELECT n, (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Team'), 1, printf('Team %06d', n),
                printf('Zone %05d', n / 20), n % 70, 0, 0 FROM numbers
            """)
        try connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = \(count) WHERE Z_NAME = 'Team'")
    }

    // MARK: The model

    static func makeModel() -> NSManagedObjectModel {
        let team = entity(
            "Team",
            [
                attribute("teamName", .stringAttributeType, optional: false),
                attribute("localName", .stringAttributeType), attribute("qualifyingZone", .stringAttributeType),
                attribute("wins", .integer32AttributeType, optional: false, value: 0, minimum: 0),
                attribute("titles", .integer16AttributeType, optional: false, value: 0, minimum: 0),
                attribute("favorite", .booleanAttributeType, optional: false, value: false),
                attribute("firstAppearance", .dateAttributeType),
            ])
        let venue = entity(
            "Venue",
            [
                attribute("name", .stringAttributeType, optional: false),
                attribute("capacity", .integer32AttributeType, optional: false, value: 0, minimum: 0),
            ])
        let location = entity(
            "Location",
            [
                attribute("latitude", .doubleAttributeType, optional: false, value: 0),
                attribute("longitude", .doubleAttributeType, optional: false, value: 0),
            ])
        let match = entity("Match", [attribute("title", .stringAttributeType, optional: false)])
        for name in ["teamName", "qualifyingZone"] {
            team.attributesByName[name]?.preservesValueInHistoryOnDeletion = true
        }
        relate(team, "homeVenue", .nullifyDeleteRule, to: venue, "teams", .nullifyDeleteRule, manyBack: true)
        relate(venue, "location", .cascadeDeleteRule, to: location, "venue", .nullifyDeleteRule)
        relate(match, "venue", .nullifyDeleteRule, to: venue, "matches", .denyDeleteRule, manyBack: true)
        let model = NSManagedObjectModel()
        model.entities = [team, venue, location, match]
        return model
    }

    private static func entity(_ name: String, _ properties: [NSPropertyDescription]) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.properties = properties
        return entity
    }

    private static func attribute(
        _ name: String, _ type: NSAttributeType, optional: Bool = true, value: Any? = nil, minimum: Int? = nil
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = optional
        attribute.defaultValue = value
        if let minimum {
            attribute.setValidationPredicates(
                [NSPredicate(format: "SELF >= %@", minimum as NSNumber)],
                withValidationWarnings: ["must be at least \(minimum)"])
        }
        return attribute
    }

    private static func relate(
        _ from: NSEntityDescription, _ name: String, _ rule: NSDeleteRule, to: NSEntityDescription, _ back: String,
        _ backRule: NSDeleteRule, manyBack: Bool = false
    ) {
        let there = NSRelationshipDescription()
        there.name = name
        there.destinationEntity = to
        there.maxCount = 1
        there.deleteRule = rule
        let inverse = NSRelationshipDescription()
        inverse.name = back
        inverse.destinationEntity = from
        inverse.maxCount = manyBack ? 0 : 1
        inverse.deleteRule = backRule
        there.inverseRelationship = inverse
        inverse.inverseRelationship = there
        from.properties += [there]
        to.properties += [inverse]
    }
}
