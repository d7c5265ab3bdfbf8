import CoreData
import Foundation

/// Predicate formats: parsed, printed, parsed again, and used in a fetch.
struct FormatTarget: FuzzTarget {
    private let context: NSManagedObjectContext

    init() throws {
        context = try FuzzStore.context(of: FuzzStore.model, type: .sqlite, at: URL(fileURLWithPath: "/dev/null"))
        try FuzzStore.fill(context, count: 5)
    }

    var seeds: [[UInt8]] {
        [
            "name CONTAINS[cd] 'x' AND (wins >= 3 OR NOT favorite == YES) AND venue.city IN {'a', \"b\"}",
            "SUBQUERY(players, $b, $b.goals > 3 AND ANY $b.team.players.name LIKE[c] '*x?').@count >= 2 OR players[FIRST].name != nil",
            "TERNARY(wins == 1, wins ** 2 - -3, CAST(price, 'NSDate')) < now() && modulus:by:(17, 5) == 2 || players[SIZE] BETWEEN {1, 2.5e-3}",
            "ALL players.goals BETWEEN {1, 5} AND {1} UNION {2} == players.@sum.goals AND FUNCTION(venue, 'valueForKey:', 'city') <> '名前' OR 0x1F == wins",
            "name MATCHES '(a+)+b' OR name ENDSWITH[n] '\\u00e9' OR sum({1, 2.5}) == wins OR wins & 3 << 1 == ~2",
            "NONE players.name == 'a' AND players.@count BETWEEN {1, wins} AND founded < CAST(3.5, 'NSDate') AND price * 2 == 2.5",
        ].map { Array($0.utf8) }
    }

    var pieces: [String] {
        [
            "(", ")", "{", "}", "[", "]", "'", "\"", "\\", "\\u", "\\ud83d", "%@", "%K", "$", "$x", "#", "@", "@count",
            ".", ",",
            ":", "==", "!", "~", "**", "&&", "0x", "1e", "1e999", "-", "9223372036854775807", "NOT ", "ANY ", " IN ",
            " BETWEEN ",
            "nil", "SUBQUERY(", "CAST(", "TERNARY(", " UTI-EQUALS ", "e\u{301}", "\u{200d}", "😀", "\0", "\n", "中",
            "sum(",
            "wins", "name", "players", "venue.city", "price", "SELF", "TRUEPREDICATE", "@sum.", " LIKE ", " MATCHES ",
            " / 0",
        ]
    }

    func read(_ bytes: [UInt8]) throws {
        let text = String(decoding: bytes, as: UTF8.self)
        let predicate: NSPredicate
        do {
            predicate = try NSPredicate.parse(format: text, arguments: ["a.b", 1, nil, ["x"], 2.5])
        } catch let error as PredicateFormatError {
            let isOneLine = text.contains("\n") || !"\(error)".contains("\n")
            try WrongAnswer.unless(isOneLine, "an error of several lines: \(error)")
            throw error
        }
        let printed = predicate.formatString
        guard let again = try? NSPredicate.parse(format: printed) else {
            throw WrongAnswer(description: "'\(text)' is printed as '\(printed)', which is refused")
        }
        try WrongAnswer.unless(again.formatString == printed, "'\(printed)' is printed as '\(again.formatString)'")
        let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
        request.predicate = predicate
        do { try context.performAndWait { _ = try context.fetch(request) } } catch {
            let error = error as NSError
            let isOneLine = !error.localizedDescription.contains("\n")
            try WrongAnswer.unless(error.domain == NSCocoaErrorDomain && isOneLine, "'\(text)': \(error)")
        }
    }
}
