import Foundation
import Testing

@testable import CoreData

/// Data that a child reads from its parent, and changes that its save passes on.
@Suite struct NestedContextTests {
    @Test func aChildSeesTheUnsavedStateOfItsParent() throws {
        let family = try ContextFamily()
        try family.root.use { root in
            let names = ["Albion", "Borough", "City"]
            let teams = names.map { root.team($0) }
            try root.save()
            teams[1].wins = 7
            root.delete(teams[2])
            let dynamo = root.team("Dynamo")
            _ = root.make("Player", ["name": "Ada", "team": dynamo])
            try family.child.use { child in
                #expect(child.persistentStoreCoordinator === family.stack.coordinator && child.parent === root)
                #expect(try child.teamNames() == ["Albion", "Borough", "Dynamo"])
                #expect(try child.teamNames("wins > 5 OR name = 'Dynamo'", limit: 1) == ["Borough"])
                #expect(try child.count(for: NSFetchRequest<ClubTeam>(entityName: "Team")) == 3)
                let twin = try child.twin(of: dynamo)
                #expect(twin !== dynamo && twin.objectID == dynamo.objectID && twin.objectID.isTemporaryID)
                #expect(twin.names("players") == ["Ada"] && !twin.hasChanges && !child.hasChanges)
                #expect(throws: CocoaError.self) { try child.existingObject(with: teams[2].objectID) }
                let plain = NSFetchRequest<ClubTeam>(entityName: "Team")
                plain.includesPendingChanges = false
                #expect(try child.fetch(plain).count == 3, "what the parent has not saved is not a pending change here")
                // The child's own changes override the parent's.
                twin.wins = 9
                _ = child.team("Eagles")
                child.delete(try child.twin(of: teams[0]))
                #expect(try child.teamNames("wins > 5") == ["Borough", "Dynamo"])
                #expect(try child.teamNames() == ["Borough", "Dynamo", "Eagles"])
                #expect(try child.teamNames(limit: 2) == ["Borough", "Dynamo"])
                #expect(try child.count(for: NSFetchRequest<ClubTeam>(entityName: "Team")) == 3)
            }
            #expect(
                try root.teamNames() == ["Albion", "Borough", "Dynamo"], "a parent does not pull from its children")
        }
    }

    @Test func aSaveWritesToTheParentOnly() throws {
        let family = try ContextFamily()
        try family.root.use { root in
            let (rovers, united) = (root.team("Rovers"), root.team("United"))
            let ada = root.make("Player", ["name": "Ada", "team": rovers])
            try root.save()
            try family.child.use { child in
                let mine = try child.twin(of: ada)
                mine.setValue(try child.twin(of: united), forKey: "team")
                mine.setValue(10, forKey: "number")
                _ = child.make("Player", ["name": "Bob", "team": try child.twin(of: united)])
                child.delete(try child.twin(of: rovers))
                try child.save()
                #expect(!child.hasChanges && mine.objectID == ada.objectID)
            }
            #expect(ada.value(forKey: "number") as? Int == 10 && ada.object("team") === united)
            #expect(united.names("players") == ["Ada", "Bob"])
            #expect(root.deletedObjects == [rovers] && root.insertedObjects.count == 1)
            #expect(try family.saved() == ["Rovers", "United"], "nothing is written yet")
            try root.save()
            #expect(try family.saved() == ["United"])
        }
    }

    @Test func theParentPostsTheChildsChanges() throws {
        let family = try ContextFamily()
        let (inRoot, inChild) = (
            Notices(family.root, [.NSManagedObjectContextObjectsDidChange, .NSManagedObjectContextDidSave]),
            Notices(family.child, [.NSManagedObjectContextWillSave, .NSManagedObjectContextDidSave])
        )
        let team = try family.root.use { root in
            let team = root.team()
            try root.save()
            return team
        }
        _ = inRoot.take()
        try family.child.use { child in
            try child.twin(of: team).wins = 3
            _ = child.team("New")
            try child.save()
        }
        #expect(inChild.take().map(\.name) == [.NSManagedObjectContextWillSave, .NSManagedObjectContextDidSave])
        let told = inRoot.take()
        #expect(told.map(\.name) == [.NSManagedObjectContextObjectsDidChange])
        #expect(told.first?.objects(NSUpdatedObjectsKey) == [team])
        #expect(told.first?.objects(NSInsertedObjectsKey).count == 1)
    }

    @Test func temporaryIDsBecomePermanentInEveryContext() throws {
        let family = try ContextFamily()
        let grandchild = family.child.child()
        try grandchild.use { context in
            let (team, player) = (context.team("Deep"), context.make("Player", ["name": "Ada"]))
            player.setValue(team, forKey: "team")
            try context.save()
            let temporary = team.objectID
            #expect(temporary.isTemporaryID)
            try family.child.use { try $0.save() }
            let twin = try family.root.use { root in
                try root.save()
                return try #require(root.registeredObject(for: temporary))
            }
            #expect(!team.objectID.isTemporaryID && team.objectID == twin.objectID)
            #expect(context.registeredObject(for: team.objectID) === team)
            #expect(context.registeredObject(for: temporary) === team)
            #expect(try context.fetch(NSFetchRequest<ClubTeam>(entityName: "Team")) == [team])
            #expect(player.object("team") === team && team.objects("players") == [player])
            // Further changes can be made and saved.
            team.wins = 4
            try context.save()
            try family.child.use { try $0.save() }
            try family.root.use { try $0.save() }
        }
        #expect(try family.stack.context().use { try $0.teamNames("wins = 4") } == ["Deep"])
    }

    @Test func permanentIDsCanBeHadThroughTheParent() throws {
        let family = try ContextFamily()
        try family.child.use { child in
            let team = child.team()
            try child.obtainPermanentIDs(for: [team])
            let id = team.objectID
            #expect(!id.isTemporaryID && team.isInserted)
            try child.save()
            try family.root.use { root in
                #expect(root.insertedObjects.map(\.objectID) == [id])
                try root.save()
            }
            #expect(team.objectID == id && child.object(with: id) === team)
        }
        #expect(try family.saved() == ["Rovers"])
    }

    @Test func siblingsSeeNothingUntilTheyMerge() throws {
        let family = try ContextFamily()
        let (lazy, eager) = (family.root.child(), family.root.child())
        eager.automaticallyMergesChangesFromParent = true
        let team = try family.root.use { root in
            let team = root.team()
            try root.save()
            return team
        }
        let (lazyTwin, eagerTwin) = (try lazy.use { try $0.twin(of: team) }, try eager.use { try $0.twin(of: team) })
        let saves = Notices(family.child, [.NSManagedObjectContextDidSave])
        try eager.use { _ in eagerTwin.rating = 5 }
        try family.child.use { child in
            try child.twin(of: team).wins = 3
            _ = child.team("Wanderers")
            try child.save()
        }
        // The merge is in the queue already.
        try eager.use { _ in #expect(eagerTwin.wins == 3 && eagerTwin.rating == 5 && eagerTwin.isUpdated) }
        try lazy.use { lazy in
            #expect(lazyTwin.wins == 0)
            let notices = Notices(lazy, [.NSManagedObjectContextDidMergeChangesObjectIDs])
            lazy.mergeChanges(fromContextDidSave: try #require(saves.take().first))
            #expect(lazyTwin.wins == 3)
            #expect((notices.take().first?.userInfo?[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID>)?.count == 1)
        }
    }

    @Test func savesIntoTheCoordinatorComeUpThroughTheParent() throws {
        let family = try ContextFamily()
        family.root.automaticallyMergesChangesFromParent = true
        family.child.automaticallyMergesChangesFromParent = true
        let team = try family.root.use { root in
            let team = root.team()
            try root.save()
            return team
        }
        let twin = try family.child.use { try $0.twin(of: team) }
        try family.stack.context().use { other in
            try other.twin(of: team).wins = 8
            try other.save()
        }
        // The root's merge is in the root's queue, and enqueues the child's merge.
        try family.root.use { _ in #expect(team.wins == 8) }
        try family.child.use { _ in #expect(twin.wins == 8) }
    }

    @Test func theChildsValuesWinOverTheParents() throws {
        let family = try ContextFamily()
        try family.root.use { root in
            let (team, other) = (root.team("Rovers"), root.team("United"))
            let ada = root.make("Player", ["name": "Ada"])
            try root.save()
            try family.child.use { child in
                let (mine, player) = (try child.twin(of: team), try child.twin(of: ada))
                (mine.wins, mine.rating) = (1, 1)
                player.setValue(mine, forKey: "team")
                team.wins = 2
                team.favorite = true
                ada.setValue(other, forKey: "team")
                try child.save()
            }
            #expect(team.wins == 1 && team.favorite && team.rating == 1)
            #expect(ada.object("team") === team && team.names("players") == ["Ada"] && other.objects("players").isEmpty)
        }
    }

    @Test(arguments: [0, 1, 2, 3, 4] as [UInt])
    func anObjectThatTheParentDeletedIsAConflict(rawPolicy: UInt) throws {
        let family = try ContextFamily()
        let type = try #require(NSMergePolicyType(rawValue: rawPolicy))
        try family.root.use { root in
            let team = root.team()
            try root.save()
            try family.child.use { child in
                child.mergePolicy = NSMergePolicy(merge: type)
                let twin = try child.twin(of: team)
                twin.wins = 5
                root.delete(team)
                if type == .errorMergePolicyType {
                    let error = #expect(throws: NSError.self) { try child.save() }
                    #expect(error?.code == 133020 && twin.wins == 5 && child.hasChanges)
                    #expect(root.deletedObjects == [team])
                } else {
                    try child.save()
                    #expect(!child.hasChanges)
                }
            }
            let keeps = type == .mergeByPropertyObjectTrumpMergePolicyType || type == .overwriteMergePolicyType
            #expect(team.isDeleted == !keeps && (!keeps || team.wins == 5))
            try root.save()
            #expect(try family.saved() == (keeps ? ["Rovers"] : []))
        }
    }

    @Test func conflictsAreDetectedForObjectsSavedByAChild() throws {
        let family = try ContextFamily()
        let id = try family.root.use { root in
            let team = root.team()
            try root.save()
            return team.objectID
        }
        try family.child.use { child in
            let twin = try child.existingObject(with: id)
            try family.stack.context().use { other in
                try other.existingObject(with: id).setValue(9, forKey: "rating")
                try other.save()
            }
            twin.setValue(1, forKey: "wins")
            try child.save()
        }
        try family.root.use { root in
            let error = #expect(throws: NSError.self) { try root.save() }
            #expect(error?.code == 133020)
            root.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try root.save()
        }
        #expect(try family.stack.context().use { try $0.teamNames("wins = 1 AND rating = 9") } == ["Rovers"])
    }
}
