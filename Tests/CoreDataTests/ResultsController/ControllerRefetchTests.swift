import CoreData
import Foundation
import Synchronization
import Testing

/// Changes of a request, computed in the background and reported as one batch.
@MainActor
@Suite struct ControllerRefetchTests {
    /// Saved stadiums A to H with capacities 10, 20, …, the first four in x, the others in y.
    private func saved(_ count: Int = 8) throws -> Stadiums {
        let stadiums = try Stadiums()
        for number in 0..<count {
            stadiums.add(
                String(UnicodeScalar(UInt8(65 + number % 26))),
                ["capacity": (number + 1) * 10, "city": number < 4 ? "x" : "y"])
        }
        try stadiums.context.save()
        return stadiums
    }

    /// The code of the error that `body` throws.
    private func error(of body: @MainActor () async throws -> Void) async -> CocoaError.Code? {
        do {
            try await body()
            return nil
        } catch { return (error as? CocoaError)?.code }
    }

    @Test func newPredicateIsToldAsOneBatch() async throws {
        let stadiums = try saved()
        let (controller, log) = try stadiums.list(stadiums.request(["name"]))
        controller.fetchRequest.predicate = NSPredicate(format: "capacity > 60 OR name == 'B'")
        #expect(names(controller) == "A B C D E F G H")
        try await controller.refetch()
        #expect(names(controller) == "B G H")
        #expect(log.take() == ["delete 0,5→-", "delete 0,4→-", "delete 0,3→-", "delete 0,2→-", "delete 0,0→-"])
        controller.fetchRequest.predicate = nil
        try await controller.refetch()
        #expect(log.take() == ["insert -→0,0", "insert -→0,2", "insert -→0,3", "insert -→0,4", "insert -→0,5"])
        // The list follows the new request.
        stadiums.add("Aa", ["capacity": 5])
        stadiums.context.processPendingChanges()
        #expect(log.take() == ["insert -→0,1"])
    }

    @Test func newSortMovesTheFewestRows() async throws {
        let stadiums = try saved(3)
        let (controller, log) = try stadiums.list(stadiums.request(["name"]))
        controller.fetchRequest.sortDescriptors = [NSSortDescriptor(key: "capacity", ascending: false)]
        try await controller.refetch()
        #expect(names(controller) == "C B A")
        #expect(log.take().filter { $0.hasPrefix("move") }.count == 2)
        try await controller.refetch()
        #expect(log.take() == [])
    }

