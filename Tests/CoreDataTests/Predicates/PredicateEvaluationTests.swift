import Foundation
import Testing

@testable import CoreData

/// Semantics of each operator of predicates on plain values.
@Suite struct PredicateEvaluationTests {
    nonisolated(unsafe) static let team: [String: Any] = [
        "name": "Zürich", "wins": 3, "rating": 2.5, "favorite": true, "tags": ["a", "b", "b"], "age": NSNull(),
        "venue": ["name": "Letzigrund", "capacity": 26_000] as [String: Any],
        "day": Date(timeIntervalSinceReferenceDate: 86_400),
        "players": [["age": 20], ["age": 30], ["age": 40]],
    ]

    @Test(
        arguments: [
            // nil
            ("missing == nil", true), ("missing != nil", false), ("missing == 1", false), ("missing != 1", true),
            ("missing < 1", false),
            ("NOT missing < 1", true), ("missing > 1 OR missing <= 1", false), ("missing CONTAINS 'a'", false),
            ("age == nil", true),
            ("missing BETWEEN {1, 2}", false), ("missing IN {1, 2}", false), ("missing IN {1, nil}", true),
            ("missing + 1 == 1", false),
            ("missing LIKE '*'", false), ("missing MATCHES '.*'", false), ("missing == missing", true),
            ("missing.name.x == nil", true),
            // numbers
            ("wins == 3", true), ("wins == 3.0", true), ("wins != 4", true), ("wins > 2.5", true),
            ("wins BETWEEN {3, 5}", true),
            ("wins BETWEEN {4, 5}", false), ("wins IN {1, 3.0}", true), ("favorite == YES", true),
            ("favorite == 1", true),
            ("favorite", true),
            ("NOT favorite", false), ("rating * 2 == 5", true), ("wins / 2 == 1", true), ("wins / 0 == nil", true),
            ("wins ** 2 == 9", true),
            ("modulus:by:(wins, 2) == 1", true), ("wins & 1 == 1", true), ("(wins | 4) == 7", true),
            ("wins << 2 == 12", true),
            ("abs:(-3) == wins", true), ("sqrt:(16) == 4", true), ("-wins == -3", true),
            ("9223372036854775807 + 1 > 9223372036854775807", true),
            // texts: compared by code point unless options are given
            ("name == 'Zürich'", true), ("name == 'Zu\u{308}rich'", false), ("name ==[c] 'zÜRICH'", true),
            ("name ==[c] 'Zu\u{308}RICH'", true),
            ("name ==[d] 'Zurich'", true), ("name ==[c] 'zurich'", false), ("name ==[cd] 'zurich'", true),
            ("name BEGINSWITH 'Zü'", true),
            ("name BEGINSWITH[cd] 'ZU'", true), ("name ENDSWITH 'ich'", true), ("name CONTAINS 'ri'", true),
            ("name CONTAINS ''", true),
            ("name CONTAINS[cd] 'URI'", true), ("name LIKE 'Z?rich'", true), ("name LIKE 'Z*h'", true),
            ("name LIKE 'z*'", false),
            ("name LIKE[c] 'z*'", true), ("name LIKE '*\\\\**'", false), ("name MATCHES 'Z.*h'", true),
            ("name MATCHES 'Z'", false),
            ("name MATCHES[cd] 'ZUR.+'", true), ("'a|b' MATCHES 'a|b'", false), ("'ab' MATCHES 'a|ab'", true),
            ("'x' < 'y'", true),
            ("'B' < 'a'", true), ("'B' <[c] 'a'", false), ("name > 'Z'", true), ("'üri' IN name", true),
            ("'STRASSE' ==[c] 'Straße'", true),
            ("'ΣΑΣ' ==[c] 'σας'", true), ("'مِصْر' ==[d] 'مصر'", true), ("'中国' CONTAINS '国'", true),
            ("'कि' CONTAINS[d] 'क'", true),
            ("'कि' ==[cd] 'क'", false), ("'ガ' ==[d] 'カ'", false), ("'👩‍👩‍👧' LIKE '?'", false), ("'😀' LIKE '?'", true),
            ("'e\u{301}' ==[c] 'É'", true),
            // collections
            ("tags CONTAINS 'a'", true), ("'c' IN tags", false), ("ANY tags == 'b'", true), ("ALL tags == 'b'", false),
            ("NONE tags == 'c'", true),
            ("ANY players.age > 35", true), ("ALL players.age > 10", true), ("SOME players.age == 20", true),
            ("players.@count == 3", true),
            ("players.@sum.age == 90", true), ("players.@avg.age == 30", true), ("players.@min.age == 20", true),
            ("players.@max.age == 40", true),
            ("tags.@distinctUnionOfObjects.self == {'a', 'b'}", true),
            ("SUBQUERY(players, $p, $p.age >= 30).@count == 2", true),
            ("SUBQUERY(players, $p, $p.age > wins).@count == 3", true), ("tags[0] == 'a'", true),
            ("tags[LAST] == 'b'", true),
            ("tags[SIZE] == 3", true), ("tags[9] == nil", true), ("players[FIRST].age == 20", true),
            ("venue['name'] == 'Letzigrund'", true),
            ("ANY missing == 1", false), ("ALL missing == 1", true), ("{1, 2} UNION {2, 3} == {1, 2, 3}", true),
            ("sum:(players.age) == 90", true),
            ("{1, 2} INTERSECT {2, 3} == {2}", true), ("{1, 2} MINUS {2, 3} == {1}", true),
            ("median:({5, 1, 3}) == 3", true),
            // paths, functions, casts
            ("venue.capacity > 1000", true), ("SELF.venue.name CONTAINS 'grund'", true), ("name.length == 6", true),
            ("length:(name) == 6", true),
            ("uppercase:(name) == 'ZÜRICH'", true), ("canonical:(name) == 'zurich'", true),
            ("TERNARY(wins > 2, 'many', 'few') == 'many'", true),
            ("CAST(wins, 'NSString') == '3'", true), ("CAST('3', 'NSNumber') == wins", true),
            ("day == CAST(86400, 'NSDate')", true),
            ("day < now()", true), ("day > CAST('2001-01-01T12:00:00+02:00', 'NSDate')", true), ("$limit == nil", true),
            ("TRUEPREDICATE AND NOT FALSEPREDICATE", true),
        ] as [(String, Bool)])
    func holds(_ format: String, _ expected: Bool) throws {
        let predicate = try NSPredicate.parse(format: format)
        #expect(predicate.evaluate(with: Self.team) == expected)
        #expect(NSPredicate(format: "NOT (\(format))").evaluate(with: Self.team) == !expected)
    }

