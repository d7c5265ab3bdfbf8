import CoreData
import Foundation
import Observation
import Synchronization
import Testing

/// Swift alternatives to a delegate: streams, snapshots, observation, and a subscript that can return nil.
@MainActor
@Suite struct ControllerStreamTests {
    private func controller(
        _ stadiums: Stadiums, _ sort: [String] = ["name"], section: String? = nil
    ) throws -> NSFetchedResultsController<NSManagedObject> {
        let controller = NSFetchedResultsController(
            fetchRequest: stadiums.request(sort), managedObjectContext: stadiums.context, sectionNameKeyPath: section,
            cacheName: nil)
        try controller.performFetch()
        return controller
    }

    private func three() throws -> Stadiums {
        let stadiums = try Stadiums()
        for name in ["A", "B", "C"] { stadiums.add(name, ["capacity": 10, "city": name == "C" ? "y" : "x"]) }
        try stadiums.context.save()
        return stadiums
    }

    @Test func batchesWithKeysAndOldValues() async throws {
        let stadiums = try three()
        let controller = try controller(stadiums, ["city", "name"], section: "city")
        var batches = controller.changes.makeAsyncIterator()
        let objects = try #require(controller.fetchedObjects)
        objects[0].setValue(11, forKey: "capacity")
        objects[0].setValue("y", forKey: "city")
        objects[1].setValue(nil, forKey: "capacity")
        let new = stadiums.add("N", ["city": "z"])
        stadiums.context.processPendingChanges()
        let batch = try #require(await batches.next())
        #expect(batch.sectionChanges.map { "\($0.type) \($0.index) \($0.name)" } == ["insert 2 z"])
        #expect(batch.changes.map(\.type) == [.move, .insert, .update])
        #expect(batch.changes.map(\.objectID) == [objects[0].objectID, new.objectID, objects[1].objectID])
        #expect(batch.changes[0].indexPath == IndexPath(row: 0, section: 0))
        #expect(batch.changes[0].newIndexPath == IndexPath(row: 0, section: 1))
        #expect(batch.changes[0].changedKeys == ["capacity", "city"])
        #expect(batch.changes[0].oldValues["city"] as? String == "x")
        #expect(batch.changes[0].oldValues["capacity"] as? Int64 == 10)
        #expect(batch.changes[1].oldValues.isEmpty)
        #expect(batch.before.sections.map(\.name) == ["x", "y"])
        #expect(batch.after.sections.map(\.count) == [1, 2, 1])
        #expect(batch.before.objectIDs.applying(batch.difference) == batch.after.objectIDs)
        // The next batch: an object whose attribute was nil.
        objects[1].setValue(5, forKey: "capacity")
        stadiums.context.processPendingChanges()
        let next = try #require(await batches.next())
        #expect(next.changes.map(\.type) == [.update])
        #expect(next.changes[0].oldValues["capacity"] is NSNull)
    }

    @Test func aStreamIsReadOnAnotherQueueAndEndsWithTheController() async throws {
        let stadiums = try three()
        var controller: NSFetchedResultsController<NSManagedObject>? = try self.controller(stadiums)
        let stream = try #require(controller?.changes)
        let counts = Task.detached {
            var counts: [Int] = []
            for await batch in stream {
                // IDs and positions can be read after the list has changed again.
                #expect(batch.after.objectIDs.count == batch.after.count)
                #expect(batch.after.indexPath(of: batch.changes[0].objectID) == batch.changes[0].newIndexPath)
                counts.append(batch.after.count)
            }
            return counts
        }
        for number in 0..<50 {
            stadiums.add("N\(number)")
            if number % 7 == 0 { try stadiums.context.save() }
            stadiums.context.processPendingChanges()
        }
        controller = nil
        #expect(await counts.value == Array(4...53))
    }

    @Test func snapshotsAreTheNewest() async throws {
        let stadiums = try three()
        let controller = try controller(stadiums)
        var snapshots = controller.snapshots.makeAsyncIterator()
        #expect(await snapshots.next()?.count == 3)
        for name in ["D", "E"] {
            stadiums.add(name)
            stadiums.context.processPendingChanges()
        }
        #expect(await snapshots.next()?.count == 5)
        controller.fetchRequest.predicate = NSPredicate(format: "name < 'C'")
        try controller.performFetch()
        let last = try #require(await snapshots.next())
        #expect(last.count == 2)
        #expect(last[IndexPath(row: 1, section: 0)] == controller[IndexPath(row: 1, section: 0)]?.objectID)
        #expect(last[IndexPath(row: 2, section: 0)] == nil)
        #expect(last.indexPath(at: 1) == IndexPath(row: 1, section: 0))
        #expect(!last.isEmpty && last.numberOfSections == 1)
    }

