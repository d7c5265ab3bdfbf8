import Foundation

/// One difference between two stores: of a record, or of an entity or property of their models.
struct RecordChange {
    enum Kind: String {
        case added, removed, changed

        fileprivate var sign: String {
            switch self {
            case .added: "+"
            case .removed: "−"
            case .changed: "~"
            }
        }
    }

    let kind: Kind
    let entity: String
    /// The property of the model that differs.
    var property: String?
    /// The key of the record that differs.
    var record: JSONValue?
    /// The fields that differ; all fields of an added or removed record.
    var fields: [ChangeReport.Difference] = []
}

/// Writes the differences between two stores in one of the formats.
struct DifferenceReport {
    let format: OutputFormat
    let output: any TextOutput

    func begin() throws {
        guard let delimited = format.delimited else { return }
        try output.write(delimited.line(["change", "entity", "record", "key", "old", "new"]))
    }

    func write(_ change: RecordChange) throws {
        if format == .json {
            try output.write(Self.json(change).text + "\n")
        } else if let delimited = format.delimited {
            let start = [change.kind.rawValue, change.entity, change.record.flatMap(ValueText.field)]
            guard !change.fields.isEmpty else {
                return try output.write(delimited.line(start + [change.property, nil, nil]))
            }
            for field in change.fields {
                let values = [ValueText.field(field.old), ValueText.field(field.new)]
                try output.write(delimited.line(start + [field.key] + values))
            }
        } else {
            try output.write("\(change.kind.sign) \(VisibleText.shown(Self.text(change)))\n")
        }
    }

    private static func json(_ change: RecordChange) -> JSONValue {
        var members: [(key: String, value: JSONValue)] = [
            ("change", .string(change.kind.rawValue)), ("entity", .string(change.entity)),
        ]
        if let property = change.property { members.append(("property", .string(property))) }
        if let record = change.record {
            members.append(("record", record))
            members.append(("values", .object(change.fields.map { ($0.key, .array([$0.old, $0.new])) })))
        }
        return .object(members)
    }

    /// The fields of an added or removed record are left out: a person can look at it.
    private static func text(_ change: RecordChange) -> String {
        guard let record = change.record else {
            return change.property.map { "\(change.entity).\($0) in the model" } ?? "\(change.entity) in the model"
        }
        let start = "\(change.entity) \(ValueText.text(of: record))"
        guard change.kind == .changed else { return start }
        return start + ": " + change.fields.map(text).joined(separator: ", ")
    }

    /// `wins 7 → 8`; of a to-many relationship the members that differ: `teams −"Angola" +"Japan"`.
    private static func text(_ field: ChangeReport.Difference) -> String {
        guard case (.array(let old), .array(let new)) = (field.old, field.new) else {
            return "\(field.key) \(ChangeReport.shown(field.old)) → \(ChangeReport.shown(field.new))"
        }
        let (oldTexts, newTexts) = (Set(old.map(\.text)), Set(new.map(\.text)))
        let changes =
            old.map(\.text).filter { !newTexts.contains($0) }.map { "−" + $0 }
            + new.map(\.text).filter { !oldTexts.contains($0) }.map { "+" + $0 }
        guard !changes.isEmpty else { return "\(field.key) \(field.old.text) → \(field.new.text)" }
        return "\(field.key) \(changes.joined(separator: " "))"
    }
}
