import CoreData
import Foundation
import SQLiteAccess

/// A connection whose statements are traced, like those of SQLite stores (``StatementTrace``).
final class TracedConnection: ServerConnection {
    private let connection: any ServerConnection
    private let trace: StatementTrace

    init(_ connection: any ServerConnection, _ trace: StatementTrace) {
        self.connection = connection
        self.trace = trace
    }

    var isInTransaction: Bool { connection.isInTransaction }

    func run(_ statements: [ServerStatement]) throws -> [any ServerResult] {
        let start = ContinuousClock.now
        var results: [any ServerResult]?
        defer {
            let duration = ContinuousClock.now - start
            for (place, statement) in statements.enumerated() {
                trace.note(
                    text(of: statement), rows: results.map { $0[place].rowCount }, after: duration,
                    among: statements.count)
            }
        }
        let found = try connection.run(statements)
        results = found
        return found
    }

    func copy(_ rows: [[SQLValue]], into table: String, columns: [(name: String, type: ServerType)]) throws {
        let start = ContinuousClock.now
        var count: Int?
        defer {
            let names = columns.map { SQLText.enclosed($0.name, in: "\"") }.joined(separator: ", ")
            let text = "COPY \(table) (\(names)) FROM STDIN"
            trace.note(text, rows: count, after: ContinuousClock.now - start, among: 1)
        }
        try connection.copy(rows, into: table, columns: columns)
        count = rows.count
    }

    func cancelling<Result>(when isCancelled: @escaping () -> Bool, _ body: () throws -> Result) rethrows -> Result {
        try connection.cancelling(when: isCancelled, body)
    }

    func takeMessages() throws -> Int { try connection.takeMessages() }

    func whenMessagesCome(on queue: DispatchQueue, _ wake: @escaping @Sendable () -> Void) {
        connection.whenMessagesCome(on: queue, wake)
    }

    // MARK: Texts

    private func text(of statement: ServerStatement) -> String {
        trace.hasValues ? Self.text(of: statement) : statement.text
    }

    /// Returns the text with the values in place of each `?` outside of quotes.
    static func text(of statement: ServerStatement) -> String {
        var result = ""
        var quote: Unicode.Scalar?
        var arguments = statement.arguments[...]
        for scalar in statement.text.unicodeScalars {
            if let open = quote {
                if scalar == open { quote = nil }
            } else if scalar == "\"" || scalar == "'" {
                quote = scalar
            } else if scalar == "?", let argument = arguments.popFirst() {
                result += text(of: argument)
                continue
            }
            result.unicodeScalars.append(scalar)
        }
        return result
    }

    /// The maximum length of lists and bytes in the trace.
    private static let longest = 32

    private static func text(of argument: ServerArgument) -> String {
        switch argument {
        case .value(let value, _): return text(of: value)
        case .list(let values, _):
            let shown = values.prefix(longest).map(text).joined(separator: ", ")
            return "ARRAY[\(shown)\(values.count > longest ? ", … of \(values.count)" : "")]"
        }
    }

    private static func text(of value: SQLValue) -> String {
        switch value {
        case .null: return "NULL"
        case .integer(let number): return "\(number)"
        case .real(let number): return "\(number)"
        case .text(let text): return SQLText.literal(text)
        case .blob(let data):
            let shown = data.prefix(longest).map { String(format: "%02x", $0) }.joined()
            return "'\\x\(shown)'" + (data.count > longest ? "… of \(data.count) bytes" : "")
        case .uuid(let uuid): return "'\(uuid.uuidString)'"
        case .decimal(let decimal): return "\(decimal)"
        case .list(let values): return "(" + values.map(text).joined(separator: ", ") + ")"
        }
    }
}

extension ServerDatabase {
    /// Opens a new connection, which traces its statements if the process asks for it.
    func opened(at place: ServerPlace) throws -> any ServerConnection {
        let made = try connect(to: place)
        return StatementTrace.ofProcess.map { TracedConnection(made, $0) } ?? made
    }
}
