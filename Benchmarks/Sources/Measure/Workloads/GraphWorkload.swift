import CSQLite3Raw
import CoreData
import Foundation

final class Club: NSManagedObject {
    var name: String? {
        get { self[managed: "name"] }
        set { self[managed: "name"] = newValue }
    }
    var players: Set<Player> {
        get { self[managed: "players"] }
        set { self[managed: "players"] = newValue }
    }
}

final class Player: NSManagedObject {
    var name: String? {
        get { self[managed: "name"] }
        set { self[managed: "name"] = newValue }
    }
    var goals: Int32 {
        get { self[managed: "goals"] }
        set { self[managed: "goals"] = newValue }
    }
    var club: Club? {
        get { self[managed: "club"] }
        set { self[managed: "club"] = newValue }
    }
}

/// 10: parents with ten children each: inserted with both sides set, read with faults, read with prefetching. Raw
/// SQLite does the same from Swift.
@MainActor struct GraphWorkload {
    let stage: Stage
    private static let children = 10
    private var parents: Int { stage.count / Self.children }

    init(stage: Stage) { self.stage = stage }

    func run() throws {
        let url = stage.url("graph")
        let rawURL = stage.url("graph-raw")
        let rounds = try Rounds.run(stage.rounds) { rounds in
            stage.remove(url)
            stage.remove(rawURL)
            let raw = RawGraph(rawURL, parents: parents, children: Self.children)
            rounds.note("raw insert", Clock.processor.time { raw.insert() })
            let stack = try League.Stack(url, model: Self.model())
            rounds.note("insert", try Clock.processor.time { try insert(into: stack.context) })
            rounds.note("raw walk", Clock.processor.time { raw.walk() })
            rounds.note("walk", try walk(stack, prefetches: false))
            rounds.note("raw prefetch", Clock.processor.time { raw.walkPrefetched() })
            rounds.note("prefetch", try walk(stack, prefetches: true))
            rounds.note("raw objects", Clock.processor.time { raw.walkPrefetchedAsObjects() })
            try stack.close()
        }
        for (kind, text, target) in [
            ("insert", "insert, set both sides, and save", 2.2), ("walk", "walk by faults", 2.0),
            ("prefetch", "walk prefetched", 1.6),
        ] {
            Line(
                number: 10, what: "graph \(parents) × \(Self.children): \(text)", unit: .milliseconds,
                figure: rounds[kind].median, anchor: rounds["raw " + kind].median, target: .ratio(target),
                limit: .ratio(4)
            ).report()
        }
        Line(
            number: 10, what: "… (raw: uniqued objects and sets, without a framework)", unit: .milliseconds,
            figure: rounds["prefetch"].median, anchor: rounds["raw objects"].median
        ).report()
        stage.remove(url)
        stage.remove(rawURL)
    }

    private static func model() -> NSManagedObjectModel {
        let club = NSEntityDescription()
        club.name = "Club"
        club.managedObjectClassName = String(reflecting: Club.self)
        let player = NSEntityDescription()
        player.name = "Player"
        player.managedObjectClassName = String(reflecting: Player.self)
        let players = NSRelationshipDescription()
        players.name = "players"
        players.destinationEntity = player
        players.maxCount = 0
        let owner = NSRelationshipDescription()
        owner.name = "club"
        owner.destinationEntity = club
        owner.maxCount = 1
        players.inverseRelationship = owner
        owner.inverseRelationship = players
        club.properties = [League.attribute("name", .stringAttributeType), players]
        player.properties = [
            League.attribute("name", .stringAttributeType), League.attribute("goals", .integer32AttributeType), owner,
        ]
        let model = NSManagedObjectModel()
        model.entities = [club, player]
        return model
    }

    private func insert(into context: NSManagedObjectContext) throws {
        for number in 0..<parents {
            let club = Club(context: context)
            club.name = "Club number \(number)"
            for member in 0..<Self.children {
                let player = Player(context: context)
                player.name = "Player \(number) \(member)"
                player.goals = Int32(member)
                player.club = club
            }
        }
        try context.save()
        context.reset()
    }

    private func walk(_ stack: League.Stack, prefetches: Bool) throws -> Double {
        let context = stack.container.newBackgroundContext()
        let request = NSFetchRequest<Club>(entityName: "Club")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        if prefetches { request.relationshipKeyPathsForPrefetching = ["players"] }
        var goals = 0
        let time = try Clock.processor.time {
            try context.performAndWait {
                for club in try context.fetch(request) {
                    for player in club.players { goals += Int(player.goals) + (player.name?.utf8.count ?? 0) & 0 }
                }
            }
        }
        precondition(goals == parents * Self.children * (Self.children - 1) / 2)
        return time
    }
}
