import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Lists of a context with a parent.
@Suite struct ControllerNestedTests {
    private typealias List = NSFetchedResultsController<NSManagedObject>

    private func child(of staff: Staff) -> NSManagedObjectContext {
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = staff.context
        child.automaticallyMergesChangesFromParent = true
        return child
    }

    private func list(_ staff: Staff, in child: NSManagedObjectContext) throws -> (List, Recorder) {
        let list = List(
            fetchRequest: staff.request(["team", "name"]), managedObjectContext: child, sectionNameKeyPath: "team",
            cacheName: nil)
        let recorder = Recorder()
        list.delegate = recorder
        try list.performFetch()
        recorder.load(list)
        return (list, recorder)
    }

    @Test func sectionsAreThoseOfWhatTheParentHasNotSaved() throws {
        let staff = try Staff()
        try staff.context.performAndWait {
            let (_, bob, _) = try staff.savedThree()
            bob.setValue("S", forKey: "team")
            staff.employee("Zoe", "Z")
        }
        let child = child(of: staff)
        try child.performAndWait {
            let (list, recorder) = try self.list(staff, in: child)
            #expect(list.text == "E: Alice | S: Bob Sam | Z: Zoe")
            let new = NSEntityDescription.insertNewObject(forEntityName: "Employee", into: child)
            new.setValuesForKeys(["name": "Eve", "team": "E"])
            child.processPendingChanges()
            #expect(recorder.changes == ["insert Eve -→0,1"])
            recorder.clear()
            // A save into the parent does not change the list.
            try child.save()
            #expect(recorder.events == [])
            #expect(list.indexPath(forObject: new) == IndexPath(row: 1, section: 0))
            #expect(recorder.violations == [] && list.contradiction() == nil)
        }
    }

    @Test func aFetchIncludesUnsavedChangesOfRelatedObjects() throws {
        let staff = try Staff()
        try staff.context.performAndWait {
            let (alice, bob, sam) = try staff.savedThree()
            for (person, name) in [(alice, "X"), (bob, "Y"), (sam, "Z")] {
                person.setValue(staff.department(name), forKey: "department")
            }
            try staff.context.save()
        }
        let child = child(of: staff)
        try child.performAndWait {
            let departments = try child.fetch(NSFetchRequest<NSManagedObject>(entityName: "Department"))
            for (old, new) in [("X", "Q"), ("Z", "A")] {
                departments.first { $0.value(forKey: "name") as? String == old }?.setValue(new, forKey: "name")
            }
            for (format, text) in [
                (nil, "A: Sam | Q: Alice | Y: Bob"), ("department.name > 'B'", "Q: Alice | Y: Bob"),
                ("department.name == 'Z'", ""),
            ] {
                let request = staff.request(["department.name"], format.map { NSPredicate(format: $0) })
                let list = List(
                    fetchRequest: request, managedObjectContext: child, sectionNameKeyPath: "department.name",
                    cacheName: nil)
                try list.performFetch()
                #expect(list.text == text)
                request.fetchLimit = 1
                let window = List(
                    fetchRequest: request, managedObjectContext: child, sectionNameKeyPath: nil, cacheName: nil)
                try window.performFetch()
                let names = window.fetchedObjects?.map { $0.value(forKey: "name") as? String }
                #expect(names == list.fetchedObjects?.prefix(1).map { $0.value(forKey: "name") as? String })
            }
        }
    }

    @Test func savesOfTheParentAreFollowedAndNewObjectsKeepTheirPositions() throws {
        let staff = try Staff()
        let alice = try staff.context.performAndWait { UncheckedSendable(try staff.savedThree().alice) }
        let child = child(of: staff)
        let (list, recorder, new) = try child.performAndWait { () -> (List, Recorder, NSManagedObject) in
            let (list, recorder) = try self.list(staff, in: child)
            let new = NSEntityDescription.insertNewObject(forEntityName: "Employee", into: child)
            new.setValuesForKeys(["name": "Eve", "team": "E"])
            try child.save()
            recorder.clear()
            return (list, recorder, new)
        }
        try staff.context.performAndWait {
            alice.value.setValue("S", forKey: "team")
            staff.employee("Zoe", "Z")
            try staff.context.save()
        }
        eventually("the child's list follows") {
            child.performAndWait { list.text == "E: Bob Eve | S: Alice Sam | Z: Zoe" }
        }
        try child.performAndWait {
            #expect(list.text == "E: Bob Eve | S: Alice Sam | Z: Zoe")
            // The new object is reported as inserted only once, though the parent's save gave it another ID.
            #expect(recorder.changes.filter { $0.contains("Eve") }.allSatisfy { $0.hasPrefix("update") })
            #expect(list.indexPath(forObject: new) == IndexPath(row: 1, section: 0))
            #expect(recorder.violations == [] && list.contradiction() == nil)
            let (fresh, _) = try self.list(staff, in: child)
            #expect(fresh.text == list.text)
        }
    }
}
