import CoreData
import Foundation
import Observation
import Synchronization
import Testing

/// Aggregates of sections and of whole lists.
@MainActor
@Suite struct ControllerAggregateTests {
    private func list(
        _ stadiums: Stadiums, _ aggregates: [SectionAggregate], by: SectionBy? = .value("city"),
        sort: [String] = ["name"]
    ) throws -> NSFetchedResultsController<NSManagedObject> {
        let controller = NSFetchedResultsController(
            fetchRequest: stadiums.request(sort), managedObjectContext: stadiums.context, sectionNameKeyPath: nil,
            cacheName: nil)
        controller.sectionBy = by
        controller.aggregates = aggregates
        controller.followsChanges = true
        try controller.performFetch()
        return controller
    }

    @Test func everyFunctionOfEverySection() throws {
        let stadiums = try Stadiums()
        stadiums.add("A", ["city": "x", "capacity": 10, "cost": Decimal(string: "0.1")])
        stadiums.add("B", ["city": "x", "capacity": 20, "cost": Decimal(string: "0.2")])
        stadiums.add("C", ["city": "y", "capacity": 5])
        try stadiums.context.save()
        stadiums.add("D", ["city": "x"])
        let all: [SectionAggregate] = [
            .count("capacity"), .sum("capacity"), .average("capacity"), .minimum("capacity"), .maximum("capacity"),
            .sum("cost"), .average("cost"), .minimum("name"),
        ]
        let controller = try list(stadiums, all)
        let sections = try #require(controller.sections)
        let sum = try #require(Decimal(string: "0.3"))
        let average = try #require(Decimal(string: "0.15"))
        let first: [SectionValue?] = [
            .integer(2), .integer(30), .real(15), .integer(10), .integer(20), .decimal(sum), .decimal(average),
            .text("A"),
        ]
        let second: [SectionValue?] = [
            .integer(1), .integer(5), .real(5), .integer(5), .integer(5), .decimal(0), SectionValue.missing, .text("C"),
        ]
        let found = sections.map { section in all.map { section.aggregate($0) } }
        #expect(found == [first, second])
        #expect(controller.aggregate(.sum("capacity")) == .integer(35))
        #expect(controller.aggregate(.minimum("capacity")) == .integer(5))
        #expect(controller.aggregate(.sum("rating")) == nil)
    }

