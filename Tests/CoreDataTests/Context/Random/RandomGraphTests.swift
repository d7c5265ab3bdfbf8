import Foundation
import PostgreSQLCluster
import TestSupport
import Testing

@testable import CoreData

/// Thousands of random operations on a context and on a plain model of the expected results, compared after each step.
@Suite(.needs(.campaign)) struct RandomGraphTests {
    private static let isLong = ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"] != nil

    /// 150 steps for each seed, 500 with `ROSTER_LONG_TESTS`.
    @Test(arguments: [1, 14, 42, 47, 52] as [UInt64])
    func theGraphAgreesWithThePlainModel(seed: UInt64) throws { try walk(ClubStack(), seed) }

    #if PostgreSQL
        /// Runs 10,000 steps in total with `ROSTER_LONG_TESTS`.
        @Test(
            .needs(.server), .enabled(if: PostgreSQLCluster.shared != nil, "PostgreSQL is not installed"),
            arguments: isLong ? (1...20).map { $0 } : [3, 42] as [UInt64])
        func theGraphOnAServerIsWhatThePlainModelSays(seed: UInt64) throws { try walk(ClubStack.onServer(), seed) }
    #endif

    private func walk(_ stack: ClubStack, _ seed: UInt64) throws {
        let context = stack.context()
        try context.use { context in
            context.undoManager = UndoManager()
            var walk = GraphWalk(context: context, stack: stack, seed: seed)
            for step in 0..<(Self.isLong ? 500 : 150) {
                let operation = try walk.perform()
                let difference = try walk.difference()
                #expect(difference == nil, "seed \(seed), step \(step), \(operation): \(difference ?? "")")
                if difference != nil { return }
            }
            #expect(walk.saves > 2 && walk.undos > 2)
            if Self.isLong { print("graphs: seed \(seed): 500 steps, \(walk.saves) saves, \(walk.undos) undone") }
        }
    }
}

/// The expected graph as plain values. Objects are identified by their names.
struct PlainGraph: Equatable {
    struct Team: Equatable {
        var wins = 0
        var captain: String?
        var venue: String?
        var fans: [String] = []
    }

    struct Player: Equatable {
        var number = 0
        var team: String?
        var skills: Set<String> = []
    }

    var teams: [String: Team] = [:]
    var players: [String: Player] = [:]
    var skills: Set<String> = []
    var venues: Set<String> = []
    var fans: Set<String> = []

    mutating func delete(_ name: String) {
        if teams.removeValue(forKey: name) != nil {
            for player in players.keys where players[player]?.team == name { delete(player) }
        } else if players.removeValue(forKey: name) != nil {
            for team in teams.keys where teams[team]?.captain == name { teams[team]?.captain = nil }
        } else if skills.remove(name) != nil {
            for player in players.keys { players[player]?.skills.remove(name) }
        } else if venues.remove(name) != nil {
            for team in teams.keys where teams[team]?.venue == name { teams[team]?.venue = nil }
        } else if fans.remove(name) != nil {
            for team in teams.keys { teams[team]?.fans.removeAll { $0 == name } }
        }
    }
}

extension PlainGraph {
    /// Lists the differences from `expected`.
    func difference(from expected: PlainGraph) -> String {
        var lines: [String] = []
        for key in Set(teams.keys).union(expected.teams.keys) where teams[key] != expected.teams[key] {
            lines.append("\(key): \(String(describing: teams[key])), not \(String(describing: expected.teams[key]))")
        }
        for key in Set(players.keys).union(expected.players.keys) where players[key] != expected.players[key] {
            lines.append(
                "\(key): \(String(describing: players[key])), not \(String(describing: expected.players[key]))")
        }
        let names = skills.union(venues).union(fans)
        let wanted = expected.skills.union(expected.venues).union(expected.fans)
        lines += names.symmetricDifference(wanted).map { "\($0) is \(names.contains($0) ? "there" : "missing")" }
        return lines.joined(separator: "\n")
    }
}

struct Surprise: Error {
    let text: String
}

struct GraphWalk {
    let context: NSManagedObjectContext
    let stack: ClubStack
    private var random: GraphRandom
    private var world = PlainGraph()
    private var saved = PlainGraph()
    private var past: [PlainGraph] = []
    private var future: [PlainGraph] = []
    private var objects: [String: NSManagedObject] = [:]
    private var counter = 0
    private(set) var saves = 0
    private(set) var undos = 0

    init(context: NSManagedObjectContext, stack: ClubStack, seed: UInt64) {
        self.context = context
        self.stack = stack
        random = GraphRandom(state: seed)
    }

    // MARK: Operations

