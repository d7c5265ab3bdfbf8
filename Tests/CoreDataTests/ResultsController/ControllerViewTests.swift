import CoreData
import Foundation
import Synchronization
import Testing

/// Views of one store: joined lists, views of a list, lists on a background queue.
@MainActor
@Suite struct ControllerViewTests {
    private func saved() throws -> Stadiums {
        let stadiums = try Stadiums()
        for number in 0..<6 {
            stadiums.add(
                String(UnicodeScalar(UInt8(65 + number))), ["capacity": (number + 1) * 10, "city": "c\(number % 2)"])
        }
        try stadiums.context.save()
        return stadiums
    }

    private func sums(_ controller: NSFetchedResultsController<NSManagedObject>) -> [SectionValue?] {
        (controller.sections ?? []).map { $0.aggregate(.sum("capacity")) }
    }

    // MARK: Views

    @Test func aFilteredAndSortedViewFollowsItsBase() throws {
        let stadiums = try saved()
        let (base, baseLog) = try stadiums.list(stadiums.request(["name"], "capacity > 10"))
        let view = base.view(
            where: NSPredicate(format: "city == 'c1'"),
            sortedBy: [NSSortDescriptor(key: "capacity", ascending: false)])
        let log = RowLog()
        view.delegate = log
        try view.performFetch()
        #expect(names(view) == "F D B")
        let first = try #require(view.fetchedObjects?.first)
        #expect(first === base.fetchedObjects?.last)
        stadiums.add("G", ["capacity": 50, "city": "c1"])
        stadiums.add("H", ["capacity": 50, "city": "c0"])
        stadiums.add("I", ["capacity": 5, "city": "c1"])
        stadiums.context.processPendingChanges()
        #expect(log.take() == ["insert -→0,1"])
        #expect(baseLog.take().count == 2)
        #expect(names(view) == "F G D B")
        first.setValue(15, forKey: "capacity")
        stadiums.context.processPendingChanges()
        #expect(log.take() == ["move 0,0→0,3"])
        // It leaves the base, though the view would take it.
        first.setValue(1, forKey: "capacity")
        stadiums.context.processPendingChanges()
        #expect(log.take() == ["delete 0,3→-"])
        first.setValue("c0", forKey: "city")
        first.setValue(70, forKey: "capacity")
        stadiums.context.processPendingChanges()
        #expect(log.take() == [])
        #expect(names(view) == "G D B")
    }

    @Test func aViewHasSectionsAndAggregatesOfItsOwn() throws {
        let stadiums = try saved()
        let (base, _) = try stadiums.list(stadiums.request(["name"]))
        let view = base.view(where: NSPredicate(format: "capacity < 60"), sectionBy: .bucket("capacity", size: 30))
        view.aggregates = [.sum("capacity")]
        view.followsChanges = true
        try view.performFetch()
        #expect(names(view) == "A B | C D E")
        #expect(sums(view) == [.integer(30), .integer(120)])
        view.fetchedObjects?.first?.setValue(45, forKey: "capacity")
        stadiums.context.processPendingChanges()
        #expect(names(view) == "B | A C D E")
        #expect(sums(view) == [.integer(20), .integer(165)])
    }

    @Test func aViewsAggregatesAreThoseOfItsRowsAlone() throws {
        let stadiums = try saved()
        let (base, _) = try stadiums.list(stadiums.request(["name"], "capacity < 40"))
        let objects = base.fetchedObjects
        #expect(objects?.map { $0.value(forKey: "city") as? String } == ["c0", "c1", "c0"])
        // The second condition is in no other test's statements.
        let view = base.view(where: NSPredicate(format: "city == 'c0' AND code == nil"))
        view.aggregates = [.sum("capacity")]
        let statements = Mutex<[String]>([])
        let observation = StatementObservation { statement in
            if statement.sql.contains("ZCODE IS NULL") { statements.withLock { $0.append(statement.sql) } }
        }
        try view.performFetch()
        withExtendedLifetime(observation) {}
        #expect(statements.withLock { $0 } == [])
        #expect(view.aggregate(.sum("capacity")) == .integer(40))
    }

    @Test func aViewIsToldOfTheObjectWhoseInsertionWasTakenBack() throws {
        let stadiums = try saved()
        let (base, _) = try stadiums.list(stadiums.request(["name"]))
        let view = base.view(where: NSPredicate(format: "capacity > 40"))
        let listener = ObjectListener()
        view.delegate = listener
        try view.performFetch()
        let added = stadiums.add("Z", ["capacity": 70])
        stadiums.context.processPendingChanges()
        stadiums.context.rollback()
        #expect(listener.told.count == 2)
        #expect(listener.told.allSatisfy { $0 === added })
        #expect(names(view) == "E F")
    }

    @Test func aViewFollowsAFetchThatItsOwnDelegateMakes() throws {
        let stadiums = try saved()
        let (base, _) = try stadiums.list(stadiums.request(["name"]))
        let view = base.view()
        let listener = ObjectListener()
        view.delegate = listener
        try view.performFetch()
        listener.onChange = {
            base.fetchRequest.predicate = NSPredicate(format: "capacity > 40")
            try base.performFetch()
        }
        stadiums.add("Z", ["capacity": 70])
        stadiums.context.processPendingChanges()
        #expect(names(base) == "E F Z")
        #expect(names(view) == "E F Z")
        stadiums.add("Y", ["capacity": 80])
        stadiums.context.processPendingChanges()
        #expect(names(view) == "E F Y Z")
    }