    @Test func changesAreFollowedAndTold() async throws {
        let stadiums = try Stadiums()
        let a = stadiums.add("A", ["city": "x", "capacity": 10])
        let b = stadiums.add("B", ["city": "x", "capacity": 20])
        stadiums.add("C", ["city": "y", "capacity": 5])
        try stadiums.context.save()
        let controller = try list(stadiums, [.sum("capacity"), .maximum("capacity")])
        var changes = controller.changes.makeAsyncIterator()
        b.setValue(7, forKey: "capacity")
        stadiums.context.processPendingChanges()
        #expect(controller.sections?[0].aggregate(.maximum("capacity")) == .integer(10))
        var batch = try #require(await changes.next())
        let told = batch.aggregateChanges.map { change in
            "\(change.section ?? "all") \(change.aggregate) \(change.oldValue) \(change.newValue)"
        }
        #expect(
            told == [
                "all sum(capacity) integer(35) integer(22)", "all maximum(capacity) integer(20) integer(10)",
                "x sum(capacity) integer(30) integer(17)", "x maximum(capacity) integer(20) integer(10)",
            ])
        a.setValue("y", forKey: "city")
        stadiums.context.processPendingChanges()
        batch = try #require(await changes.next())
        #expect(batch.aggregateChanges.map(\.section) == ["x", "x", "y", "y"])
        #expect(batch.after.aggregate(.sum("capacity"), ofSectionAt: 1) == .integer(15))
        #expect(batch.before.aggregate(.sum("capacity"), ofSectionAt: 1) == .integer(5))
        stadiums.context.delete(b)
        stadiums.context.processPendingChanges()
        batch = try #require(await changes.next())
        #expect(batch.aggregateChanges.last { $0.section == "x" }?.newValue == SectionValue.missing)
        #expect(controller.aggregate(.sum("capacity")) == .integer(15))
        stadiums.context.rollback()
        #expect(controller.aggregate(.sum("capacity")) == .integer(35))
        #expect(controller.sections?[0].aggregate(.maximum("capacity")) == .integer(20))
    }

    @Test func sumsAreExact() throws {
        let stadiums = try Stadiums()
        let big = stadiums.add("A", ["city": "x", "capacity": Int64.max, "rating": 1e16, "cost": Decimal(1)])
        stadiums.add("B", ["city": "x", "capacity": Int64.max, "rating": 0.1, "cost": Decimal(string: "0.000000001")])
        let controller = try list(stadiums, [.sum("capacity"), .sum("rating"), .sum("cost")])
        #expect(controller.aggregate(.sum("capacity")) == .decimal(Decimal(Int64.max) * 2))
        stadiums.context.delete(big)
        stadiums.context.processPendingChanges()
        #expect(controller.aggregate(.sum("capacity")) == .integer(Int(Int64.max)))
        #expect(controller.aggregate(.sum("rating")) == .real(0.1))
        #expect(controller.aggregate(.sum("cost")) == .decimal(Decimal(string: "0.000000001") ?? 0))
    }

    @Test func relatedValuesCount() throws {
        let stadiums = try Stadiums()
        let club = NSEntityDescription.insertNewObject(forEntityName: "Club", into: stadiums.context)
        club.setValue(3, forKey: "position")
        for name in ["A", "B"] { stadiums.add(name, ["owner": club]) }
        try stadiums.context.save()
        let controller = try list(stadiums, [.sum("owner.position")], by: nil)
        #expect(controller.aggregate(.sum("owner.position")) == .integer(6))
        club.setValue(5, forKey: "position")
        stadiums.context.processPendingChanges()
        #expect(controller.aggregate(.sum("owner.position")) == .integer(10))
    }

    @Test func levelsSumUp() throws {
        let stadiums = try Stadiums()
        for (name, country, city, capacity) in [
            ("A", "FR", "Paris", 1), ("B", "FR", "Lyon", 2), ("C", "DE", "Bonn", 4),
        ] { stadiums.add(name, ["country": country, "city": city, "capacity": capacity]) }
        let controller = try list(
            stadiums, [.sum("capacity"), .minimum("capacity")], by: .levels(.value("country"), .value("city")))
        let tree = try #require(controller.sectionTree)
        let sums: [SectionValue?] = tree.map { $0.aggregate(.sum("capacity")) }
        #expect(sums == [.integer(4), .integer(3)])
        #expect(tree[1].aggregate(.minimum("capacity")) == .integer(1))
        let inner: [SectionValue?] = tree[1].children.map { $0.aggregate(.sum("capacity")) }
        #expect(inner == [.integer(2), .integer(1)])
    }

    @Test func windowsAndChangedRequestsHaveThemToo() async throws {
        let stadiums = try Stadiums()
        for number in 1...6 { stadiums.add("N\(number)", ["city": "c\(number % 2)", "capacity": number]) }
        try stadiums.context.save()
        let controller = try list(stadiums, [.sum("capacity")], sort: ["-capacity"])
        #expect(controller.aggregate(.sum("capacity")) == .integer(21))
        controller.fetchRequest.predicate = NSPredicate(format: "capacity > 2")
        stadiums.add("N7", ["city": "c1", "capacity": 7])
        try await controller.refetch()
        #expect(controller.aggregate(.sum("capacity")) == .integer(25))
        let sums: [SectionValue?] = (controller.sections ?? []).map { $0.aggregate(.sum("capacity")) }
        #expect(sums == [.integer(10), .integer(15)])
        stadiums.add("N8", ["city": "c0", "capacity": 8])
        stadiums.context.processPendingChanges()
        #expect(controller.aggregate(.sum("capacity")) == .integer(33))
        controller.fetchRequest.fetchLimit = 2
        try await controller.refetch()
        #expect(controller.aggregate(.sum("capacity")) == .integer(15))
        stadiums.add("N9", ["city": "c1", "capacity": 9])
        stadiums.context.processPendingChanges()
        #expect(controller.aggregate(.sum("capacity")) == .integer(17))
    }

    @Test func sumsOfOtherValuesThanNumbersAreRefused() throws {
        let stadiums = try Stadiums()
        for aggregate in [SectionAggregate.sum("name"), .average("opened"), .sum("nothing"), .minimum("owner")] {
            let error = #expect(throws: CocoaError.self) { try list(stadiums, [aggregate]) }
            #expect(error?.code.rawValue == 134060)
        }
    }

    @Test func minimaOfUnorderedValuesAreRefused() throws {
        let stadiums = try Stadiums()
        for aggregate in [SectionAggregate.minimum("code"), .maximum("plan"), .count("plan")] {
            let error = #expect(throws: CocoaError.self) { try list(stadiums, [aggregate]) }
            #expect(error?.code.rawValue == 134060)
        }
        stadiums.add("A", ["code": UUID()])
        #expect(try list(stadiums, [.count("code")]).aggregate(.count("code")) == .integer(1))
    }

    @Test func aggregatesRecoverFromNaN() throws {
        let stadiums = try Stadiums()
        let odd = stadiums.add("A", ["city": "x", "rating": Double.nan, "cost": NSDecimalNumber.notANumber])
        let low = stadiums.add("B", ["city": "x", "rating": 1.5, "cost": Decimal(2)])
        stadiums.add("C", ["city": "x", "rating": 2.5, "cost": Decimal(3)])
        let all = ["rating", "cost"].flatMap { [SectionAggregate.minimum($0), .maximum($0), .sum($0)] }
        let controller = try list(stadiums, all)
        #expect(controller.aggregate(.minimum("rating")) == .real(1.5))
        #expect(controller.aggregate(.maximum("rating")) == .real(2.5))
        #expect(controller.aggregate(.minimum("cost")) == .decimal(2))
        #expect(controller.aggregate(.maximum("cost")) == .decimal(3))
        #expect(controller.aggregate(.sum("cost"))?.number?.isNaN == true)
        low.setValue(nil, forKey: "rating")
        low.setValue(nil, forKey: "cost")
        stadiums.context.processPendingChanges()
        #expect(controller.aggregate(.minimum("rating")) == .real(2.5))
        odd.setValue(4.5, forKey: "rating")
        odd.setValue(Decimal(5), forKey: "cost")
        stadiums.context.processPendingChanges()
        #expect(controller.aggregate(.sum("rating")) == .real(7))
        #expect(controller.aggregate(.sum("cost")) == .decimal(8))
        #expect(controller.sections?[0].aggregate(.sum("cost")) == .decimal(8))
    }

    @Test func sumsRecoverFromRounding() throws {
        let stadiums = try Stadiums()
        let small = try #require(Decimal(string: "0.01"))
        let large = try #require(Decimal(string: "1e38"))
        let big = stadiums.add("A", ["city": "x", "rating": 1e308, "cost": large])
        stadiums.add("B", ["city": "x", "rating": 1e308, "cost": small])
        stadiums.add("C", ["city": "y", "rating": 1e-300, "cost": small])
        let controller = try list(stadiums, [.sum("rating"), .sum("cost")])
        stadiums.context.delete(big)
        stadiums.context.processPendingChanges()
        #expect(controller.sections?[0].aggregate(.sum("rating")) == .real(1e308))
        #expect(controller.sections?[0].aggregate(.sum("cost")) == .decimal(small))
        #expect(controller.aggregate(.sum("rating")) == .real(1e308))
        #expect(controller.aggregate(.sum("cost")) == .decimal(small * 2))
    }

    @Test func changesOfAggregatesMayBeReadAnywhere() async throws {
        let stadiums = try Stadiums()
        for number in 0..<300 { stadiums.add("N\(number)", ["city": "c\(number)", "capacity": number]) }
        let controller = try list(stadiums, [.sum("capacity")])
        var changes = controller.changes.makeAsyncIterator()
        for object in controller.fetchedObjects ?? [] { object.setValue(7, forKey: "capacity") }
        stadiums.context.processPendingChanges()
        let batch = try #require(await changes.next())
        let counts = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 { group.addTask { batch.aggregateChanges.count } }
            var counts: [Int] = []
            for await count in group { counts.append(count) }
            return counts
        }
        #expect(counts == Array(repeating: 300, count: 8))
    }

    @Test func deletedRowsAreNotAggregated() throws {
        let stadiums = try Stadiums()
        for name in ["A", "B"] { stadiums.add(name, ["capacity": 10]) }
        try stadiums.context.save()
        stadiums.context.reset()
        let deletion = DeletesOnce("B", of: stadiums.container)
        let controller = NSFetchedResultsController(
            fetchRequest: stadiums.request(), managedObjectContext: stadiums.context, sectionNameKeyPath: nil,
            cacheName: nil)
        controller.fetchRequest.fetchLimit = 5
        controller.aggregates = [.sum("capacity")]
        controller.sectionBy = .computed { _ in
            deletion.run()
            return .text("x")
        }
        try controller.performFetch()
        #expect(deletion.isDone)
        #expect(!stadiums.context.hasChanges)
        #expect(controller.aggregate(.sum("capacity")) == .integer(10))
    }

    @Test func observersAreNotifiedOfUnfollowedChanges() async throws {
        let stadiums = try Stadiums()
        let a = stadiums.add("A", ["city": "x", "capacity": 10])
        try stadiums.context.save()
        let controller = try list(stadiums, [.sum("capacity")])
        controller.followsChanges = false
        a.setValue(7, forKey: "capacity")
        stadiums.context.processPendingChanges()
        #expect(controller.aggregate(.sum("capacity")) == .integer(10))
        let told = Mutex(0)
        withObservationTracking {
            _ = controller.aggregate(.sum("capacity"))
        } onChange: {
            told.withLock { $0 += 1 }
        }
        var snapshots = controller.snapshots.makeAsyncIterator()
        #expect(await snapshots.next()?.aggregate(.sum("capacity")) == .integer(7))
        #expect(controller.aggregate(.sum("capacity")) == .integer(7))
        #expect(told.withLock { $0 } == 1)
    }

    @Test func aggregatesOfAllSectionsAreComparedWhenChangesWentByUnseen() async throws {
        let stadiums = try Stadiums()
        let a = stadiums.add("A", ["city": "x", "capacity": 10])
        stadiums.add("B", ["city": "y", "capacity": 20])
        try stadiums.context.save()
        let controller = try list(stadiums, [.sum("capacity")])
        controller.followsChanges = false
        a.setValue(7, forKey: "capacity")
        stadiums.add("C", ["city": "y", "capacity": 1])
        stadiums.context.processPendingChanges()
        var changes = controller.changes.makeAsyncIterator()
        let batch = try #require(await changes.next())
        #expect(batch.changes.count == 1)
        let told = batch.aggregateChanges.map { "\($0.section ?? "all") \($0.newValue)" }
        #expect(told == ["all integer(28)", "x integer(7)", "y integer(21)"])
    }
}

/// Deletes a stadium in another context at the first call.
private final class DeletesOnce: Sendable {
    private let name: String
    private let container: UncheckedContainer
    private let done = Mutex(false)

    // SAFETY: only creates contexts, which is allowed on any thread.
    private struct UncheckedContainer: @unchecked Sendable {
        let value: NSPersistentContainer
    }

    init(_ name: String, of container: NSPersistentContainer) {
        self.name = name
        self.container = UncheckedContainer(value: container)
    }

    var isDone: Bool { done.withLock { $0 } }

    func run() {
        guard
            done.withLock({ isDone in
                defer { isDone = true }; return !isDone
            })
        else { return }
        let context = container.value.newBackgroundContext()
        context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Stadium")
            request.predicate = NSPredicate(format: "name == %@", name)
            for object in (try? context.fetch(request)) ?? [] { context.delete(object) }
            try? context.save()
        }
    }
}
