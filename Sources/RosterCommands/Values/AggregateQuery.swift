import CoreData
import Foundation

/// The aggregates of `--sum`, `--avg`, `--min` and `--max`, in printing order.
public struct AggregateQuery: Sendable {
    /// Key paths of the attributes to sum.
    public var sum: [String]
    /// Key paths of the attributes to average.
    public var avg: [String]
    /// Key paths of the attributes whose minimum is printed.
    public var min: [String]
    /// Key paths of the attributes whose maximum is printed.
    public var max: [String]

    /// Creates a query; without arguments, an empty one.
    public init(sum: [String] = [], avg: [String] = [], min: [String] = [], max: [String] = []) {
        (self.sum, self.avg, self.min, self.max) = (sum, avg, min, max)
    }

    /// True if there are no aggregates.
    public var isEmpty: Bool { sum.isEmpty && avg.isEmpty && min.isEmpty && max.isEmpty }

    private var groups: [(word: String, keyPaths: [String], make: (String) -> SectionAggregate)] {
        [
            ("sum", sum, SectionAggregate.sum), ("avg", avg, SectionAggregate.average),
            ("min", min, SectionAggregate.minimum), ("max", max, SectionAggregate.maximum),
        ].filter { !$0.1.isEmpty }
    }

    /// The controller's aggregates, checked against the entity.
    ///
    /// - Throws: ``CommandError`` of misuse.
    func aggregates(for entity: NSEntityDescription) throws -> [SectionAggregate] {
        for group in groups {
            for keyPath in group.keyPaths {
                try EntityKeys.attribute(at: keyPath, of: entity, for: "compute the \(group.word) of")
            }
        }
        return groups.flatMap { group in group.keyPaths.map(group.make) }
    }

    /// Column headings, one for each aggregate: `sum goalsFor`, `avg wins`, …
    var headings: [String] { groups.flatMap { group in group.keyPaths.map { "\(group.word) \($0)" } } }

    /// The aggregates' values as texts, in the order of ``headings``.
    func texts(_ value: (SectionAggregate) -> SectionValue?) -> [String] {
        groups.flatMap { group in group.keyPaths.map { ValueText.text(of: Self.json(value(group.make($0)))) } }
    }

    /// JSON fields, one for each function with its values by key path: `("sum", {"goalsFor":84})`, …
    func fields(_ value: (SectionAggregate) -> SectionValue?) -> [(key: String, value: JSONValue)] {
        groups.map { group in
            (group.word, .object(group.keyPaths.map { (key: $0, value: Self.json(value(group.make($0)))) }))
        }
    }

    private static func json(_ value: SectionValue?) -> JSONValue {
        switch value {
        case .integer(let number): .integer(number)
        case .real(let number): .double(number)
        case .decimal(let number): .number("\(number)")
        case .text(let text): .string(text)
        case .boolean(let flag): .bool(flag)
        case .date(let date): .string(ISO8601Text.text(of: date))
        case .uuid(let id): .string(id.uuidString)
        default: .null
        }
    }
}

/// A section to print: name, number of records, aggregates and subsections.
struct SectionLine {
    let name: String
    let count: Int
    let aggregates: [(key: String, value: JSONValue)]
    let texts: [String]
    var children: [SectionLine] = []

    init(_ node: SectionNode, _ query: AggregateQuery) {
        name = node.name
        count = node.count
        aggregates = query.fields(node.aggregate)
        texts = query.texts(node.aggregate)
        children = node.children.map { SectionLine($0, query) }
    }

    init(_ section: any NSFetchedResultsSectionInfo, _ query: AggregateQuery) {
        name = section.name
        count = section.numberOfObjects
        aggregates = query.fields(section.aggregate)
        texts = query.texts(section.aggregate)
    }

    var json: JSONValue {
        var fields: [(key: String, value: JSONValue)] = [("name", .string(name)), ("count", .integer(count))]
        fields += aggregates
        if !children.isEmpty { fields.append(("sections", .array(children.map(\.json)))) }
        return .object(fields)
    }
}
