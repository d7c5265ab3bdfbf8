import Foundation
import Testing

@testable import CoreData

/// If the parent cannot read a row that a child's save needs, the save throws and nothing is lost.
@Suite struct ParentSaveFailureTests {
    /// A root on a test store, a child context of it, and a child of that.
    private struct World {
        let store: MemoryStore
        let root: NSManagedObjectContext
        let middle: NSManagedObjectContext
        let child: NSManagedObjectContext

        init() throws {
            let stack = try League.memoryStack()
            store = stack.store
            root = League.context(stack.coordinator)
            middle = root.child()
            child = middle.child()
        }
    }

    private static let failure = CoreDataError.make(259, "the file is damaged")

    @Test func anObjectThatCannotBeReadRefusesTheSave() throws {
        let world = try World()
        let id = try world.root.use { root in
            let team = root.addTeam("Ghana")
            try root.save()
            return team.objectID
        }
        try world.child.use { child in
            let team = try child.existingObject(with: id)
            team.setValue(5, forKey: "wins")
            try child.save()
            // The child's snapshot was never saved and no other context has it, so the next save must read the row.
            world.middle.performAndWait { world.middle.reset() }
            world.root.performAndWait { world.root.reset() }
            team.setValue("Mali", forKey: "name")
            world.store.asked.readFailure = Self.failure
            do {
                defer { world.store.asked.readFailure = nil }
                let error = #expect(throws: (any Error).self) { try child.save() }
                #expect(error.map(code) == 259)
                #expect(child.updatedObjects == [team] && team.value(forKey: "name") as? String == "Mali")
            }
            try child.save()
        }
        for context in [world.middle, world.root] { try context.use { try $0.save() } }
        try world.root.use { root in
            root.reset()
            let team = try root.existingObject(with: id)
            #expect(team.value(forKey: "name") as? String == "Mali" && team.value(forKey: "wins") as? Int == 0)
        }
    }

    /// The child refers to an unsaved venue of the root. Before the child saves, the root saves and releases it.
    @Test func aDestinationSavedByOthersIsKept() throws {
        let world = try World()
        let venue = try world.root.use { root in
            let venue = root.addVenue("Accra")
            return venue.objectID
        }
        #expect(venue.isTemporaryID)
        try world.child.use { child in
            let team = child.addTeam("Ghana")
            team.setValue(child.object(with: venue), forKey: "venue")
            try world.root.use { root in
                try root.save()
                root.reset()
            }
            world.middle.performAndWait { world.middle.reset() }
            world.store.asked.readFailure = Self.failure
            do {
                defer { world.store.asked.readFailure = nil }
                let error = #expect(throws: (any Error).self) { try child.save() }
                #expect(error.map(code) == 259)
                #expect(child.insertedObjects == [team] && team.value(forKey: "venue") != nil)
                #expect(world.middle.performAndWait { !world.middle.hasChanges })
            }
            try child.save()
            #expect((team.value(forKey: "venue") as? NSManagedObject)?.value(forKey: "name") as? String == "Accra")
        }
        for context in [world.middle, world.root] { try context.use { try $0.save() } }
        try world.root.use { root in
            root.reset()
            let teams = try root.fetch(NSFetchRequest<NSManagedObject>(entityName: "Team"))
            #expect(teams.map { $0.value(forKeyPath: "venue.name") as? String } == ["Accra"])
        }
    }
}
