import Foundation
import Testing

@testable import CoreData

/// Callbacks for one change and their timing. The numbers are those of the conformance cases.
@Suite struct ControllerChangeTests {
    private typealias Three = (alice: NSManagedObject, bob: NSManagedObject, sam: NSManagedObject)

    /// Creates Alice, Bob and Sam, fetches, calls `edit`, and returns the delegate's events.
    private func changes(
        section: String? = "team", sort: [String] = ["team", "name"], where predicate: String? = nil,
        after edit: (Staff, Three) throws -> Void
    ) throws -> [String] {
        var heard: [String] = []
        try Staff.run { staff in
            let three = try staff.savedThree()
            let (controller, recorder) = try staff.recorded(section: section, sort: sort, where: predicate)
            try edit(staff, three)
            staff.context.processPendingChanges()
            #expect(recorder.violations == [])
            #expect(controller.contradiction() == nil)
            #expect(recorder.batches <= 1)
            heard = recorder.events
        }
        return heard
    }

    // MARK: Tracking on and off

    @Test func case22_noDelegate() throws {
        try Staff.run { staff in
            _ = try staff.savedThree()
            let controller = staff.controller()
            try controller.performFetch()
            staff.employee("Zoe", "A")
            staff.context.processPendingChanges()
            #expect(controller.text == "E: Alice Bob | S: Sam")
            // A new delegate receives all changes from the next one on.
            let recorder = Recorder()
            recorder.load(controller)
            controller.delegate = recorder
            staff.employee("Yan", "S")
            staff.context.processPendingChanges()
            #expect(recorder.changes == ["section insert 0 A", "insert Zoe -→0,0", "insert Yan -→2,1"])
            #expect(recorder.violations == [])
        }
    }

    @Test func case23_emptyDidChangeTurnsTrackingOn() throws {
        final class Silent: NSObject, NSFetchedResultsControllerDelegate {
            func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {}
        }
        try Staff.run { staff in
            _ = try staff.savedThree()
            let controller = staff.controller()
            let delegate = Silent()
            controller.delegate = delegate
            try controller.performFetch()
            staff.employee("Zoe", "A")
            staff.context.processPendingChanges()
            #expect(controller.text == "A: Zoe | E: Alice Bob | S: Sam")
        }
    }

    @Test func delegateThatOnlyHearsOfSections() throws {
        final class Sections: NSObject, NSFetchedResultsControllerDelegate {
            var heard: [String] = []
            func controller(
                _ controller: NSFetchedResultsController<NSFetchRequestResult>,
                didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
                for type: NSFetchedResultsChangeType
            ) { heard.append("\(type) \(sectionIndex) \(sectionInfo.name)") }
        }
        try Staff.run { staff in
            _ = try staff.savedThree()
            let controller = staff.controller()
            let delegate = Sections()
            controller.delegate = delegate
            try controller.performFetch()
            staff.employee("Zoe", "E")
            staff.context.processPendingChanges()
            staff.employee("Yan", "A")
            staff.context.processPendingChanges()
            #expect(delegate.heard == ["insert 0 A"])
            #expect(controller.text == "A: Yan | E: Alice Bob Zoe | S: Sam")
            staff.employee("Xi", "A")
            staff.context.processPendingChanges()
            #expect(controller.text == "A: Xi Yan | E: Alice Bob Zoe | S: Sam")
        }
    }

    @Test func case25_aFetchIsNotAChange() throws {
        try Staff.run { staff in
            _ = try staff.savedThree()
            let (controller, recorder) = try staff.recorded()
            try controller.performFetch()
            staff.context.processPendingChanges()
            #expect(recorder.events == [])
        }
    }

    @Test func delegateIsNotRetained() throws {
        try Staff.run { staff in
            _ = try staff.savedThree()
            let controller = staff.controller()
            do {
                let recorder = Recorder()
                controller.delegate = recorder
                try controller.performFetch()
            }
            #expect(controller.delegate == nil)
            staff.employee("Zoe", "A")
            staff.context.processPendingChanges()
            #expect(controller.text == "E: Alice Bob | S: Sam")
        }
    }

    // MARK: Single changes

    @Test func case26And49_insertion() throws {
        let heard = try changes(where: "salary < 100") { staff, _ in staff.employee("Ben", "E") }
        #expect(heard == ["will 3", "insert Ben -→0,1", "did 4"])
    }

    @Test func case27And28_insertionIntoANewSection() throws {
        let heard = try changes { staff, _ in staff.employee("Fay", "F") }
        #expect(heard == ["will 3", "section insert 1 F", "insert Fay -→1,0", "did 4"])
    }

    @Test func case29_deletion() throws {
        let heard = try changes { staff, three in staff.context.delete(three.bob) }
        #expect(heard == ["will 3", "delete gone 0,1→-", "did 2"])
    }

    @Test func case30And31_deletionOfASection() throws {
        let heard = try changes { staff, three in
            staff.context.delete(three.alice)
            staff.context.delete(three.bob)
        }
        #expect(heard == ["will 3", "section delete 0 E", "delete gone 0,1→-", "delete gone 0,0→-", "did 1"])
    }

