import Foundation

@testable import CoreData

/// One edit, chosen on the plain graph and then made in a context, which finds objects by their names.
struct GraphEdit {
    private(set) var world: PlainGraph
    var random: GraphRandom
    private(set) var counter: Int
    private(set) var text = "nothing"
    private var make: (NSManagedObjectContext) throws -> Void = { _ in }

    init(world: PlainGraph, random: GraphRandom, counter: Int) {
        self.world = world
        self.random = random
        self.counter = counter
    }

    func apply(in context: NSManagedObjectContext) throws { try make(context) }

    private static func find(_ name: String, _ context: NSManagedObjectContext) throws -> NSManagedObject {
        let request = NSFetchRequest<NSManagedObject>(entityName: String(name.prefix { !$0.isNumber }))
        request.predicate = NSPredicate(format: "name = %@", name)
        let found = try context.fetch(request)
        guard found.count == 1 else { throw Surprise(text: "there are \(found.count) objects named \(name)") }
        return found[0]
    }

    private mutating func pick(_ names: some Collection<String>) -> String? {
        names.isEmpty ? nil : names.sorted()[random.next(names.count)]
    }

    mutating func choose() {
        let count = world.records.count
        switch random.next(count > 30 ? 14 : 10) {
        case 0..<3: insert()
        case 3: setNumber()
        case 4: setTeam()
        case 5: setCaptain()
        case 6: setSkills()
        case 7: setVenue()
        case 8: moveFan()
        default: delete()
        }
    }

    private mutating func insert() {
        counter += 1
        let entity = ["Team", "Player", "Player", "Skill", "Venue", "Fan"][random.next(6)]
        let name = "\(entity)\(counter)"
        switch entity {
        case "Team": world.teams[name] = .init()
        case "Player": world.players[name] = .init()
        case "Skill": world.skills.insert(name)
        case "Venue": world.venues.insert(name)
        default: world.fans.insert(name)
        }
        text = "insert \(name)"
        make = { _ = $0.make(entity, ["name": name]) }
    }

    private mutating func setNumber() {
        guard let player = pick(world.players.keys) else { return }
        let value = random.next(50)
        world.players[player]?.number = value
        text = "\(player).number = \(value)"
        make = { try Self.find(player, $0).setValue(value, forKey: "number") }
    }

    private mutating func setTeam() {
        guard let player = pick(world.players.keys) else { return }
        let team = random.next(4) == 0 ? nil : pick(world.teams.keys)
        let viaSet = random.next(2) == 0
        world.players[player]?.team = team
        text = "\(player).team = \(team ?? "nil")"
        make = { context in
            let object = try Self.find(player, context)
            let target = try team.map { try Self.find($0, context) }
            if viaSet, let target {
                target.mutableSetValue(forKey: "players").add(object)
            } else {
                object.setValue(target, forKey: "team")
            }
        }
    }

    private mutating func setCaptain() {
        guard let team = pick(world.teams.keys) else { return }
        let player = random.next(4) == 0 ? nil : pick(world.players.keys)
        for other in world.teams.keys where player != nil && world.teams[other]?.captain == player {
            world.teams[other]?.captain = nil
        }
        world.teams[team]?.captain = player
        text = "\(team).captain = \(player ?? "nil")"
        make = { context in
            let target = try player.map { try Self.find($0, context) }
            try Self.find(team, context).setValue(target, forKey: "captain")
        }
    }

    private mutating func setSkills() {
        guard let player = pick(world.players.keys), let skill = pick(world.skills) else { return }
        let has = world.players[player]?.skills.contains(skill) == true
        let fromSkill = random.next(2) == 0
        if has { world.players[player]?.skills.remove(skill) } else { world.players[player]?.skills.insert(skill) }
        text = "\(player).skills toggles \(skill)"
        make = { context in
            let (owner, member) = (try Self.find(player, context), try Self.find(skill, context))
            let set = fromSkill ? member.mutableSetValue(forKey: "players") : owner.mutableSetValue(forKey: "skills")
            let other = fromSkill ? owner : member
            if has { set.remove(other) } else { set.add(other) }
        }
    }

    private mutating func setVenue() {
        guard let team = pick(world.teams.keys) else { return }
        let venue = random.next(4) == 0 ? nil : pick(world.venues)
        world.teams[team]?.venue = venue
        text = "\(team).venue = \(venue ?? "nil")"
        make = { context in
            let target = try venue.map { try Self.find($0, context) }
            try Self.find(team, context).setValue(target, forKey: "venue")
        }
    }

    private mutating func moveFan() {
        guard let team = pick(world.teams.keys), let fan = pick(world.fans) else { return }
        for other in world.teams.keys { world.teams[other]?.fans.removeAll { $0 == fan } }
        let place = random.next((world.teams[team]?.fans.count ?? 0) + 1)
        world.teams[team]?.fans.insert(fan, at: place)
        let list = world.teams[team]?.fans ?? []
        text = "\(team).fans = \(list)"
        make = { context in
            let members = try list.map { try Self.find($0, context) }
            try Self.find(team, context).setValue(NSOrderedSet(array: members), forKey: "fans")
        }
    }

    private mutating func delete() {
        guard let name = pick(world.records.keys) else { return }
        world.delete(name)
        text = "delete \(name)"
        make = { $0.delete(try Self.find(name, $0)) }
    }
}
