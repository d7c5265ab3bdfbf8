import Foundation
import PostgreSQLCluster
import TestSupport
import Testing

@testable import CoreData

/// Random edits in parent and child contexts with unsaved changes: whichever edit wins, both ends of every relationship
/// agree in each context and in the store.
@Suite(.needs(.campaign)) struct RandomConflictsTests {
    private static let factor = ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"].flatMap { Int($0) }
    /// Two seeds of 60 steps for each policy; `ROSTER_LONG_TESTS=n` runs 4n seeds of 500 steps.
    private static let seeds: [UInt64] = factor.map { factor in (1...UInt64(max(factor, 1) * 4)).map { $0 } } ?? [2, 9]

    @Test(arguments: Policy.allCases, seeds)
    func bothEndsAgreeWhoeverWins(policy: Policy, seed: UInt64) throws { try walk(ClubStack(), policy, seed) }

    #if PostgreSQL
        /// Runs 10,000 steps in total with `ROSTER_LONG_TESTS`.
        private static let serverSeeds: [UInt64] = factor == nil ? [2] : [1, 2, 3, 4, 5]

        @Test(
            .needs(.server), .enabled(if: PostgreSQLCluster.shared != nil, "PostgreSQL is not installed"),
            arguments: Policy.allCases, serverSeeds)
        func bothEndsAgreeOnAServer(policy: Policy, seed: UInt64) throws {
            try walk(ClubStack.onServer(), policy, seed)
        }
    #endif

    private func walk(_ stack: ClubStack, _ policy: Policy, _ seed: UInt64) throws {
        var walk = ConflictWalk(stack: stack, seed: seed, policy: policy.policy)
        var trail: [String] = []
        for step in 0..<(Self.factor == nil ? 60 : 500) {
            let done = Result { try walk.step() }
            trail.append("\(step): \((try? done.get()) ?? "")")
            let outcome = Result { () throws -> String? in
                _ = try done.get()
                return try walk.difference()
            }
            guard let difference = outcome.problem else { continue }
            Issue.record(
                "\(policy), seed \(seed), step \(step)\n\(trail.suffix(20).joined(separator: "\n"))\n\(difference)")
            return
        }
        #expect(walk.saves > 2)
        if Self.factor != nil { print("conflicts: \(policy), seed \(seed): \(trail.count) steps, \(walk.saves) saves") }
        if let difference = Result(catching: { try walk.close() }).problem {
            Issue.record("\(policy), seed \(seed), at the end: \(difference)")
        }
    }

    enum Policy: String, CaseIterable {
        case storeWins, objectWins, overwrite, rollback

        var policy: NSMergePolicy {
            switch self {
            case .storeWins: .mergeByPropertyStoreTrump
            case .objectWins: .mergeByPropertyObjectTrump
            case .overwrite: .overwrite
            case .rollback: .rollback
            }
        }
    }
}

extension Result<String?, any Error> {
    /// The difference or error that was found.
    fileprivate var problem: String? {
        switch self {
        case .success(let difference): difference
        case .failure(let error): "\(error)"
        }
    }
}

private struct ConflictWalk {
    private struct Member {
        let name: String
        let context: NSManagedObjectContext
        var held: [NSManagedObject] = []
    }

    private let stack: ClubStack
    private var random: GraphRandom
    private var members: [Member]
    private var counter = 0
    private(set) var saves = 0

    init(stack: ClubStack, seed: UInt64, policy: NSMergePolicy) {
        self.stack = stack
        random = GraphRandom(state: seed)
        let (first, second) = (stack.context(), stack.context())
        let child = first.child()
        members = [
            Member(name: "first", context: first), Member(name: "second", context: second),
            Member(name: "child", context: child), Member(name: "sibling", context: first.child()),
            Member(name: "grandchild", context: child.child()),
        ]
        for member in members {
            member.context.mergePolicy = policy
            member.context.undoManager = UndoManager()
        }
    }

