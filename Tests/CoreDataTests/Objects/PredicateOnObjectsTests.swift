import Foundation
import Testing

@testable import CoreData

/// Predicates on managed objects in any state: the evaluation by slots agrees with the general one.
@Suite struct PredicateOnObjectsTests {
    private static let formats = [
        "wins > 2", "wins <= 2 AND name != 'Ghana'", "wins = 3 OR name == 'Peru'", "NOT (wins > 2 OR zone = nil)",
        "zone != nil AND (wins < 1 OR wins > 3) AND name != 'x'", "name > 'H'", "name BEGINSWITH 'G' AND wins > 0",
        "TRUEPREDICATE AND wins > 1", "FALSEPREDICATE OR wins > 1", "wins > 1.5", "zone == name", "wins == nil",
        "venue == nil AND wins > 1", "name == 'K' OR name == 'Köln'", "wins BETWEEN {1, 3} AND name != 'Peru'",
    ]

    private func expect(_ objects: [NSManagedObject], _ note: Comment) {
        for format in Self.formats {
            let predicate = NSPredicate(format: format)
            let matching = objects.filter { predicate.evaluate(with: $0, substitutionVariables: ["unused": 1]) }
            #expect(objects.filtered(using: predicate) == matching, "\(format): \(note)")
            for object in objects {
                // With substitution variables, the evaluation does not use slots.
                let expected = predicate.evaluate(with: object, substitutionVariables: ["unused": 1])
                #expect(predicate.evaluate(with: object) == expected, "\(format): \(object), \(note)")
                let any: Any = object
                #expect(predicate.evaluate(with: any) == expected, "\(format): \(object), \(note)")
            }
        }
    }

    @Test func objectsInAnyState() throws {
        let (coordinator, _) = try League.memoryStack()
        let writer = League.context(coordinator)
        try writer.performAndWait {
            for (number, name) in ["Ghana", "Peru", "K", "\u{212A}", "Köln", "Ko\u{308}ln", ""].enumerated() {
                let team = writer.addTeam(name, wins: number)
                team.setValue(number % 2 == 0 ? nil : "Z", forKey: "zone")
                if number == 4 { team.setValue(nil, forKey: "wins") }
            }
            expect(Array(writer.insertedObjects), "new")
            try writer.save()
            expect(Array(writer.registeredObjects), "saved")
        }
        let reader = League.context(coordinator)
        try reader.performAndWait { () throws in
            let teams = try reader.fetch(League.request("Team"))
            expect(teams, "fetched")
            teams[0].setValue(9, forKey: "wins")
            teams[1].setValue("Ghana", forKey: "name")
            expect(teams, "changed")
            for format in Self.formats {
                reader.refreshAllObjects()
                let predicate = NSPredicate(format: format)
                let found = teams.map { predicate.evaluate(with: $0) }
                let expected = teams.map { predicate.evaluate(with: $0, substitutionVariables: ["unused": 1]) }
                #expect(found == expected, "\(format): faults")
            }
        }
    }

