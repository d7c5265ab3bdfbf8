import Foundation
import Testing

@testable import CoreData

@Suite struct UndoManagerTests {
    private final class Counter {
        var value = 0
        let manager = UndoManager()

        func set(_ new: Int) {
            let old = value
            value = new
            manager.registerUndo(withTarget: self) { $0.set(old) }
        }
    }

    @Test func groupsAreUndoneAsOne() {
        let counter = Counter()
        counter.manager.groupsByEvent = false
        counter.manager.beginUndoGrouping()
        counter.set(1)
        counter.manager.beginUndoGrouping()
        counter.set(2)
        counter.manager.endUndoGrouping()
        #expect(counter.manager.groupingLevel == 1)
        counter.manager.endUndoGrouping()
        counter.manager.beginUndoGrouping()
        counter.set(3)
        counter.manager.endUndoGrouping()
        counter.manager.undo()
        #expect(counter.value == 2 && counter.manager.canUndo && counter.manager.canRedo)
        counter.manager.undo()
        #expect(counter.value == 0 && !counter.manager.canUndo)
        counter.manager.redo()
        #expect(counter.value == 2)
        counter.manager.redo()
        #expect(counter.value == 3 && !counter.manager.canRedo)
    }

    @Test func anEventIsAGroup() {
        let counter = Counter()
        counter.set(1)
        counter.set(2)
        #expect(counter.manager.groupingLevel == 1 && counter.manager.canUndo)
        counter.manager.undo()
        #expect(counter.value == 0)
        counter.manager.redo()
        #expect(counter.value == 2)
    }

    @Test func levelsNamesAndDisabling() {
        let counter = Counter()
        counter.manager.groupsByEvent = false
        counter.manager.levelsOfUndo = 2
        for value in 1...4 {
            counter.manager.beginUndoGrouping()
            counter.set(value)
            counter.manager.setActionName("Set \(value)")
            counter.manager.endUndoGrouping()
        }
        #expect(counter.manager.undoActionName == "Set 4" && counter.manager.undoMenuItemTitle == "Undo Set 4")
        counter.manager.undo()
        #expect(counter.manager.redoActionName == "Set 4" && counter.manager.undoActionName == "Set 3")
        counter.manager.undo()
        #expect(counter.value == 2 && !counter.manager.canUndo)
        counter.manager.disableUndoRegistration()
        counter.set(9)
        #expect(!counter.manager.canUndo && counter.manager.canRedo)
        counter.manager.enableUndoRegistration()
        counter.manager.removeAllActions(withTarget: counter)
        #expect(!counter.manager.canRedo)
    }
}
