import Foundation

@testable import CoreData

/// One context and its unsaved changes.
final class ContextMember {
    let name: String
    let context: NSManagedObjectContext
    let parent: ContextMember?
    var own: [String: GraphRecord?] = [:]
    /// Changes of each event, for undo and redo.
    var past: [[String: (before: GraphRecord?, after: GraphRecord?)]] = []
    var future: [[String: (before: GraphRecord?, after: GraphRecord?)]] = []

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

struct ContextWalk {
    private let stack: ClubStack
    private var random: GraphRandom
    private var saved = PlainGraph()
    private let members: [ContextMember]
    private var counter = 0
    private(set) var done: [String: Int] = [:]
    /// Keeps objects alive, as a program would, so that old objects are tested, too.
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

    /// True if `member` can change the objects to these states without a conflict with another context's unsaved
    /// changes.
    private func mayChange(_ changes: [String: (before: GraphRecord?, after: GraphRecord?)], _ member: ContextMember)
        -> Bool
    {
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
    ) -> [String: (before: GraphRecord?, after: GraphRecord?)] {
        let (before, after) = (old.records, new.records)
        var result: [String: (before: GraphRecord?, after: GraphRecord?)] = [:]
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
            // The parent undoes them as one group.
            parent.forgetUndo()
            try sync(descendants(of: parent).filter { $0 !== member })
        } else {
            for (name, record) in own { saved.put(record, name) }
            let notices = notice.take()
            for root in members where root.parent == nil && root !== member {
                if let notification = notices.first { try merge(notification, into: root) }
                root.forgetUndo()
                try sync(descendants(of: root))
            }
        }
        return "save of \(own.keys.sorted())"
    }

    /// Merges the saved changes of `notification` in one of several ways.
    private mutating func merge(_ notification: Notification, into root: ContextMember) throws {
        switch random.next(3) {
        case 0: try root.context.use { $0.mergeChanges(fromContextDidSave: notification) }
        case 1:
            let keys = [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey]
            let ids = keys.map { key in (key, notification.objects(key).map(\.objectID)) }
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: Dictionary(uniqueKeysWithValues: ids), into: [root.context])
        default: try sync([root])
        }
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

    /// True if the objects still have the states in which the group found them.
    private func stands(_ group: [String: (before: GraphRecord?, after: GraphRecord?)], _ member: ContextMember) -> Bool
    {
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
            for object in held[ObjectIdentifier(member)] ?? [] {
                guard !object.isDeleted, random.next(2) == 0 else { continue }
                context.refresh(object, mergeChanges: object.hasChanges || random.next(2) == 0)
            }
            context.processPendingChanges()
        }
        return "refresh"
    }

    /// Updates contexts from their parents in one of several ways.
    private mutating func sync(_ members: [ContextMember]) throws {
        for member in members.sorted(by: { $0.ancestors.count < $1.ancestors.count }) {
            try member.context.use { context in
                if !context.hasChanges, random.next(4) == 0 {
                    context.reset()
                    held[ObjectIdentifier(member)] = nil
                } else {
                    context.refreshAllObjects()
                }
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

    /// Saves everything, leaves first, and compares with the store.
    mutating func close() throws {
        for name in ["deep", "left", "right", "first", "second"] {
            for member in members where member.name == name { _ = try save(member) }
        }
        let stored = try stack.context().use { try GraphWalk.read($0).graph }
        if stored != saved { throw Surprise(text: "the store has something else: \(stored.difference(from: saved))") }
    }
}
