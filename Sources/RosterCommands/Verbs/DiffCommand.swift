import CoreData
import Foundation

/// `diff`: compares two stores of any types and models: records added, removed and changed.
///
/// Records are matched by their ``RecordKey``: both stores are read in the order of the keys, in batches, so that memory
/// holds the IDs of the records and the values of one batch.
public struct DiffCommand {
    /// The store with the old values.
    public var old: StoreLocation
    /// The store with the new values.
    public var new: StoreLocation
    /// The only entity to compare; `nil` for all.
    public var entity: String?
    /// Format of the output.
    public var format: OutputFormat

    /// Creates the command; see the properties.
    public init(old: StoreLocation, new: StoreLocation, entity: String? = nil, format: OutputFormat = .table) {
        (self.old, self.new, self.entity, self.format) = (old, new, entity, format)
    }

    /// Prints the differences.
    ///
    /// - Returns: the number of differing records, entities and properties; 0 if there is no difference.
    /// - Throws: ``CommandError``, or an error of the framework; also if values cannot be read, after all others were
    ///   compared.
    @discardableResult
    public func run(in surroundings: CommandSurroundings) throws -> Int {
        let sides = try [old, new].map { try StoreSession($0, for: .reading, in: surroundings) }
        for session in sides {
            // Reads one state of the store if its type supports that.
            try session.perform { try? session.context.setQueryGenerationFrom(.current) }
        }
        var run = DiffRun(old: sides[0], new: sides[1], format: format, surroundings)
        defer { surroundings.progress.end() }
        try run.compare(entity)
        for session in sides { session.tellNotes(in: surroundings) }
        try surroundings.output.flush()
        if let missing = run.missing { throw CommandError.failure(text: missing) }
        return run.count
    }
}

/// One comparison of two open stores.
private struct DiffRun {
    private let old: StoreSession
    private let new: StoreSession
    private let report: DifferenceReport
    private let surroundings: CommandSurroundings
    private(set) var count = 0
    /// One line about values that cannot be read.
    private(set) var missing: String?

    init(old: StoreSession, new: StoreSession, format: OutputFormat, _ surroundings: CommandSurroundings) {
        (self.old, self.new, self.surroundings) = (old, new, surroundings)
        report = DifferenceReport(format: format, output: surroundings.output)
    }

    mutating func compare(_ only: String?) throws {
        let names = Set([old, new].flatMap { $0.model.entitiesByName.keys })
        if let only, !names.contains(only) { _ = try old.entity(named: only) }
        try report.begin()
        for name in only.map({ [$0] }) ?? names.sorted() {
            switch (old.model.entitiesByName[name], new.model.entitiesByName[name]) {
            case (let entity?, let other?): try compare(EntityComparison(entity, other), name)
            case (_?, nil): try tell(RecordChange(kind: .removed, entity: name))
            case (nil, _): try tell(RecordChange(kind: .added, entity: name))
            }
        }
    }

    private mutating func tell(_ change: RecordChange) throws {
        count += 1
        try report.write(change)
    }

    private mutating func compare(_ entity: EntityComparison, _ name: String) throws {
        for (kind, property) in entity.changedProperties {
            try tell(RecordChange(kind: kind, entity: name, property: property))
        }
        guard !entity.old.isAbstract, !entity.new.isAbstract else { return }
        let left = try ComparedRecords(of: entity.old, entity, in: old, surroundings)
        let right = try ComparedRecords(of: entity.new, entity, in: new, surroundings)
        var (record, other) = (try left.next(), try right.next())
        while record != nil || other != nil {
            if let record, let other, record.key == other.key {
                let fields = differences(entity.names, record.values, other.values)
                if !fields.isEmpty { try tell(.changed, name, record, fields) }
            } else if let record, other.map({ record.key < $0.key }) ?? true {
                try tell(.removed, name, record, differences(entity.names, record.values, nil))
            } else if let other {
                try tell(.added, name, other, differences(entity.names, nil, other.values))
            }
            // Both sides move on from equal keys.
            let order = (record, other)
            if let first = order.0, order.1.map({ first.key <= $0.key }) ?? true { record = try left.next() }
            if let second = order.1, order.0.map({ second.key <= $0.key }) ?? true { other = try right.next() }
            let total = max(1, left.count + right.count)
            surroundings.progress.report(
                fraction: Double(left.position + right.position) / Double(total),
                "\(name): \(RecordCount.text(left.position + right.position))")
        }
        missing = try missing ?? left.missingLine() ?? right.missingLine()
    }

    private mutating func tell(
        _ kind: RecordChange.Kind, _ entity: String, _ record: ComparedRecords.Record,
        _ fields: [ChangeReport.Difference]
    ) throws {
        try tell(RecordChange(kind: kind, entity: entity, record: record.key.name, fields: fields))
    }

    private func differences(
        _ names: [String], _ old: [JSONValue]?, _ new: [JSONValue]?
    ) -> [ChangeReport.Difference] {
        names.indices.compactMap { index in
            let (value, other) = (old?[index] ?? .null, new?[index] ?? .null)
            return Self.areSame(value, other)
                ? nil : ChangeReport.Difference(key: names[index], old: value, new: other)
        }
    }

    /// True if the values have the same bytes. Swift's comparison ignores how an accented letter is composed.
    private static func areSame(_ value: JSONValue, _ other: JSONValue) -> Bool {
        switch (value, other) {
        case (.string(let text), .string(let other)), (.number(let text), .number(let other)):
            text.utf8.elementsEqual(other.utf8)
        case (.array, .array), (.object, .object): value.text.utf8.elementsEqual(other.text.utf8)
        default: value == other
        }
    }
}
