import Foundation
import Testing

@testable import CoreData

/// Random batches over random sorts, section kinds, aggregates, predicates, windows and requests that change, from edits,
/// saves, merges, batch requests, undo, rollback and a second coordinator: after each the callbacks replay to the contents,
/// these are those of a fresh fetch, and so are the aggregates; snapshots, differences and batches as values say the same.
@Suite struct SectionReplayTests {
    struct Setup: CustomTestStringConvertible, Sendable {
        let name: String
        let sectionBy: SectionBy?
        var sort = ["name"]
        var predicate: String?
        var limit = 0
        let seed: UInt64
        var testDescription: String { "\(name), seed \(seed)" }
    }

    private static let aggregates: [SectionAggregate] = [
        .sum("salary"), .average("salary"), .minimum("salary"), .maximum("salary"), .count("team"), .maximum("name"),
    ]

    static let setups = [
        Setup(name: "flat", sectionBy: nil, sort: ["-salary", "name"], seed: 1),
        Setup(name: "by value", sectionBy: .value("team").missing(.last), sort: ["-salary"], seed: 2),
        Setup(name: "by value, descending", sectionBy: .value("salary").descending(), predicate: "salary > 3", seed: 3),
        Setup(name: "by letter", sectionBy: .firstLetter("name"), sort: ["salary", "-name"], seed: 4),
        Setup(name: "by bucket", sectionBy: .bucket("salary", size: 6), sort: ["-name"], seed: 5),
        Setup(
            name: "by related value", sectionBy: .value("department.name").descending().missing(.first), seed: 6),
        Setup(
            name: "levels", sectionBy: .levels(.value("department.name"), .value("team").descending()),
            predicate: "isActive == YES", seed: 7),
        Setup(
            name: "kept", sectionBy: .value("team").keeping(["T9", "T1", "T7"]), predicate: "salary BETWEEN {2, 12}",
            seed: 8),
        Setup(name: "ordered", sectionBy: .value("team").ordered(by: "isActive"), seed: 9),
        Setup(
            name: "computed",
            sectionBy: .computed { .integer((($0.value(forKey: "salary") as? Int32).map(Int.init) ?? 0) % 3) }, seed: 10
        ),
        Setup(name: "window", sectionBy: .value("team"), sort: ["-salary", "name"], limit: 12, seed: 11),
    ]

    /// 660 edits; `ROSTER_LONG_TESTS=n` multiplies them by n.
    @Test(arguments: setups)
    func randomBatches(setup: Setup) throws {
        let factor = ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"].flatMap { Int($0) } ?? 1
        try Staff.run { staff in
            let world = SectionReplayWorld(staff, setup, seed: setup.seed)
            try world.begin()
            for round in 0..<(20 * factor) {
                try world.change()
                if let problem = try world.problem() {
                    Issue.record("\(problem), \(setup.testDescription), round \(round): \(world.last)")
                    return
                }
            }
            #expect(world.recorder.batches > 5)
        }
    }

    /// The list goes over from one set-up to another, again and again.
    @MainActor
    @Test func requestsThatChange() async throws {
        let staff = try Staff(queue: .mainQueueConcurrencyType)
        var random = SeededGenerator(seed: 77)
        let world = SectionReplayWorld(staff, Self.setups[0], seed: 78)
        try world.begin()
        for round in 0..<30 {
            guard let setup = Self.setups.randomElement(using: &random) else { return }
            world.use(setup)
            let change = Task { @MainActor in try await world.controller.refetch() }
            for _ in 0..<Int.random(in: 0..<4, using: &random) {
                await Task.yield()
                try world.change(follows: false)
            }
            try await change.value
            staff.context.processPendingChanges()
            if let problem = try world.problem() {
                Issue.record("\(problem), \(setup.testDescription), round \(round): \(world.last)")
                return
            }
        }
    }
}

/// A staff that changes at random, and a list of it.
private final class SectionReplayWorld {
    let staff: Staff
    private(set) var setup: SectionReplayTests.Setup
    let recorder = Recorder()
    let controller: NSFetchedResultsController<NSManagedObject>
    private(set) var last = ""
    private var random: SeededGenerator
    private var departments: [NSManagedObject] = []
    private var other: Staff?
    private let heard = HeardBatches()

