import CoreData
import Foundation

/// Prints the result of a question in SQL in one of the formats.
struct AnswerWriter: AnswerReceiver {
    private let format: OutputFormat
    private let output: any TextOutput
    private let style: TextStyle
    private var names: [String] = []
    private var table: TextTable?
    /// The first rows of a table, which decide how its columns are aligned.
    private var held: [[Any?]] = []

    private static let heldRows = 100

    /// - Parameter style: `nil` for a file.
    init(_ format: OutputFormat, to output: any TextOutput, _ style: TextStyle?) {
        self.format = format
        self.output = output
        self.style = style ?? TextStyle(columns: nil, isEmphasized: false, width: { $0.count })
    }

    mutating func columns(_ names: [String]) throws {
        self.names = names
        if let delimited = format.delimited { try output.write(delimited.line(names)) }
    }

    mutating func row(_ values: [Any?]) throws -> Bool {
        if format == .table {
            if table == nil {
                held.append(values)
                if held.count == Self.heldRows { try release() }
            } else {
                try write(values)
            }
        } else if let delimited = format.delimited {
            try output.write(delimited.line(values.map { ValueText.field(AnswerValue.json($0)) }))
        } else {
            let members = zip(names, values).map { (key: $0, value: AnswerValue.json($1)) }
            try output.write(JSONValue.object(members).text + "\n")
        }
        return true
    }

    mutating func end() throws {
        guard format == .table, !names.isEmpty else { return }
        if table == nil { try release() }
        try table?.end()
    }

    private mutating func release() throws {
        let areNumbers = names.indices.map { column in
            let values = held.compactMap { $0[column] }
            return !values.isEmpty && values.allSatisfy(AnswerValue.isNumber)
        }
        table = TextTable(
            headings: names.map(VisibleText.shown), rightAligned: areNumbers, style: style,
            output: output)
        for values in held { try write(values) }
        held = []
    }

    private mutating func write(_ values: [Any?]) throws { try table?.row(values.map(AnswerValue.shown)) }
}

/// Values of a result. No attribute declares their types.
package enum AnswerValue {
    static func isNumber(_ value: Any) -> Bool { value is Int64 || value is Double || value is Float }

    /// The value as JSON: data as base 64, numbers that JSON does not have as text.
    package static func json(_ value: Any?) -> JSONValue {
        switch value {
        case let flag as Bool: .bool(flag)
        case let number as Int64: .integer(number)
        case let number as Float: ValueText.float(number)
        case let number as Double: .double(number)
        case let value?: .string(ValueText.stable(value))
        case nil: .null
        }
    }

    /// The value for people.
    static func shown(_ value: Any?) -> String {
        if let data = value as? Data { return ValueText.size(of: data) }
        return ValueText.text(of: json(value))
    }
}
