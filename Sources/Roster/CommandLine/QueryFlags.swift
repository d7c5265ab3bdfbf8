import RosterCommands

// Flags that select, sort and format records.

extension Flags {
    static let section = Flag<String>(
        "section", value: "KEYPATH[:KIND]", completion: .sections,
        help:
            "Group the records by this key, which becomes the first sort key. KIND is year, month, week, day, letter or bucket(SIZE), then desc or last; a slash begins a level inside."
    )

    static let sum = Flag<[String]>("sum", help: "Sum up these keys for each section.")

    static let average = Flag<[String]>("avg", help: "The average of these keys for each section.")

    static let minimum = Flag<[String]>("min", help: "The least value of these keys for each section.")

    static let maximum = Flag<[String]>("max", help: "The greatest value of these keys for each section.")
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

    static let limit = Flag<Int>("limit", value: "N", help: "At most so many records; 0 means all.")

    static let offset = Flag<Int>("offset", value: "N", help: "Leave out the first N records.")

    static let columns = Flag<[String]>("columns", help: "Print these keys; object is the record's URI.")

    static let sectionsOnly = Flag<Bool>(
        "sections-only", help: "Print names and counts of the sections and no records.")

    static let format = Flag<OutputFormat>(
        "format", letter: "f", help: "How records are printed or read; JSON is one object a line.")

    static let modelFormat = Flag<ModelFormat>(
        "format", letter: "f", help: "How the model is printed; JSON is one object a line.")

    static let output = Flag<String>(
        "output", letter: "o", value: "FILE", completion: .files,
        help: "Write to this file or folder, which appears whole or not at all.")

    static let entity = Flag<String>("entity", value: "E", completion: .entities, help: "The entity to show first.")
}
