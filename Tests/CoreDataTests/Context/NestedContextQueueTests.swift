import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Queues and lifetime of child contexts, and the permitted combinations of queue types.
@Suite struct NestedContextQueueTests {
    // MARK: Queues

    @Test func privateChildrenOfTheMainContextAndTheOtherWayRound() async throws {
        let stack = try ClubStack()
        let main = stack.context(.mainQueueConcurrencyType)
        let worker = main.child()
        let ids = try await worker.perform { () -> [NSManagedObjectID] in
            #expect(try worker.teamNames().isEmpty)
            let team = worker.team("Made elsewhere")
            try worker.save()
            // Calls from the child's queue to the parent's and back.
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

    @Test func aChildRetainsItsParentAndIsReleasedAlone() throws {
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

    @Test(.needs(.process)) func aParentMustBeSetFirst() async {
        let late = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = try ClubStack()
            let context = NSManagedObjectContext(.privateQueue)
            let entity = try #require(Club.model.entitiesByName["Fan"])
            try context.use { context in
                _ = NSManagedObject(entity: entity, insertInto: context)
                context.parent = stack.context()
            }
        }
        expect(late, "Cannot set the parent of a context that has objects. Set it first.")
        let own = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (first, second) = (NSManagedObjectContext(.privateQueue), NSManagedObjectContext(.privateQueue))
            first.parent = second
            second.parent = first
        }
        expect(own, "A context cannot be its own ancestor.")
    }

    @Test(.needs(.process)) func aContextHasAParentOrACoordinator() async {
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
