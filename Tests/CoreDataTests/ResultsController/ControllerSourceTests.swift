import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Sources of changes: merges, other processes, refreshes, resets, related objects.
@Suite struct ControllerSourceTests {
    /// Runs `edit` on another context of the same coordinator, saves it, and merges the save.
    private func mergeFromSibling(_ staff: Staff, _ edit: (NSManagedObjectContext) throws -> Void) throws {
        let sibling = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        sibling.persistentStoreCoordinator = staff.coordinator
        let saved = SavedNotification()
        let observer = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.didSaveObjectsNotification, object: sibling, queue: nil
        ) { saved.value = $0 }
        try sibling.performAndWait {
            try edit(sibling)
            try sibling.save()
        }
        NotificationCenter.default.removeObserver(observer)
        staff.context.mergeChanges(fromContextDidSave: try #require(saved.value))
    }

    /// Written and read on the same thread.
    final class SavedNotification: @unchecked Sendable {
        var value: Notification?
    }

    private func find(_ name: String, in context: NSManagedObjectContext) throws -> NSManagedObject {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
        request.predicate = NSPredicate(format: "name == %@", name)
        return try #require(try context.fetch(request).first)
    }

    @Test func aListOfSeveralStoresIncludesUnsavedRelatedChanges() throws {
        try Staff.run { staff in
            let second = try staff.coordinator.addPersistentStore(
                type: .sqlite, at: staff.folder.appendingPathComponent("Second.sqlite"))
            defer { try? staff.coordinator.remove(second) }
            var departments: [NSManagedObject] = []
            for (number, store) in [staff.store, second, staff.store, second].enumerated() {
                let person = staff.employee("N\(number)", nil)
                let department = staff.department("D\(number)")
                for object in [person, department] { staff.context.assign(object, to: store) }
                person.setValue(department, forKey: "department")
                departments.append(department)
            }
            try staff.context.save()
            func text(_ predicate: String?) throws -> String {
                let list = staff.controller(
                    section: "department.name", sort: ["department.name"], where: predicate)
                try list.performFetch()
                return list.text
            }
            #expect(try text(nil) == "D0: N0 | D1: N1 | D2: N2 | D3: N3")
            departments[3].setValue("C", forKey: "name")
            departments[0].setValue("E", forKey: "name")
            #expect(try text(nil) == "C: N3 | D1: N1 | D2: N2 | E: N0")
            #expect(try text("department.name BEGINSWITH 'D'") == "D1: N1 | D2: N2")
            #expect(try text("department.name == 'E'") == "E: N0")
        }
    }

