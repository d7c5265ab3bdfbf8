import Foundation
import Testing

@testable import CoreData

/// Divergences caused by missing features of Foundation on Linux.
@Suite struct FoundationGapTests {
    @Test func aComparatorBesideAKeyPathIsNotUsedByAFetch() throws {
        try ClubStack().contextKeepingStack().use { context in
            for wins in [3, 1, 2] { context.team("Team \(wins)").wins = Int16(wins) }
            try context.save()
            let backwards: Comparator = { left, right in
                ((right as? NSNumber) ?? 0).compare((left as? NSNumber) ?? 0)
            }
            let request = NSFetchRequest<ClubTeam>(entityName: "Team")
            request.sortDescriptors = [
                NSSortDescriptor(keyPath: \ClubTeam.wins, ascending: true, comparator: backwards)
            ]
            #expect(try context.fetch(request).map(\.wins) == [1, 2, 3])
            request.sortDescriptors = [NSSortDescriptor(key: "wins", ascending: true, comparator: backwards)]
            #expect(try context.fetch(request).map(\.wins) == [3, 2, 1])
        }
    }

    @Test func registeredStoreTypesAreNumbers() throws {
        let types = NSPersistentStoreCoordinator.registeredStoreTypes
        #expect(types[NSSQLiteStoreType] is NSNumber)
    }
}
