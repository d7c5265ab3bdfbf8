import Foundation
import Testing

@testable import CoreData

/// Random changes of relationships that are their own inverse, of trees and of ordered many-to-many lists, compared
/// with a plain model after each step. Objects and relationships are turned into faults in between.
@Suite struct RandomShapesTests {
    private static let factor = ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"].flatMap { Int($0) }

    @Test(arguments: 1...(factor.map { 4 * $0 } ?? 2))
    func everyShapeAgreesWithThePlainModel(seed: Int) throws {
        let stack = try ShapeModel.stack()
        try stack.context().use { context in
            var walk = ShapeWalk(context: context, seed: UInt64(seed))
            for step in 0..<250 {
                let operation = try walk.perform()
                let difference = try walk.difference(in: context)
                #expect(difference == nil, "seed \(seed), step \(step), \(operation): \(difference ?? "")")
                if difference != nil { return }
                guard operation == "save", step.isMultiple(of: 3) else { continue }
                let stored = try stack.context().use { try walk.difference(in: $0) }
                #expect(stored == nil, "seed \(seed), step \(step), in the store: \(stored ?? "")")
                if stored != nil { return }
            }
        }
        if Self.factor != nil { print("shapes: seed \(seed): 250 steps") }
    }
}

/// The expected graph. Each person is identified by name.
private struct PlainShapes: Equatable {
    var friends: [String: Set<String>] = [:]
    var partner: [String: String] = [:]
    var parent: [String: String] = [:]
    var songs: [String: [String]] = [:]
    var allSongs: Set<String> = []

    /// The person and all descendants.
    func family(of name: String) -> Set<String> {
        var found: Set<String> = [name]
        var open = [name]
        while let next = open.popLast() {
            for (child, above) in parent where above == next && found.insert(child).inserted { open.append(child) }
        }
        return found
    }

    mutating func deletePerson(_ name: String) {
        for gone in family(of: name) {
            for friend in friends.removeValue(forKey: gone) ?? [] { friends[friend]?.remove(gone) }
            if let other = partner.removeValue(forKey: gone) { partner[other] = nil }
            parent[gone] = nil
        }
    }

    mutating func pair(_ name: String, with other: String?) {
        for person in [name, other].compactMap({ $0 }) {
            if let old = partner.removeValue(forKey: person) { partner[old] = nil }
        }
        guard let other else { return }
        partner[name] = other
        partner[other] = name
    }
}

private struct ShapeWalk {
    private let context: NSManagedObjectContext
    private var random: GraphRandom
    private var world = PlainShapes()
    private var objects: [String: NSManagedObject] = [:]
    private var counter = 0

    init(context: NSManagedObjectContext, seed: UInt64) {
        self.context = context
        random = GraphRandom(state: seed)
    }

    mutating func perform() throws -> String {
        switch random.next(100) {
        case 0..<22: return insert()
        case 22..<37: return befriend()
        case 37..<50: return pair()
        case 50..<62: return adopt()
        case 62..<76: return arrange()
        case 76..<84: return delete()
        case 84..<92:
            try context.save()
            return "save"
        default: return refresh()
        }
    }

    private mutating func pick(_ names: some Collection<String>) -> String? {
        names.isEmpty ? nil : names.sorted()[random.next(names.count)]
    }

    private mutating func insert() -> String {
        counter += 1
        let entity = ["Person", "Person", "Manager", "Song", "List"][random.next(5)]
        let name = "\(entity)\(counter)"
        objects[name] = context.make(entity, ["name": name])
        switch entity {
        case "Song": world.allSongs.insert(name)
        case "List": world.songs[name] = []
        default: world.friends[name] = []
        }
        return "insert \(name)"
    }

    private mutating func befriend() -> String {
        guard let name = pick(world.friends.keys), let other = pick(world.friends.keys), let object = objects[other]
        else { return "nothing" }
        let set = objects[name]?.mutableSetValue(forKey: "friends")
        if world.friends[name]?.contains(other) == true {
            set?.remove(object)
            world.friends[name]?.remove(other)
            world.friends[other]?.remove(name)
        } else {
            set?.add(object)
            world.friends[name]?.insert(other)
            world.friends[other]?.insert(name)
        }
        return "\(name) friend \(other)"
    }

