import Foundation
import RosterCommands

// The flags that say where, how long and how carefully to work.

enum ModelFlag: CommandFlag {
    static let name = "model"
    static let completion = WordCompletion.files
    static let letter: Character? = "m"
    static let placeholder: String? = "FILE"
    static let help = "The model: .xcdatamodeld, .xcdatamodel, .momd or .mom. Without it, the store's own."
    typealias Value = String
}

enum ReadOnlyFlag: CommandFlag {
    static let name = "read-only"
    static let help = "Change nothing."
    typealias Value = Bool
}

enum DryRunFlag: CommandFlag {
    static let name = "dry-run"
    static let letter: Character? = "n"
    static let help = "Check everything and print what would change, but change nothing."
    typealias Value = Bool
}

enum BatchFlag: CommandFlag {
    static let name = "batch"
    static let placeholder: String? = "N"
    static let help = "Records in one transaction (1000)."
    typealias Value = Int
}

enum DelimiterFlag: CommandFlag {
    static let name = "delimiter"
    static let placeholder: String? = "C"
    static let help = "The character between the fields of CSV or TSV, such as ';'; 'tab' is a tab."
    static func value(from text: String) throws -> Character {
        if text == "tab" || text == "\\t" { return "\t" }
        guard text.count == 1, let character = text.first else {
            throw CommandError.misuse("--delimiter is one character, or 'tab'")
        }
        return character
    }
}

enum NullFlag: CommandFlag {
    static let name = "null"
    static let help = "With --pick: a null character after each record instead of a line break, for xargs -0."
    typealias Value = Bool
}

enum OnceFlag: CommandFlag {
    static let name = "once"
    static let help = "End after the first change."
    typealias Value = Bool
}

enum TimeoutFlag: CommandFlag {
    static let name = "timeout"
    static let placeholder: String? = "SECONDS"
    static let help = "End after so many seconds; with --once and no change until then, fail."
    static func value(from text: String) throws -> TimeInterval { try PositiveNumber.value(text, of: name) }
}

enum RateFlag: CommandFlag {
    static let name = "rate"
    static let placeholder: String? = "N"
    static let help = "So many matches in a second; without it, as fast as they can be saved."
    static func value(from text: String) throws -> Double { try PositiveNumber.value(text, of: name) }
}

enum FilmRateFlag: CommandFlag {
    static let name = "rate"
    static let placeholder: String? = "N"
    static let help = "With --replay: so many transactions in a second; without it, all at once."
    static func value(from text: String) throws -> Double { try PositiveNumber.value(text, of: name) }
}

enum ReplayFlag: CommandFlag {
    static let name = "replay"
    static let help = "Play the store's history as a film, instead of waiting for changes."
    typealias Value = Bool
}

enum CountFlag: CommandFlag {
    static let name = "count"
    static let placeholder: String? = "N"
    static let help = "So many matches (\(SimulateCommand.defaultCount))."
    typealias Value = Int
}

enum SeedFlag: CommandFlag {
    static let name = "seed"
    static let placeholder: String? = "N"
    static let help = "The same matches every time for the same store and the same N."
    static func value(from text: String) throws -> UInt64 {
        guard let number = UInt64(text) else {
            throw CommandError.misuse("--\(name) wants a whole number from 0, not “\(text)”")
        }
        return number
    }
}

enum SQLFlag: CommandFlag {
    static let name = "sql"
    static let placeholder: String? = "FILE"
    static let mayLackValue = true
    static let help =
        "Write down each SQL statement with its values, rows and milliseconds, on standard error or at the end of FILE."
    typealias Value = String
}

enum PlansFlag: CommandFlag {
    static let name = "plans"
    static let help = "With --sql: write down how SQLite carries each statement out, too."
    typealias Value = Bool
}

enum HelpFlag: CommandFlag {
    static let name = "help"
    static let letter: Character? = "h"
    static let help = "Print this help."
    typealias Value = Bool
}

private enum PositiveNumber {
    static func value(_ text: String, of name: String) throws -> Double {
        guard let number = Double(text), number > 0, number.isFinite else {
            throw CommandError.misuse("--\(name) wants a number above 0, not “\(text)”")
        }
        return number
    }
}
