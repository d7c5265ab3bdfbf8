#if PostgreSQL
    import CPostgreSQL
    import Foundation

    /// A connection to a server. Used on one thread at a time.
    ///
    /// Statements are sent in lists, each list in one round trip: libpq's pipeline mode. A statement's text is prepared
    /// on first use, in the same round trip. A pooler may run the next list in another server process, which does not
    /// have the prepared statements: then this connection no longer keeps statements prepared beyond the list.
    package final class PostgreSQLConnection {
        /// One statement of a list.
        package struct Statement: Sendable {
            package var text: String
            package var arguments: [PostgreSQLArgument]

            package init(_ text: String, _ arguments: [PostgreSQLArgument] = []) {
                self.text = text
                self.arguments = arguments
            }
        }

        private let connection: OpaquePointer
        private var prepared: [String: String] = [:]
        private var preparedCount = 0
        /// Unique for this connection: behind a pooler, the same name could be another client's statement.
        private let preparedPrefix = "s\(String(UInt64.random(in: 0 ... .max), radix: 36))_"
        /// True if statements stay prepared for the following lists.
        private var keepsPrepared = true
        private var notifications: [Notification] = []
        /// Fires when the server has sent a message that is not an answer, such as a notification.
        package var alarm: NotificationAlarm?
        /// Called while waiting for a result; if it returns `true`, the server is asked to cancel the statement
        /// (57014).
        package var isCancelled: (() -> Bool)?
        private static let cancellationInterval: Int32 = 30
        private var hasCancelled = false
        /// The maximum number of statements that the server keeps prepared.
        private static let preparedLimit = 300

        /// - Throws: ``PostgreSQLError`` if there is no server, or it refuses the connection.
        package init(_ settings: ConnectionSettings) throws {
            let made = try ConnectionOpening.open(settings)
            connection = made
            PQsetNoticeProcessor(made, { _, _ in }, nil)
        }

        deinit {
            alarm = nil
            PQfinish(connection)
        }

        var descriptor: Int32 { PQsocket(connection) }

        /// The server's version: 150004 is 15.4.
        package var serverVersion: Int { Int(PQserverVersion(connection)) }
        package var serverProcessID: Int { Int(PQbackendPID(connection)) }
        package var isUsable: Bool { PQstatus(connection) == CONNECTION_OK }
        package var isInTransaction: Bool { PQtransactionStatus(connection) != PQTRANS_IDLE }

        /// A setting that the server reports, such as `server_encoding`.
        package func reportedSetting(_ name: String) -> String? {
            PQparameterStatus(connection, name).map { String(cString: $0) }
        }

        private static func error(of connection: OpaquePointer) -> PostgreSQLError {
            let text = String(cString: PQerrorMessage(connection)).trimmingCharacters(in: .whitespacesAndNewlines)
            return PostgreSQLError(message: text, isConnectionLost: true)
        }

        // MARK: Statements

        /// Runs the statements in order, in one round trip.
        ///
        /// - Throws: ``PostgreSQLError`` of the first that fails; those after it are not run.
        @discardableResult
        package func run(_ statements: [Statement]) throws -> [PostgreSQLResult] {
            let isBeginning = !isInTransaction
            do { return try runOnce(statements) } catch let error as PostgreSQLError
                where keepsPrepared && Self.uselessStatement.contains(error.state ?? "")
            {
                // If a table was changed, its statements are prepared once more. Behind a pooler, any prepared
                // statement may be missing at any time, so none are kept any more.
                keepsPrepared = error.state == Self.changedTable
                prepared = [:]
                // The earlier statements of an open transaction cannot be repeated here; the failed list itself had no
                // effect.
                guard isBeginning else { throw error }
                if isInTransaction { try runOnce([Statement("ROLLBACK")]) }
                if keepsPrepared {
                    try runOnce([Statement("DEALLOCATE ALL")])
                    preparedCount = 0
                }
                return try runOnce(statements)
            }
        }

        /// The states of a prepared statement that does not exist, belongs to another client, or returns other columns
        /// than when it was prepared.
        private static let uselessStatement: Set<String> = ["26000", "42P05", changedTable]
        private static let changedTable = "0A000"

        @discardableResult
        private func runOnce(_ statements: [Statement]) throws -> [PostgreSQLResult] {
            if statements.isEmpty { return [] }
            // Encoded before anything is sent: a list is sent completely or not at all.
            let encoded = try statements.map(encoded)
            hasCancelled = false
            alarm?.silence()
            defer { alarm?.resume(rings: hasForeignNotifications) }
            guard PQenterPipelineMode(connection) == 1, PQsetnonblocking(connection, 1) == 0 else { throw lost() }
            var kinds: [Sent] = []
            for (statement, arguments) in zip(statements, encoded) { try send(statement, arguments, &kinds) }
            guard PQpipelineSync(connection) == 1 else { throw lost() }
            let outcome = try receive(kinds)
            guard PQsetnonblocking(connection, 0) == 0, PQexitPipelineMode(connection) == 1 else { throw lost() }
            collectNotifications()
            if let error = outcome.error { throw error }
            return outcome.results
        }

        @discardableResult
        package func run(_ text: String, _ arguments: [PostgreSQLArgument] = []) throws -> PostgreSQLResult {
            let results = try run([Statement(text, arguments)])
            guard let result = results.first else { throw PostgreSQLError(message: "the server returned no result") }
            return result
        }

        private enum Sent {
            case preparation(key: String, name: String)
            case statement
        }

        private func send(_ statement: Statement, _ encoded: [[UInt8]?], _ sent: inout [Sent]) throws {
            let types = statement.arguments.map(\.typeNumber)
            let key = statement.text + "\u{0}" + types.map(String.init).joined(separator: ",")
            var name = prepared[key]
            if name == nil {
                // A COMMIT is not kept as a prepared statement: if preparing it failed, the transaction would be
                // aborted.
                let isKept =
                    keepsPrepared && preparedCount < Self.preparedLimit && statement.text.utf8.count < 20_000
                    && !Self.isControl(statement)
                let new = isKept ? "\(preparedPrefix)\(preparedCount)" : ""
                if isKept { preparedCount += 1 }
                guard PQsendPrepare(connection, new, statement.text, Int32(types.count), types) == 1 else {
                    throw lost()
                }
                sent.append(.preparation(key: isKept ? key : "", name: new))
                // The name is noted at once, for later statements of the same list. If preparing fails, it is removed
                // again.
                if isKept { prepared[key] = new }
                name = new
            }
            let lengths = encoded.map { Int32($0?.count ?? 0) }
            let formats = [Int32](repeating: 1, count: encoded.count)
            let isSent = CBytes.with(encoded) { values in
                PQsendQueryPrepared(connection, name, Int32(encoded.count), values, lengths, formats, 1)
            }
            guard isSent == 1 else { throw lost() }
            sent.append(.statement)
        }

        private static func isControl(_ statement: Statement) -> Bool {
            ["COMMIT", "ROLLBACK", "DEALLOCATE ALL"].contains(statement.text) || statement.text.hasPrefix("BEGIN")
        }

        /// The maximum size of a message; for a larger one the server would close the connection.
        package var mostBytes = 1_000_000_000

        private func encoded(_ statement: Statement) throws -> [[UInt8]?] {
            let values = try statement.arguments.map(Self.encoded)
            let count = values.reduce(0) { $0 + ($1?.count ?? 0) }
            guard count <= mostBytes else {
                throw PostgreSQLError(
                    state: "54000",
                    message: "the values of one statement have \(count) bytes; the server accepts at most \(mostBytes)")
            }
            return values
        }

        private static func encoded(_ argument: PostgreSQLArgument) throws -> [UInt8]? {
            switch argument {
            case .list(let values, let type): return try BinaryFormat.array(values, of: type)
            case .value(let value, let type):
                var bytes: [UInt8] = []
                return try BinaryFormat.append(value, as: type, to: &bytes) ? bytes : nil
            }
        }

        private func receive(_ sent: [Sent]) throws -> (results: [PostgreSQLResult], error: PostgreSQLError?) {
            var results: [PostgreSQLResult] = []
            var error: PostgreSQLError?
            var failed = false
            for kind in sent {
                try waitForResult()
                guard let result = PQgetResult(connection) else { throw lost() }
                let status = PQresultStatus(result)
                if status == PGRES_FATAL_ERROR || status == PGRES_PIPELINE_ABORTED || status == PGRES_BAD_RESPONSE {
                    if error == nil {
                        error = Self.error(of: result, isLost: !isUsable)
                        error?.isOwnCancellation = hasCancelled
                    }
                    failed = true
                    PQclear(result)
                    if case .preparation(let key, _) = kind { prepared[key] = nil }
                } else if case .statement = kind {
                    results.append(PostgreSQLResult(result))
                } else {
                    PQclear(result)
                }
                try drain()
            }
            try waitForResult()
            guard let sync = PQgetResult(connection) else { throw error ?? lost() }
            let mark = PQresultStatus(sync)
            PQclear(sync)
            // Without the sync result the state of the statements is unknown, and the connection is out of step.
            guard mark == PGRES_PIPELINE_SYNC else { throw lost() }
            if failed, !isUsable { throw error ?? lost() }
            return (results, error)
        }

        /// Discards the remaining results up to the next separator.
        private func drain() throws {
            while true {
                try waitForResult()
                guard let more = PQgetResult(connection) else { return }
                PQclear(more)
            }
        }

        private func waitForResult() throws {
            while true {
                let isUnsent = PQflush(connection)
                guard isUnsent >= 0 else { throw lost() }
                if isUnsent == 0, PQisBusy(connection) == 0 { return }
                var descriptor = pollfd(
                    fd: PQsocket(connection), events: Int16(POLLIN | (isUnsent == 1 ? POLLOUT : 0)), revents: 0)
                let interval = isCancelled == nil ? -1 : Self.cancellationInterval
                let found = poll(&descriptor, 1, interval)
                guard found >= 0 || errno == EINTR else { throw lost() }
                if found == 0, isCancelled?() == true { cancel() }
                if descriptor.revents & Int16(POLLIN | POLLHUP | POLLERR) != 0 {
                    guard PQconsumeInput(connection) == 1 else { throw lost() }
                    if PQisBusy(connection) == 0, isUnsent == 0 { return }
                }
            }
        }

        /// Asks the server, by a separate connection, to cancel the current statement.
        private func cancel() {
            (isCancelled, hasCancelled) = (nil, true)
            guard let request = PQgetCancel(connection) else { return }
            defer { PQfreeCancel(request) }
            var message = [CChar](repeating: 0, count: 256)
            _ = PQcancel(request, &message, 256)
        }

        private func lost() -> PostgreSQLError { Self.error(of: connection) }

        private static func error(of result: OpaquePointer, isLost: Bool) -> PostgreSQLError {
            func field(_ code: Character) -> String? {
                PQresultErrorField(result, Int32(code.asciiValue ?? 0)).map { String(cString: $0) }
            }
            let state = field("C")
            return PostgreSQLError(
                state: state,
                message: field("M")
                    ?? String(cString: PQresultErrorMessage(result)).trimmingCharacters(in: .whitespacesAndNewlines),
                detail: field("D"), constraint: field("n"),
                isConnectionLost: isLost || state == "57P01" || state == "57P02")
        }

        // MARK: Copying rows to the server

        /// Runs `COPY … FROM STDIN (FORMAT binary)`.
        ///
        /// - Parameter types: the types of the columns, in the order of the statement.
        package func copy(
            _ text: String, types: [PostgreSQLType], rows: some Sequence<[PostgreSQLValue]>
        ) throws {
            alarm?.silence()
            defer { alarm?.resume(rings: hasForeignNotifications) }
            guard let begun = PQexec(connection, text) else { throw lost() }
            defer { PQclear(begun) }
            guard PQresultStatus(begun) == PGRES_COPY_IN else { throw Self.error(of: begun, isLost: !isUsable) }
            var refusal: (any Error)?
            var bytes: [UInt8] = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0, 0, 0, 0, 0, 0, 0, 0, 0]
            do {
                for row in rows {
                    BinaryFormat.append(Int16(row.count), to: &bytes)
                    for (value, type) in zip(row, types) { try BinaryFormat.appendField(value, as: type, to: &bytes) }
                    if bytes.count > 1 << 16 { try put(&bytes) }
                }
                BinaryFormat.append(Int16(-1), to: &bytes)
                try put(&bytes)
            } catch { refusal = error }
            guard PQputCopyEnd(connection, refusal == nil ? nil : "the client could not produce the rows") == 1 else {
                throw lost()
            }
            while let result = PQgetResult(connection) {
                defer { PQclear(result) }
                if PQresultStatus(result) == PGRES_FATAL_ERROR, refusal == nil {
                    refusal = Self.error(of: result, isLost: !isUsable)
                }
            }
            if let refusal { throw refusal }
        }

        /// Sends the bytes in pieces, since libpq counts them in 32 bits.
        // SAFETY: bytes and `CChar`s are the same in memory; libpq copies them during the call.
        private func put(_ bytes: inout [UInt8]) throws {
            var start = 0
            while start < bytes.count {
                let end = min(start + Self.pieceOfCopy, bytes.count)
                let isPut = bytes[start..<end].withUnsafeBufferPointer { buffer in
                    buffer.withMemoryRebound(to: CChar.self) {
                        PQputCopyData(connection, $0.baseAddress, Int32($0.count))
                    }
                }
                guard isPut == 1 else { throw lost() }
                start = end
            }
            bytes.removeAll(keepingCapacity: true)
        }

        private static let pieceOfCopy = 1 << 24

        // MARK: Notifications

        /// One message of `NOTIFY`.
        package struct Notification: Sendable {
            package let channel: String
            package let payload: String
            package let senderProcessID: Int
        }

        /// The notifications since the last call. Reads only what the server has already sent.
        ///
        /// - Throws: ``PostgreSQLError`` if the connection is lost.
        package func takeNotifications() throws -> [Notification] {
            guard PQconsumeInput(connection) == 1 else { throw lost() }
            collectNotifications()
            defer {
                notifications = []
                alarm?.resume(rings: false)
            }
            return notifications
        }

        private var hasForeignNotifications: Bool { notifications.contains { $0.senderProcessID != serverProcessID } }

        /// Takes the notifications that arrived with results: libpq would keep them forever.
        private func collectNotifications() {
            while let next = PQnotifies(connection) {
                let notification = Notification(
                    channel: String(cString: next.pointee.relname), payload: String(cString: next.pointee.extra),
                    senderProcessID: Int(next.pointee.be_pid))
                PQfreemem(next)
                // Drops the oldest: a caller that has not read this many notifications needs only the newest.
                if notifications.count >= Self.mostNotifications { notifications.removeFirst() }
                notifications.append(notification)
            }
        }

        private static let mostNotifications = 256
    }
#endif
