import Foundation
import Testing

@testable import CoreData

/// Choice of the store for new objects.
@Suite struct StoreChoiceTests {
    /// Two stores, and in each a saved team.
    private struct World {
        let stack: ClubStack
        let stores: [NSPersistentStore]
        let context: NSManagedObjectContext
        let teams: [ClubTeam]

        init() throws {
            stack = try ClubStack()
            let second = try stack.coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil,
                at: stack.folder.appendingPathComponent("second.sqlite"))
            let stores = [stack.coordinator.persistentStores[0], second]
            self.stores = stores
            context = stack.context()
            teams = try context.use { context in
                let teams = stores.map { store in
                    let team = context.team()
                    context.assign(team, to: store)
                    return team
                }
                try context.save()
                return teams
            }
        }

        /// Indexes of the stores of these objects.
        func places(_ objects: [NSManagedObject]) -> [Int?] {
            objects.map { object in stores.firstIndex { $0 === object.objectID.persistentStore } }
        }
    }

    @Test func aNewObjectIsInsertedIntoTheStoreOfItsRelatedObjects() throws {
        let world = try World()
        try world.context.use { context in
            let alone = context.make("Player", ["name": "Alone"])
            let here = context.make("Player", ["name": "Here", "team": world.teams[0]])
            let there = context.make("Player", ["name": "There", "team": world.teams[1]])
            // Stores are chosen by related objects: another new object, a list, a relationship without an inverse.
            let skill = context.make("Skill", ["name": "pace"])
            there.setValue(Set([skill]), forKey: "skills")
            let fan = context.make("Fan", ["name": "Dot"])
            world.teams[1].setValue(NSOrderedSet(array: [fan]), forKey: "fans")
            let note = context.make("Note", ["about": world.teams[1]])
            try context.save()
            #expect(world.places([alone, here, there, skill, fan, note]) == [0, 0, 1, 1, 1, 1])
        }
    }

    @Test func newObjectsFollowTheOneThatIsAssigned() throws {
        let world = try World()
        try world.context.use { context in
            let (team, other) = (context.team("New"), context.team("Other"))
            let players = (0..<3).map { context.make("Player", ["name": "\($0)", "team": team]) }
            context.assign(players[2], to: world.stores[1])
            try context.obtainPermanentIDs(for: [players[0]])
            #expect(world.places([players[0]]) == [1], "whichever of them is asked first")
            try context.save()
            #expect(world.places([team, other] + players) == [1, 0, 1, 1, 1])
        }
    }

    @Test func aChildsObjectsFindTheirStoreWhenTheRootSaves() throws {
        let world = try World()
        let child = world.context.child()
        let player = try child.use { child in
            let player = child.make("Player", ["name": "Ada", "team": try child.twin(of: world.teams[1])])
            let assigned = child.team("Assigned")
            child.assign(assigned, to: world.stores[1])
            try child.save()
            return UncheckedSendable([player, assigned])
        }
        try world.context.use { try $0.save() }
        try child.use { _ in #expect(world.places(player.value) == [1, 1]) }
    }

    @Test func aStoreThatCannotTakeItIsPassedOver() throws {
        let world = try World()
        try world.context.use { context in
            world.stores[1].isReadOnly = true
            let player = context.make("Player", ["name": "Ada", "team": world.teams[1]])
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code == .managedObjectExternalRelationship, "it would go to the first store")
            player.setValue(nil, forKey: "team")
            context.refresh(world.teams[1], mergeChanges: false)
            try context.save()
            #expect(world.places([player]) == [0])
            world.stores[1].isReadOnly = false
        }
    }

    /// Assigns no, one and many objects to several stores.
    @Test func manyObjectsAreAssigned() throws {
        let world = try World()
        try world.context.use { context in
            try context.save()
            let fans = (0..<100).map { context.make("Fan", ["name": "\($0)"]) }
            for (index, fan) in fans.enumerated() { context.assign(fan, to: world.stores[index % 2]) }
            // The last assignment counts.
            context.assign(fans[0], to: world.stores[1])
            context.assign(fans[1], to: world.stores[0])
            try context.save()
            #expect(world.places(fans) == [1, 0] + (2..<100).map { $0 % 2 })
            let request = NSFetchRequest<NSManagedObject>(entityName: "Fan")
            request.affectedStores = [world.stores[1]]
            #expect(try context.count(for: request) == 50)
        }
    }
}
