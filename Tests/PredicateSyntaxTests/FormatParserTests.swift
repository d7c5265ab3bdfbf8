import Foundation
import PredicateSyntax
import Testing

/// Format strings and the canonical text of their trees.
@Suite struct FormatParserTests {
    @Test(arguments: [
        // Comparisons and their spellings
        ("a = 1", "a == 1"), ("a == 1", "a == 1"), ("a<>1", "a != 1"), ("a =< 1", "a <= 1"), ("a => 1", "a >= 1"),
        ("a BETWEEN {1, 10}", "a BETWEEN {1, 10}"), ("a in {1,2}", "a IN {1, 2}"), ("a IN (1, 2)", "a IN {1, 2}"),
        ("a not in %s", nil), ("a not in {1}", "NOT a IN {1}"),
        ("name beginswith[cd] 'x'", "name BEGINSWITH[cd] \"x\""), ("name ==[c] 'x'", "name ==[c] \"x\""),
        ("name contains [cd] 'x'", "name CONTAINS[cd] \"x\""), ("name <[n] 'x'", "name <[n] \"x\""),
        ("name LIKE 'a*'", "name LIKE \"a*\""), ("name MATCHES '[A-Z]{3}'", "name MATCHES \"[A-Z]{3}\""),
        // Logic
        ("a = 1 and b = 2 or c = 3", "(a == 1 AND b == 2) OR c == 3"),
        ("a = 1 && (b = 2 || c = 3)", "a == 1 AND (b == 2 OR c == 3)"),
        ("a = 1 AND b = 2 AND c = 3", "a == 1 AND b == 2 AND c == 3"),
        ("NOT a = 1 AND b = 2", "NOT a == 1 AND b == 2"), ("!(a = 1 AND b = 2)", "NOT (a == 1 AND b == 2)"),
        ("NOT NOT a = 1", "NOT NOT a == 1"), ("!TRUEPREDICATE", "NOT TRUEPREDICATE"),
        ("not group.name contains[cd] 'x'", "NOT group.name CONTAINS[cd] \"x\""),
        ("favorite", "favorite == 1"), ("favorite AND NOT hidden", "favorite == 1 AND NOT hidden == 1"),
        // Modifiers
        ("ANY tags.name = 'x'", "ANY tags.name == \"x\""), ("some tags.name = 'x'", "ANY tags.name == \"x\""),
        ("ALL e.age BETWEEN {31, 42}", "ALL e.age BETWEEN {31, 42}"),
        ("NONE tags.name = 'x'", "NOT ANY tags.name == \"x\""),
        // Expressions
        ("(a + b) * 2 > c - -1", "(a + b) * 2 > c - (-1)"), ("4 + 5 - 2**3 == 1", "(4 + 5) - (2 ** 3) == 1"),
        ("a ** 2 ** 3 = 1", "a ** (2 ** 3) == 1"), ("(key & 1) > 0", "key & 1 > 0"),
        ("key | 1 ^ 2 == 3", "key | (1 ^ 2) == 3"), ("-a < 0", "0 - a < 0"), ("~a = 1", "onesComplement:(a) == 1"),
        ("-9223372036854775808 = a", "-9223372036854775808 == a"), ("a = 0x1F", "a == 31"), ("a = 0b101", "a == 5"),
        ("a = .5", "a == 0.5"), ("a = 1e3", "a == 1000.0"), ("a = 99999999999999999999", "a == 1e+20"),
        ("a == TRUE", "a == 1"), ("a == no", "a == 0"), ("a != NULL", "a != nil"), ("nil = a", "nil == a"),
        ("SELF == 1", "SELF == 1"), ("self.name = 1", "SELF.name == 1"), ("SELF.@count > 1", "SELF.@count > 1"),
        ("#size > 1", "#size > 1"), ("size > 1", "#size > 1"), ("#any = 1", "#any == 1"),
        ("a.first = 1", "a.first == 1"),
        ("steps.@sum.timer >= 1", "steps.@sum.timer >= 1"), ("a[FIRST].b == 1", "a[FIRST].b == 1"),
        ("a[0] = 1", "a[0] == 1"), ("a['k'] = 1", "a[\"k\"] == 1"), ("a[SIZE] = $n", "a[SIZE] == $n"),
        ("$x.name.@count = 1", "$x.name.@count == 1"), ("TRUEPREDICATE", "TRUEPREDICATE"),
        (
            "SUBQUERY(cars, $car, $car.maker == \"FIAT\").@count > 2",
            "SUBQUERY(cars, $car, $car.maker == \"FIAT\").@count > 2"
        ),
        ("TERNARY(a = 1, b, c) = 2", "TERNARY(a == 1, b, c) == 2"),
        ("CAST(a, 'NSString') = 1", "CAST(a, \"NSString\") == 1"),
        ("FUNCTION(SELF, 'doubled:', 21) == 42", "FUNCTION(SELF, \"doubled:\", 21) == 42"),
        ("uppercase(name) = 'A'", "uppercase:(name) == \"A\""), ("modulus:by:(a, 5) = 1", "modulus:by:(a, 5) == 1"),
        ("now() > date", "now() > date"), ("a UNION b = c", "a UNION b == c"),
        ("a = 'it\\'s \"q\" \\u4e2d'", "a == \"it's \\\"q\\\" 中\""), ("a = \"\\ud83d\\ude00\"", "a == \"😀\""),
        ("名前 == '中国'", "名前 == \"中国\""), ("الاسم == 'مصر'", "الاسم == \"مصر\""),
        ("a == 'e\u{301}'", "a == \"e\u{301}\""), ("a == 'x'\u{301}", nil), ("a = 'é'", "a == \"é\""),
    ])
    func readsAndPrints(_ text: String, _ canonical: String?) throws {
        guard let canonical else {
            #expect(throws: FormatError.self) { try FormatParser.predicate(text) }
            return
        }
        let printed = FormatPrinter.string(try FormatParser.predicate(text))
        #expect(printed == canonical)
        #expect(FormatPrinter.string(try FormatParser.predicate(printed)) == printed)
    }

