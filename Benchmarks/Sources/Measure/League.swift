import CoreData
import Foundation

/// A team with typed properties like those of generated classes.
final class Team: NSManagedObject {
    var teamName: String? {
        get { self[managed: "teamName"] }
        set { self[managed: "teamName"] = newValue }
    }
    var qualifyingZone: String? {
        get { self[managed: "qualifyingZone"] }
        set { self[managed: "qualifyingZone"] = newValue }
    }
    var wins: Int32 {
        get { self[managed: "wins"] }
        set { self[managed: "wins"] = newValue }
    }
    var founded: Date? {
        get { self[managed: "founded"] }
        set { self[managed: "founded"] = newValue }
    }
    var venue: Int32 {
        get { self[managed: "venue"] }
        set { self[managed: "venue"] = newValue }
    }
}

/// The model, records and stacks of the benchmarks: any number of teams in any number of zones.
enum League {
    struct Record {
        let name: String
        let zone: String
        let wins: Int
        let founded: Double
        let venue: Int
    }

    /// Returns the same records in every run.
    static func records(_ count: Int, sections: Int) -> [Record] {
        var random = SeededRandom(seed: 7)
        return (0..<count).map { number in
            Record(
                name: "Team \(number) of \(random.next() % 1_000_000)",
                zone: "Zone \(String(format: "%05d", random.next() % UInt64(sections)))",
                wins: Int(random.next() % 1_000), founded: Double(random.next() % 1_000_000_000) - 2e9,
                venue: Int(random.next() % 10_000))
        }
    }

    /// Team(teamName, qualifyingZone, wins, founded, venue), optionally with the list's index.
    static func model(isIndexed: Bool) -> NSManagedObjectModel {
        let team = NSEntityDescription()
        team.name = "Team"
        team.managedObjectClassName = String(reflecting: Team.self)
        let name = attribute("teamName", .stringAttributeType)
        let zone = attribute("qualifyingZone", .stringAttributeType)
        let wins = attribute("wins", .integer32AttributeType)
        team.properties = [
            name, zone, wins, attribute("founded", .dateAttributeType), attribute("venue", .integer32AttributeType),
        ]
        if isIndexed {
            let elements = [zone, wins, name].map {
                NSFetchIndexElementDescription(property: $0, collationType: .binary)
            }
            elements[1].isAscending = false
            team.indexes = [NSFetchIndexDescription(name: "byZone", elements: elements)]
        }
        let model = NSManagedObjectModel()
        model.entities = [team]
        return model
    }

    static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let made = NSAttributeDescription()
        made.name = name
        made.attributeType = type
        return made
    }

    static var sortDescriptors: [NSSortDescriptor] {
        [
            NSSortDescriptor(key: "qualifyingZone", ascending: true), NSSortDescriptor(key: "wins", ascending: false),
            NSSortDescriptor(key: "teamName", ascending: true),
        ]
    }

    static func request(batchSize: Int = 50) -> NSFetchRequest<Team> {
        let request = NSFetchRequest<Team>(entityName: "Team")
        request.sortDescriptors = sortDescriptors
        request.fetchBatchSize = batchSize
        return request
    }

    static func insert(_ records: some Sequence<Record>, into context: NSManagedObjectContext) {
        for record in records {
            let team = Team(context: context)
            team.teamName = record.name
            team.qualifyingZone = record.zone
            team.wins = Int32(record.wins)
            team.founded = Date(timeIntervalSinceReferenceDate: record.founded)
            team.venue = Int32(record.venue)
        }
    }

    /// An open store with a context on the main queue.
    @MainActor struct Stack {
        let container: NSPersistentContainer
        var context: NSManagedObjectContext { container.viewContext }

        /// - Parameter keepsHistory: True for a history and remote changes, as in the terminal program.
        init(_ url: URL, isIndexed: Bool = true, keepsHistory: Bool = false) throws {
            try self.init(url, model: League.model(isIndexed: isIndexed), keepsHistory: keepsHistory)
        }

        init(_ url: URL, model: NSManagedObjectModel, keepsHistory: Bool = false) throws {
            container = NSPersistentContainer(name: "League", managedObjectModel: model)
            let description = NSPersistentStoreDescription(url: url)
            description.setOption(keepsHistory as NSNumber, forKey: NSPersistentHistoryTrackingKey)
            description.setOption(
                keepsHistory as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
            container.persistentStoreDescriptions = [description]
            var failure: (any Error)?
            container.loadPersistentStores { _, error in failure = error }
            if let failure { throw failure }
        }

        func close() throws {
            context.reset()
            for store in container.persistentStoreCoordinator.persistentStores {
                try container.persistentStoreCoordinator.remove(store)
            }
        }

        /// The list that the terminal program shows.
        func list(cacheName: String? = nil) throws -> NSFetchedResultsController<Team> {
            let controller = NSFetchedResultsController(
                fetchRequest: League.request(), managedObjectContext: context, sectionNameKeyPath: "qualifyingZone",
                cacheName: cacheName)
            return controller
        }
    }
}

/// SplitMix64: small, good enough, and the same on every platform.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }
}
