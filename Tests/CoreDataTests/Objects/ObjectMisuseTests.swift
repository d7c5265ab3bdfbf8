import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Uses of objects that raise exceptions in Apple's framework: the program stops with a message.
@Suite struct ObjectMisuseTests {
    @Test(.needs(.process)) func objectsOfOtherContexts() async {
        let deleted = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = try ClubStack()
            let (first, second) = (stack.context(), stack.context())
            second.delete(first.team())
        }
        #expect(deleted.text.contains("An NSManagedObjectContext cannot delete objects in other contexts."))
        let inserted = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = try ClubStack()
            let (first, second) = (stack.context(), stack.context())
            second.insert(first.team())
        }
        #expect(inserted.text.contains("is already in another context."))
        let related = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = try ClubStack()
            let (first, second) = (stack.context(), stack.context())
            first.team().mutableSetValue(forKey: "players").add(second.make("Player"))
        }
        #expect(
            related.text.contains(
                "Illegal attempt to establish a relationship 'players' between objects in different contexts"))
    }

    @Test(.needs(.process)) func faultsThatCannotBeFulfilled() async {
        let gone = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = try ClubStack()
            let (first, second) = (stack.context(), stack.context())
            let team = first.team()
            try first.save()
            let twin = second.object(with: team.objectID)
            first.delete(team)
            try first.save()
            second.shouldDeleteInaccessibleFaults = false
            _ = twin.value(forKey: "name")
        }
        #expect(gone.text.contains("CoreData could not fulfill a fault for '"))
    }

    @Test(.needs(.process)) func wrongValuesOfRelationships() async {
        let one = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let context = try ClubStack().contextKeepingStack()
            context.make("Player").setValue(context.make("Venue"), forKey: "team")
        }
        #expect(
            one.text.contains(
                "Unacceptable type of value for to-one relationship: property = \"team\"; desired type = Team"))
        let many = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try ClubStack().contextKeepingStack().team().setValue("Ada", forKey: "players")
        }
        #expect(many.text.contains("Unacceptable type of value for to-many relationship: property = \"players\""))
        let unordered = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try ClubStack().contextKeepingStack().team().mutableOrderedSetValue(forKey: "players")
        }
        #expect(unordered.text.contains("'Team' has no ordered relationship named 'players'."))
    }

    @Test(.needs(.process)) func unboundKeys() async {
        let set = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try ClubStack().contextKeepingStack().make("Player").setValue("Al", forKey: "nickname")
        }
        #expect(set.text.contains("The entity 'Player' is not key value coding-compliant for the key \"nickname\"."))
        let `operator` = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try ClubStack().contextKeepingStack().team().value(forKeyPath: "players.@middle.number")
        }
        #expect(`operator`.text.contains("Unknown key path operator @middle."))
        let state = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try ClubStack().contextKeepingStack().team().hasFault(forRelationshipNamed: "wins")
        }
        #expect(state.text.contains("'Team' has no relationship named 'wins'."))
    }

    @Test(.needs(.process)) func entitiesThatDoNotBelong() async {
        let foreign = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let entity = Club.entity("Team", [])
            let other = NSManagedObjectModel()
            other.entities = [entity]
            _ = NSManagedObject(entity: entity, insertInto: try ClubStack().contextKeepingStack())
        }
        #expect(foreign.text.contains("The model of the context's coordinator does not have the entity 'Team'."))
        let abstract = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try ClubStack().contextKeepingStack().make("Person")
        }
        #expect(abstract.text.contains("abstract entity 'Person'"))
        let unknown = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try ClubStack().contextKeepingStack().make("Referee")
        }
        #expect(unknown.text.contains("could not locate an entity named 'Referee' in this model."))
    }

    @Test(.needs(.process)) func storesThatCannotBeChanged() async {
        let saved = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = try ClubStack()
            let context = stack.context()
            let team = context.team()
            try context.save()
            context.assign(team, to: stack.coordinator.persistentStores[0])
        }
        #expect(saved.text.contains("Can't reassign an object to a different store once it has been saved."))
    }
}
