import Foundation
import Testing

@testable import CoreData

/// Predicates and sort keys that do not fit the model are refused with the same clear line by both evaluators.
@Suite struct PredicateErrorTests {
    @Test(arguments: [
        ("nam == 'x'", "keypath nam not found in entity Team: did you mean \"name\"?"),
        (
            "homeVenue.capacty > 1",
            "keypath homeVenue.capacty not found in entity Venue (at \"capacty\"): did you mean \"capacity\"?"
        ),
        // A name with a line break.
        ("players.\\name == 1", "keypath ␊ame not found in entity Player: did you mean \"name\"?"),
        ("xyzzy == 1", "keypath xyzzy not found in entity Team: its keys are blob, code,"),
        (
            "name.first == 'x'",
            "keypath name.first not found: \"name\" is an attribute, nothing named \"first\" can follow it"
        ),
        ("ANY players.agee > 1", "keypath agee not found in entity Player: did you mean \"age\"?"),
        (
            "SUBQUERY(players, $p, $p.nme == 'x').@count > 0",
            "keypath nme not found in entity Player: did you mean \"name\"?"
        ),
        ("players.@total.age > 1", "unknown collection operator @total (in players.@total.age)"),
        ("wins == 'abc'", "wins cannot be compared with \"abc\": it is an integer (in wins == \"abc\")"),
        ("wins IN {1, 'many'}", "wins cannot be compared with \"many\": it is an integer (in wins IN {1, \"many\"})"),
        ("wins CONTAINS '1'", "wins cannot be compared with \"1\": it is an integer, not text"),
        ("wins BEGINSWITH '1'", "wins cannot be compared with \"1\": it is an integer, not text"),
        ("name > 3", "name cannot be compared with 3: it is a text (in name > 3)"),
        ("founded > 'spring'", "founded cannot be compared with \"spring\": it is a date (such as \"2024-06-11\")"),
        ("founded > 3", "founded cannot be compared with 3: it is a date"),
        ("code == 'x'", "code cannot be compared with \"x\": it is a UUID"),
        ("favorite == 'maybe'", "favorite cannot be compared with \"maybe\": it is a Boolean (YES or NO)"),
        (
            "homeVenue == 'Maracanã'",
            "homeVenue cannot be compared with \"Maracanã\": it is a relationship to Venue: compare it with an object"
        ),
        ("players.age > 3", "to-many key not allowed here: write ANY, ALL or NONE before players.age"),
        ("tags == 3", "to-many key not allowed here: write ANY, ALL or NONE before tags"),
        ("upercase:(name) == 'x'", "unknown function upercase:: did you mean uppercase:?"),
        ("sqrt:(wins, 2) == 'x'", "the function sqrt: does not accept 2 arguments"),
        ("name MATCHES '('", "Can't do regex matching, reason: the pattern \"(\" is not a regular expression"),
        ("wins > $least", "the variable $least has no value: use withSubstitutionVariables"),
    ])
    func isRefused(_ format: String, _ message: String) throws {
        let world = try PredicateWorld(seed: 1, teamCount: 2)
        let predicate = try NSPredicate.parse(format: format)
        for evaluate in [
            { try world.keysBySQL(world.team, predicate).map { _ in () } ?? () },
            { _ = try world.keysInMemory(world.team, predicate) },
        ] {
            let error = #expect(throws: NSError.self) { try evaluate() }
            #expect(error?.domain == NSCocoaErrorDomain && error?.code == 134060)
            let text = error?.localizedDescription ?? ""
            #expect(text.hasPrefix(message), "\(text)")
            #expect(!text.contains("\n"))
        }
    }

    @Test func textsThatSpellAValueAreTheValue() throws {
        let world = try PredicateWorld(seed: 7)
        for (text, value) in [
            ("wins == '3'", "wins == 3"), ("rating > '0.5'", "rating > 0.5"), ("favorite == 'yes'", "favorite == YES"),
            ("founded >= '2001-01-02'", "founded >= CAST(86400, 'NSDate')"),
            (
                "code == '3cef7aea-11c2-48ab-b289-c3c02e6a38a6'",
                "code == CAST('3CEF7AEA-11C2-48AB-B289-C3C02E6A38A6', 'NSUUID')"
            ),
            ("wins IN {'1', '2'}", "wins IN {1, 2}"), ("wins BETWEEN {'1', '5'}", "wins BETWEEN {1, 5}"),
        ] {
            let (first, second) = (NSPredicate(format: text), NSPredicate(format: value))
            let expected = try world.keysInMemory(world.team, second)
            #expect(try world.keysInMemory(world.team, first) == expected, "\(text)")
            #expect(try world.keysBySQL(world.team, first) == expected, "\(text)")
            #expect(!expected.isEmpty, "\(text)")
        }
    }

    @Test func anUnknownSortKeyIsRefused() throws {
        let world = try PredicateWorld(seed: 1, teamCount: 2)
        let sort = NSSortDescriptor(key: "winz", ascending: true)
        let message = "keypath winz not found in entity Team: did you mean \"wins\"?"
        let first = #expect(throws: NSError.self) { try world.keysBySQL(world.team, nil, sort: [sort]) }
        let second = #expect(throws: NSError.self) { try ObjectOrdering([sort], entity: world.team) }
        #expect(first?.localizedDescription == message && second?.localizedDescription == message)
    }
}
