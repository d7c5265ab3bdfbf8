import CoreData

/// Prints records, one after the other, in one of the formats.
protocol RecordWriter {
    /// Begins a section. Called only for lists with sections.
    ///
    /// - Parameter notes: aggregates of its records.
    mutating func section(name: String, count: Int, notes: [String]) throws
    mutating func record(_ object: NSManagedObject) throws
    /// Called once, after the last record.
    mutating func end() throws
}

extension OutputFormat {
    /// A writer of this format.
    func writer(_ columns: [RecordColumn], in surroundings: CommandSurroundings) -> any RecordWriter {
        switch self {
        case .table: RecordTableWriter(columns, in: surroundings)
        case .json: JSONRecordWriter(columns, to: surroundings.output)
        case .csv: DelimitedRecordWriter(columns, kind: .csv, to: surroundings.output)
        case .tsv: DelimitedRecordWriter(columns, kind: .tsv, to: surroundings.output)
        }
    }

    /// The kind of delimited text; `nil` for other formats.
    var delimited: DelimitedText? {
        switch self {
        case .csv: .csv
        case .tsv: .tsv
        case .table, .json: nil
        }
    }
}

/// One JSON object per line. Sections are not written: their key is a value of the record.
struct JSONRecordWriter: RecordWriter {
    private let columns: [RecordColumn]
    private let output: any TextOutput

    init(_ columns: [RecordColumn], to output: any TextOutput) {
        self.columns = columns
        self.output = output
    }

    mutating func section(name: String, count: Int, notes: [String]) throws {}

    mutating func record(_ object: NSManagedObject) throws {
        try output.write(JSONValue.object(columns.map { ($0.name, $0.json(of: object)) }).text + "\n")
    }

    mutating func end() throws {}
}

/// A line of headings, then a line for each record.
struct DelimitedRecordWriter: RecordWriter {
    private let columns: [RecordColumn]
    private let kind: DelimitedText
    private let output: any TextOutput
    private var hasHeadings = false

    init(_ columns: [RecordColumn], kind: DelimitedText, to output: any TextOutput) {
        self.columns = columns
        self.kind = kind
        self.output = output
    }

    mutating func section(name: String, count: Int, notes: [String]) throws {}

    mutating func record(_ object: NSManagedObject) throws {
        try writeHeadings()
        try output.write(kind.line(columns.map { ValueText.field($0.json(of: object)) }))
    }

    mutating func end() throws { try writeHeadings() }

    private mutating func writeHeadings() throws {
        guard !hasHeadings else { return }
        hasHeadings = true
        try output.write(kind.line(columns.map(\.name)))
    }
}
