import Foundation
import Testing

@testable import CoreData

/// `sorted(using:)` of objects sorts like a fetch and, where possible, like `NSArray`.
@Suite struct ObjectSortingTests {
    @Test func objectsAreSortedAsAFetchSortsThem() throws {
        try ClubStack().contextKeepingStack().use { context in
            for number in 0..<60 {
                let team = context.team("Team \(number % 7)")
                team.setValue(number % 5, forKey: "wins")
                if number % 3 > 0 {
                    team.setValue(Date(timeIntervalSinceReferenceDate: Double(number % 4)), forKey: "founded")
                }
            }
            try context.save()
            for keys in [["name", "wins"], ["founded", "name"], ["wins", "founded", "name"]] {
                for ascending in [true, false] {
                    let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
                    request.sortDescriptors = keys.map { NSSortDescriptor(key: $0, ascending: ascending) }
                    let fetched = try context.fetch(request)
                    #expect(fetched.shuffled().sorted(using: request.sortDescriptors ?? []) == fetched)
                }
            }
            #expect([NSManagedObject]().sorted(using: [NSSortDescriptor(key: "name", ascending: true)]).isEmpty)
        }
    }

    @Test func aPredicateReadsAnObjectAsItReadsADictionary() throws {
        try ClubStack().contextKeepingStack().use { context in
            let team = context.team("Japan")
            team.setValue(3, forKey: "wins")
            let values: [String: Any] = ["name": "Japan", "wins": 3]
            for format in [
                "wins == 3", "wins == '3'", "name == 3", "wins > 2 AND name BEGINSWITH 'J'", "wins BETWEEN {1, 2}",
                "founded == nil", "founded < 5", "name.length == 5",
            ] {
                let predicate = NSPredicate(format: format)
                for _ in 0..<2 {
                    #expect(predicate.evaluate(with: team) == predicate.evaluate(with: values), "\(format)")
                }
            }
        }
    }
}