    @Test func sectionsComeAndGoWithTheirRows() async throws {
        let stadiums = try saved()
        let (controller, log) = try stadiums.list(stadiums.request(["city", "name"]), section: "city")
        controller.fetchRequest.predicate = NSPredicate(format: "capacity < 30")
        try await controller.refetch()
        #expect(names(controller) == "A B")
        #expect(
            log.take() == [
                "section delete 1 y", "delete 1,3→-", "delete 1,2→-", "delete 1,1→-", "delete 1,0→-", "delete 0,3→-",
                "delete 0,2→-",
            ])
        controller.fetchRequest.predicate = nil
        controller.fetchRequest.sortDescriptors = [
            NSSortDescriptor(key: "city", ascending: false), NSSortDescriptor(key: "name", ascending: true),
        ]
        try await controller.refetch()
        #expect(names(controller) == "E F G H | A B C D")
        #expect(log.take().contains("section insert 0 y"))
    }

    @Test func unsavedChangesCount() async throws {
        let stadiums = try saved()
        let (controller, log) = try stadiums.list(stadiums.request(["name"]))
        stadiums.add("N", ["capacity": 75])
        let first = try #require(controller.fetchedObjects?.first)
        controller.fetchRequest.predicate = NSPredicate(format: "capacity > 60")
        first.setValue(61, forKey: "capacity")
        try await controller.refetch()
        #expect(names(controller) == "A G H N")
        _ = log.take()
        #expect(try stadiums.context.fetch(controller.fetchRequest) == controller.fetchedObjects)
    }

    @Test func changesDuringARefetchAreNotLost() async throws {
        let stadiums = try saved()
        let (controller, log) = try stadiums.list(stadiums.request(["name"]))
        controller.fetchRequest.predicate = NSPredicate(format: "capacity > 40")
        let change = Task { try await controller.refetch() }
        // Lets the change begin.
        await Task.yield()
        for round in 0..<20 {
            stadiums.add("N\(round)", ["capacity": 100 + round])
            if round % 3 == 0 { try stadiums.context.save() } else { stadiums.context.processPendingChanges() }
            await Task.yield()
        }
        try await change.value
        stadiums.context.processPendingChanges()
        _ = log.take()
        #expect(controller.fetchedObjects?.count == 24)
        #expect(try stadiums.context.fetch(controller.fetchRequest) == controller.fetchedObjects)
    }

    @Test func aCancelledChangeLeavesTheList() async throws {
        let stadiums = try saved()
        let (controller, log) = try stadiums.list(stadiums.request(["name"]))
        controller.fetchRequest.predicate = NSPredicate(format: "capacity > 40")
        let change = Task { try await controller.refetch() }
        change.cancel()
        let code1 = await error { try await change.value }
        #expect(code1 == .userCancelled)
        #expect(names(controller) == "A B C D E F G H")
        #expect(log.isEmpty)
        // The list still follows the old request.
        stadiums.add("I", ["capacity": 1])
        stadiums.context.processPendingChanges()
        #expect(log.take() == ["insert -→0,8"])
    }

    @Test func theLastOneWins() async throws {
        let stadiums = try saved()
        let (controller, _) = try stadiums.list(stadiums.request(["name"]))
        controller.fetchRequest.predicate = NSPredicate(format: "capacity > 40")
        let first = Task { try await controller.refetch() }
        await Task.yield()
        controller.fetchRequest.predicate = NSPredicate(format: "capacity > 70")
        try await controller.refetch()
        let code2 = await error { try await first.value }
        // On a busy machine, the first one may be done before the second one begins.
        #expect(code2 == .userCancelled || code2 == nil)
        #expect(names(controller) == "H")
    }

    @Test func anErrorLeavesTheList() async throws {
        let stadiums = try saved()
        let (controller, log) = try stadiums.list(stadiums.request(["city", "name"]), section: "city")
        controller.fetchRequest.sortDescriptors = [NSSortDescriptor(key: "nothing", ascending: true)]
        let code4 = await error { try await controller.refetch() }
        #expect(code4?.rawValue == 134060)
        controller.fetchRequest.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        stadiums.add("Aa", ["city": "y"])
        try stadiums.context.save()
        // The rows of a section are not contiguous.
        let code5 = await error { try await controller.refetch() }
        #expect(code5?.rawValue == 134060)
        #expect(controller.sections?.count == 2)
        #expect(log.take() == ["insert -→1,0"])
    }

    @Test func onlyTheContentsAreTold() async throws {
        let stadiums = try saved()
        let (controller, log) = try stadiums.list(stadiums.request(["name"]))
        var changes = controller.changes.makeAsyncIterator()
        controller.fetchRequest.predicate = NSPredicate(format: "capacity > 40")
        try await controller.refetch(telling: .contents)
        #expect(log.isEmpty)
        #expect(names(controller) == "E F G H")
        controller.fetchRequest.predicate = nil
        try await controller.refetch()
        let batch = try #require(await changes.next())
        #expect(batch.before.count == 4)
        #expect(batch.after.count == 8)
        #expect(batch.before.objectIDs.applying(batch.difference) == batch.after.objectIDs)
    }

    @Test func otherFormsOfDelegates() async throws {
        let stadiums = try saved()
        let (controller, _) = try stadiums.list(stadiums.request(["name"]))
        let differences = DifferenceLog()
        controller.delegate = differences
        let old = controller.objectIDs(at: 0..<8)
        controller.fetchRequest.sortDescriptors = [NSSortDescriptor(key: "capacity", ascending: false)]
        try await controller.refetch()
        #expect(differences.rowCalls == 0)
        let difference = try #require(differences.differences.first)
        #expect(old.applying(difference) == controller.objectIDs(at: 0..<8))
        let snapshots = SnapshotLog()
        controller.delegate = snapshots
        controller.fetchRequest.predicate = NSPredicate(format: "capacity > 60")
        try await controller.refetch()
        #expect(snapshots.snapshots.map(\.numberOfItems) == [2])
        #expect(snapshots.otherCalls == 0)
        controller.fetchRequest.fetchLimit = 1
        try await controller.refetch()
        #expect(names(controller) == "H")
        #expect(snapshots.snapshots.map(\.numberOfItems) == [2, 1])
    }

    /// New objects that are saved while the difference is computed get other IDs.
    @Test(arguments: 0..<5)
    func differencesUseTheCurrentIDs(turnsBeforeTheSave: Int) async throws {
        let stadiums = try saved()
        let (controller, _) = try stadiums.list(stadiums.request(["name"]))
        let differences = DifferenceLog()
        controller.delegate = differences
        for name in ["Ba", "Ca"] { _ = stadiums.add(name, ["capacity": 100]) }
        stadiums.context.processPendingChanges()
        controller.fetchRequest.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
        let heard = differences.differences.count
        let change = Task { try await controller.refetch() }
        for _ in 0..<turnsBeforeTheSave { await Task.yield() }
        if turnsBeforeTheSave > 0 { try stadiums.context.save() }
        try await change.value
        #expect(names(controller) == "H G F E D Ca C Ba B A")
        let told = differences.differences.dropFirst(heard)
        #expect(told.count == 1 && differences.rowCalls == 0)
        // If the save was last, the difference has the previous IDs.
        let now = controller.fetchedObjects?.map(\.objectID) ?? []
        for case .insert(let offset, let id, _) in told.first?.insertions ?? [] {
            #expect(now[offset] == id || (turnsBeforeTheSave > 0 && id.isTemporaryID))
        }
        #expect(told.first?.insertions.isEmpty == false)
    }

    @Test func theMainQueueWorksMeanwhile() async throws {
        let stadiums = try Stadiums()
        for number in 0..<5_000 { stadiums.add("\(number * 7919 % 5_000)", ["capacity": number]) }
        try stadiums.context.save()
        let (controller, _) = try stadiums.list(stadiums.request(["name"]))
        controller.delegate = nil
        controller.fetchRequest.sortDescriptors = [NSSortDescriptor(key: "capacity", ascending: true)]
        var turns = 0
        let ticking = Task { @MainActor in
            while !Task.isCancelled {
                turns += 1
                await Task.yield()
            }
        }
        try await controller.refetch(telling: .contents)
        ticking.cancel()
        #expect(turns > 0)
        #expect(controller.fetchedObjects?.first?.value(forKey: "capacity") as? Int64 == 0)
    }

    @Test func sectionsWithTheSameNameAreReportedSeparately() async throws {
        let stadiums = try Stadiums()
        for (name, capacity) in [("A", 1), ("B", 2)] { stadiums.add(name, ["city": "x", "capacity": capacity]) }
        try stadiums.context.save()
        let (controller, log) = try stadiums.list(stadiums.request(["city", "name"]), section: "city")
        controller.sectionBy = .value("city").ordered(by: "capacity")
        try controller.performFetch()
        #expect(names(controller) == "A | B")
        controller.sectionBy = nil
        try await controller.refetch()
        #expect(names(controller) == "A B")
        #expect(log.take() == ["section delete 1 x", "move 1,0→0,1"])
    }

    @Test func aggregatesAreReadOffTheQueueAfterASave() async throws {
        let stadiums = try saved()
        let (controller, log) = try stadiums.list(stadiums.request(["name"]))
        defer { withExtendedLifetime(log) {} }
        controller.aggregates = [.sum("capacity")]
        controller.sectionBy = .value("city")
        try controller.performFetch()
        stadiums.add("N", ["capacity": 5, "city": "x"])
        try stadiums.context.save()
        #expect(controller.aggregate(.sum("capacity")) == .integer(365))
        // No other test has statements with the second condition.
        controller.fetchRequest.predicate = NSPredicate(format: "capacity < 60 AND plan == nil")
        let readings = Mutex(0)
        let observation = StatementObservation { statement in
            if statement.sql.contains("ZPLAN IS NULL") { readings.withLock { $0 += 1 } }
        }
        try await controller.refetch()
        withExtendedLifetime(observation) {}
        #expect(readings.withLock { $0 } == 1)
        #expect(names(controller) == "A B C D N | E")
        #expect(controller.aggregate(.sum("capacity")) == .integer(155))
        let sums: [SectionValue?] = (controller.sections ?? []).map { $0.aggregate(.sum("capacity")) }
        #expect(sums == [.integer(105), .integer(50)])
        controller.fetchedObjects?.last?.setValue(51, forKey: "capacity")
        controller.fetchedObjects?[4].setValue(6, forKey: "capacity")
        stadiums.context.processPendingChanges()
        #expect(controller.aggregate(.sum("capacity")) == .integer(157))
    }
}
