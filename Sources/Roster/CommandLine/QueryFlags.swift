import RosterCommands

// The flags that say which records, in which order and how printed.

enum SectionFlag: CommandFlag {
    static let name = "section"
    static let completion = WordCompletion.sections
    static let placeholder: String? = "KEYPATH[:KIND]"
    static let help =
        "Group the records by this key, which becomes the first sort key. KIND is year, month, week, day, letter or bucket(SIZE), then desc or last; a slash begins a level inside."
    typealias Value = String
}

/// Reads `KEYPATH,KEYPATH,…`.
private func keyPaths(_ text: String, of flag: String) throws -> [String] {
    let names = text.split(separator: ",", omittingEmptySubsequences: false)
        .map { $0.trimmingPrefix(while: \.isWhitespace) }.map(String.init)
    guard !names.contains("") else { throw CommandError.misuse("--\(flag) wants KEYPATH,KEYPATH,… not “\(text)”") }
    return names
}

enum SumFlag: CommandFlag {
    static let name = "sum"
    static let completion = WordCompletion.keyPaths
    static let placeholder: String? = "KEYPATH,…"
    static let help = "Sum up these keys for each section."
    static func value(from text: String) throws -> [String] { try keyPaths(text, of: name) }
}

enum AverageFlag: CommandFlag {
    static let name = "avg"
    static let completion = WordCompletion.keyPaths
    static let placeholder: String? = "KEYPATH,…"
    static let help = "The average of these keys for each section."
    static func value(from text: String) throws -> [String] { try keyPaths(text, of: name) }
}

enum MinimumFlag: CommandFlag {
    static let name = "min"
    static let completion = WordCompletion.keyPaths
    static let placeholder: String? = "KEYPATH,…"
    static let help = "The least value of these keys for each section."
    static func value(from text: String) throws -> [String] { try keyPaths(text, of: name) }
}

enum MaximumFlag: CommandFlag {
    static let name = "max"
    static let completion = WordCompletion.keyPaths
    static let placeholder: String? = "KEYPATH,…"
    static let help = "The greatest value of these keys for each section."
    static func value(from text: String) throws -> [String] { try keyPaths(text, of: name) }
}

extension Arguments {
    /// What is to be computed of each section.
    var aggregates: AggregateQuery {
        get throws {
            AggregateQuery(
                sum: try value(SumFlag.self) ?? [], avg: try value(AverageFlag.self) ?? [],
                min: try value(MinimumFlag.self) ?? [], max: try value(MaximumFlag.self) ?? [])
        }
    }
}

enum SortFlag: CommandFlag {
    static let name = "sort"
    static let completion = WordCompletion.sortKeys
    static let placeholder: String? = "KEY[:desc],…"
    static let help = "Sort by these keys."
    static func value(from text: String) throws -> [SortKey] { try SortKey.parse(text) }
}

enum WhereFlag: CommandFlag {
    static let name = "where"
    static let completion = WordCompletion.predicate
    static let placeholder: String? = "PREDICATE"
    static let help = "Only the records that match, for example 'wins > 10 AND teamName BEGINSWITH[cd] \"s\"'."
    typealias Value = String
}

enum LimitFlag: CommandFlag {
    static let name = "limit"
    static let placeholder: String? = "N"
    static let help = "At most so many records; 0 means all."
    typealias Value = Int
}

enum OffsetFlag: CommandFlag {
    static let name = "offset"
    static let placeholder: String? = "N"
    static let help = "Leave out the first N records."
    typealias Value = Int
}

enum ColumnsFlag: CommandFlag {
    static let name = "columns"
    static let completion = WordCompletion.keyPaths
    static let placeholder: String? = "KEYPATH,…"
    static let help = "Print these keys; object is the record's URI."
    static func value(from text: String) throws -> [String] {
        try keyPaths(text, of: name)
    }
}

enum SectionsOnlyFlag: CommandFlag {
    static let name = "sections-only"
    static let help = "Print names and counts of the sections and no records."
    typealias Value = Bool
}

enum FormatFlag: CommandFlag {
    static let name = "format"
    static let letter: Character? = "f"
    static let help = "How records are printed or read; JSON is one object a line."
    typealias Value = OutputFormat
}

enum ModelFormatFlag: CommandFlag {
    static let name = "format"
    static let letter: Character? = "f"
    static let help = "How the model is printed; JSON is one object a line."
    typealias Value = ModelFormat
}

enum OutputFlag: CommandFlag {
    static let name = "output"
    static let completion = WordCompletion.files
    static let letter: Character? = "o"
    static let placeholder: String? = "FILE"
    static let help = "Write to this file or folder, which appears whole or not at all."
    typealias Value = String
}

enum EntityFlag: CommandFlag {
    static let name = "entity"
    static let completion = WordCompletion.entities
    static let placeholder: String? = "E"
    static let help = "The entity to show first."
    typealias Value = String
}
