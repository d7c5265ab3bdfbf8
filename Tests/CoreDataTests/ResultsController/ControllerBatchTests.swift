import Foundation
import Testing

@testable import CoreData

/// Batches of several changes, and delegates that use the context in their callbacks.
@Suite struct ControllerBatchTests {
    @Test func case43_mixedBatch() throws {
        try Staff.run { staff in
            let objects = ["A", "B", "C", "D", "F", "G"].map { staff.employee($0, "E") }
            try staff.context.save()
            let (controller, recorder) = try staff.recorded()
            staff.context.delete(objects[0])
            objects[1].setValue(5, forKey: "salary")
            objects[2].setValue(5, forKey: "salary")
            objects[3].setValue("Z", forKey: "name")
            staff.employee("C2", "E")
            staff.employee("Y", "E")
            staff.context.processPendingChanges()
            #expect(
                recorder.events == [
                    "will 6", "delete gone 0,0→-", "insert C2 -→0,2", "insert Y -→0,5", "move Z 0,3→0,6",
                    "update B 0,1→0,0", "update C 0,2→0,1", "did 7",
                ])
            #expect(recorder.violations == [])
            #expect(controller.contradiction() == nil)
        }
    }

    @Test func case44_sectionsVanishAndAppear() throws {
        try Staff.run { staff in
            let (alice, bob, sam) = try staff.savedThree()
            let (controller, recorder) = try staff.recorded()
            let gone = try #require(controller.sections?[1])
            for object in [alice, bob, sam] { object.setValue("Z", forKey: "team") }
            staff.context.processPendingChanges()
            #expect(
                recorder.changes == [
                    "section delete 1 S", "section delete 0 E", "section insert 0 Z", "move Alice 0,0→0,0",
                    "move Bob 0,1→0,1", "move Sam 1,0→0,2",
                ])
            #expect(gone.numberOfObjects == 0 && gone.objects?.isEmpty == true)
            #expect(controller.sections?[0].numberOfObjects == 3)
            #expect(recorder.violations == [])
        }
    }

    @Test func case45_swap() throws {
        try Staff.run { staff in
            let (alice, bob, _) = try staff.savedThree()
            let (_, recorder) = try staff.recorded()
            alice.setValue("Bob", forKey: "name")
            bob.setValue("Alice", forKey: "name")
            staff.context.processPendingChanges()
            #expect(recorder.changes == ["move Alice 0,1→0,0", "update Bob 0,0→0,1"])
        }
    }

    @Test func case46_objectInsertedAndDeleted() throws {
        try Staff.run { staff in
            _ = try staff.savedThree()
            let (_, recorder) = try staff.recorded()
            staff.context.delete(staff.employee("Ben", "E"))
            staff.context.processPendingChanges()
            #expect(recorder.events == [])
        }
    }

    @Test func case52_oneCallForEachObject() throws {
        try Staff.run { staff in
            let (alice, _, _) = try staff.savedThree()
            let (_, recorder) = try staff.recorded()
            alice.setValue("Zed", forKey: "name")
            alice.setValue(8, forKey: "salary")
            alice.setValue("S", forKey: "team")
            staff.context.processPendingChanges()
            #expect(recorder.changes == ["move Zed 0,0→1,1"])
            #expect(recorder.violations == [])
        }
    }

    @Test func touchedAndUnchangedObjectsAreNotReported() throws {
        try Staff.run { staff in
            let (alice, _, _) = try staff.savedThree()
            let (_, recorder) = try staff.recorded()
            alice.setValue("Alice", forKey: "name")
            staff.context.processPendingChanges()
            alice.setValue("Zed", forKey: "name")
            alice.setValue("Alice", forKey: "name")
            staff.context.processPendingChanges()
            #expect(recorder.events == [])
        }
    }

    // MARK: Delegates that edit

    /// Case 79: callbacks cannot throw in Swift, but can do anything else.
    @Test func case79_delegateThatEditsInEveryCallback() throws {
        try Staff.run { staff in
            let (alice, bob, sam) = try staff.savedThree()
            let (controller, recorder) = try staff.recorded()
            var edits = 0
            func edit(_ object: NSManagedObject, _ team: String) {
                guard edits < 12 else { return }
                edits += 1
                object.setValue("\(team)\(edits)", forKey: "team")
                staff.context.processPendingChanges()
            }
            recorder.inWill = { edit(bob, "W") }
            recorder.inObject = { edit(sam, "O") }
            recorder.inDid = { edit(alice, "D") }
            alice.setValue("Zed", forKey: "name")
            while staff.context.changes.hasPending { staff.context.processPendingChanges() }
            #expect(edits == 12)
            #expect(recorder.violations == [])
            #expect(controller.contradiction() == nil)
            (recorder.inWill, recorder.inObject, recorder.inDid) = (nil, nil, nil)
            recorder.clear()
            staff.employee("Ben", "A")
            staff.context.processPendingChanges()
            #expect(recorder.changes == ["section insert 0 A", "insert Ben -→0,0"])
        }
    }

    @Test func case80_fetchAndSaveInsideDidChange() throws {
        try Staff.run { staff in
            let (alice, _, _) = try staff.savedThree()
            let (controller, recorder) = try staff.recorded()
            var rounds = 0
            recorder.inDid = {
                guard rounds < 3 else { return }
                rounds += 1
                staff.employee("New\(rounds)", "N")
                _ = try? staff.context.fetch(staff.request([]))
                staff.employee("Other\(rounds)", "N")
                try? staff.context.save()
            }
            alice.setValue("Zed", forKey: "name")
            while staff.context.changes.hasPending { staff.context.processPendingChanges() }
            #expect(recorder.violations == [])
            // Batches that arrived while the delegate was called were reported together.
            #expect(recorder.events.filter { $0.hasPrefix("will") } == ["will 3", "will 3", "will 5", "will 7"])
            #expect(controller.text == "E: Bob Zed | N: New1 New2 New3 Other1 Other2 Other3 | S: Sam")
        }
    }

    @Test func performFetchInsideCallbacks() throws {
        try Staff.run { staff in
            let (alice, bob, _) = try staff.savedThree()
            let (controller, recorder) = try staff.recorded()
            recorder.inWill = {
                controller.fetchRequest.predicate = NSPredicate(format: "name != 'Sam'")
                try? controller.performFetch()
                recorder.load(controller)
            }
            alice.setValue("Zed", forKey: "name")
            staff.context.processPendingChanges()
            #expect(controller.text == "E: Bob Zed")
            #expect(controller.contradiction() == nil)
            recorder.inWill = nil
            recorder.clear()
            bob.setValue("Zzz", forKey: "name")
            staff.context.processPendingChanges()
            #expect(recorder.changes == ["move Zzz 0,0→0,1"])
        }
    }

    @Test func controllerThatIsReplacedInsideDidChange() throws {
        try Staff.run { staff in
            let (alice, _, _) = try staff.savedThree()
            let (first, recorder) = try staff.recorded()
            let second = staff.controller(section: nil)
            let other = Recorder()
            try second.performFetch()
            other.load(second)
            recorder.inDid = {
                first.delegate = nil
                second.delegate = other
            }
            alice.setValue("Zed", forKey: "name")
            staff.context.processPendingChanges()
            staff.employee("Ben", "E")
            staff.context.processPendingChanges()
            #expect(recorder.batches == 1)
            #expect(first.text == "E: Bob Zed | S: Sam")
            #expect(second.text == "Ben Bob Zed Sam")
            #expect(other.violations == [])
        }
    }
}