    @Test func case55_mergeOfAnotherContextsSaveIsOneBatch() throws {
        try Staff.run { staff in
            let (alice, bob, sam) = try staff.savedThree()
            // Sam's row is in the list, but the context has no object for it.
            staff.context.refresh(sam, mergeChanges: false)
            let (controller, recorder) = try staff.recorded()
            _ = (alice, bob)
            try mergeFromSibling(staff) { sibling in
                let new = NSEntityDescription.insertNewObject(forEntityName: "Employee", into: sibling)
                new.setValue("Fay", forKey: "name")
                new.setValue("F", forKey: "team")
                let other = NSEntityDescription.insertNewObject(forEntityName: "Department", into: sibling)
                other.setValue("D", forKey: "name")
                try self.find("Alice", in: sibling).setValue(77, forKey: "salary")
                try self.find("Sam", in: sibling).setValue("Tom", forKey: "name")
                sibling.delete(try self.find("Bob", in: sibling))
            }
            #expect(
                recorder.events == [
                    "will 3", "section insert 1 F", "delete gone 0,1→-", "insert Fay -→1,0", "update Alice 0,0→0,0",
                    "update Tom 1,0→2,0", "did 3",
                ])
            #expect(recorder.violations == [])
            #expect(controller.contradiction() == nil)
        }
    }

    @Test func case56And57_batchRequestsShowWhenTheirIDsAreMerged() throws {
        try Staff.run { staff in
            let (_, bob, _) = try staff.savedThree()
            let (controller, recorder) = try staff.recorded()
            func merge(_ key: String, _ ids: Any?) throws {
                // The list has no earlier changes.
                staff.context.processPendingChanges()
                #expect(recorder.events == [])
                let ids = try #require(ids as? [NSManagedObjectID])
                NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [key: ids], into: [staff.context])
            }
            let rows: [[String: Any]] = [["name": "Ben", "team": "E"], ["name": "Fay", "team": "F"]]
            let insert = NSBatchInsertRequest(entityName: "Employee", objects: rows)
            insert.resultType = .objectIDs
            try merge(NSInsertedObjectIDsKey, (staff.context.execute(insert) as? NSBatchInsertResult)?.result)
            #expect(recorder.changes == ["section insert 1 F", "insert Ben -→0,1", "insert Fay -→1,0"])
            recorder.clear()
            let update = NSBatchUpdateRequest(entityName: "Employee")
            update.predicate = NSPredicate(format: "name IN {'Sam', 'Ben'}")
            update.propertiesToUpdate = ["team": "A"]
            update.resultType = .updatedObjectIDsResultType
            try merge(NSUpdatedObjectIDsKey, (staff.context.execute(update) as? NSBatchUpdateResult)?.result)
            #expect(
                recorder.changes == [
                    "section delete 2 S", "section insert 0 A", "move Ben 0,1→0,0", "move Sam 2,0→0,1",
                ])
            recorder.clear()
            let delete = NSBatchDeleteRequest(objectIDs: [bob.objectID])
            delete.resultType = .resultTypeObjectIDs
            try merge(NSDeletedObjectIDsKey, (staff.context.execute(delete) as? NSBatchDeleteResult)?.result)
            #expect(recorder.changes.count == 1 && recorder.changes[0].hasSuffix("1,1→-"))
            #expect(controller.text == "A: Ben Sam | E: Alice | F: Fay")
            #expect(recorder.violations == [])
        }
    }

    @Test func mergeOfUnrelatedEntitiesIsNotAChange() throws {
        try Staff.run { staff in
            _ = try staff.savedThree()
            let (_, recorder) = try staff.recorded()
            try mergeFromSibling(staff) { sibling in
                NSEntityDescription.insertNewObject(forEntityName: "Department", into: sibling).setValue(
                    "D", forKey: "name")
            }
            #expect(recorder.events == [])
        }
    }

    @Test func case62_rowWithoutAnObjectStartsToMatch() throws {
        try Staff.run { staff in
            do { _ = try staff.savedThree() }
            let controller = staff.controller(where: "salary < 3")
            let recorder = Recorder()
            controller.delegate = recorder
            try controller.performFetch()
            recorder.load(controller)
            staff.context.reset()
            try controller.performFetch()
            recorder.load(controller)
            try mergeFromSibling(staff) { try self.find("Alice", in: $0).setValue(0, forKey: "salary") }
            #expect(recorder.changes == ["insert Alice -→0,0"])
        }
    }

    @Test func case58_refreshesAreUpdatesOnly() throws {
        try Staff.run { staff in
            let (alice, _, _) = try staff.savedThree()
            let (_, recorder) = try staff.recorded()
            staff.context.refresh(alice, mergeChanges: true)
            staff.context.processPendingChanges()
            #expect(recorder.changes == ["update Alice 0,0→0,0"])
            recorder.clear()
            staff.context.refreshAllObjects()
            staff.context.processPendingChanges()
            #expect(recorder.changes.allSatisfy { $0.hasPrefix("update") })
            #expect(recorder.violations == [])
        }
    }

    @Test func case59_resetIsSilent() throws {
        try Staff.run { staff in
            _ = try staff.savedThree()
            let (controller, recorder) = try staff.recorded()
            staff.context.reset()
            #expect(recorder.events == [])
            staff.employee("Ben", "E")
            staff.context.processPendingChanges()
            #expect(recorder.events == [])
            try controller.performFetch()
            #expect(controller.text == "E: Alice Ben Bob | S: Sam")
            recorder.load(controller)
            staff.employee("Cid", "E")
            staff.context.processPendingChanges()
            #expect(recorder.changes == ["insert Cid -→0,3"])
        }
    }

    @Test func case63_undoAndRollback() throws {
        try Staff.run { staff in
            let (alice, bob, _) = try staff.savedThree()
            staff.context.undoManager = UndoManager()
            let (controller, recorder) = try staff.recorded()
            staff.context.delete(bob)
            staff.context.processPendingChanges()
            recorder.clear()
            staff.context.undo()
            #expect(recorder.changes == ["insert Bob -→0,1"], "at its old place")
            alice.setValue(9, forKey: "salary")
            staff.context.processPendingChanges()
            recorder.clear()
            staff.context.rollback()
            #expect(recorder.changes == ["update Alice 0,0→0,0"])
            staff.context.delete(bob)
            staff.context.processPendingChanges()
            alice.setValue("Zed", forKey: "name")
            staff.context.processPendingChanges()
            staff.context.rollback()
            staff.context.processPendingChanges()
            #expect(controller.text == "E: Alice Bob | S: Sam")
            #expect(recorder.violations == [])
            #expect(controller.contradiction() == nil)
        }
    }

    // MARK: Related objects

    @Test func case61_changesOfRelatedObjectsTouchTheObjects() throws {
        try Staff.run { staff in
            let (alice, bob, sam) = try staff.savedThree()
            let (art, law) = (staff.department("Art"), staff.department("Law"))
            for object in [alice, sam] { object.setValue(art, forKey: "department") }
            bob.setValue(law, forKey: "department")
            try staff.context.save()
            let (controller, recorder) = try staff.recorded(
                section: "department.name", sort: ["department.name", "name"], where: "department.name != 'X'")
            #expect(controller.text == "Art: Alice Sam | Law: Bob")
            art.setValue("Zoo", forKey: "name")
            staff.context.processPendingChanges()
            #expect(
                recorder.changes == [
                    "section delete 0 Art", "section insert 1 Zoo", "move Alice 0,0→1,0", "move Sam 0,1→1,1",
                ])
            #expect(controller.text == "Law: Bob | Zoo: Alice Sam")
            recorder.clear()
            law.setValue("X", forKey: "name")
            try staff.context.save()
            #expect(recorder.changes == ["section delete 0 Law", "delete Bob 0,0→-"])
            #expect(recorder.violations == [])
        }
    }

    /// The predicate reads Ann's and Bob's colleagues through a saved department with new and moved employees, who are
    /// in another department in the store.
    @Test(arguments: [
        "ANY department.employees.salary > 15", "ANY department.employees.department.employees.salary > 15",
    ])
    func unsavedMovesOfRelatedObjectsAreEvaluated(format: String) throws {
        try Staff.run { staff in
            let (art, sales) = (staff.department("Art"), staff.department("Sales"))
            for name in ["Ann", "Bob"] { staff.employee(name, "E", 1).setValue(art, forKey: "department") }
            let moved = staff.employee("Mo", "E", 1)
            moved.setValue(sales, forKey: "department")
            try staff.context.save()
            let (controller, recorder) = try staff.recorded(
                section: nil, sort: ["name"], where: format)
            #expect(controller.text == "")
            let new = staff.employee("Zoe", "E", 20)
            new.setValue(art, forKey: "department")
            staff.context.processPendingChanges()
            #expect(controller.text == "Ann Bob Zoe")
            new.setValue(2, forKey: "salary")
            staff.context.processPendingChanges()
            #expect(controller.text == "")
            moved.setValue(art, forKey: "department")
            staff.context.processPendingChanges()
            moved.setValue(30, forKey: "salary")
            staff.context.processPendingChanges()
            #expect(controller.text == "Ann Bob Mo Zoe")
            moved.setValue(3, forKey: "salary")
            staff.context.processPendingChanges()
            #expect(controller.text == "")
            #expect(recorder.violations == [])
        }
    }

    @Test func relatedObjectsThatOthersChange() throws {
        try Staff.run { staff in
            let (alice, bob, _) = try staff.savedThree()
            let (art, law) = (staff.department("Art"), staff.department("Law"))
            alice.setValue(art, forKey: "department")
            bob.setValue(law, forKey: "department")
            try staff.context.save()
            staff.context.reset()
            let (controller, recorder) = try staff.recorded(
                section: nil, sort: ["department.name"], where: "department != nil")
            #expect(controller.text == "Alice Bob")
            try mergeFromSibling(staff) { sibling in
                let request = NSFetchRequest<NSManagedObject>(entityName: "Department")
                request.predicate = NSPredicate(format: "name == 'Art'")
                try #require(try sibling.fetch(request).first).setValue("Zoo", forKey: "name")
            }
            #expect(recorder.changes == ["move Alice 0,0→0,1"])
            #expect(controller.text == "Bob Alice")
        }
    }

    @Test func appleBehaviourLeavesRelatedObjectsAlone() throws {
        try Staff.run { staff in
            let (alice, _, _) = try staff.savedThree()
            let art = staff.department("Art")
            alice.setValue(art, forKey: "department")
            try staff.context.save()
            let controller = staff.controller(section: nil, sort: ["department.name", "name"])
            let recorder = Recorder()
            controller.delegate = recorder
            controller.followsRelatedObjects = false
            try controller.performFetch()
            recorder.load(controller)
            art.setValue("Aaa", forKey: "name")
            staff.context.processPendingChanges()
            #expect(recorder.events == [])
        }
    }

    // MARK: Other processes

    @Test func changesOfAnotherProcessArriveByThemselves() throws {
        let staff = try Staff(watches: true)
        let (controller, recorder) = try staff.context.performAndWait {
            _ = try staff.savedThree()
            staff.context.automaticallyMergesChangesFromParent = true
            return try staff.recorded()
        }
        let other = try Staff(in: staff.folder)
        try other.context.performAndWait {
            try other.find("Bob").setValue("S", forKey: "team")
            other.employee("Zoe", "A")
            try other.context.save()
        }
        eventually("the list is told") { staff.context.performAndWait { recorder.batches > 0 } }
        staff.context.performAndWait {
            #expect(recorder.changes == ["section insert 0 A", "insert Zoe -→0,0", "move Bob 0,1→2,0"])
            #expect(recorder.violations == [])
            #expect(controller.contradiction() == nil)
        }
    }

    /// A writer in another stack commits continuously: the list ends up equal to a fresh fetch, and every batch
    /// replays.
    @Test func manyCommitsOfAnotherProcess() throws {
        let staff = try Staff(watches: true)
        let (controller, recorder) = try staff.context.performAndWait {
            for number in 0..<60 { staff.employee("N\(number)", "T\(number % 4)", number) }
            try staff.context.save()
            staff.context.automaticallyMergesChangesFromParent = true
            staff.context.reset()
            return try staff.recorded(sort: ["team", "salary", "name"])
        }
        let other = try Staff(in: staff.folder)
        try other.context.performAndWait {
            var random = SeededGenerator(seed: 11)
            let all = try other.context.fetch(other.request([]))
            for _ in 0..<150 {
                for _ in 0..<2 {
                    let object = all[Int.random(in: 0..<all.count, using: &random)]
                    object.setValue(Int.random(in: 0..<60, using: &random), forKey: "salary")
                    if Int.random(in: 0..<4, using: &random) == 0 {
                        object.setValue("T\(Int.random(in: 0..<5, using: &random))", forKey: "team")
                    }
                }
                try other.context.save()
            }
        }
        let expected = try other.context.performAndWait { () -> String in
            other.context.reset()
            let fresh = other.controller(sort: ["team", "salary", "name"])
            try fresh.performFetch()
            return fresh.text
        }
        eventually("the list follows") { staff.context.performAndWait { controller.text == expected } }
        staff.context.performAndWait {
            #expect(controller.text == expected)
            #expect(recorder.violations == [])
            #expect(controller.contradiction() == nil)
            #expect(recorder.batches > 0)
        }
    }

    /// Commits that arrive while the context's queue is busy are merged together afterwards.
    @Test func commitsOfAnotherProcessAreMergedTogetherWhereTheQueueIsBusy() throws {
        let staff = try Staff(watches: true)
        let (controller, recorder) = try staff.context.performAndWait {
            for number in 0..<20 { staff.employee("N\(number)", "T", number) }
            try staff.context.save()
            staff.context.automaticallyMergesChangesFromParent = true
            return try staff.recorded(sort: ["team", "salary", "name"])
        }
        let heard = HeardCommits()
        staff.coordinator.addCommitObserver(heard)
        let other = try Staff(in: staff.folder)
        try staff.whileQueueIsBusy {
            try other.context.performAndWait {
                for number in 0..<20 {
                    try other.find("N\(number)").setValue(100 - number, forKey: "salary")
                    try other.context.save()
                    Thread.sleep(forTimeInterval: 0.02)
                }
                other.context.delete(try other.find("N7"))
                try other.context.save()
            }
            eventually("the last commit is seen") { heard.changes.withLock { $0.contains { !$0.deleted.isEmpty } } }
        }
        let expected = "T: " + (0..<20).reversed().filter { $0 != 7 }.map { "N\($0)" }.joined(separator: " ")
        eventually("the list follows") { staff.context.performAndWait { controller.text == expected } }
        staff.context.performAndWait {
            #expect(controller.text == expected)
            #expect(recorder.violations == [])
            #expect(controller.contradiction() == nil)
            // Otherwise there would be one batch for each poll, at least five.
            #expect((1...3).contains(recorder.batches), "\(recorder.batches)")
        }
    }

    @Test func storeWithoutHistoryIsComparedWithAFetch() throws {
        let staff = try Staff(keepsHistory: false, watches: true)
        let (controller, recorder) = try staff.context.performAndWait {
            _ = try staff.savedThree()
            staff.context.automaticallyMergesChangesFromParent = true
            return try staff.recorded()
        }
        let other = try Staff(in: staff.folder, keepsHistory: false)
        try other.context.performAndWait {
            try other.find("Bob").setValue("S", forKey: "team")
            other.employee("Zoe", "A")
            other.context.delete(try other.find("Alice"))
            try other.context.save()
        }
        eventually("the list follows") { staff.context.performAndWait { controller.text == "A: Zoe | S: Bob Sam" } }
        staff.context.performAndWait { #expect(recorder.violations == []) }
    }

    /// Reads each reported object, as delegates do that log the callbacks.
    private final class NameReader: NSObject, NSFetchedResultsControllerDelegate {
        var names: [String?] = []

        func controller(
            _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
            at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
        ) {
            guard type == .delete, let object = anObject as? NSManagedObject else { return }
            names.append(object.value(forKey: "name") as? String)
        }
    }

    @Test func readingAnUnheldDeletedRowIsNotAPendingDeletion() throws {
        try Staff.run { staff in
            _ = try staff.savedThree()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: staff.context, sectionNameKeyPath: nil, cacheName: nil)
            let reader = NameReader()
            controller.delegate = reader
            staff.context.reset()
            try controller.performFetch()
            try mergeFromSibling(staff) { $0.delete(try find("Sam", in: $0)) }
            #expect(reader.names == [nil])
            #expect(staff.context.deletedObjects.isEmpty && !staff.context.hasChanges)
        }
    }
}
