import CoreData
import Foundation
import Testing

/// Limit and offset of a request in a list that follows changes.
@MainActor
@Suite struct ControllerWindowTests {
    /// Saved stadiums A, B, … with capacities 10, 20, ….
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

    @Test func case66_rowPushedOutIsDeletedAndTheNewOneInserted() throws {
        let stadiums = try saved()
        let request = stadiums.request(["-capacity"])
        request.fetchLimit = 3
        let (controller, log) = try stadiums.list(request)
        #expect(names(controller) == "H G F")
        let new = stadiums.add("N", ["capacity": 75])
        stadiums.context.processPendingChanges()
        #expect(log.take() == ["delete 0,2→-", "insert -→0,1"])
        #expect(names(controller) == "H N G")
        stadiums.context.delete(new)
        stadiums.context.processPendingChanges()
        #expect(log.take() == ["delete 0,1→-", "insert -→0,2"])
        // Changes after the window are not reported.
        stadiums.add("M", ["capacity": 5])
        stadiums.context.processPendingChanges()
        #expect(log.take() == [])
        #expect(controller.fetchedObjects?.count == 3)
    }

    @Test func offsetMovesWithWhatComesBefore() throws {
        let stadiums = try saved()
        let request = stadiums.request(["capacity"])
        request.fetchOffset = 2
        request.fetchLimit = 3
        let (controller, log) = try stadiums.list(request)
        #expect(names(controller) == "C D E")
        stadiums.add("N", ["capacity": 1])
        stadiums.context.processPendingChanges()
        #expect(log.take() == ["delete 0,2→-", "insert -→0,0"])
        #expect(names(controller) == "B C D")
    }

    /// Related objects count as they are in the context, not as in the store.
    @Test(arguments: [false, true])
    nonisolated func unsavedRelatedObjectsDetermineTheWindow(hasOwnChanges: Bool) throws {
        try Staff.run { staff in
            let departments = ["A", "B"].map { staff.department($0) }
            for number in 0..<100 {
                staff.employee("N\(number)", "T", number).setValue(departments[number / 50], forKey: "department")
            }
            try staff.context.save()
            if hasOwnChanges { staff.employee("new", "T", 51).setValue(departments[1], forKey: "department") }
            departments[1].setValue("0", forKey: "name")
            let controller = staff.controller(section: nil, sort: ["department.name", "salary", "name"])
            controller.fetchRequest.fetchLimit = 4
            controller.fetchRequest.fetchOffset = 1
            let recorder = Recorder()
            controller.delegate = recorder
            try controller.performFetch()
            recorder.load(controller)
            #expect(controller.text == (hasOwnChanges ? "N51 new N52 N53" : "N51 N52 N53 N54"))
            departments[1].setValue("Z", forKey: "name")
            staff.context.processPendingChanges()
            #expect(controller.text == "N1 N2 N3 N4")
            // So many rows leave that the window is refilled.
            departments[0].setValue("ZZ", forKey: "name")
            staff.context.processPendingChanges()
            #expect(controller.text == (hasOwnChanges ? "N51 new N52 N53" : "N51 N52 N53 N54"))
            #expect(recorder.violations == [])
        }
    }

    @Test func sectionsOfAWindow() throws {
        let stadiums = try saved()
        let request = stadiums.request(["city", "capacity"])
        request.fetchOffset = 2
        request.fetchLimit = 3
        let (controller, log) = try stadiums.list(request, section: "city")
        #expect(names(controller) == "C D | E")
        #expect(controller.sections?.map(\.numberOfObjects) == [2, 1])
        stadiums.add("N", ["capacity": 1, "city": "x"])
        stadiums.context.processPendingChanges()
        #expect(names(controller) == "B C D")
        #expect(log.take() == ["section delete 1 y", "delete 1,0→-", "insert -→0,0"])
    }

    @Test func deletionsOfAnotherContextBringRowsIn() async throws {
        let stadiums = try saved(200)
        stadiums.context.automaticallyMergesChangesFromParent = true
        let request = stadiums.request(["-capacity"])
        request.fetchLimit = 4
        let (controller, log) = try stadiums.list(request)
        let other = stadiums.container.newBackgroundContext()
        // More than the few rows that are kept after the window.
        try await other.perform {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Stadium")
            request.predicate = NSPredicate(format: "capacity > 500")
            for object in try other.fetch(request) { other.delete(object) }
            try other.save()
        }
        #expect(await stadiums.waits { !log.isEmpty })
        #expect(controller.fetchedObjects?.map { $0.value(forKey: "capacity") as? Int64 } == [500, 490, 480, 470])
        let heard = log.take()
        #expect(heard.filter { $0.hasPrefix("delete") }.count == 4)
        #expect(heard.filter { $0.hasPrefix("insert") }.count == 4)
    }

    @Test func greatestLimitMeansNoLimit() throws {
        let stadiums = try saved()
        let request = stadiums.request(["capacity"])
        request.fetchLimit = .max
        request.fetchOffset = 6
        let (controller, log) = try stadiums.list(request)
        #expect(names(controller) == "G H")
        stadiums.add("N", ["capacity": 1000])
        stadiums.context.processPendingChanges()
        #expect(log.take() == ["insert -→0,2"])
        request.fetchOffset = 100
        try controller.performFetch()
        #expect(controller.fetchedObjects?.isEmpty == true)
        #expect(controller.sections?.count == 1)
    }

    @Test func scatteredSectionsOfAWindowAreRefused() throws {
        let stadiums = try saved()
        stadiums.add("Z", ["capacity": 1000, "city": "x"])
        let request = stadiums.request(["-capacity"])
        request.fetchLimit = 8
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: stadiums.context, sectionNameKeyPath: "city", cacheName: nil)
        #expect(throws: (any Error).self) { try controller.performFetch() }
        request.fetchLimit = 3
        try controller.performFetch()
        #expect(names(controller) == "Z | H G")
    }
}
