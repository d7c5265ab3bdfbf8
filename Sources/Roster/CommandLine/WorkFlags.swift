import Foundation
import RosterCommands

// Flags for the model, limits of time and size, dry runs and SQL reports.

extension Flags {
    static let model = Flag<String>(
        "model", letter: "m", value: "FILE", completion: .files,
        help: "Use this model (.xcdatamodeld, .xcdatamodel, .momd or .mom) instead of the one in the store.")

    static let readOnly = Flag<Bool>("read-only", help: "Open the store without allowing changes.")

    static let dryRun = Flag<Bool>(
        "dry-run", letter: "n", help: "Check everything and print the changes, but do not save them.")

    static let batch = Flag<Int>("batch", value: "N", help: "Save N records per transaction (default 1000).")

    static let delimiter = Flag<Character>(
        "delimiter", value: "C", help: "The character between the fields of CSV or TSV, such as ';' or 'tab'."
    ) { text in
        if text == "tab" || text == "\\t" { return "\t" }
        guard text.count == 1, let character = text.first else {
            throw CommandError.misuse("--delimiter must be one character or 'tab'")
        }
        return character
    }

    static let null = Flag<Bool>(
        "null", help: "With --pick: end each record with a null character instead of a line break, for xargs -0.")

    static let once = Flag<Bool>("once", help: "Exit after the first change.")

    static let timeout = Flag<Double>(
        "timeout", value: "SECONDS",
        help: "Exit after this many seconds. With --once, exit status 1 if nothing changed.")

    static let rate = Flag<Double>(
        "rate", value: "N", help: "Play N matches per second. Default: as fast as they can be saved.")

    static let filmRate = Flag<Double>(
        "rate", value: "N", help: "With --replay: show N transactions per second. Default: all at once.")

    static let replay = Flag<Bool>(
        "replay", help: "Show the transactions of the store's history again, instead of waiting for changes.")

    static let count = Flag<Int>("count", value: "N", help: "Play N matches (default \(SimulateCommand.defaultCount)).")

    static let seed = Flag<UInt64>(
        "seed", value: "N", help: "Make the random matches repeatable: the same store and N give the same matches.")

    static let sql = Flag<String>(
        "sql", value: "FILE", mayLackValue: true,
        help:
            "Log each SQL statement with its values, rows and milliseconds to standard error, or append it to FILE."
    )

    static let plans = Flag<Bool>("plans", help: "With --sql: also log the query plan of each statement.")

    static let help = Flag<Bool>("help", letter: "h", help: "Print this help.")
}
