import CoreData
import Foundation

/// `list`: prints the records of an entity, in sections if asked for.
///
/// Cost: records are read in batches and printed immediately, so memory does not grow with their number.
public struct ListCommand {
    /// Location of the store and its model.
    public var store: StoreLocation
    /// The name of the entity.
    public var entity: String
    /// The records, their order and sections.
    public var query: RecordQuery
    /// The keys to print; `nil` for all that fit.
    public var columns: [String]?
    /// True to print only names and counts of sections.
    public var sectionsOnly: Bool
    /// True to end a table with the number and the aggregates of all records.
    public var hasTotal: Bool
    /// Format of the output.
    public var format: OutputFormat

    /// Creates the command; see the properties.
    public init(
        store: StoreLocation, entity: String, query: RecordQuery = RecordQuery(), columns: [String]? = nil,
        sectionsOnly: Bool = false, hasTotal: Bool = false, format: OutputFormat = .table
    ) {
        self.store = store
        self.entity = entity
        self.query = query
        self.columns = columns
        self.sectionsOnly = sectionsOnly
        self.hasTotal = hasTotal
        self.format = format
    }

    /// - Throws: ``CommandError``, or an error of the framework.
    public func run(in surroundings: CommandSurroundings) throws {
        if sectionsOnly, query.section == nil, query.aggregates.isEmpty {
            throw CommandError.misuse("--sections-only needs --section KEYPATH")
        }
        if !sectionsOnly, !hasTotal, query.section == nil, !query.aggregates.isEmpty {
            throw CommandError.misuse(
                "--sum, --avg, --min and --max need --section KEYPATH, --sections-only or --total")
        }
        guard !hasTotal || format == .table else {
            throw CommandError.misuse("--total ends a table; in other formats each line is a record")
        }
        let session = try StoreSession(store, for: .reading, in: surroundings)
        try session.perform {
            let entity = try session.entity(named: entity)
            let request = try query.request(for: entity)
            request.fetchBatchSize = 500
            guard query.section != nil || sectionsOnly else {
                try writeFlat(
                    try RecordQuery.asking { try session.context.fetch(request) }, of: entity, in: surroundings)
                guard hasTotal else { return }
                let all = try query.controller(of: request, for: entity, in: session.context)
                try RecordQuery.asking { try all.performFetch() }
                return try writeTotal(all, surroundings)
            }
            let controller = try query.controller(of: request, for: entity, in: session.context)
            try RecordQuery.asking { try controller.performFetch() }
            if sectionsOnly {
                let sections = (controller.sectionTree ?? []).map { SectionLine($0, query.aggregates) }
                try SectionListing.write(sections, query.aggregates, as: format, in: surroundings)
            } else {
                try write(controller, of: entity, in: surroundings)
            }
            if hasTotal { try writeTotal(controller, surroundings) }
        }
        session.tellNotes(in: surroundings)
        try surroundings.output.flush()
    }

    private func shownColumns(of entity: NSEntityDescription) throws -> [RecordColumn] {
        if let columns { return try ColumnChoice.named(columns, of: entity) }
        // In a table, the section is printed above its records.
        let sort = query.fullSort.filter { format != .table || $0.keyPath != query.section }
        let all = try ColumnChoice.list(of: entity, sort: sort, withObject: format == .json)
        return format == .table ? all.filter { $0.name != query.section } : all
    }

    private func writeFlat(
        _ objects: [NSManagedObject], of entity: NSEntityDescription, in surroundings: CommandSurroundings
    ) throws {
        let columns = try shownColumns(of: entity)
        var writer = format.writer(columns, in: surroundings)
        try RecordBatches.forEach(objects, of: entity, showing: columns) { object in
            if surroundings.interruption.isRaised { throw CommandError.interrupted }
            try writer.record(object)
        }
        try writer.end()
    }

    private func write(
        _ controller: NSFetchedResultsController<NSManagedObject>, of entity: NSEntityDescription,
        in surroundings: CommandSurroundings
    ) throws {
        let columns = try shownColumns(of: entity)
        var writer = format.writer(columns, in: surroundings)
        let sections = controller.sections ?? []
        let starts = sections.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1.numberOfObjects) }
        // All sections together: each batch of records costs queries, and a section may have one record.
        let records = (0..<starts[sections.count]).lazy.map { place in
            let section = Self.section(of: place, starts)
            return controller.object(at: IndexPath(indexes: [section, place - starts[section]]))
        }
        var (next, left) = (0, 0)
        try RecordBatches.forEach(records, of: entity, showing: columns) { record in
            if surroundings.interruption.isRaised { throw CommandError.interrupted }
            if left == 0 {
                let section = sections[next]
                try writer.section(
                    name: section.name, count: section.numberOfObjects, notes: notes(section.aggregate))
                (next, left) = (next + 1, section.numberOfObjects)
            }
            left -= 1
            try writer.record(record)
        }
        try writer.end()
    }

    /// The last section that starts at `place` or before.
    private static func section(of place: Int, _ starts: [Int]) -> Int {
        var (low, high) = (0, starts.count - 1)
        while low + 1 < high {
            let middle = (low + high) / 2
            if starts[middle] <= place { low = middle } else { high = middle }
        }
        return low
    }

    /// `sum wins 12`, …
    private func notes(_ value: (SectionAggregate) -> SectionValue?) -> [String] {
        zip(query.aggregates.headings, query.aggregates.texts(value)).map { "\($0) \($1)" }
    }

    private func writeTotal(
        _ controller: NSFetchedResultsController<NSManagedObject>, _ surroundings: CommandSurroundings
    ) throws {
        let count = (controller.sections ?? []).reduce(0) { $0 + $1.numberOfObjects }
        let line = (["total (\(count))"] + notes(controller.aggregate)).joined(separator: ", ")
        try surroundings.output.write(surroundings.textStyle.bold(line) + "\n")
    }
}

extension CommandError {
    /// Error of a command that was interrupted without leaving partial results.
    static let interrupted = CommandError.failure("interrupted")
}

/// Prints the names, counts and aggregates of sections.
enum SectionListing {
    static func write(
        _ sections: [SectionLine], _ aggregates: AggregateQuery, as format: OutputFormat,
        in surroundings: CommandSurroundings
    ) throws {
        let output = surroundings.output
        let headings = ["name", "count"] + aggregates.headings
        if format == .json {
            for section in sections { try output.write(section.json.text + "\n") }
        } else if let delimited = format.delimited {
            try output.write(delimited.line(headings))
            try forEach(sections, path: "", level: 0) { section, path, _ in
                try output.write(delimited.line([path, String(section.count)] + section.texts))
            }
        } else {
            var table = TextTable(
                headings: headings, rightAligned: headings.map { $0 != "name" }, style: surroundings.textStyle,
                output: output)
            try forEach(sections, path: "", level: 0) { section, _, level in
                let name = String(repeating: "  ", count: level) + section.name
                try table.row([name, String(section.count)] + section.texts)
            }
            try table.end()
        }
    }

    /// Calls `body` with each section and its path, subsections after their parent.
    private static func forEach(
        _ sections: [SectionLine], path: String, level: Int, _ body: (SectionLine, String, Int) throws -> Void
    ) rethrows {
        for section in sections {
            let inner = path.isEmpty ? section.name : "\(path)/\(section.name)"
            try body(section, inner, level)
            try forEach(section.children, path: inner, level: level + 1, body)
        }
    }
}