    /// A stream that begins late first receives missed changes, and one that ended does not block the controller.
    @Test func aStreamThatBeginsLateAndEnds() async throws {
        let stadiums = try three()
        let controller = try controller(stadiums)
        stadiums.add("D")
        stadiums.context.processPendingChanges()
        #expect(names(controller) == "A B C")
        var batches: AsyncStream<FetchedResultsBatch>.Iterator? = controller.changes.makeAsyncIterator()
        #expect(await batches?.next()?.changes.map(\.newIndexPath) == [IndexPath(row: 3, section: 0)])
        batches = nil
        stadiums.add("E")
        stadiums.context.processPendingChanges()
        #expect(names(controller) == "A B C D")
    }

    @Test func observationOfSections() throws {
        let stadiums = try three()
        let controller = try controller(stadiums, ["city", "name"], section: "city")
        controller.followsChanges = true
        let changes = Mutex(0)
        func look() -> [Int] {
            withObservationTracking {
                (controller.sections ?? []).map(\.numberOfObjects)
            } onChange: {
                changes.withLock { $0 += 1 }
            }
        }
        #expect(look() == [2, 1])
        stadiums.context.processPendingChanges()
        #expect(changes.withLock { $0 } == 0)
        stadiums.add("D", ["city": "y"])
        stadiums.context.processPendingChanges()
        #expect(changes.withLock { $0 } == 1)
        #expect(look() == [2, 2])
        try controller.performFetch()
        #expect(changes.withLock { $0 } == 2)
    }

    @Test func subscriptThatFindsNothing() throws {
        let stadiums = try three()
        let controller = try controller(stadiums)
        #expect(controller[IndexPath(row: 1, section: 0)] === controller.object(at: IndexPath(row: 1, section: 0)))
        for path in [IndexPath(row: 3, section: 0), IndexPath(row: 0, section: 1), IndexPath(row: -1, section: 0), []] {
            #expect(controller[path] == nil)
        }
    }

    @Test func movesThatThePersonMadeAreNotAnnounced() throws {
        let stadiums = try three()
        let (controller, log) = try stadiums.list(stadiums.request())
        controller.object(at: IndexPath(row: 2, section: 0)).setValue("AA", forKey: "name")
        controller.applyWithoutAnnouncing {
            // Earlier changes are reported first.
            #expect(log.take() == ["move 0,2→0,1"])
            controller.object(at: IndexPath(row: 0, section: 0)).setValue("Z", forKey: "name")
        }
        #expect(log.take() == [])
        #expect(names(controller) == "AA B Z")
        stadiums.add("M")
        stadiums.context.processPendingChanges()
        #expect(log.take() == ["insert -→0,2"])
    }

    /// After random changes, applying all differences of the stream results in the list.
    @Test func differencesReplayToTheList() async throws {
        let long = ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"] != nil
        for seed in UInt64(1)...(long ? 50 : 3) {
            var random = TestGenerator(seed: seed)
            let stadiums = try three()
            let controller = try controller(stadiums, ["city", "name"], section: "city")
            var batches = controller.changes.makeAsyncIterator()
            var shown = controller.fetchedObjects?.map(\.objectID) ?? []
            try stadiums.context.obtainPermanentIDs(for: Array(stadiums.context.insertedObjects))
            for round in 0..<60 {
                var added: [NSManagedObject] = []
                for _ in 0..<Int.random(in: 1...5, using: &random) {
                    let object = controller.fetchedObjects?.randomElement(using: &random)
                    switch Int.random(in: 0..<5, using: &random) {
                    case 0, 1:
                        added.append(stadiums.add("\(random.next() % 50)", ["city": "\(random.next() % 4)"]))
                        try stadiums.context.obtainPermanentIDs(for: added)
                    case 2: if let object, !object.isDeleted { stadiums.context.delete(object) }
                    case 3: object?.setValue("\(random.next() % 4)", forKey: "city")
                    default: object?.setValue("\(random.next() % 50)", forKey: "name")
                    }
                }
                stadiums.add("end\(round)", ["city": "9"])
                if round % 3 == 0 { try stadiums.context.save() }
                stadiums.context.processPendingChanges()
                let batch = try #require(await batches.next())
                shown = try #require(shown.applying(batch.difference))
                #expect(shown == batch.after.objectIDs, "seed \(seed), round \(round)")
                // Objects that are saved later have other IDs then.
                try stadiums.context.save()
                shown = controller.fetchedObjects?.map(\.objectID) ?? []
            }
        }
    }
}

/// A generator with the same numbers for the same seed.
struct TestGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
