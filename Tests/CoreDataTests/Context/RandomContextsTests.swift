import Foundation
import Testing

@testable import CoreData

/// Random operations in contexts beside and beneath each other; after each step every context says the same as plain
/// dictionaries.
///
/// Two contexts that stand on each other's edits are left to the tests of conflicts: here an object that a context changed
/// and did not save is only changed by itself or by its children.
@Suite struct RandomContextsTests {
    /// 300 steps for each seed and store type; `ROSTER_LONG_TESTS=n` makes it n times 2,000 (50 for 10⁵).
    @Test(arguments: StoreKind.all, [3, 11, 20] as [UInt64])
    func everyContextSaysWhatThePlainModelSays(kind: StoreKind, seed: UInt64) throws {
        let factor = ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"].flatMap { Int($0) }
        let stack = try ClubStack(type: kind.type)
        var walk = try ContextWalk(stack: stack, seed: seed)
        var trail: [String] = []
        for step in 0..<(factor.map { $0 * 2_000 } ?? 300) {
            trail.append("\(step): \(try walk.step())")
            guard let difference = try walk.difference() else { continue }
            Issue.record(
                "\(kind) seed \(seed), step \(step)\n\(trail.suffix(12).joined(separator: "\n"))\n\(difference)")
            return
        }
        #expect(walk.done["save", default: 0] > 10 && walk.done["undo", default: 0] > 3, "\(walk.done)")
        try walk.close()
    }

    struct StoreKind: CustomTestStringConvertible, CustomStringConvertible {
        let type: String
        var description: String { type }
        var testDescription: String { type }

        /// All types that there are.
        static var all: [StoreKind] {
            NSPersistentStoreCoordinator.registeredStoreTypes.keys.sorted()
                .filter { [NSSQLiteStoreType, NSInMemoryStoreType, NSBinaryStoreType, NSXMLStoreType].contains($0) }
                .map(StoreKind.init)
        }
    }
}

/// What is to be known of one object, both ends of its relationships where changes of them could meet.
private enum Record: Equatable {
    case team(PlainGraph.Team)
    case player(PlainGraph.Player, captainOf: String?)
    case fan(team: String?)
    case plain
}

extension PlainGraph {
    fileprivate var records: [String: Record] {
        var result: [String: Record] = [:]
        var captains: [String: String] = [:]
        var fanTeams: [String: String] = [:]
        for (name, team) in teams {
            result[name] = .team(team)
            if let captain = team.captain { captains[captain] = name }
            for fan in team.fans { fanTeams[fan] = name }
        }
        for (name, player) in players { result[name] = .player(player, captainOf: captains[name]) }
        for name in fans { result[name] = .fan(team: fanTeams[name]) }
        for name in skills.union(venues) { result[name] = .plain }
        return result
    }

    fileprivate mutating func put(_ record: Record?, _ name: String) {
        switch record {
        case nil:
            teams[name] = nil
            players[name] = nil
            skills.remove(name)
            venues.remove(name)
            fans.remove(name)
        case .team(let team)?: teams[name] = team
        case .player(let player, _)?: players[name] = player
        case .fan?: fans.insert(name)
        case .plain?: if name.hasPrefix("Skill") { skills.insert(name) } else { venues.insert(name) }
        }
    }

    /// The names that an object refers to.
    fileprivate static func references(of record: Record) -> Set<String> {
        switch record {
        case .team(let team): Set([team.captain, team.venue].compactMap { $0 } + team.fans)
        case .player(let player, let team): player.skills.union([player.team, team].compactMap { $0 })
        case .fan(let team): Set([team].compactMap { $0 })
        case .plain: []
        }
    }
}

/// One context and what it has changed and not saved.
private final class ContextMember {
    let name: String
    let context: NSManagedObjectContext
    let parent: ContextMember?
    var own: [String: Record?] = [:]
    /// What each event changed, to be taken back and made again.
    var past: [[String: (before: Record?, after: Record?)]] = []
    var future: [[String: (before: Record?, after: Record?)]] = []

    init(_ name: String, _ context: NSManagedObjectContext, parent: ContextMember? = nil) {
        self.name = name
        self.context = context
        self.parent = parent
        context.undoManager = UndoManager()
    }

