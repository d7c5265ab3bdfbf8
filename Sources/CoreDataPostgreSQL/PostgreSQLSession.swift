#if PostgreSQL
    import CoreData
    import Foundation
    import PostgreSQLAccess
    import ServerStores

    /// A connection as stores on a server use it.
    final class PostgreSQLSession: ServerConnection {
        private let connection: PostgreSQLConnection
        private var path = SearchPath()
        /// Statements as the server gets them (``ServerStatementText``), by their texts.
        private var numbered: [String: String] = [:]
        private static let mostNumbered = 500

        init(_ connection: PostgreSQLConnection) { self.connection = connection }

        var isInTransaction: Bool { connection.isInTransaction }

        func run(_ statements: [ServerStatement]) throws -> [any ServerResult] {
            try Self.translating {
                var sent = statements.map { statement in
                    PostgreSQLConnection.Statement(
                        text(statement.text), statement.arguments.map(PostgreSQLArgument.init))
                }
                let place = connection.isInTransaction ? nil : path.add(to: &sent)
                var results = try connection.run(sent)
                path.take(place, from: &results)
                return results.map(PostgreSQLRows.init)
            }
        }

        func copy(_ rows: [[SQLValue]], into table: String, columns: [(name: String, type: ServerType)]) throws {
            let names = columns.map { PostgreSQLDatabase.quoted($0.name) }
            try Self.translating {
                try connection.copy(
                    "COPY \(table) (\(names.joined(separator: ", "))) FROM STDIN (FORMAT binary)",
                    types: columns.map { PostgreSQLType($0.type) }, rows: rows.lazy.map { $0.map(PostgreSQLValue.init) }
                )
            }
        }

        func cancelling<Result>(when isCancelled: @escaping () -> Bool, _ body: () throws -> Result) rethrows -> Result
        {
            connection.isCancelled = isCancelled
            defer { connection.isCancelled = nil }
            return try body()
        }

        func takeMessages() throws -> Int {
            try Self.translating {
                let own = connection.serverProcessID
                return try connection.takeNotifications().count { $0.senderProcessID != own }
            }
        }

        func whenMessagesCome(on queue: DispatchQueue, _ wake: @escaping @Sendable () -> Void) {
            connection.alarm = NotificationAlarm(connection, on: queue, wake)
        }

        private func text(_ text: String) -> String {
            if let known = numbered[text] { return known }
            let made = ServerStatementText.make(text)
            if numbered.count >= Self.mostNumbered { numbered = [:] }
            numbered[text] = made
            return made
        }

        // MARK: Errors

        private static func translating<Result>(_ body: () throws -> Result) throws -> Result {
            do { return try body() } catch let error as PostgreSQLError { throw serverError(error) }
        }

        static func serverError(_ error: PostgreSQLError) -> ServerError {
            let kind: ServerError.Kind =
                switch error.state {
                case "40001", "40P01": .retry
                case "55P03": .locked
                case "25P03": .lost
                case "57014" where error.isOwnCancellation: .cancelled
                case "23505": .uniqueViolation
                case "23503": .referenceViolation
                case "28000", "28P01", "42501": .forbidden
                case "3D000", "3F000": .missing
                case "25006": .unwritable
                case _ where error.isConnectionLost: .lost
                default: .other
                }
            let message = error.message.hasSuffix(".") ? String(error.message.dropLast()) : error.message
            return ServerError(
                kind: kind, state: error.state, message: message + (error.detail.map { " (\($0))" } ?? ""),
                constraint: error.constraint)
        }
    }

    /// The rows of a result.
    private final class PostgreSQLRows: ServerResult {
        private let result: PostgreSQLResult

        init(_ result: PostgreSQLResult) { self.result = result }

        var rowCount: Int { result.rowCount }

        func value(_ row: Int, _ column: Int) -> SQLValue {
            switch result.value(row, column) {
            case .null: .null
            case .boolean(let value): .integer(value ? 1 : 0)
            case .integer(let number): .integer(number)
            case .real(let number): .real(number)
            case .text(let text): .text(text)
            case .bytes(let data): .blob(data)
            case .uuid(let uuid): .uuid(uuid)
            case .numeric(let decimal): .decimal(decimal)
            }
        }

        func integers(inColumn column: Int) -> [Int64]? { result.integers(inColumn: column) }

        var command: String { result.command }
    }

    extension PostgreSQLType {
        init(_ type: ServerType) {
            switch type {
            case .boolean: self = .boolean
            case .smallint: self = .smallint
            case .integer: self = .integer
            case .bigint: self = .bigint
            case .double: self = .double
            case .numeric: self = .numeric
            case .text: self = .text
            case .bytes: self = .bytes
            case .uuid: self = .uuid
            }
        }
    }

    extension PostgreSQLValue {
        init(_ value: SQLValue) {
            switch value {
            case .null, .list: self = .null
            case .integer(let number): self = .integer(number)
            case .real(let number): self = .real(number)
            case .text(let text): self = .text(text)
            case .blob(let data): self = .bytes(data)
            case .uuid(let uuid): self = .uuid(uuid)
            case .decimal(let decimal): self = .numeric(decimal)
            }
        }
    }

    extension PostgreSQLArgument {
        init(_ argument: ServerArgument) {
            switch argument {
            case .value(let value, let type): self = .value(PostgreSQLValue(value), PostgreSQLType(type))
            case .list(let values, let type): self = .list(values.map(PostgreSQLValue.init), PostgreSQLType(type))
            }
        }
    }
#endif