    mutating func perform() throws -> String {
        let before = world
        let operation: String
        switch random.next(100) {
        case 0..<20: operation = insert()
        case 20..<32: operation = edit()
        case 32..<60: operation = relate()
        case 60..<68: operation = delete()
        case 68..<78: return try save()
        case 78..<88: return undo()
        case 88..<93: return redo()
        case 93..<95: return rollback()
        case 95..<97: return try reset()
        default: return refresh()
        }
        context.processPendingChanges()
        if world != before {
            past.append(before)
            future = []
        }
        return operation
    }

    private mutating func pick(_ names: some Collection<String>) -> String? {
        names.isEmpty ? nil : names.sorted()[random.next(names.count)]
    }

    private mutating func insert() -> String {
        counter += 1
        let entity = ["Team", "Player", "Player", "Skill", "Venue", "Fan"][random.next(6)]
        let name = "\(entity)\(counter)"
        objects[name] = context.make(entity, ["name": name])
        switch entity {
        case "Team": world.teams[name] = .init()
        case "Player": world.players[name] = .init()
        case "Skill": world.skills.insert(name)
        case "Venue": world.venues.insert(name)
        default: world.fans.insert(name)
        }
        return "insert \(name)"
    }

    private mutating func edit() -> String {
        let value = random.next(5)
        if random.next(2) == 0, let team = pick(world.teams.keys) {
            objects[team]?.setValue(value, forKey: "wins")
            world.teams[team]?.wins = value
            return "\(team).wins = \(value)"
        }
        guard let player = pick(world.players.keys) else { return "nothing" }
        objects[player]?.setValue(value, forKey: "number")
        world.players[player]?.number = value
        return "\(player).number = \(value)"
    }

    private mutating func relate() -> String {
        switch random.next(6) {
        case 0: return setTeam()
        case 1: return setPlayers()
        case 2: return setCaptain()
        case 3: return setSkills()
        case 4: return setVenue()
        default: return moveFans()
        }
    }

    private mutating func setTeam() -> String {
        guard let player = pick(world.players.keys) else { return "nothing" }
        let team = random.next(4) == 0 ? nil : pick(world.teams.keys)
        objects[player]?.setValue(team.flatMap { objects[$0] }, forKey: "team")
        world.players[player]?.team = team
        return "\(player).team = \(team ?? "nil")"
    }

    private mutating func setPlayers() -> String {
        guard let team = pick(world.teams.keys), let player = pick(world.players.keys) else { return "nothing" }
        let set = objects[team]?.mutableSetValue(forKey: "players")
        guard let object = objects[player] else { return "nothing" }
        if world.players[player]?.team == team {
            set?.remove(object)
            world.players[player]?.team = nil
        } else {
            set?.add(object)
            world.players[player]?.team = team
        }
        return "\(team).players toggles \(player)"
    }

    private mutating func setCaptain() -> String {
        guard let team = pick(world.teams.keys) else { return "nothing" }
        let player = random.next(4) == 0 ? nil : pick(world.players.keys)
        if random.next(2) == 0, let player {
            objects[player]?.setValue(objects[team], forKey: "captainOf")
        } else {
            objects[team]?.setValue(player.flatMap { objects[$0] }, forKey: "captain")
        }
        if let player {
            for other in world.teams.keys where world.teams[other]?.captain == player {
                world.teams[other]?.captain = nil
            }
        }
        world.teams[team]?.captain = player
        return "\(team).captain = \(player ?? "nil")"
    }

    private mutating func setSkills() -> String {
        guard let player = pick(world.players.keys), let skill = pick(world.skills), let object = objects[skill] else {
            return "nothing"
        }
        let has = world.players[player]?.skills.contains(skill) == true
        if random.next(2) == 0, let owner = objects[player] {
            let set = object.mutableSetValue(forKey: "players")
            if has { set.remove(owner) } else { set.add(owner) }
        } else {
            let members = objects[player]?.objects("skills") ?? []
            let wanted = has ? members.subtracting([object]) : members.union([object])
            objects[player]?.setValue(wanted, forKey: "skills")
        }
        if has { world.players[player]?.skills.remove(skill) } else { world.players[player]?.skills.insert(skill) }
        return "\(player).skills toggles \(skill)"
    }

    private mutating func setVenue() -> String {
        guard let team = pick(world.teams.keys) else { return "nothing" }
        let venue = random.next(4) == 0 ? nil : pick(world.venues)
        objects[team]?.setValue(venue.flatMap { objects[$0] }, forKey: "venue")
        world.teams[team]?.venue = venue
        return "\(team).venue = \(venue ?? "nil")"
    }