    @Test func placeholdersTakeArgumentsInOrder() throws {
        let tree = try FormatParser.predicate(
            "%K == %@ AND $v.%K > %d AND x IN %@ AND name == '%@' AND r < %lf",
            arguments: [.value("team.name"), .value("a"), .value("wins"), .value(3), .value([1, 2]), .value(0.5)])
        #expect(
            FormatPrinter.string(tree)
                == "team.name == \"a\" AND $v.wins > 3 AND x IN {1, 2} AND name == \"%@\" AND r < 0.5")
    }

    @Test func constantsWithoutALiteralArePrintedAsCasts() throws {
        let uuid = try #require(UUID(uuidString: "3CEF7AEA-11C2-48AB-B289-C3C02E6A38A6"))
        let date = Date(timeIntervalSinceReferenceDate: 1.5)
        let tree = try FormatParser.predicate(
            "a = %@ AND b = %@ AND c = %@ AND d = %@",
            arguments: [.value(date), .value(uuid), .value(Data([1, 2])), .value(NSDecimalNumber(string: "0.1"))])
        let printed = FormatPrinter.string(tree)
        #expect(printed.hasPrefix("a == CAST(1.5, \"NSDate\") AND b == CAST(\"3CEF7AEA"))
        guard case .and(let parts) = try FormatParser.predicate(printed) else {
            Issue.record("no conjunction")
            return
        }
        let constants = parts.compactMap { part -> Any? in
            guard case .comparison(let tree) = part, case .constant(let value) = tree.right else { return nil }
            return value
        }
        try #require(constants.count == 4)
        #expect(constants[0] as? Date == date)
        #expect(constants[1] as? UUID == uuid)
        #expect(constants[2] as? Data == Data([1, 2]))
        #expect((constants[3] as? NSDecimalNumber)?.stringValue == "0.1")
    }

    @Test(arguments: [
        ("", 0, "a key, a value or a predicate", "the end"),
        ("wins >", 6, "a key, a value or a predicate", "the end"),
        ("wins", nil, "", ""),
        ("wins > 3 AND", 12, "a key, a value or a predicate", "the end"),
        ("wins > 3 name", 9, "AND, OR or the end", "\"name\""),
        ("name == 'x", 8, "a closing ' for this text", "the end"),
        ("(wins > 3", 9, "\")\" or an operator", "the end"),
        ("wins ==[x] 3", 8, "comparison options from c, d, n, l", "\"x\""),
        ("3", 1, "a comparison such as == or CONTAINS", "the end"),
        ("wins == %@", 8, "an argument for placeholder number 1, \"%@\"", "no arguments"),
        ("wins == %y", 8, "a placeholder such as %@, %K or %d", "\"%y\""),
        ("国 == §", 5, "a value, a key or an operator", "\"§\""),
        ("e\u{301}e\u{301} == ?", 6, "a value, a key or an operator", "\"?\""),
        ("ANY tags.name", 13, "a comparison after the key path", "the end"),
        ("SUBQUERY(a, b, c == 1)", 12, "a variable such as $x", "\"b\""),
        ("a BETWEEN {1, 2", 15, "\"}\" or \",\" in the list", "the end"),
        ("a.b. == 1", 5, "a key", "\"==\""),
        ("a == 0x10000000000000000", 5, "a number of at most 64 bits in base 16", "\"0x10000000000000000\""),
        ("LIKE 'x'", 0, "a key, a value or a predicate", "\"LIKE\""),
        ("a == (b == 1)", 5, "a value", "a whole predicate"),
    ])
    func reportsThePlaceAndTheReason(_ text: String, _ offset: Int?, _ expected: String, _ found: String) throws {
        guard let offset else {
            _ = try FormatParser.predicate(text)
            return
        }
        let error = #expect(throws: FormatError.self) { try FormatParser.predicate(text) }
        #expect(error == FormatError(offset: offset, expected: expected, found: found))
        #expect(error?.description.contains("\n") == false)
    }

    @Test func deepTextIsRefusedAndDoesNotExhaustTheStack() {
        for text in [
            String(repeating: "(", count: 100_000), String(repeating: "NOT ", count: 100_000) + "a = 1",
            "a" + String(repeating: " + a", count: 100_000) + " = 1", String(repeating: "-", count: 100_000) + "a = 1",
            "a" + String(repeating: "[a", count: 100_000), "a = " + String(repeating: "{", count: 100_000),
            "a" + String(repeating: "[1]", count: 100_000) + " = 1",
            "a = b" + String(repeating: " UNION b", count: 100_000),
        ] {
            #expect(throws: FormatError.self) { try FormatParser.predicate(text) }
        }
        let long = Array(repeating: "a = 1", count: 20_000).joined(separator: " OR ")
        #expect(throws: Never.self) { try FormatParser.predicate(long) }
    }
}
