import Foundation
import Testing

@testable import CoreData

/// What raises an exception at Apple's stops the program, with a text that says what was wrong.
@Suite struct MisuseTests {
    @Test func relationshipsBetweenContexts() async {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            let stack = try ClubStack()
            let (first, second) = (stack.context(), stack.context())
            first.make("Player").setValue(second.team(), forKey: "team")
        }
        expect(result, "Illegal attempt to establish a relationship 'team' between objects in different contexts")
    }

    @Test func unknownKeysAndWrongTypes() async {
        let unknown = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try ClubStack().context().make("Player").value(forKey: "nickname")
        }
        expect(unknown, "The entity 'Player' is not key value coding-compliant for the key \"nickname\".")
        let wrong = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try ClubStack().context().make("Player").setValue("ten", forKey: "number")
        }
        expect(wrong, "Unacceptable type of value for attribute: property = \"number\"; desired type = NSNumber")
    }

    @Test func useOutsideOfTheQueueWhenItIsChecked() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            setenv("CoreDataConcurrencyDebug", "1", 1)
            _ = try ClubStack().context().make("Player")
        }
        expect(result, "A managed object context is used outside of its queue, by inserting 'x-coredata:///Player/t")
    }

    @Test func theAccessOutsideOfTheQueueIsNamed() async {
        let read = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            setenv("CoreDataConcurrencyDebug", "1", 1)
            let context = try ClubStack().contextKeepingStack()
            context.name = "Import"
            let team = context.performAndWait { context.team() }
            _ = team.value(forKey: "name")
        }
        expect(
            read,
            "A managed object context named 'Import' is used outside of its queue, by reading 'name' of 'x-coredata:///Team/"
        )
        let fetched = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            setenv("CoreDataConcurrencyDebug", "1", 1)
            let context = try ClubStack().contextKeepingStack()
            _ = try context.fetch(NSFetchRequest<ClubTeam>(entityName: "Team"))
        }
        expect(fetched, "is used outside of its queue, by a fetch of 'Team': wrap the use in perform(_:).")
    }

    private func expect(_ result: ExitTest.Result?, _ text: String) {
        let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(output.contains(text))
    }
}