    private mutating func moveFans() -> String {
        guard let team = pick(world.teams.keys), let fan = pick(world.fans), let object = objects[fan] else {
            return "nothing"
        }
        let set = objects[team]?.mutableOrderedSetValue(forKey: "fans")
        let list = world.teams[team]?.fans ?? []
        for other in world.teams.keys { world.teams[other]?.fans.removeAll { $0 == fan } }
        if let index = list.firstIndex(of: fan), random.next(2) == 0 {
            set?.removeObject(at: index)
        } else if let index = list.firstIndex(of: fan) {
            let place = random.next(list.count)
            set?.moveObjects(at: IndexSet(integer: index), to: place)
            world.teams[team]?.fans.insert(fan, at: place)
        } else {
            let place = random.next(list.count + 1)
            if random.next(3) == 0 {
                object.setValue(objects[team], forKey: "team")
                world.teams[team]?.fans.append(fan)
            } else {
                set?.insert(object, at: place)
                world.teams[team]?.fans.insert(fan, at: place)
            }
        }
        return "\(team).fans moves \(fan)"
    }

    private mutating func delete() -> String {
        let names =
            Array(world.teams.keys) + Array(world.players.keys) + Array(world.skills) + Array(world.venues)
            + Array(world.fans)
        guard let name = pick(names), let object = objects[name] else { return "nothing" }
        context.delete(object)
        world.delete(name)
        return "delete \(name)"
    }

    // MARK: Whole-graph operations

    private mutating func save() throws -> String {
        try context.save()
        saved = world
        saves += 1
        if saves.isMultiple(of: 8) {
            let fresh = stack.context()
            let stored = try fresh.use { try Self.read($0).graph }
            if stored != world {
                throw Surprise(text: "the store has something else: \(stored.difference(from: world))")
            }
        }
        return "save"
    }

    private mutating func undo() -> String {
        if let previous = past.popLast() {
            future.append(world)
            world = previous
            undos += 1
        }
        context.undo()
        return "undo"
    }

    private mutating func redo() -> String {
        if let next = future.popLast() {
            past.append(world)
            world = next
        }
        context.redo()
        return "redo"
    }

    private mutating func rollback() -> String {
        context.rollback()
        world = saved
        past = []
        future = []
        return "rollback"
    }

    private mutating func reset() throws -> String {
        context.reset()
        world = saved
        past = []
        future = []
        try fetchAll()
        return "reset"
    }

    private mutating func fetchAll() throws {
        objects = [:]
        for entity in ["Team", "Player", "Skill", "Venue", "Fan"] {
            for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)) {
                objects[object.value(forKey: "name") as? String ?? ""] = object
            }
        }
    }

    private mutating func refresh() -> String {
        let living = objects.values.filter { $0.managedObjectContext === context && !$0.isDeleted }
        let sorted = living.sorted { "\($0.objectID)" < "\($1.objectID)" }
        for object in sorted where random.next(2) == 0 {
            context.refresh(object, mergeChanges: object.hasChanges || random.next(2) == 0)
        }
        context.processPendingChanges()
        return "refresh"
    }

    // MARK: Comparing

    /// The difference between the context's graph and the plain one; `nil` if they agree.
    mutating func difference() throws -> String? {
        let actual = try Self.read(context).graph
        if actual != world { return actual.difference(from: world) }
        if context.hasChanges != (world != saved) && world != saved { return "has no changes to save" }
        for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Team")) {
            objects[object.value(forKey: "name") as? String ?? ""] = object
        }
        return nil
    }

    /// The graph of a context, and its objects sorted by name.
    static func read(_ context: NSManagedObjectContext) throws -> (graph: PlainGraph, objects: [NSManagedObject]) {
        var objects: [(name: String, object: NSManagedObject)] = []
        func all(_ entity: String) throws -> [(String, NSManagedObject)] {
            let found = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
                .map { ($0.value(forKey: "name") as? String ?? "", $0) }
            objects += found
            return found
        }
        func name(_ object: NSManagedObject?) -> String? { object?.value(forKey: "name") as? String }
        var graph = PlainGraph()
        for (key, team) in try all("Team") {
            graph.teams[key] = .init(
                wins: team.value(forKey: "wins") as? Int ?? 0, captain: name(team.object("captain")),
                venue: name(team.object("venue")), fans: team.names("fans"))
        }
        for (key, player) in try all("Player") {
            graph.players[key] = .init(
                number: player.value(forKey: "number") as? Int ?? 0, team: name(player.object("team")),
                skills: Set(player.names("skills")))
        }
        for (key, skill) in try all("Skill") {
            graph.skills.insert(key)
            for owner in skill.names("players") where graph.players[owner]?.skills.contains(key) != true {
                graph.players[owner]?.skills.insert("\(key), but only one way")
            }
        }
        for (key, venue) in try all("Venue") {
            graph.venues.insert(key)
            for team in venue.names("teams") where graph.teams[team]?.venue != key {
                graph.teams[team]?.venue = "\(key), but only one way"
            }
        }
        for (key, _) in try all("Fan") { graph.fans.insert(key) }
        return (graph, objects.sorted { $0.name < $1.name }.map(\.object))
    }
}

/// A small random generator with the same sequence on all platforms.
struct GraphRandom: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to, but not including, `limit`.
    mutating func next(_ limit: Int) -> Int { Int(next() >> 33) % limit }
}
