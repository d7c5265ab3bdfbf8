import Foundation
import Testing

@testable import CoreData

/// The contents of a to-many relationship as a set of the declared class.
@Suite struct ToManyStateTests {
    private final class Other: NSManagedObject {}

    private func members(_ count: Int, _ context: NSManagedObjectContext) -> [NSManagedObject] {
        (0..<count).map { context.team("Team \($0)") }
    }

    @Test(arguments: [false, true]) func theTypedSetFollowsEveryChange(_ isOrdered: Bool) throws {
        try ClubStack().contextKeepingStack().use { context in
            let all = members(8, context)
            let state = ToManyState(isOrdered: isOrdered, isLoaded: false)
            state.load(Array(all[0..<4]))
            func isRight() -> Bool {
                let typed: Set<NSManagedObject> = state.typedMembers()
                return typed == state.memberSet && typed == Set(state.contents) && typed.count == state.count
            }
            #expect(state.count == 4)
            #expect(Set(state.contents) == Set(all[0..<4]))
            #expect(isRight())
            state.insert(all[4])
            #expect(isRight())
            state.remove(all[0])
            #expect(isRight())
            state.takeOut(all[1])
            #expect(isRight())
            state.discard(all[2])
            #expect(isRight())
            state.revert()
            #expect(isRight())
            state.turnIntoFault()
            #expect(isRight())
            state.rebase(all[5], isStored: false, isWanted: true)
            #expect(isRight())
            state.load([all[6], all[7]])
            #expect(isRight())
            #expect(Set(state.contents) == Set(all[5...7]))
        }
    }

    @Test func objectsOfAnotherClassAreOmitted() throws {
        try ClubStack().contextKeepingStack().use { context in
            let state = ToManyState(isOrdered: false, isLoaded: false)
            state.load(members(3, context))
            let others: Set<Other> = state.typedMembers()
            #expect(others.isEmpty)
            let all: Set<NSManagedObject> = state.typedMembers()
            #expect(all.count == 3)
        }
    }
}