    @Test func aViewOfAWindowAndOfAChangedRequest() async throws {
        let stadiums = try saved()
        let request = stadiums.request(["-capacity"])
        request.fetchLimit = 3
        let (base, _) = try stadiums.list(request)
        let view = base.view(sortedBy: [NSSortDescriptor(key: "name", ascending: true)])
        let log = RowLog()
        view.delegate = log
        try view.performFetch()
        #expect(names(view) == "D E F")
        stadiums.add("N", ["capacity": 100])
        stadiums.context.processPendingChanges()
        #expect(names(view) == "E F N")
        #expect(log.take() == ["delete 0,0→-", "insert -→0,2"])
        base.fetchRequest.fetchLimit = 0
        base.fetchRequest.predicate = NSPredicate(format: "capacity > 30")
        try await base.refetch()
        #expect(names(view) == "D E F N")
        #expect(log.take() == ["insert -→0,0"])
        base.fetchRequest.predicate = nil
        try base.performFetch()
        #expect(names(view) == "A B C D E F N")
        view.fetchRequest.predicate = NSPredicate(format: "name > 'C'")
        try await view.refetch()
        #expect(names(view) == "D E F N")
    }

    @Test func mergesReachViewsToo() async throws {
        let stadiums = try saved()
        stadiums.context.automaticallyMergesChangesFromParent = true
        let (base, _) = try stadiums.list(stadiums.request(["name"]))
        base.delegate = nil
        let view = base.view(where: NSPredicate(format: "capacity > 45"))
        let log = RowLog()
        view.delegate = log
        try view.performFetch()
        let other = stadiums.container.newBackgroundContext()
        try await other.perform {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Stadium")
            for object in try other.fetch(request) {
                object.setValue((object.value(forKey: "capacity") as? Int64 ?? 0) + 10, forKey: "capacity")
            }
            try other.save()
        }
        #expect(await stadiums.waits { !log.isEmpty })
        #expect(names(view) == "D E F")
    }

    // MARK: Joined

    @Test func severalControllersAreOneList() throws {
        let stadiums = try saved()
        let club = NSEntityDescription.insertNewObject(forEntityName: "Club", into: stadiums.context)
        club.setValue("Ajax", forKey: "name")
        let clubRequest = NSFetchRequest<NSManagedObject>(entityName: "Club")
        clubRequest.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let clubs = NSFetchedResultsController(
            fetchRequest: clubRequest, managedObjectContext: stadiums.context, sectionNameKeyPath: nil, cacheName: nil)
        let (grounds, groundLog) = try stadiums.list(stadiums.request(["city", "name"]), section: "city")
        try clubs.performFetch()
        let joined = JoinedFetchedResults(grounds, clubs)
        var heard: [String] = []
        joined.onChange = { batch in
            heard += batch.sectionChanges.map { "section \($0.type) \($0.index)" }
            heard += batch.changes.map { change in
                "\(change.type) \(change.indexPath?.description ?? "-")→\(change.newIndexPath?.description ?? "-")"
            }
        }
        #expect(joined.sections.map(\.name) == ["c0", "c1", ""])
        #expect(joined.numberOfObjects == 7)
        #expect(joined[IndexPath(row: 0, section: 2)] === club)
        #expect(joined[IndexPath(row: 1, section: 2)] == nil)
        #expect(joined.indexPath(forObject: club) == IndexPath(row: 0, section: 2))
        // Behind a section that comes in the first, those of the second have other numbers.
        stadiums.add("Z", ["city": "c9"])
        stadiums.context.processPendingChanges()
        #expect(heard == ["section insert 2", "insert -→[2, 0]"])
        #expect(groundLog.take().count == 2)
        #expect(joined.indexPath(forObject: club) == IndexPath(row: 0, section: 3))
        heard = []
        club.setValue("Benfica", forKey: "name")
        stadiums.context.processPendingChanges()
        #expect(heard == ["update [3, 0]→[3, 0]"])
        #expect(joined.controller(ofSection: 3).map { [$0.place, $0.section] } == [1, 0])
    }

    // MARK: Background

    @Test func aListInTheBackgroundComesAsValues() async throws {
        let stadiums = try saved()
        let list = BackgroundFetchedResults(
            stadiums.request(["name"]), in: stadiums.container.persistentStoreCoordinator, sectionBy: .value("city"),
            aggregates: [.sum("capacity")])
        var batches: [FetchedResultsBatch] = []
        list.onChange = { if let batch = $0 { batches.append(batch) } }
        try await list.start()
        let first = try #require(list.snapshot)
        #expect(first.sections.map(\.count) == [3, 3])
        #expect(first.aggregate(.sum("capacity")) == .integer(210))
        stadiums.add("G", ["city": "c2", "capacity": 1])
        try stadiums.context.save()
        #expect(await stadiums.waits { !batches.isEmpty })
        #expect(list.snapshot?.sections.map(\.name) == ["c0", "c1", "c2"])
        #expect(first.sections.count == 2)
        #expect(batches.first?.changes.map(\.type) == [.insert])
        #expect(list.snapshot?.aggregate(.sum("capacity")) == .integer(211))
        let id = try #require(list.snapshot?[IndexPath(row: 0, section: 2)])
        #expect(stadiums.context.object(with: id).value(forKey: "name") as? String == "G")
    }
}

/// Keeps the objects that it hears of, and does something the first time that a batch ends.
@MainActor
private final class ObjectListener: NSObject, @MainActor NSFetchedResultsControllerDelegate {
    private(set) var told: [NSManagedObject] = []
    var onChange: (() throws -> Void)?

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) { if let object = anObject as? NSManagedObject { told.append(object) } }

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        let action = onChange
        onChange = nil
        try? action?()
    }
}