    init(_ staff: Staff, _ setup: SectionReplayTests.Setup, seed: UInt64) {
        self.staff = staff
        self.setup = setup
        random = SeededGenerator(seed: seed)
        controller = staff.controller(section: nil, sort: setup.sort, where: setup.predicate)
        recorder.mayHaveEmptySections = true
    }

    func use(_ setup: SectionReplayTests.Setup) {
        self.setup = setup
        Self.set(setup, controller, staff)
    }

    private static func set(
        _ setup: SectionReplayTests.Setup, _ controller: NSFetchedResultsController<NSManagedObject>, _ staff: Staff
    ) {
        let request = staff.request(setup.sort, setup.predicate.map { NSPredicate(format: $0) })
        controller.fetchRequest.sortDescriptors = request.sortDescriptors
        controller.fetchRequest.predicate = request.predicate
        controller.fetchRequest.fetchLimit = setup.limit
        controller.sectionBy = setup.sectionBy
        controller.aggregates = SectionReplayTests.all
    }

    func begin() throws {
        departments = (0..<3).map { staff.department("D\($0)") }
        for _ in 0..<30 { add() }
        try staff.context.save()
        staff.context.undoManager = UndoManager()
        staff.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        Self.set(setup, controller, staff)
        controller.delegate = recorder
        try controller.performFetch()
        recorder.load(controller)
        heard.listen(to: controller)
        other = try Staff(in: staff.folder)
    }

    private func number(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

    private func add() {
        let made = staff.employee(
            "\(["N", "é", "m", "1"][number(4)])\(number(9))", number(7) == 0 ? nil : "T\(number(5))", number(20))
        made.setValue(number(4) == 0 ? nil : departments[number(3)], forKey: "department")
        made.setValue(number(2) == 0, forKey: "isActive")
    }

    /// Several edits, and what makes a batch of them.
    func change(follows: Bool = true) throws {
        let all = try staff.context.fetch(staff.request([])).filter { !$0.isDeleted }
            .sorted { ObjectOrdering.compare($0.objectID, $1.objectID) == .orderedAscending }
        let kind = number(follows ? 9 : 4)
        for _ in 0..<(1 + number(5)) { edit(all) }
        switch kind {
        case 0, 1, 2:
            last = "process"
            staff.context.processPendingChanges()
        case 3, 4:
            last = "save"
            try staff.context.save()
        case 5:
            last = "undo"
            staff.context.processPendingChanges()
            staff.context.undo()
            staff.context.processPendingChanges()
        case 6:
            last = "rollback"
            try staff.context.save()
            for object in all.prefix(5) where !object.isDeleted { object.setValue(number(20), forKey: "salary") }
            staff.context.processPendingChanges()
            staff.context.rollback()
        case 7:
            last = "batch update"
            try staff.context.save()
            try batchUpdate()
        default:
            last = "another coordinator"
            try staff.context.save()
            try changeElsewhere()
        }
    }

    private func edit(_ all: [NSManagedObject]) {
        guard let object = all.randomElement(using: &random), !object.isDeleted, number(6) > 0 || all.count > 40 else {
            return add()
        }
        switch number(8) {
        case 0: if all.count > 15 { staff.context.delete(object) } else { add() }
        case 1: object.setValue("N\(number(9))", forKey: "name")
        case 2: object.setValue(number(7) == 0 ? nil : "T\(number(10))", forKey: "team")
        case 3, 4: object.setValue(number(20), forKey: "salary")
        case 5: object.setValue(number(2) == 0, forKey: "isActive")
        case 6: object.setValue(number(4) == 0 ? nil : departments[number(3)], forKey: "department")
        default: departments[number(3)].setValue("D\(number(5))", forKey: "name")
        }
    }

    private func batchUpdate() throws {
        let request = NSBatchUpdateRequest(entityName: "Employee")
        request.predicate = NSPredicate(format: "salary == %d", number(20))
        request.propertiesToUpdate = ["salary": number(20), "team": "T\(number(5))"]
        request.resultType = .updatedObjectIDsResultType
        let result = try staff.context.execute(request) as? NSBatchUpdateResult
        let ids = result?.result as? [NSManagedObjectID] ?? []
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectIDsKey: ids], into: [staff.context])
    }

    /// Another coordinator of the same file saves, and its changes are merged by ID, as a program does it by the history.
    private func changeElsewhere() throws {
        guard let other else { return }
        let (name, salary, team) = ("N\(number(9))", number(20), "T\(number(5))")
        let place = number(10)
        let changes = try other.context.performAndWait { () -> [String: [URL]] in
            other.context.reset()
            let all = try other.context.fetch(other.request(["name", "salary"]))
            let made = other.employee(name, team, salary)
            var gone: [NSManagedObject] = []
            for (index, object) in all.enumerated() where index % 10 == place {
                if index > 30 {
                    gone.append(object)
                    other.context.delete(object)
                } else {
                    object.setValue(salary, forKey: "salary")
                }
            }
            let updated = all.filter { $0.hasChanges && !$0.isDeleted }
            try other.context.save()
            return [
                NSInsertedObjectIDsKey: [made.objectID.uriRepresentation()],
                NSUpdatedObjectIDsKey: updated.map { $0.objectID.uriRepresentation() },
                NSDeletedObjectIDsKey: gone.map { $0.objectID.uriRepresentation() },
            ]
        }
        let ids = changes.mapValues { urls in
            urls.compactMap { staff.coordinator.managedObjectID(forURIRepresentation: $0) }
        }
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: ids, into: [staff.context])
    }

    // MARK: Judging

    func problem() throws -> String? {
        if let violation = recorder.violations.first { return violation }
        if let broken = controller.tracker.state?.published.brokenInvariant() { return broken }
        if let problem = heard.problem(controller) { return problem }
        let fresh = staff.controller(section: nil, sort: setup.sort, where: setup.predicate)
        Self.set(setup, fresh, staff)
        try fresh.performFetch()
        guard fresh.sections?.map(\.name) == controller.sections?.map(\.name),
            fresh.fetchedObjects == controller.fetchedObjects
        else { return "a fetch gives\n\(fresh.text)\nthe controller has\n\(controller.text)\n" }
        for aggregate in SectionReplayTests.all {
            if fresh.aggregate(aggregate) != controller.aggregate(aggregate) {
                return "\(aggregate) is \(String(describing: controller.aggregate(aggregate)))"
            }
            if let problem = try wrong(aggregate, fresh) { return problem }
        }
        return nil
    }

    /// Against the objects themselves, for sums, and a fresh list.
    private func wrong(
        _ aggregate: SectionAggregate, _ fresh: NSFetchedResultsController<NSManagedObject>
    ) throws -> String? {
        for (mine, new) in zip(controller.sections ?? [], fresh.sections ?? []) {
            guard mine.aggregate(aggregate) == new.aggregate(aggregate) else {
                return "\(aggregate) of \(mine.name) is \(String(describing: mine.aggregate(aggregate)))"
            }
            guard aggregate == .sum("salary") else { continue }
            let sum = (mine.objects ?? []).reduce(0) { sum, object in
                sum + Int((object as? NSManagedObject)?.value(forKey: "salary") as? Int32 ?? 0)
            }
            if mine.aggregate(aggregate) != .integer(sum) { return "the sum of \(mine.name) is \(sum)" }
        }
        return nil
    }
}

