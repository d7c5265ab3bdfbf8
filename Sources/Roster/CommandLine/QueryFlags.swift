import RosterCommands

// Flags that select, sort and format records.

extension Flags {
    static let section = Flag<String>(
        "section", value: "KEYPATH[:KIND]", completion: .sections,
        help:
            "Group records by this key, which becomes the first sort key. KIND is year, month, week, day, letter or bucket(SIZE). Add :desc for descending order, :last for records without a value last, /KEYPATH for subsections."
    )

    static let sum = Flag<[String]>("sum", help: "Print the sum of these keys for each section.")

    static let average = Flag<[String]>("avg", help: "Print the average of these keys for each section.")

    static let minimum = Flag<[String]>("min", help: "Print the least value of these keys for each section.")

    static let maximum = Flag<[String]>("max", help: "Print the greatest value of these keys for each section.")
}

extension Arguments {
    /// The aggregates to compute for each section.
    var aggregates: AggregateQuery {
        get throws {
            AggregateQuery(
                sum: try value(Flags.sum) ?? [], avg: try value(Flags.average) ?? [],
                min: try value(Flags.minimum) ?? [], max: try value(Flags.maximum) ?? [])
        }
    }
}

extension Flags {
    static let sort = Flag<[SortKey]>(
        "sort", value: "KEY[:desc],…", completion: .sortKeys, help: "Sort by these keys."
    ) { try SortKey.parse($0) }

    static let `where` = Flag<String>(
        "where", value: "PREDICATE", completion: .predicate,
        help: "Only the records that match, for example 'wins > 10 AND teamName BEGINSWITH[cd] \"s\"'.")

    static let limit = Flag<Int>("limit", value: "N", help: "At most N records; 0 means all.")

    static let offset = Flag<Int>("offset", value: "N", help: "Skip the first N records.")

    static let columns = Flag<[String]>(
        "columns",
        help:
            "Print these keys or computed values, such as 'wins / (wins + losses) as rate'. The key object is the URI of the record."
    )

    static let sectionsOnly = Flag<Bool>(
        "sections-only", help: "Print the names and counts of the sections, without the records.")

    static let total = Flag<Bool>(
        "total", help: "End the table with a line for all records: their number, and what --sum and the like ask for.")

    static let format = Flag<OutputFormat>(
        "format", letter: "f", help: "Format of the records. JSON output is one object per line.")

    static let modelFormat = Flag<ModelFormat>(
        "format", letter: "f", help: "Format of the model. JSON output is one object per line.")

    static let output = Flag<String>(
        "output", letter: "o", value: "FILE", completion: .files,
        help: "Write to this file or folder, which is created or replaced only when complete.")

    static let entity = Flag<String>("entity", value: "E", completion: .entities, help: "The entity to show first.")
}
