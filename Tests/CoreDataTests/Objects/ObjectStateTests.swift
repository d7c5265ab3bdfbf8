import Foundation
import Testing

@testable import CoreData

/// State properties of an object: inserted, updated, deleted, fault, changed.
@Suite struct ObjectStateTests {
    /// An object that is inserted into another context keeps no state of the first one.
    @Test func anotherContextMayInsertADeletedNewObject() throws {
        let stack = try ClubStack()
        let other = stack.context()
        let venue = try stack.context().use { context in
            // Keeps the list of new objects in use.
            _ = context.make("Venue", ["name": "Kept"])
            let venue = context.make("Venue", ["name": "Moved"])
            context.delete(venue)
            context.processPendingChanges()
            #expect(venue.managedObjectContext == nil)
            return venue
        }
        try other.use { context in
            context.insert(venue)
            #expect(context.insertedObjects == [venue] && venue.isInserted)
            try context.save()
            #expect(!venue.isInserted && !venue.objectID.isTemporaryID)
        }
        let names = try stack.context().use { context in
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Venue")).map {
                $0.value(forKey: "name") as? String
            }
        }
        #expect(names == ["Moved"])
    }

    @Test func anotherContextMayInsertAnObjectOfAReleasedContext() throws {
        let stack = try ClubStack()
        let venue = try stack.context().use { $0.make("Venue", ["name": "Orphan"]) }
        #expect(venue.managedObjectContext == nil && !venue.isInserted)
        try stack.context().use { context in
            context.insert(venue)
            #expect(context.insertedObjects == [venue])
            try context.save()
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Venue")) == 1)
        }
    }

    /// An object moves from one context to another and back, while the lists of both are in use.
    @Test func anObjectMayMoveToAnotherContextAndBack() throws {
        let stack = try ClubStack()
        let (one, other) = (stack.context(), stack.context())
        func letGo(_ venue: NSManagedObject, by context: NSManagedObjectContext) {
            context.delete(venue)
            context.processPendingChanges()
            #expect(venue.managedObjectContext == nil && !context.insertedObjects.contains(venue))
        }
        let (kept, venue) = try one.use { context in
            (context.make("Venue", ["name": "Kept"]), context.make("Venue", ["name": "Traveller"]))
        }
        for _ in 0..<3 {
            try one.use { letGo(venue, by: $0) }
            try other.use { context in
                context.insert(venue)
                #expect(context.insertedObjects == [venue])
                letGo(venue, by: context)
            }
            try one.use { context in
                context.insert(venue)
                #expect(context.insertedObjects == [kept, venue] && venue.isInserted)
            }
        }
        try one.use { try $0.save() }
        try other.use { context in
            let count = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Venue"))
            #expect(!context.hasChanges && count == 2)
        }
    }

    /// A deleted object that is inserted again is saved with the changes of the same event.
    @Test func aReinsertedObjectIsSavedWithItsChanges() throws {
        let stack = try ClubStack()
        let id = try stack.context().use { context in
            let venue = context.make("Venue", ["name": "Old"])
            try context.save()
            context.delete(venue)
            context.processPendingChanges()
            context.insert(venue)
            venue.setValue("New", forKey: "name")
            #expect(venue.isUpdated && context.updatedObjects == [venue] && context.hasChanges)
            context.processPendingChanges()
            context.refresh(venue, mergeChanges: true)
            #expect(venue.value(forKey: "name") as? String == "New")
            try context.save()
            return venue.objectID
        }
        try stack.context().use { context in
            let venue = try context.existingObject(with: id)
            #expect(venue.value(forKey: "name") as? String == "New")
        }
    }

    /// The same if a child context deleted it, inserted it again and changed it.
    @Test func anObjectReinsertedByAChildIsChangedInTheParent() throws {
        let stack = try ClubStack()
        try stack.context().use { parent in
            let venue = parent.make("Venue", ["name": "Old"])
            try parent.save()
            let child = parent.child()
            child.undoManager = UndoManager()
            try child.use { child in
                let copy = try child.existingObject(with: venue.objectID)
                child.delete(copy)
                try child.save()
                child.undo()
                copy.setValue("New", forKey: "name")
                try child.save()
            }
            #expect(venue.value(forKey: "name") as? String == "New" && venue.hasChanges && !venue.isDeleted)
            parent.refreshAllObjects()
            #expect(venue.value(forKey: "name") as? String == "New")
            try parent.save()
        }
        let names = try stack.context().use { context in
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Venue"))
                .map { $0.value(forKey: "name") as? String }
        }
        #expect(names == ["New"])
    }

    @Test func askingForIdentityAndStateFiresNoFault() throws {
        let stack = try ClubStack()
        let id = try stack.context().use { context in
            let team = context.team()
            try context.save()
            return team.objectID
        }
        try stack.context().use { context in
            let team = context.object(with: id)
            _ = (team.objectID, team.entity, team.managedObjectContext, team.hash, team.isEqual(team))
            _ = (team.isInserted, team.isUpdated, team.isDeleted, team.hasChanges, team.description)
            _ = (team.hasPersistentChangedValues, team.changedValues(), team.changedValuesForCurrentEvent())
            #expect(team.hasFault(forRelationshipNamed: "players") && team.hasFault(forRelationshipNamed: "captain"))
            #expect(team.isFault && team.faultingState == 1)
            #expect(team.primitiveValue(forKey: "name") == nil && team.isFault)
            team.willAccessValue(forKey: nil)
            #expect(!team.isFault && team.faultingState == 0)
        }
    }

    @Test func updatedMeansTouchedAndTransientValuesCount() throws {
        try ClubStack().contextKeepingStack().use { context in
            let team = context.team()
            #expect(team.isInserted && !team.isUpdated && team.hasChanges)
            team.wins = 2
            #expect(!team.isUpdated, "a new object is inserted, not updated")
            try context.save()
            team.scratch = 3
            #expect(team.isUpdated && team.hasChanges && !team.hasPersistentChangedValues)
            #expect(team.changedValues().isEmpty)
            team.wins = 4
            #expect(team.hasPersistentChangedValues && team.changedValues().keys.sorted() == ["wins"])
            team.wins = 2
            #expect(team.isUpdated && !team.hasPersistentChangedValues, "the flag stays, the values are as saved")
            context.delete(team)
            #expect(team.isDeleted && !team.isUpdated && team.hasChanges)
            try context.save()
            #expect(!team.isDeleted && !team.hasChanges)
        }
    }

    @Test func aPrimitiveWriteBetweenTheHooksIsAChange() throws {
        try ClubStack().contextKeepingStack().use { context in
            context.undoManager = UndoManager()
            let team = context.team()
            team.wins = 2
            try context.save()
            team.willChangeValue(forKey: "wins")
            team.setPrimitiveValue(9, forKey: "wins")
            team.didChangeValue(forKey: "wins")
            #expect(team.isUpdated && team.changedValues().mapValues { $0 as? Int } == ["wins": 9])
            context.undo()
            #expect(team.wins == 2 && team.changedValues().isEmpty)
        }
    }

    @Test func changedAndCommittedValuesArePersistentOnes() throws {
        try ClubStack().contextKeepingStack().use { context in
            let team = context.team()
            let player = context.make("Player", ["name": "Ada", "team": team])
            try context.save()
            team.scratch = 1
            team.wins = 3
            team.setValue(player, forKey: "captain")
            team.setValue("ABC", forKey: "code")
            #expect(team.changedValues().keys.sorted() == ["captain", "code", "wins"])
            #expect(team.changedValues()["captain"] as? NSManagedObject === player)
            let committed = team.committedValues(forKeys: nil)
            #expect(committed["wins"] as? Int == 0 && committed["captain"] is NSNull && committed["code"] is NSNull)
            #expect(committed["name"] as? String == "Rovers" && committed["scratch"] == nil)
            #expect(team.committedValues(forKeys: ["wins", "scratch"]).keys.sorted() == ["wins"])
        }
    }

    @Test func committedValuesReadOnlyTheToManysThatAreNamed() throws {
        let stack = try ClubStack()
        let id = try stack.savedTeam(of: "Ada")
        try stack.context().use { context in
            let team = context.object(with: id)
            #expect(team.committedValues(forKeys: nil)["players"] == nil)
            #expect(team.hasFault(forRelationshipNamed: "players"))
            #expect((team.committedValues(forKeys: ["players"])["players"] as? NSSet)?.count == 1)
            #expect(!team.hasFault(forRelationshipNamed: "players"))
            _ = context.make("Player", ["name": "Bob", "team": team])
            #expect((team.committedValues(forKeys: nil)["players"] as? NSSet)?.count == 1)
            #expect((team.changedValues()["players"] as? NSSet)?.count == 2)
        }
    }

    /// As in Apple's framework, a value must be replaced to count as changed.
    @Test func aTransformableValueThatIsChangedInPlaceIsNotSeen() throws {
        try ClubStack().contextKeepingStack().use { context in
            let team = context.team()
            let list = NSMutableArray(array: [1])
            team.setValue(list, forKey: "extra")
            try context.save()
            list.add(2)
            #expect(!team.hasChanges && !context.hasChanges)
            #expect((team.committedValues(forKeys: ["extra"])["extra"] as? NSArray)?.count == 2, "the saved value too")
            team.setValue(NSArray(array: [1, 2, 3]), forKey: "extra")
            #expect(team.changedValues().keys.sorted() == ["extra"])
        }
    }

    @Test func relationshipsGiveTheirIDs() throws {
        try ClubStack().contextKeepingStack().use { context in
            let team = context.team()
            #expect(team.objectIDs(forRelationshipNamed: "captain").isEmpty)
            let players = ["Ada", "Bob"].map { context.make("Player", ["name": $0, "team": team]) }
            team.setValue(players[1], forKey: "captain")
            #expect(team.objectIDs(forRelationshipNamed: "captain") == [players[1].objectID])
            #expect(Set(team.objectIDs(forRelationshipNamed: "players")) == Set(players.map(\.objectID)))
            try context.save()
            context.refresh(team, mergeChanges: false)
            #expect(Set(team.objectIDs(forRelationshipNamed: "players")) == Set(players.map(\.objectID)))
        }
    }

    @Test func aDescriptionReadsLikeAPropertyList() throws {
        try ClubStack().contextKeepingStack().use { context in
            let team = context.team("FC Rovers")
            let player = context.make("Player", ["name": "Ada", "team": team])
            team.setValue(Data([1, 2, 255]), forKey: "badge")
            team.setValue(player, forKey: "captain")
            let text = team.description
            let address = "0x" + String(UInt(bitPattern: Unmanaged.passUnretained(team).toOpaque()), radix: 16)
            #expect(text.hasPrefix("<ClubTeam: \(address)> (entity: Team; id: 0x"))
            #expect(text.contains(" <\(team.objectID.uriRepresentation().absoluteString)>; data: {\n"))
            for line in [
                "badge = \"{length = 3, bytes = 0x0102ff}\";", "name = \"FC Rovers\";", "wins = 0;", "code = nil;",
                "favorite = 0;",
            ] {
                #expect(text.contains("\n    \(line)\n"))
            }
            #expect(text.contains("<\(player.objectID.uriRepresentation().absoluteString)>\";"))
            #expect(text.contains("    players =     (\n        \"0x"))
            #expect(text.contains("    fans =     (\n    );") && text.hasSuffix("\n})"))
            try context.save()
            context.refresh(team, mergeChanges: false)
            _ = team.name
            #expect(team.description.contains(" 'players'>\";"))
            #expect(team.description.contains("\"<relationship fault: 0x"))
        }
    }
}
