import Foundation
import Testing

@testable import CoreData

/// A root context, a child, and what the store has.
private struct Family {
    let stack: ClubStack
    let root: NSManagedObjectContext
    let child: NSManagedObjectContext

    init() throws {
        stack = try ClubStack()
        root = stack.context()
        child = root.child()
    }

    /// The names of the teams in the store.
    func saved() throws -> [String] { try stack.context().use { try $0.teamNames() } }
}

extension NSManagedObjectContext {
    func child(
        _ type: NSManagedObjectContextConcurrencyType = .privateQueueConcurrencyType
    ) -> NSManagedObjectContext {
        let child = NSManagedObjectContext(concurrencyType: type)
        child.parent = self
        return child
    }

    fileprivate func teamNames(_ predicate: String? = nil, limit: Int = 0) throws -> [String] {
        let request = NSFetchRequest<ClubTeam>(entityName: "Team")
        request.predicate = predicate.map { NSPredicate(format: $0) }
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        request.fetchLimit = limit
        return try fetch(request).map(\.name)
    }
}

@Suite struct NestedContextTests {
    @Test func aChildSeesTheUnsavedStateOfItsParent() throws {
        let family = try Family()
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
                #expect(try child.fetch(plain).count == 3, "what the parent has not saved is no pending change here")
                // Its own changes are put over that.
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

    @Test func aSaveGoesOneLevelUp() throws {
        let family = try Family()
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

    @Test func theParentTellsWhatItTookOver() throws {
        let family = try Family()
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
        let family = try Family()
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
            // And it goes on from there.
            team.wins = 4
            try context.save()
            try family.child.use { try $0.save() }
            try family.root.use { try $0.save() }
        }
        #expect(try family.stack.context().use { try $0.teamNames("wins = 4") } == ["Deep"])
    }

    @Test func permanentIDsCanBeHadThroughTheParent() throws {
        let family = try Family()
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
        let family = try Family()
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
        // The merge stands in the queue already.
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
        let family = try Family()
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
        // The root's merge stands in its queue, and puts the child's into the child's.
        try family.root.use { _ in #expect(team.wins == 8) }
        try family.child.use { _ in #expect(twin.wins == 8) }
    }

    @Test func theChildsValuesWinOverTheParents() throws {
        let family = try Family()
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
        let family = try Family()
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

    @Test func whatOthersSavedIsStillNoticedThroughAChild() throws {
        let family = try Family()
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

    @Test func aChildsSaveIsOneUndoGroupOfTheParent() throws {
        let family = try Family()
        try family.root.use { root in
            root.undoManager = UndoManager()
            let team = root.team()
            try root.save()
            try family.child.use { child in
                child.undoManager = UndoManager()
                let twin = try child.twin(of: team)
                for wins in 1...3 {
                    twin.wins = Int16(wins)
                    child.processPendingChanges()
                }
                let player = child.make("Player", ["name": "Ada", "team": twin])
                try child.save()
                root.undo()
                #expect(team.wins == 0 && team.objects("players").isEmpty)
                root.redo()
                #expect(team.wins == 3 && team.names("players") == ["Ada"])
                // The child takes back its own saved steps, one by one, and saves that.
                child.undo()
                #expect(child.deletedObjects == [player])
                child.undo()
                #expect(twin.wins == 2)
                try child.save()
                #expect(team.wins == 2 && team.objects("players").isEmpty)
                child.redo()
                child.redo()
                try child.save()
                #expect(team.wins == 3 && team.names("players") == ["Ada"])
            }
            try root.save()
        }
        try family.stack.context().use { fresh in
            let team = try #require(try fresh.fetch(NSFetchRequest<ClubTeam>(entityName: "Team")).first)
            #expect(team.wins == 3 && team.names("players") == ["Ada"])
        }
    }

    @Test func aDeletionTakenBackInTheChildComesBackInTheParent() throws {
        let family = try Family()
        try family.root.use { root in
            let team = root.team()
            let venue = root.make("Venue", ["name": "Field"])
            let skill = root.make("Skill", ["name": "pace"])
            let ada = root.make("Player", ["name": "Ada", "team": team, "skills": NSSet(array: [skill])])
            team.setValue(venue, forKey: "venue")
            team.setValue(NSOrderedSet(array: ["Dot", "Eve"].map { root.make("Fan", ["name": $0]) }), forKey: "fans")
            team.captain = ada
            try root.save()
            try family.child.use { child in
                child.undoManager = UndoManager()
                child.delete(try child.twin(of: team))
                try child.save()
                #expect(root.deletedObjects == [team, ada] && venue.objects("teams").isEmpty)
                child.undo()
                try child.save()
            }
            #expect(root.deletedObjects.isEmpty && team.object("venue") === venue && venue.objects("teams") == [team])
            #expect(team.names("fans") == ["Dot", "Eve"] && team.captain === ada && ada.object("team") === team)
            #expect(skill.objects("players") == [ada])
            try root.save()
        }
        #expect(try family.saved() == ["Rovers"])
    }

    @Test func rollbackResetAndRefreshGoBackToTheParent() throws {
        let family = try Family()
        try family.root.use { root in
            let team = root.team()
            try root.save()
            team.wins = 3
            try family.child.use { child in
                let twin = try child.twin(of: team)
                twin.wins = 4
                _ = child.team("Gone")
                child.rollback()
                #expect(twin.wins == 3 && !child.hasChanges)
                twin.rating = 2
                team.wins = 5
                root.processPendingChanges()
                child.refresh(twin, mergeChanges: true)
                #expect(twin.wins == 5 && twin.rating == 2)
                child.refresh(twin, mergeChanges: false)
                #expect(twin.isFault && !child.hasChanges && twin.rating == 0.5)
                child.reset()
                #expect(twin.managedObjectContext == nil && child.registeredObjects.isEmpty)
                #expect(try child.teamNames("wins = 5") == ["Rovers"])
            }
        }
    }

    @Test func anObjectThatNobodyHeldIsReadFromTheParentAnew() throws {
        let family = try Family()
        try family.root.use { root in
            let team = root.team()
            try root.save()
            try family.child.use { child in
                func wins() throws -> [Int16] {
                    try child.fetch(NSFetchRequest<ClubTeam>(entityName: "Team")).map { $0.wins }
                }
                let before = try wins()
                team.wins = 5
                #expect(try wins() == [5] && before == [0])
            }
        }
    }

    @Test func transientValuesAndHooksReachTheParent() throws {
        let family = try Family()
        try family.root.use { root in
            let saved = root.team("Old")
            try root.save()
            try family.child.use { child in
                let new = child.team("New")
                new.scratch = 7
                try child.twin(of: saved).scratch = 8
                new.log = []
                try child.save()
                #expect(new.log == ["willSave", "validateForInsert", "didSave"] && new.scratch == 7)
            }
            let twin = try #require(root.insertedObjects.first as? ClubTeam)
            #expect(twin.name == "New" && twin.scratch == 7 && saved.scratch == 8 && twin.rating == 0.5)
        }
    }

    @Test func ordersAndManyToManyRelationshipsAreHandedOver() throws {
        let family = try Family()
        try family.root.use { root in
            let team = root.team()
            let fans = ["Ann", "Ben", "Cat"].map { root.make("Fan", ["name": $0]) }
            team.setValue(NSOrderedSet(array: fans), forKey: "fans")
            let (ada, pace) = (root.make("Player", ["name": "Ada"]), root.make("Skill", ["name": "pace"]))
            ada.setValue(NSSet(array: [pace]), forKey: "skills")
            try root.save()
            try family.child.use { child in
                let mine = try child.twin(of: team).mutableOrderedSetValue(forKey: "fans")
                mine.moveObjects(at: IndexSet(integer: 2), to: 0)
                mine.insert(child.make("Fan", ["name": "Dan"]), at: 1)
                // Meanwhile the parent's list grows.
                team.mutableOrderedSetValue(forKey: "fans").add(root.make("Fan", ["name": "Eve"]))
                let player = try child.twin(of: ada)
                player.setValue(NSSet(array: [child.make("Skill", ["name": "wit"])]), forKey: "skills")
                try child.save()
            }
            #expect(team.names("fans") == ["Cat", "Dan", "Ann", "Ben", "Eve"])
            #expect(ada.names("skills") == ["wit"] && pace.objects("players").isEmpty)
            try root.save()
        }
        try family.stack.context().use { fresh in
            let team = try #require(try fresh.fetch(NSFetchRequest<ClubTeam>(entityName: "Team")).first)
            #expect(team.names("fans") == ["Cat", "Dan", "Ann", "Ben", "Eve"])
        }
    }

    @Test func validationRunsInEachContextThatIsSaved() throws {
        let family = try Family()
        try family.child.use { child in
            let team = child.team("X")
            let error = #expect(throws: NSError.self) { try child.save() }
            #expect(error?.code == 1670 && family.root.insertedObjects.isEmpty)
            team.name = "Xerxes"
            try child.save()
        }
        try family.root.use { root in
            let twin = try #require(root.insertedObjects.first as? ClubTeam)
            twin.name = "Y"
            #expect(throws: NSError.self) { try root.save() }
        }
    }

    @Test func aRemoteSaveIsMergedIntoParentsFirst() throws {
        let family = try Family()
        let team = try family.root.use { root in
            let team = root.team()
            try root.save()
            return team
        }
        let twin = try family.child.use { try $0.twin(of: team) }
        try family.stack.context().use { other in
            try other.twin(of: team).wins = 6
            try other.save()
        }
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSUpdatedObjectIDsKey: [team.objectID]], into: [family.child, family.root])
        try family.child.use { _ in #expect(twin.wins == 6) }
    }

    @Test func aControllerFollowsAChild() throws {
        let family = try Family()
        try family.root.use { root in
            _ = root.team("Albion")
            try family.child.use { child in
                let request = NSFetchRequest<ClubTeam>(entityName: "Team")
                request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
                let controller = NSFetchedResultsController(
                    fetchRequest: request, managedObjectContext: child, sectionNameKeyPath: nil, cacheName: "nested")
                let delegate = CountingDelegate()
                controller.delegate = delegate
                try controller.performFetch()
                #expect(controller.fetchedObjects?.map(\.name) == ["Albion"])
                let team = child.team("Aston")
                child.processPendingChanges()
                #expect(controller.fetchedObjects?.map(\.name) == ["Albion", "Aston"] && delegate.changes == 1)
                try child.save()
                try root.save()
                team.name = "Aardvarks"
                child.processPendingChanges()
                #expect(controller.fetchedObjects?.map(\.name) == ["Aardvarks", "Albion"] && delegate.changes == 2)
            }
        }
    }

    private final class CountingDelegate: NSObject, NSFetchedResultsControllerDelegate {
        var changes = 0
        func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) { changes += 1 }
    }

    // MARK: Queues

    @Test func privateChildrenOfTheMainContextAndTheOtherWayRound() async throws {
        let stack = try ClubStack()
        let main = stack.context(.mainQueueConcurrencyType)
        let worker = main.child()
        let ids = try await worker.perform { () -> [NSManagedObjectID] in
            #expect(try worker.teamNames().isEmpty)
            let team = worker.team("Made elsewhere")
            try worker.save()
            // From the child's queue to the parent's and back into the child's.
            let count = try main.performAndWait { try worker.performAndWait { try worker.teamNames().count } }
            #expect(count == 1)
            return [team.objectID]
        }
        try await MainActor.run {
            #expect(main.insertedObjects.map(\.objectID) == ids)
            try main.save()
        }
        let background = stack.context()
        let view = background.child(.mainQueueConcurrencyType)
        try await MainActor.run {
            let team = try #require(try view.fetch(NSFetchRequest<ClubTeam>(entityName: "Team")).first)
            team.wins = 2
            try view.save()
            #expect(try background.use { $0.updatedObjects.count } == 1)
        }
        try await background.perform { try background.save() }
        #expect(try stack.context().use { try $0.teamNames("wins = 2") } == ["Made elsewhere"])
    }

    @Test func aChildKeepsItsParentAndGoesAwayAlone() throws {
        let stack = try ClubStack()
        weak var lostParent: NSManagedObjectContext?
        weak var lostChild: NSManagedObjectContext?
        func run() throws {
            var child: NSManagedObjectContext? = {
                let parent = stack.context()
                lostParent = parent
                return parent.child()
            }()
            lostChild = child
            try child?.use { child in
                _ = child.team()
                try child.save()
            }
            #expect(lostParent != nil && lostParent?.hasChanges == true)
            child = nil
        }
        try run()
        #expect(lostParent == nil && lostChild == nil)
    }

    // MARK: Misuse

    @Test func aParentMustBeSetFirst() async {
        let late = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = try ClubStack()
            let context = NSManagedObjectContext(.privateQueue)
            let entity = try #require(Club.model.entitiesByName["Fan"])
            try context.use { context in
                _ = NSManagedObject(entity: entity, insertInto: context)
                context.parent = stack.context()
            }
        }
        expect(late, "The parent of a context must be set before objects are registered in it.")
        let own = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (first, second) = (NSManagedObjectContext(.privateQueue), NSManagedObjectContext(.privateQueue))
            first.parent = second
            second.parent = first
        }
        expect(own, "A context cannot be its own ancestor.")
    }

    @Test func aContextHasAParentOrACoordinator() async {
        let parent = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = try ClubStack()
            stack.context().parent = stack.context()
        }
        expect(parent, "Context already has a coordinator;  cannot replace.")
        let coordinator = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = try ClubStack()
            stack.context().child().persistentStoreCoordinator = try ClubStack().coordinator
        }
        expect(coordinator, "Context already has a coordinator;  cannot replace.")
    }

    private func expect(_ result: ExitTest.Result?, _ text: String) {
        let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(output.contains(text))
    }
}