    @Test func variablesComeFromTheCallerOrAreSubstituted() {
        let predicate = NSPredicate(format: "wins > $least AND name == $name")
        #expect(predicate.evaluate(with: Self.team, substitutionVariables: ["least": 2, "name": "Zürich"]))
        #expect(!predicate.evaluate(with: Self.team, substitutionVariables: ["least": 3, "name": "Zürich"]))
        let substituted = predicate.withSubstitutionVariables(["least": 2, "name": "Zürich"])
        #expect(substituted.evaluate(with: Self.team))
        #expect(substituted.formatString == "wins > 2 AND name == \"Zürich\"")
        #expect(predicate.formatString == "wins > $least AND name == $name")
    }

    @Test func expressionsHaveValues() {
        func value(_ format: String, _ arguments: Any?...) -> Any? {
            NSExpression(format: format, argumentArray: arguments).expressionValue(with: Self.team, context: nil)
        }
        #expect(value("2 ** 10") as? Int == 1024)
        #expect(value("4 + 5 - 2**3") as? Int == 1)
        #expect(value("sqrt:(16) + abs:(-2)") as? Double == 6)
        #expect(value("average:({1, 2, 3, 4})") as? Double == 2.5)
        #expect(value("uppercase:(%@)", "ab") as? String == "AB")
        #expect(value("venue.name") as? String == "Letzigrund")
        #expect(value("missing") == nil)
        let begin = Date()
        #expect((value("now()") as? Date).map { $0 >= begin && $0 <= Date() } == true)
        let sum = NSExpression(
            forFunction: "add:to:", arguments: [NSExpression(forKeyPath: "wins"), NSExpression(forConstantValue: 1)])
        #expect(sum.expressionValue(with: Self.team, context: nil) as? Int == 4)
        let doubled = NSExpression(block: { object, _, _ in ((object as? Int) ?? 0) * 2 }, arguments: nil)
        #expect(doubled.expressionValue(with: 21, context: nil) as? Int == 42)
    }

    @Test func datesAreReadAsPeopleTypeThem() {
        #expect(DateText.seconds("2001-01-01") == 0)
        #expect(DateText.seconds("2001-01-02 00:00:01.5") == 86_401.5)
        #expect(DateText.seconds("2000-02-29T23:59Z") == -26_438_460)
        #expect(DateText.seconds("2001-01-01 02:00 +02:00") == 0)
        #expect(DateText.seconds("1930-07-13") == -2_223_936_000)
        for text in [
            "2001-02-29", "2001-13-01", "2001-1-1", "yesterday", "2001-01-01 25:00", "", "2001-01-01 10:00 +0260",
        ] {
            #expect(DateText.seconds(text) == nil, "\(text)")
        }
    }
}
