import Foundation
import Testing

@testable import CoreData

@Suite struct TransformableChangeTests {
    @Test func anEqualValueIsNoChange() throws {
        try ClubStack().contextKeepingStack().use { context in
            let team = context.team()
            team.setValue(NSArray(array: [1]), forKey: "extra")
            try context.save()
            let version = try #require(team.snapshot?.version)
            team.setValue(NSArray(array: [1]), forKey: "extra")
            #expect(team.isUpdated && team.changedValues().isEmpty && !team.hasPersistentChangedValues)
            try context.save()
            #expect(team.snapshot?.version == version && !team.isUpdated)
        }
    }
}
