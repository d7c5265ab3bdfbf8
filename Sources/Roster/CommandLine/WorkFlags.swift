import Foundation
import RosterCommands

// Flags for the model, limits of time and size, dry runs and SQL reports.

extension Flags {
    static let model = Flag<String>(
        "model", letter: "m", value: "FILE", completion: .files,
        help: "The model: .xcdatamodeld, .xcdatamodel, .momd or .mom. Without it, the store's own.")

    static let readOnly = Flag<Bool>("read-only", help: "Change nothing.")

    static let dryRun = Flag<Bool>(
        "dry-run", letter: "n", help: "Check everything and print what would change, but change nothing.")

    static let batch = Flag<Int>("batch", value: "N", help: "Records in one transaction (1000).")

    static let delimiter = Flag<Character>(
        "delimiter", value: "C", help: "The character between the fields of CSV or TSV, such as ';'; 'tab' is a tab."
    ) { text in
        if text == "tab" || text == "\\t" { return "\t" }
        guard text.count == 1, let character = text.first else {
            throw CommandError.misuse("--delimiter is one character, or 'tab'")
        }
        return character
    }

    static let null = Flag<Bool>(
        "null", help: "With --pick: a null character after each record instead of a line break, for xargs -0.")

    static let once = Flag<Bool>("once", help: "End after the first change.")

    static let timeout = Flag<Double>(
        "timeout", value: "SECONDS", help: "End after so many seconds; with --once and no change until then, fail.")

    static let rate = Flag<Double>(
        "rate", value: "N", help: "So many matches in a second; without it, as fast as they can be saved.")

    static let filmRate = Flag<Double>(
        "rate", value: "N", help: "With --replay: so many transactions in a second; without it, all at once.")

    static let replay = Flag<Bool>(
        "replay", help: "Play the store's history as a film, instead of waiting for changes.")

    static let count = Flag<Int>("count", value: "N", help: "So many matches (\(SimulateCommand.defaultCount)).")

    static let seed = Flag<UInt64>(
        "seed", value: "N", help: "The same matches every time for the same store and the same N.")

    static let sql = Flag<String>(
        "sql", value: "FILE", mayLackValue: true,
        help:
            "Write down each SQL statement with its values, rows and milliseconds, on standard error or at the end of FILE."
    )

    static let plans = Flag<Bool>("plans", help: "With --sql: write down how SQLite carries each statement out, too.")

    static let help = Flag<Bool>("help", letter: "h", help: "Print this help.")
}
