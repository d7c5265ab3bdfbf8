import CoreData

/// Prints records as a table for people. A section is a line with name and count; its records are indented.
struct RecordTableWriter: RecordWriter {
    private let columns: [RecordColumn]
    private let surroundings: CommandSurroundings
    private var table: TextTable?

    init(_ columns: [RecordColumn], in surroundings: CommandSurroundings) {
        self.columns = columns
        self.surroundings = surroundings
    }

    mutating func section(name: String, count: Int, notes: [String]) throws {
        prepare(indent: 2)
        try table?.heading("\(name.isEmpty ? "(none)" : name) (\(count))" + notes.map { ", \($0)" }.joined())
    }

    mutating func record(_ object: NSManagedObject) throws {
        prepare(indent: 0)
        try table?.row(columns.map { $0.shown(of: object) })
    }

    mutating func end() throws {
        prepare(indent: 0)
        try table?.end()
    }

    private mutating func prepare(indent: Int) {
        if table == nil { table = makeTable(indent: indent) }
    }

    private func makeTable(indent: Int) -> TextTable {
        TextTable(
            headings: columns.map(\.name), rightAligned: columns.map(\.isNumeric), indent: indent,
            style: surroundings.textStyle, output: surroundings.output)
    }
}