    /// Subclasses of predicates with their own evaluation are called.
    @Test func filteringAsksEveryKindOfPredicate() throws {
        final class Even: NSComparisonPredicate {
            override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
                ((object as? NSManagedObject)?.value(forKey: "wins") as? Int ?? 1) % 2 == 0
            }
        }
        let (coordinator, _) = try League.memoryStack()
        let context = League.context(coordinator)
        try context.performAndWait { () throws in
            for number in 0..<10 { context.addTeam("T\(number)", wins: number) }
            let venue = context.addVenue("Azteca")
            try context.save()
            let teams = try context.fetch(League.request("Team", by: "wins"))
            func wins(_ predicate: NSPredicate) -> [Int] {
                teams.filtered(using: predicate).compactMap { $0.value(forKey: "wins") as? Int }
            }
            let parsed = try #require(NSPredicate(format: "wins < 3") as? NSComparisonPredicate)
            let even = Even(parsed.tree)
            #expect(wins(even) == [0, 2, 4, 6, 8])
            #expect(
                wins(NSPredicate { team, _ in (team as? NSManagedObject)?.value(forKey: "wins") as? Int == 4 }) == [4])
            #expect(wins(NSPredicate(value: true)).count == 10 && wins(NSPredicate(value: false)).isEmpty)
            #expect(
                wins(NSCompoundPredicate(andPredicateWithSubpredicates: [even, NSPredicate(format: "wins > 3")])) == [
                    4, 6, 8,
                ])
            #expect(wins(NSPredicate(format: "ANY venue.name = 'x' OR wins = 7")) == [7])
            // Objects of other entities, which the predicate has not evaluated before.
            let all: Set<NSManagedObject> = Set(teams + [venue])
            #expect(all.filtered(using: NSPredicate(format: "name = 'Azteca' OR name = 'T3'")).count == 2)
            #expect([NSManagedObject]().filtered(using: NSPredicate(format: "name = 'x'")).isEmpty)
        }
    }

    @Test func equalCharactersWithDifferentBytesDiffer() throws {
        let (coordinator, _) = try League.memoryStack()
        let context = League.context(coordinator)
        try context.performAndWait {
            // The Kelvin sign is equal to the letter K.
            let team = context.addTeam("\u{212A}", wins: 1)
            try context.save()
            let predicate = NSPredicate(format: "name == 'K'")
            #expect(!predicate.evaluate(with: team) && !predicate.evaluate(with: team))
            let other = NSPredicate(format: "name != 'K' AND wins = 1")
            #expect(other.evaluate(with: team) && other.evaluate(with: team))
        }
    }

    /// The type that an object is boxed in first does not affect later ones.
    @Test func objectsInBoxes() throws {
        let (coordinator, _) = try League.memoryStack()
        let context = League.context(coordinator)
        context.performAndWait {
            let team = context.addTeam("Ghana", wins: 3)
            let boxes: [Any?] = [
                (team as NSObject) as Any, (team as AnyObject?) as Any,
                AnyHashable(team), team, Optional(team) as Any, team as AnyObject, team as any Hashable,
            ]
            for first in boxes {
                let predicate = NSPredicate(format: "wins > 2 AND name == 'Ghana'")
                #expect(predicate.evaluate(with: first))
                for box in boxes { #expect(predicate.evaluate(with: box)) }
                let others: [NSObject] = [team, NSString("x"), NSNull()]
                #expect(others.map { predicate.evaluate(with: $0) } == [true, false, false])
                let optional: [AnyObject?] = [team, NSNumber(value: 3), nil]
                #expect(optional.map { predicate.evaluate(with: $0) } == [true, false, false])
                #expect(!predicate.evaluate(with: nil))
                #expect(!predicate.evaluate(with: Optional<NSManagedObject>.none as Any))
            }
        }
    }

    /// One predicate for objects of several entities and classes, and for values that are not objects.
    @Test func objectsOfSeveralClassesAndOtherValues() throws {
        let (coordinator, _) = try League.memoryStack()
        let context = League.context(coordinator)
        context.performAndWait {
            let team = context.addTeam("Ghana", wins: 3)
            let club = NSEntityDescription.insertNewObject(forEntityName: "ClubTeam", into: context)
            club.setValue("Celta", forKey: "name")
            club.setValue(5, forKey: "wins")
            let predicate = NSPredicate(format: "wins > 2 AND name != 'Ghana'")
            let dictionary: [String: Any] = ["wins": 4, "name": "Peru"]
            for _ in 0..<3 {
                #expect(!predicate.evaluate(with: team))
                #expect(predicate.evaluate(with: club))
                #expect(predicate.evaluate(with: dictionary))
                #expect(!predicate.evaluate(with: nil))
                let wrapped: NSManagedObject?? = club
                #expect(predicate.evaluate(with: wrapped as Any))
                team.setValue("Chad", forKey: "name")
                #expect(predicate.evaluate(with: team))
                team.setValue("Ghana", forKey: "name")
            }
        }
    }
}