    private mutating func pair() -> String {
        guard let name = pick(world.friends.keys) else { return "nothing" }
        let other = random.next(4) == 0 ? nil : pick(world.friends.keys)
        objects[name]?.setValue(other.flatMap { objects[$0] }, forKey: "partner")
        world.pair(name, with: other)
        return "\(name) partner \(other ?? "nil")"
    }

    /// Creates cycles, too: a cascade must end.
    private mutating func adopt() -> String {
        guard let name = pick(world.friends.keys) else { return "nothing" }
        let other = random.next(5) == 0 ? nil : pick(world.friends.keys)
        if random.next(2) == 0, let other, let child = objects[name] {
            objects[other]?.mutableSetValue(forKey: "children").add(child)
        } else {
            objects[name]?.setValue(other.flatMap { objects[$0] }, forKey: "parent")
        }
        world.parent[name] = other
        return "\(name) parent \(other ?? "nil")"
    }

    private mutating func arrange() -> String {
        guard let list = pick(world.songs.keys), let song = pick(world.allSongs), let object = objects[song] else {
            return "nothing"
        }
        let set = objects[list]?.mutableOrderedSetValue(forKey: "songs")
        var names = world.songs[list] ?? []
        if let index = names.firstIndex(of: song) {
            if random.next(2) == 0 {
                set?.removeObject(at: index)
                names.remove(at: index)
            } else {
                let place = random.next(names.count)
                set?.moveObjects(at: IndexSet(integer: index), to: place)
                names.remove(at: index)
                names.insert(song, at: place)
            }
        } else if random.next(3) == 0, let owner = objects[list] {
            object.mutableSetValue(forKey: "lists").add(owner)
            names.append(song)
        } else {
            let place = random.next(names.count + 1)
            set?.insert(object, at: place)
            names.insert(song, at: place)
        }
        world.songs[list] = names
        return "\(list) holds \(names.joined(separator: " "))"
    }

    private mutating func delete() -> String {
        guard let name = pick(objects.keys), let object = objects[name] else { return "nothing" }
        context.delete(object)
        if world.songs.removeValue(forKey: name) != nil {
            objects[name] = nil
        } else if world.allSongs.remove(name) != nil {
            objects[name] = nil
            for list in world.songs.keys { world.songs[list]?.removeAll { $0 == name } }
        } else {
            for gone in world.family(of: name) { objects[gone] = nil }
            world.deletePerson(name)
        }
        context.processPendingChanges()
        return "delete \(name)"
    }

    private mutating func refresh() -> String {
        if random.next(3) == 0 {
            context.refreshAllObjects()
            return "refresh all"
        }
        for name in objects.keys.sorted() where random.next(3) == 0 {
            guard let object = objects[name] else { continue }
            context.refresh(object, mergeChanges: object.hasChanges || random.next(2) == 0)
        }
        return "refresh some"
    }

    // MARK: Comparing

    func difference(in context: NSManagedObjectContext) throws -> String? {
        var actual = PlainShapes()
        func name(_ object: NSManagedObject) -> String { object.value(forKey: "name") as? String ?? "?" }
        for person in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")) {
            actual.friends[name(person)] = Set(person.names("friends"))
            actual.partner[name(person)] = person.object("partner").map(name)
            actual.parent[name(person)] = person.object("parent").map(name)
            for child in person.objects("children") where child.object("parent") !== person {
                return "\(name(person)) has a child that does not know it"
            }
        }
        for list in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "List")) {
            actual.songs[name(list)] = list.names("songs")
        }
        for song in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Song")) {
            actual.allSongs.insert(name(song))
            for list in song.objects("lists") where !list.names("songs").contains(name(song)) {
                return "\(name(song)) is on a list that does not know it"
            }
        }
        return actual == world ? nil : "\(actual)\nnot\n\(world)"
    }
}