    mutating func step() throws -> String {
        let index = random.next(members.count)
        let member = members[index]
        let what: String
        switch random.next(20) {
        case 0..<13: what = try edit(index)
        case 13..<16: what = try save(index)
        case 16: what = try member.context.use { "undo \($0.undo())" }
        case 17: what = try member.context.use { "redo \($0.redo())" }
        case 18: what = try member.context.use { "rollback \($0.rollback())" }
        default: what = try member.context.use { "refresh \($0.refreshAllObjects())" }
        }
        try member.context.use { $0.processPendingChanges() }
        try follow(member.context)
        return "\(member.name): \(what)"
    }

    private mutating func edit(_ index: Int) throws -> String {
        let context = members[index].context
        let (graph, held) = try context.use { try GraphWalk.read($0) }
        members[index].held = held
        var edit = GraphEdit(world: graph, random: random, counter: counter)
        edit.choose()
        (random, counter) = (edit.random, edit.counter)
        try context.use { context in
            try edit.apply(in: context)
            context.processPendingChanges()
        }
        return edit.text
    }

    private mutating func save(_ index: Int) throws -> String {
        let context = members[index].context
        let notices = Notices(context, [.NSManagedObjectContextDidSave])
        try context.use { try $0.save() }
        saves += 1
        if let parent = context.parent {
            try follow(parent)
        } else if let saved = notices.take().first {
            for other in members where other.context.parent == nil && other.context !== context {
                try other.context.use { $0.mergeChanges(fromContextDidSave: saved) }
                try follow(other.context)
            }
        }
        return "save"
    }

    /// Updates child contexts from their parents.
    private func follow(_ context: NSManagedObjectContext) throws {
        for member in members where member.context.parent === context {
            try member.context.use { context in
                context.refreshAllObjects()
                context.processPendingChanges()
            }
            try follow(member.context)
        }
    }

    // MARK: Both ends

    func difference() throws -> String? {
        for member in members {
            if let found = try member.context.use(Self.difference) { return "\(member.name): \(found)" }
        }
        return nil
    }

    private static func difference(in context: NSManagedObjectContext) throws -> String? {
        for name in ["Team", "Player", "Skill", "Venue", "Fan"] {
            for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: name)) {
                for relationship in object.entity.relationshipsByName.values {
                    if let found = difference(at: relationship, of: object) { return found }
                }
            }
        }
        return nil
    }

    private static func difference(at relationship: NSRelationshipDescription, of object: NSManagedObject) -> String? {
        guard let inverse = relationship.inverseRelationship else { return nil }
        for far in destinations(of: object, relationship) {
            let text = "\(text(object)).\(relationship.name) has \(text(far))"
            if far.isDeleted { return "\(text), which is deleted" }
            if !destinations(of: far, inverse).contains(object) {
                return "\(text), but not the other way round: \(state(object, relationship)) and \(state(far, inverse))"
            }
        }
        return nil
    }

    private static func destinations(
        of object: NSManagedObject, _ relationship: NSRelationshipDescription
    ) -> [NSManagedObject] {
        guard relationship.isToMany else { return [object.object(relationship.name)].compactMap { $0 } }
        if let list = object.value(forKey: relationship.name) as? NSOrderedSet {
            return list.array.compactMap { $0 as? NSManagedObject }
        }
        return Array(object.objects(relationship.name))
    }

    /// The state of one relationship of an object, for failure messages.
    private static func state(_ object: NSManagedObject, _ relationship: NSRelationshipDescription) -> String {
        switch object.layout.place(of: relationship.name) {
        case .toOne(let slot)?:
            "\(object.currentValue(slot)) over \(object.snapshot.map { "\($0.values[slot])" } ?? "nothing")"
        case .toMany(let number)?:
            object.knownToManyState(number).map { state in
                "\(state.contents.map(text)), added \(state.added.map(text)), removed \(state.removed.map(text)), "
                    + "flags \(object.flags.rawValue)"
            } ?? "unknown"
        default: ""
        }
    }

    private static func text(_ object: NSManagedObject) -> String { object.value(forKey: "name") as? String ?? "?" }

    /// Saves everything, leaves first.
    mutating func close() throws -> String? {
        for index in members.indices.reversed() {
            _ = try save(index)
            try follow(members[index].context.parent ?? members[index].context)
        }
        _ = try save(1)
        return try difference() ?? stack.context().use(Self.difference)
    }
}
