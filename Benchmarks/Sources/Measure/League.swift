import CoreData
import Foundation

/// The store that the measurements use: teams in zones, as many of both as asked for.
struct League {
    let teams: Int
    let zones: Int

    /// Team(teamName, qualifyingZone, wins, founded), with the index that the list needs if asked for.
    static func model(isIndexed: Bool = true) -> NSManagedObjectModel {
        let team = NSEntityDescription()
        team.name = "Team"
        func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
            let made = NSAttributeDescription()
            made.name = name
            made.attributeType = type
            return made
        }
        let name = attribute("teamName", .stringAttributeType)
        let zone = attribute("qualifyingZone", .stringAttributeType)
        let wins = attribute("wins", .integer32AttributeType)
        let founded = attribute("founded", .dateAttributeType)
        team.properties = [name, zone, wins, founded]
        let elements = [zone, wins, name].map { NSFetchIndexElementDescription(property: $0, collationType: .binary) }
        elements[1].isAscending = false
        if isIndexed { team.indexes = [NSFetchIndexDescription(name: "byZone", elements: elements)] }
        let model = NSManagedObjectModel()
        model.entities = [team]
        return model
    }

    struct Record {
        let name: String
        let zone: String
        let wins: Int
        let founded: Double
    }

    /// The same records in every run.
    func records() -> [Record] {
        var random = SeededRandom(seed: 7)
        return (0..<teams).map { number in
            Record(
                name: "Team \(number) of \(random.next() % 1_000_000)",
                zone: "Zone \(String(format: "%05d", random.next() % UInt64(zones)))",
                wins: Int(random.next() % 1_000), founded: Double(random.next() % 1_000_000_000) - 2e9)
        }
    }

    static var sortDescriptors: [NSSortDescriptor] {
        [
            NSSortDescriptor(key: "qualifyingZone", ascending: true), NSSortDescriptor(key: "wins", ascending: false),
            NSSortDescriptor(key: "teamName", ascending: true),
        ]
    }

    static func request() -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
        request.sortDescriptors = sortDescriptors
        request.fetchBatchSize = 100
        return request
    }

    /// A container on `url`, by default with history and remote changes as the terminal program has them.
    static func container(
        at url: URL, model: NSManagedObjectModel, keepsHistory: Bool = true
    ) throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "League", managedObjectModel: model)
        let description = NSPersistentStoreDescription(url: url)
        description.setOption(keepsHistory as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        description.setOption(
            keepsHistory as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        container.viewContext.automaticallyMergesChangesFromParent = true
        return container
    }
}

/// SplitMix64: small, good enough, and the same everywhere.
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
}
