import Foundation
import PredicateSyntax
import Testing

/// A generator with a fixed seed, to repeat failures.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

/// The parser returns a tree or an error for any text.
@Suite struct FormatMutationTests {
    static let seeds = [
        "name CONTAINS[cd] 'x' AND (wins >= 3 OR NOT favorite == YES) AND homeVenue.city IN {'a', \"b\"}",
        "SUBQUERY(books, $b, $b.pages > %d AND ANY $b.tags.name LIKE[c] '*x?').@count >= 2 OR %K[FIRST].x != nil",
        "TERNARY(a == 1, b ** 2 - -3, CAST(c, 'NSDate')) < now() && modulus:by:(17, 5) == 2 || #size BETWEEN {1, 2.5e-3}",
        "ALL staff.age BETWEEN %@ AND {1} UNION {2} == $set.@sum.x AND FUNCTION(SELF, 'f:', 0x1F) <> 名前 & ~3 << 1",
    ]
    static let pieces = [
        "(", ")", "{", "}", "[", "]", "'", "\"", "\\", "\\u", "\\ud83d", "%", "%@", "%K", "%ld", "$", "$x", "#", "@",
        "@count",
        ".", ",", ":", "..", "==", "=", "!", "~", "**", "&&", "||", "0x", "1e", "-", "NOT", "ANY", "IN", "BETWEEN",
        "nil",
        "SUBQUERY(", "CAST(", "TERNARY(", "UTI-EQUALS", "é", "e\u{301}", "\u{301}", "\u{200d}", "😀", "\0", "\n", "中",
        "sum:",
    ]

    /// `ROSTER_LONG_TESTS=10` makes 100,000 mutations.
    private static let count =
        ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"].flatMap { Int($0) }.map { $0 * 10_000 } ?? 6_000

    @Test(arguments: ["a[", "ANY a.b[", "$x[", "'a'[", "a[FIRST", "a[0][", "SUBQUERY(a, $x, $x["])
    func aTextThatEndsInABracketIsRefused(_ format: String) {
        let error = #expect(throws: FormatError.self) { try FormatParser.predicate(format) }
        #expect(error?.found == "the end")
    }

    @Test(arguments: ["a == $se\\tt", "\\now() == 1", "SUBQUERY(a, $\\n, $\\n.b == 1).@count == 1"])
    func escapedNamesAreEscapedAgain(_ format: String) throws {
        let printed = FormatPrinter.string(try FormatParser.predicate(format))
        #expect(FormatPrinter.string(try FormatParser.predicate(printed)) == printed)
        #expect(printed.contains("\\U0000000"))
    }

    @Test func everyMutationIsReadOrRefused() {
        let seed: UInt64 = 20_240_611
        var random = SeededGenerator(seed: seed)
        let arguments: [FormatArgument] = [
            .value("a.b"), .value(1), .value(nil), .value(["x"]), .value(2.5), .expression(.keyPath(["k"])),
        ]
        var read = 0
        for round in 0..<Self.count {
            var scalars = Array(Self.seeds[round % Self.seeds.count].unicodeScalars)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 0...scalars.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: scalars.insert(contentsOf: Self.pieces.randomElement(using: &random)!.unicodeScalars, at: place)
                case 1:
                    scalars.removeSubrange(place..<min(scalars.count, place + Int.random(in: 1...9, using: &random)))
                case 2: scalars = Array(scalars.prefix(place))
                default:
                    let other = Array(Self.seeds.randomElement(using: &random)!.unicodeScalars)
                    let start = Int.random(in: 0..<other.count, using: &random)
                    scalars.insert(contentsOf: other[start..<min(other.count, start + 12)], at: place)
                }
            }
            let text = String(String.UnicodeScalarView(scalars))
            do {
                let tree = try FormatParser.predicate(text, arguments: arguments.shuffled(using: &random))
                read += 1
                let printed = FormatPrinter.string(tree)
                let again = try FormatParser.predicate(printed)
                #expect(FormatPrinter.string(again) == printed, "seed \(seed), round \(round): \(text)")
            } catch {
                #expect((0...text.count).contains(error.offset), "seed \(seed), round \(round): \(text)")
                #expect(!error.expected.isEmpty && !error.found.isEmpty)
            }
        }
        if Self.count > 6_000 { print("predicate texts, seed \(seed): \(Self.count), read \(read)") }
        #expect(read > 100)
    }
}
