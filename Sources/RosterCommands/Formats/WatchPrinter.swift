import Foundation

/// One line of what `watch` prints.
enum WatchEvent {
    struct Object {
        let type: String
        let indexPath: [Int]?
        let newIndexPath: [Int]?
        let uri: String
        let label: String
        /// The printed values of the object; `nil` if they could not be read.
        let values: RecordFields?
        /// The reason why the values could not be read.
        var problem: String?
        let changedKeys: [String]
    }

    case fetched(sections: [SectionLine], objects: Int)
    /// In a replay: the transaction of the following events.
    case transaction(number: Int64, time: Date, author: String?)
    case willChange
    case section(isInsert: Bool, index: Int, name: String)
    case object(Object)
    /// Changed aggregates of a section; of the whole list if it has no sections.
    case aggregates(section: String?, fields: [(key: String, value: JSONValue)], texts: [String])
    case didChange(sections: Int, objects: Int)
}

/// Writes the callbacks of a controller in one of the formats, each line immediately.
final class WatchPrinter {
    private let format: OutputFormat
    private let output: any TextOutput

    init(format: OutputFormat, output: any TextOutput) {
        self.format = format
        self.output = output
    }

    func print(_ event: WatchEvent) throws {
        switch format {
        case .json: try output.write(Self.json(event).text + "\n")
        case .table: try output.write(Self.text(event))
        case .csv: try output.write(Self.line(event, .csv))
        case .tsv: try output.write(Self.line(event, .tsv))
        }
        try output.flush()
    }

    // MARK: JSON

    private static func json(_ event: WatchEvent) -> JSONValue {
        switch event {
        case .fetched(let sections, let objects):
            return .object([
                ("event", .string("fetched")), ("sections", .array(sections.map(\.json))),
                ("objects", .integer(objects)),
            ])
        case .transaction(let number, let time, let author):
            return .object([
                ("event", .string("transaction")), ("number", .integer(number)),
                ("time", .string(ISO8601Text.text(of: time))), ("author", author.map(JSONValue.string) ?? .null),
            ])
        case .willChange: return .object([("event", .string("willChange"))])
        case .section(let isInsert, let index, let name):
            return .object([
                ("event", .string("section")), ("type", .string(isInsert ? "insert" : "delete")),
                ("index", .integer(index)), ("name", .string(name)),
            ])
        case .object(let object):
            var fields: RecordFields = [
                ("event", .string("object")), ("type", .string(object.type)), ("indexPath", json(object.indexPath)),
                ("newIndexPath", json(object.newIndexPath)), ("object", .string(object.uri)),
                ("values", object.values.map(JSONValue.object) ?? .null),
                ("changedKeys", .array(object.changedKeys.map(JSONValue.string))),
            ]
            if let problem = object.problem { fields.append(("problem", .string(problem))) }
            return .object(fields)
        case .aggregates(let section, let fields, _):
            return .object(
                [("event", .string("aggregates")), ("section", section.map(JSONValue.string) ?? .null)] + fields)
        case .didChange(let sections, let objects):
            return .object([
                ("event", .string("didChange")), ("sections", .integer(sections)), ("objects", .integer(objects)),
            ])
        }
    }

    private static func json(_ indexPath: [Int]?) -> JSONValue {
        indexPath.map { .array($0.map { .integer($0) }) } ?? .null
    }

    // MARK: Text

    private static func text(_ event: WatchEvent) -> String {
        switch event {
        case .fetched(let sections, let objects): "fetched \(objects) in \(counted(sections.count))\n"
        case .transaction(let number, let time, let author):
            "# \(number) \(ISO8601Text.text(of: time)) \(VisibleText.shown(author ?? ""))\n"
        case .willChange: ""
        case .section(let isInsert, let index, let name):
            "\(isInsert ? "insert" : "delete") section \(index) \(VisibleText.shown(name))\n"
        case .object(let object):
            VisibleText.shown(
                "\(object.type) \(places(object)) \(object.label)"
                    + (object.changedKeys.isEmpty ? "" : " (\(object.changedKeys.joined(separator: ", ")))")
                    + (object.problem.map { ": " + $0 } ?? "")) + "\n"
        case .aggregates(let section, _, let texts):
            VisibleText.shown("\(section ?? "all"): \(texts.joined(separator: ", "))") + "\n"
        case .didChange(let sections, let objects): "now \(objects) in \(counted(sections))\n"
        }
    }

    private static func counted(_ sections: Int) -> String { sections == 1 ? "1 section" : "\(sections) sections" }

    private static func places(_ object: WatchEvent.Object) -> String {
        [object.indexPath, object.newIndexPath].compactMap { $0.map(place) }.joined(separator: "→")
    }

    private static func place(_ indexPath: [Int]) -> String {
        "[" + indexPath.map(String.init).joined(separator: ",") + "]"
    }

    // MARK: Fields

    private static func line(_ event: WatchEvent, _ kind: DelimitedText) -> String {
        switch event {
        case .fetched(_, let objects):
            kind.line(["event", "type", "indexPath", "newIndexPath", "name", "changedKeys", "objects"])
                + kind.line(["fetched", nil, nil, nil, nil, nil, String(objects)])
        case .transaction(let number, let time, let author):
            kind.line(["transaction", ISO8601Text.text(of: time), nil, nil, author, nil, String(number)])
        case .willChange: kind.line(["willChange", nil, nil, nil, nil, nil, nil])
        case .section(let isInsert, let index, let name):
            kind.line(["section", isInsert ? "insert" : "delete", String(index), nil, name, nil, nil])
        case .object(let object):
            kind.line([
                "object", object.type, object.indexPath.map(place), object.newIndexPath.map(place), object.uri,
                object.changedKeys.joined(separator: " "), nil,
            ])
        case .aggregates(let section, _, let texts):
            kind.line(["aggregates", nil, nil, nil, section, texts.joined(separator: ", "), nil])
        case .didChange(_, let objects): kind.line(["didChange", nil, nil, nil, nil, nil, String(objects)])
        }
    }
}
