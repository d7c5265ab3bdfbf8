import CoreData
import Foundation

/// `simulate`: plays random matches between the teams of a store and writes the results, one transaction per match.
///
/// The same store and seed give the same matches. The teams are the records of an entity with the integer attributes
/// `wins`, `draws`, `losses`, `goalsFor` and `goalsAgainst`.
public struct SimulateCommand: Sendable {
    /// Number of matches of a season of twenty teams.
    public static let defaultCount = 380

    /// Location of the store and its model.
    public var store: StoreLocation
    /// Matches per second; `nil` for as fast as they can be saved.
    public var rate: Double?
    /// Number of matches to play.
    public var count: Int
    /// The seed of the random results; `nil` for a different one each time.
    public var seed: UInt64?

    /// Creates the command; see the properties.
    public init(store: StoreLocation, rate: Double? = nil, count: Int = defaultCount, seed: UInt64? = nil) {
        self.store = store
        self.rate = rate
        self.count = count
        self.seed = seed
    }

    /// Prints a line for each match after it is saved.
    /// - Throws: ``CommandError``, or an error of the framework; the printed matches are saved.
    public func run(in surroundings: CommandSurroundings) throws {
        let session = try StoreSession(store, for: .writing, in: surroundings)
        let seed = seed ?? UInt64.random(in: .min ... .max)
        let league = try session.perform { try League(session, seed: seed) }
        let start = ContinuousClock.now
        for number in 0..<count {
            if let rate {
                let due = start + .given(seconds: Double(number) / rate)
                surroundings.interruption.wait(for: due - ContinuousClock.now)
            }
            if surroundings.interruption.isRaised {
                throw CommandError.failure("interrupted after \(number) of \(count) matches (seed \(seed))")
            }
            let result = try session.perform { try league.playMatch() }
            try SavedReport.telling(true) {
                try surroundings.output.write(VisibleText.shown(result) + "\n")
                try surroundings.output.flush()
            }
        }
        try session.close()
    }
}

/// The teams of a store; chooses the opponents.
private final class League {
    private static let keys = ["wins", "draws", "losses", "goalsFor", "goalsAgainst"]
    /// Number of matches in a thousand in which a team scores 0, 1, 2, … goals: a Poisson distribution around 1.4, as
    /// in World Cup finals.
    private static let goalShares = [247, 345, 242, 113, 39, 11, 3]
    private static let patience = 20

    private let context: NSManagedObjectContext
    private let teams: [NSManagedObject]
    private let names: [NSManagedObjectID: String]
    private var random: SeededGenerator

    init(_ session: StoreSession, seed: UInt64) throws {
        context = session.context
        random = SeededGenerator(seed: seed)
        let entities = session.model.entities.sorted { ($0.name ?? "") < ($1.name ?? "") }
        guard let entity = entities.first(where: Self.isTeam) else {
            throw CommandError.failure(
                "cannot simulate matches in \(session.name): no entity has the integer attributes \(Self.keys.joined(separator: ", "))"
            )
        }
        let request = NSFetchRequest<NSManagedObject>()
        request.entity = entity
        // The order must not depend on the order of rows or on a locale.
        teams = try session.context.fetch(request).map { (RecordLabel.reference(to: $0).text, $0) }
            .sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }.map(\.1)
        names = Dictionary(uniqueKeysWithValues: teams.map { ($0.objectID, RecordLabel.shown($0)) })
        guard teams.count >= 2 else {
            throw CommandError.failure(
                "cannot simulate matches in \(session.name): it has only \(teams.count) of \(entity.name ?? "")")
        }
    }

    /// Plays and saves one match.
    /// - Returns: the result, such as `Brazil 2–1 Japan`.
    func playMatch() throws -> String {
        let home = random.number(below: teams.count)
        let other = random.number(below: teams.count - 1)
        let away = other < home ? other : other + 1
        let (homeGoals, awayGoals) = (goals(), goals())
        try save {
            for team in [teams[home], teams[away]] { try checkThatItIsThere(team) }
            try record(teams[home], goalsFor: homeGoals, goalsAgainst: awayGoals)
            try record(teams[away], goalsFor: awayGoals, goalsAgainst: homeGoals)
        }
        return "\(RecordLabel.shown(teams[home])) \(homeGoals)–\(awayGoals) \(RecordLabel.shown(teams[away]))"
    }

    /// - Throws: ``CommandError`` if another program deleted the team's row: values set on such an object would never
    ///   be saved.
    private func checkThatItIsThere(_ team: NSManagedObject) throws {
        guard (try? context.existingObject(with: team.objectID)) == nil || team.isDeleted else { return }
        throw CommandError.failure(
            "another program deleted the team \(names[team.objectID] ?? ""); the printed matches are saved")
    }

    private func goals() -> Int {
        var place = random.number(below: Self.goalShares.reduce(0, +))
        for (goals, share) in Self.goalShares.enumerated() {
            if place < share { return goals }
            place -= share
        }
        return 0
    }

    private func record(_ team: NSManagedObject, goalsFor: Int, goalsAgainst: Int) throws {
        try add(1, to: goalsFor > goalsAgainst ? "wins" : goalsFor < goalsAgainst ? "losses" : "draws", of: team)
        try add(goalsFor, to: "goalsFor", of: team)
        try add(goalsAgainst, to: "goalsAgainst", of: team)
    }

    private func add(_ number: Int, to key: String, of team: NSManagedObject) throws {
        guard number != 0 else { return }
        let (sum, overflow) = ((team.value(forKey: key) as? Int) ?? 0).addingReportingOverflow(number)
        guard !overflow else {
            throw CommandError.failure(
                "\(RecordLabel.shown(team)): \(key) cannot grow any more. Set it to a lower number")
        }
        team.setValue(sum, forKey: key)
    }

    /// Saves the edit. If another process changed the same team, repeats it on the team's current row.
    private func save(_ edit: () throws -> Void) throws {
        for attempt in 1... {
            try edit()
            do {
                return try context.save()
            } catch let error as CocoaError where error.code.rawValue == Self.conflict && attempt < Self.patience {
                context.rollback()
                for team in teams where !team.isFault { context.refresh(team, mergeChanges: false) }
            }
        }
    }

    /// Error code of a save that conflicts with rows changed by others: `NSManagedObjectMergeError`.
    private static let conflict = 133_020

    private static func isTeam(_ entity: NSEntityDescription) -> Bool {
        !entity.isAbstract
            && keys.allSatisfy { key in
                switch entity.attributesByName[key]?.attributeType {
                case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: true
                default: false
                }
            }
    }
}