extension SectionReplayTests {
    fileprivate static var all: [SectionAggregate] { aggregates }
}

/// The batches of a controller as values, put together to contents.
private final class HeardBatches: @unchecked Sendable {
    private var ids: [NSManagedObjectID] = []
    private var failure: String?
    private var last: FetchedResultsSnapshot?

    func listen(to controller: NSFetchedResultsController<NSManagedObject>) {
        last = controller.snapshot
        _ = controller.tracker.listeners.add(
            BatchListeners.Listener(
                hear: { self.hear($0) }, begin: { self.last = $0 }, end: {}))
    }

    private func hear(_ batch: FetchedResultsBatch) {
        let before = batch.before.objectIDs
        if before.applying(batch.difference) != batch.after.objectIDs { failure = failure ?? "a difference is wrong" }
        if Set(batch.changes.map(\.objectID)).count != batch.changes.count {
            failure = failure ?? "an object is told twice"
        }
        if let last, last.count != before.count {
            failure = failure ?? "a batch does not begin where the last one ended"
        }
        for change in batch.aggregateChanges where change.oldValue == change.newValue {
            failure = failure ?? "an aggregate that did not change is told"
        }
        last = batch.after
    }

    func problem(_ controller: NSFetchedResultsController<NSManagedObject>) -> String? {
        if let failure { return failure }
        guard let last, let now = controller.snapshot else { return "there is no snapshot" }
        if last.sections != now.sections { return "the batches lead to other sections" }
        return last.count == now.count ? nil : "the batches lead to other contents"
    }
}