    var ancestors: [ContextMember] { parent.map { [$0] + $0.ancestors } ?? [] }

    func forgetUndo() {
        past = []
        future = []
        context.undoManager?.removeAllActions()
    }
}

private struct ContextWalk {
    private let stack: ClubStack
    private var random: GraphRandom
    private var saved = PlainGraph()
    private let members: [ContextMember]
    private var counter = 0
    private(set) var done: [String: Int] = [:]
    /// Objects are held, as a program would, so that they grow old.
    private var held: [ObjectIdentifier: [NSManagedObject]] = [:]

    init(stack: ClubStack, seed: UInt64) throws {
        self.stack = stack
        random = GraphRandom(state: seed)
        let first = ContextMember("first", stack.context())
        let left = ContextMember("left", first.context.child(), parent: first)
        members = [
            first, left, ContextMember("right", first.context.child(), parent: first),
            ContextMember("deep", left.context.child(), parent: left), ContextMember("second", stack.context()),
        ]
        for member in members { member.context.mergePolicy = NSMergePolicy.error }
    }

    // MARK: The model

    private func world(of member: ContextMember?) -> PlainGraph {
        guard let member else { return saved }
        var graph = world(of: member.parent)
        for (name, record) in member.own { graph.put(record, name) }
        return graph
    }

    private func descendants(of member: ContextMember) -> [ContextMember] {
        members.filter { $0.ancestors.contains { $0 === member } }
    }

    /// Whether `member` may bring the objects to these states without meeting somebody else's unsaved changes.
    private func mayChange(_ changes: [String: (before: Record?, after: Record?)], _ member: ContextMember) -> Bool {
        let others = members.filter { other in
            other !== member && !member.ancestors.contains { $0 === other }
        }
        let gone = Set(changes.filter { $0.value.after == nil }.keys)
        let wanted = changes.values.reduce(into: Set<String>()) { result, change in
            if let after = change.after { result.formUnion(PlainGraph.references(of: after)) }
        }
        for other in others {
            for (name, record) in other.own {
                if changes[name] != nil { return false }
                guard let record else {
                    if wanted.contains(name) { return false }
                    continue
                }
                if !PlainGraph.references(of: record).isDisjoint(with: gone) { return false }
            }
        }
        return true
    }

    private static func changes(
        from old: PlainGraph, to new: PlainGraph
    ) -> [String: (before: Record?, after: Record?)] {
        let (before, after) = (old.records, new.records)
        var result: [String: (before: Record?, after: Record?)] = [:]
        for name in Set(before.keys).union(after.keys) where before[name] != after[name] {
            result[name] = (before[name], after[name])
        }
        return result
    }

    // MARK: Steps

    mutating func step() throws -> String {
        let member = members[random.next(members.count)]
        let operation: String
        switch random.next(100) {
        case 0..<62: operation = try edit(member)
        case 62..<78: operation = try save(member)
        case 78..<86: operation = try takeBack(member)
        case 86..<90: operation = try makeAgain(member)
        case 90..<94: operation = try rollback(member)
        default: operation = try refresh(member)
        }
        done[String(operation.prefix { $0 != " " }), default: 0] += 1
        return "\(member.name) \(operation)"
    }

    private mutating func edit(_ member: ContextMember) throws -> String {
        var random = random
        var edit = GraphEdit(world: world(of: member), random: random, counter: counter)
        let old = edit.world
        edit.choose()
        random = edit.random
        self.random = random
        counter = edit.counter
        let changes = Self.changes(from: old, to: edit.world)
        guard !changes.isEmpty, mayChange(changes, member) else { return "nothing" }
        try member.context.use { context in
            try edit.apply(in: context)
            context.processPendingChanges()
        }
        for (name, change) in changes { member.own[name] = .some(change.after) }
        member.past.append(changes)
        member.future = []
        try sync(descendants(of: member))
        return "edit \(edit.text)"
    }

