import CoreData
import Foundation

/// `list`: the records of an entity, in sections where asked for.
///
/// Cost: records are read in batches and printed as they come, so memory does not grow with their number.
public struct ListCommand {
    public var store: StoreLocation
    public var entity: String
    public var query: RecordQuery
    /// The keys to print; `nil` means all that fit.
    public var columns: [String]?
    /// Prints names and counts of the sections and no records.
    public var sectionsOnly: Bool
    public var format: OutputFormat

    public init(
        store: StoreLocation, entity: String, query: RecordQuery = RecordQuery(), columns: [String]? = nil,
        sectionsOnly: Bool = false, format: OutputFormat = .table
    ) {
        self.store = store
        self.entity = entity
        self.query = query
        self.columns = columns
        self.sectionsOnly = sectionsOnly
        self.format = format
    }

    /// - Throws: ``CommandError``, or an error of the framework.
    public func run(in surroundings: CommandSurroundings) throws {
        if sectionsOnly, query.section == nil {
            throw CommandError.misuse("--sections-only needs --section KEYPATH")
        }
        let session = try StoreSession(store, for: .reading, in: surroundings)
        try session.perform {
            let entity = try session.entity(named: entity)
            let request = try query.request(for: entity)
            request.fetchBatchSize = 500
            guard let section = query.section else {
                return try writeFlat(
                    try RecordQuery.asking { try session.context.fetch(request) }, of: entity, in: surroundings)
            }
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: session.context, sectionNameKeyPath: section,
                cacheName: nil)
            try RecordQuery.asking { try controller.performFetch() }
            let sections = controller.sections ?? []
            if sectionsOnly {
                try SectionListing.write(sections.map { ($0.name, $0.numberOfObjects) }, as: format, in: surroundings)
            } else {
                try write(controller, of: entity, in: surroundings)
            }
        }
        try surroundings.output.flush()
    }

    private func writer(for entity: NSEntityDescription, in surroundings: CommandSurroundings) throws
        -> any RecordWriter
    {
        let chosen = try columns.map { try ColumnChoice.named($0, of: entity) }
        // In a table the section stands above its records.
        let sort = query.fullSort.filter { format != .table || $0.keyPath != query.section }
        let all = try ColumnChoice.list(of: entity, sort: sort, withObject: format == .json)
        let shown = format == .table ? all.filter { $0.name != query.section } : all
        return format.writer(chosen ?? shown, in: surroundings)
    }

    private func writeFlat(
        _ objects: [NSManagedObject], of entity: NSEntityDescription, in surroundings: CommandSurroundings
    ) throws {
        var writer = try writer(for: entity, in: surroundings)
        for object in objects {
            if surroundings.interruption.isRaised { throw CommandError.interrupted }
            try writer.record(object)
        }
        try writer.end()
    }

    private func write(
        _ controller: NSFetchedResultsController<NSManagedObject>, of entity: NSEntityDescription,
        in surroundings: CommandSurroundings
    ) throws {
        var writer = try writer(for: entity, in: surroundings)
        for (index, section) in (controller.sections ?? []).enumerated() {
            try writer.section(name: section.name, count: section.numberOfObjects)
            for row in 0..<section.numberOfObjects {
                if surroundings.interruption.isRaised { throw CommandError.interrupted }
                try writer.record(controller.object(at: IndexPath(indexes: [index, row])))
            }
        }
        try writer.end()
    }
}

extension CommandError {
    /// What a command says that was stopped and left nothing undone.
    static let interrupted = CommandError.failure("interrupted")
}

/// Prints the names and counts of sections.
enum SectionListing {
    static func write(
        _ sections: [(name: String, count: Int)], as format: OutputFormat, in surroundings: CommandSurroundings
    ) throws {
        let output = surroundings.output
        if format == .json {
            for section in sections {
                let line = JSONValue.object([("name", .string(section.name)), ("count", .integer(section.count))])
                try output.write(line.text + "\n")
            }
        } else if let delimited = format.delimited {
            try output.write(delimited.line(["name", "count"]))
            for section in sections { try output.write(delimited.line([section.name, String(section.count)])) }
        } else {
            var table = TextTable(
                headings: ["name", "count"], rightAligned: [false, true], style: surroundings.textStyle, output: output)
            for section in sections { try table.row([section.name, String(section.count)]) }
            try table.end()
        }
    }
}