    @Test func case32_changeOfAnotherProperty() throws {
        let heard = try changes { _, three in three.alice.setValue(9, forKey: "salary") }
        #expect(heard == ["will 3", "update Alice 0,0→0,0", "did 3"])
    }

    @Test func case33_changeOfASortKey() throws {
        let heard = try changes { _, three in three.alice.setValue("Carl", forKey: "name") }
        #expect(heard == ["will 3", "move Carl 0,0→0,1", "did 3"])
    }

    @Test func case34_changeOfTheSection() throws {
        let heard = try changes { _, three in three.bob.setValue("S", forKey: "team") }
        #expect(heard == ["will 3", "move Bob 0,1→1,0", "did 3"])
    }

    @Test func case35_changeOfTheSectionThatLeavesItEmpty() throws {
        let heard = try changes { _, three in three.sam.setValue("E", forKey: "team") }
        #expect(heard == ["will 3", "section delete 1 S", "move Sam 1,0→0,2", "did 3"])
    }

    @Test func case36_objectStopsMatching() throws {
        let heard = try changes(where: "salary < 10") { _, three in three.bob.setValue(10, forKey: "salary") }
        #expect(heard == ["will 3", "delete Bob 0,1→-", "did 2"])
    }

    @Test func case37_objectStartsMatching() throws {
        let heard = try changes(where: "salary < 3") { _, three in three.alice.setValue(0, forKey: "salary") }
        #expect(heard == ["will 2", "insert Alice -→0,0", "did 3"])
    }

    @Test func case38_insertionThatDoesNotMatch() throws {
        #expect(try changes(where: "salary < 10") { staff, _ in staff.employee("Zoe", "E", 10) } == [])
        #expect(try changes { staff, _ in staff.department("D") } == [])
    }

    @Test func case39And40_oneRowOfAHundred() throws {
        try Staff.run { staff in
            for number in 1...100 { staff.employee(String(format: "N%03d", number), "E") }
            try staff.context.save()
            let (_, recorder) = try staff.recorded(section: nil, sort: ["name"])
            let first = staff.employee("A", "E")
            staff.context.processPendingChanges()
            #expect(recorder.changes == ["insert A -→0,0"])
            recorder.clear()
            staff.context.delete(first)
            staff.context.processPendingChanges()
            #expect(recorder.changes.count == 1 && recorder.changes[0].hasPrefix("delete"))
            #expect(recorder.violations == [])
        }
    }

    @Test func case41_changedSortKeyAtTheSamePlace() throws {
        let heard = try changes { _, three in three.bob.setValue("Bill", forKey: "name") }
        #expect(heard == ["will 3", "update Bill 0,1→0,1", "did 3"])
    }

    @Test func case42_newSectionBeforeTheObject() throws {
        let heard = try changes { _, three in three.alice.setValue("A", forKey: "team") }
        #expect(heard == ["will 3", "section insert 0 A", "move Alice 0,0→0,0", "did 3"])
    }

    // MARK: When

    @Test func case53_changesShowWhenTheyAreProcessed() throws {
        try Staff.run { staff in
            let (alice, _, _) = try staff.savedThree()
            let (controller, recorder) = try staff.recorded()
            alice.setValue("Zed", forKey: "name")
            #expect(controller.indexPath(forObject: alice) == IndexPath(row: 0, section: 0))
            #expect(recorder.events == [])
            staff.context.processPendingChanges()
            #expect(controller.indexPath(forObject: alice) == IndexPath(row: 1, section: 0))
        }
    }

    @Test func case54_aSaveProcessesChangesAndIsNoneItself() throws {
        try Staff.run { staff in
            _ = try staff.savedThree()
            let (controller, recorder) = try staff.recorded()
            let ben = staff.employee("Ben", "E")
            try staff.context.save()
            #expect(recorder.events == ["will 3", "insert Ben -→0,1", "did 4"])
            #expect(!ben.objectID.isTemporaryID)
            #expect(controller.indexPath(forObject: ben) == IndexPath(row: 1, section: 0))
            recorder.clear()
            // The object keeps its position under its permanent ID.
            ben.setValue("Abe", forKey: "name")
            try staff.context.save()
            #expect(recorder.changes == ["move Abe 0,1→0,0"])
            #expect(controller.contradiction() == nil)
            #expect(recorder.violations == [])
        }
    }

    @Test func permanentIDsBeforeTheSaveAreNotAChange() throws {
        try Staff.run { staff in
            let (controller, recorder) = try staff.recorded()
            let ben = staff.employee("Ben", "E")
            staff.context.processPendingChanges()
            try staff.context.obtainPermanentIDs(for: [ben])
            #expect(controller.indexPath(forObject: ben) == IndexPath(row: 0, section: 0))
            ben.setValue(7, forKey: "salary")
            try staff.context.save()
            #expect(recorder.changes == ["section insert 0 E", "insert Ben -→0,0", "update Ben 0,0→0,0"])
        }
    }
}
