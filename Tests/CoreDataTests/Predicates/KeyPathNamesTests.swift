import Foundation
import Testing

@testable import CoreData

/// Swift key paths of managed properties are converted to their keys.
@Suite struct KeyPathNamesTests {
    @Test func sortDescriptorsOfKeyPathsReachTheStore() throws {
        let club = try ClubStack()
        let context = club.context()
        defer { withExtendedLifetime((club, context)) {} }
        #expect(
            NSSortDescriptor(keyPath: \ClubTeam.wins, ascending: false).storeSortKey
                == StoreSortKey(keyPath: ["wins"], ascending: false))
        #expect(NSSortDescriptor(keyPath: \ClubTeam.name, ascending: true).key == "name")
        #expect(NSSortDescriptor(keyPath: \ClubTeam.favorite, ascending: true).key == "favorite")
        #expect(NSSortDescriptor(keyPath: \ClubTeam.founded, ascending: true).key == "founded")
        #expect(NSSortDescriptor(keyPath: \ClubTeam.budget, ascending: true).key == "budget")
        #expect(NSSortDescriptor(keyPath: \ClubTeam.captain, ascending: true).key == "captain")
        #expect(NSExpression(forKeyPath: \ClubTeam.rating).keyPath == "rating")
    }

    @Test func keyPathsWithoutAKeyAreSortedInMemory() throws {
        let club = try ClubStack()
        let context = club.context()
        defer { withExtendedLifetime((club, context)) {} }
        #expect(NSSortDescriptor(keyPath: \ClubTeam.nameAndWins, ascending: true).key == nil)
        #expect(NSSortDescriptor(keyPath: \String.count, ascending: true).storeSortKey.comparison == .custom)
    }
}

extension ClubTeam {
    fileprivate var nameAndWins: String { "\(name) \(wins)" }
}