    private mutating func save(_ member: ContextMember) throws -> String {
        let own = member.own
        let notice = Notices(member.context, [.NSManagedObjectContextDidSave])
        try member.context.use { try $0.save() }
        if member.context.hasChanges { throw Surprise(text: "\(member.name) has changes after its save") }
        member.own = [:]
        if let parent = member.parent {
            for (name, record) in own { parent.own[name] = record }
            // The parent takes them back as one group.
            parent.forgetUndo()
            try sync(descendants(of: parent).filter { $0 !== member })
        } else {
            for (name, record) in own { saved.put(record, name) }
            let notices = notice.take()
            for root in members where root.parent == nil && root !== member {
                if let notification = notices.first {
                    try root.context.use { $0.mergeChanges(fromContextDidSave: notification) }
                }
                root.forgetUndo()
                try sync(descendants(of: root))
            }
        }
        return "save of \(own.keys.sorted())"
    }

    private mutating func takeBack(_ member: ContextMember) throws -> String {
        guard let group = member.past.last else { return "nothing" }
        let reversed = group.mapValues { (before: $0.after, after: $0.before) }
        guard stands(reversed, member), mayChange(reversed, member) else {
            member.forgetUndo()
            return "forgets undo"
        }
        member.past.removeLast()
        member.future.append(group)
        try member.context.use { $0.undo() }
        for (name, change) in reversed { member.own[name] = .some(change.after) }
        try sync(descendants(of: member))
        return "undo \(group.keys.sorted())"
    }

    private mutating func makeAgain(_ member: ContextMember) throws -> String {
        guard let group = member.future.last else { return "nothing" }
        guard stands(group, member), mayChange(group, member) else {
            member.forgetUndo()
            return "forgets undo"
        }
        member.future.removeLast()
        member.past.append(group)
        try member.context.use { $0.redo() }
        for (name, change) in group { member.own[name] = .some(change.after) }
        try sync(descendants(of: member))
        return "redo \(group.keys.sorted())"
    }

    /// Whether the objects are still as the group found them.
    private func stands(_ group: [String: (before: Record?, after: Record?)], _ member: ContextMember) -> Bool {
        let records = world(of: member).records
        return group.allSatisfy { records[$0.key] == $0.value.before }
    }

    private mutating func rollback(_ member: ContextMember) throws -> String {
        guard descendants(of: member).allSatisfy({ $0.own.isEmpty }) else { return "nothing" }
        try member.context.use { context in
            if random.next(3) == 0 {
                context.reset()
                held[ObjectIdentifier(member)] = nil
            } else {
                context.rollback()
            }
        }
        member.own = [:]
        member.forgetUndo()
        try sync(descendants(of: member))
        return "rollback"
    }

    private mutating func refresh(_ member: ContextMember) throws -> String {
        try member.context.use { context in
            for object in context.registeredObjects.sorted(by: { "\($0.objectID)" < "\($1.objectID)" }) {
                guard !object.isDeleted, random.next(2) == 0 else { continue }
                context.refresh(object, mergeChanges: object.hasChanges || random.next(2) == 0)
            }
            context.processPendingChanges()
        }
        return "refresh"
    }

    /// Lets contexts take over what changed beneath them, in one of the ways there are.
    private mutating func sync(_ members: [ContextMember]) throws {
        for member in members.sorted(by: { $0.ancestors.count < $1.ancestors.count }) {
            try member.context.use { context in
                context.refreshAllObjects()
                context.processPendingChanges()
            }
            member.forgetUndo()
        }
    }

    // MARK: Comparing

    mutating func difference() throws -> String? {
        for member in members {
            let wanted = world(of: member)
            let actual = try member.context.use { context in
                let (graph, objects) = try GraphWalk.read(context)
                held[ObjectIdentifier(member)] = objects
                return graph
            }
            if actual != wanted { return "\(member.name): \(actual.difference(from: wanted))" }
            if !member.own.isEmpty, !member.context.hasChanges, differs(member) {
                return "\(member.name) has no changes to save"
            }
        }
        return nil
    }

    private func differs(_ member: ContextMember) -> Bool { world(of: member) != world(of: member.parent) }

    /// Saves everything, from the leaves down, and compares with what the store has.
    mutating func close() throws {
        for name in ["deep", "left", "right", "first", "second"] {
            for member in members where member.name == name { _ = try save(member) }
        }
        let stored = try stack.context().use { try GraphWalk.read($0).graph }
        if stored != saved { throw Surprise(text: "the store has something else: \(stored.difference(from: saved))") }
    }
}

/// One edit, chosen on the plain graph and then made in a context, where objects are found by their names.
private struct GraphEdit {
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
