#if PostgreSQL
    import CPostgreSQL
    import Foundation

    /// Opens connections, and determines the state with which the server refuses one.
    ///
    /// libpq reports a failure to connect only as text, in the language of the system. So the most verbose messages,
    /// which include the server's state, are requested for connecting, and parsed here.
    enum ConnectionOpening {
        /// - Throws: ``PostgreSQLError``, with the server's state if the server has answered.
        static func open(_ settings: ConnectionSettings) throws -> OpaquePointer {
            let pairs = settings.parameters.sorted { $0.key < $1.key }
            let (keys, values) = (pairs.map(\.key), pairs.map(\.value))
            let begun = CStrings.with(keys) { keys in
                CStrings.with(values) { PQconnectStartParams(keys, $0, 0) }
            }
            guard let begun else { throw PostgreSQLError(message: "not enough memory for a connection") }
            let said = effective(begun)
            // With several servers, libpq connects synchronously: it selects the next one if one does not answer in
            // time.
            if (said["host"] ?? "").contains(",") || (said["hostaddr"] ?? "").contains(",") {
                PQfinish(begun)
                let made = CStrings.with(keys) { keys in
                    CStrings.with(values) { PQconnectdbParams(keys, $0, 0) }
                }
                guard let made else { throw PostgreSQLError(message: "not enough memory for a connection") }
                return try checked(made)
            }
            PQsetErrorVerbosity(begun, PQERRORS_VERBOSE)
            let isInTime = finish(begun, seconds: said["connect_timeout"].flatMap { Int($0) } ?? 0)
            guard isInTime else {
                let place = said["host"].map { " at \($0)" } ?? ""
                PQfinish(begun)
                throw PostgreSQLError(message: "the server\(place) did not answer in time", isConnectionLost: true)
            }
            PQsetErrorVerbosity(begun, PQERRORS_DEFAULT)
            return try checked(begun)
        }

        private static func checked(_ connection: OpaquePointer) throws -> OpaquePointer {
            guard PQstatus(connection) == CONNECTION_OK else {
                let error = refusal(
                    String(cString: PQerrorMessage(connection)),
                    needsPassword: PQconnectionNeedsPassword(connection) == 1)
                PQfinish(connection)
                throw error
            }
            return connection
        }

        /// The settings that libpq has combined from its arguments, its environment and its files.
        private static func effective(_ connection: OpaquePointer) -> [String: String] {
            guard let list = PQconninfo(connection) else { return [:] }
            defer { PQconninfoFree(list) }
            return ConnectionSettings.values(of: list)
        }

        /// - Returns: True if connecting ended in time, successfully or not; 0 seconds is no limit.
        private static func finish(_ connection: OpaquePointer, seconds: Int) -> Bool {
            // The shortest limit is two seconds, as in libpq.
            let end = seconds > 0 ? DispatchTime.now() + .seconds(max(seconds, 2)) : .distantFuture
            var events = Int16(POLLOUT)
            while PQstatus(connection) != CONNECTION_BAD {
                var descriptor = pollfd(fd: PQsocket(connection), events: events, revents: 0)
                var wait: Int32 = -1
                if end != .distantFuture {
                    let now = DispatchTime.now()
                    guard now < end else { return false }
                    wait = Int32(clamping: (end.uptimeNanoseconds - now.uptimeNanoseconds) / 1_000_000 + 1)
                }
                let found = poll(&descriptor, 1, wait)
                if found == 0 { return false }
                if found < 0, errno == EINTR { continue }
                switch PQconnectPoll(connection) {
                case PGRES_POLLING_READING: events = Int16(POLLIN)
                case PGRES_POLLING_WRITING: events = Int16(POLLOUT)
                default: return true
                }
            }
            return true
        }

        /// Parses an error message: `… FATAL: 28P01: password authentication failed`, followed by a line with the
        /// position in the server's source.
        static func refusal(_ text: String, needsPassword: Bool = false) -> PostgreSQLError {
            var state: String?
            var lines: [String] = []
            for line in text.split(whereSeparator: \.isNewline) where !isPlaceInSource(line) {
                var parts = line.split(separator: " ", omittingEmptySubsequences: true)
                if let place = parts.firstIndex(where: isState) {
                    state = String(parts[place].dropLast())
                    parts.remove(at: place)
                }
                lines.append(parts.joined(separator: " "))
            }
            return PostgreSQLError(
                state: state ?? (needsPassword ? "28P01" : nil), message: lines.joined(separator: "\n"),
                isConnectionLost: true)
        }

        private static func isState(_ word: Substring) -> Bool {
            word.utf8.count == 6 && word.hasSuffix(":")
                && word.dropLast().utf8.allSatisfy {
                    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                        || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
                } && word.first?.isNumber == true
        }

        private static func isPlaceInSource(_ line: Substring) -> Bool {
            guard let mark = line.range(of: ".c:") else { return false }
            return !line[mark.upperBound...].isEmpty && line[mark.upperBound...].allSatisfy(\.isNumber)
        }
    }

    /// Lists of texts for libpq, which reads them only during the call.
    enum CStrings {
        // SAFETY: the copies are freed after `body`, which must not keep them; the list is never empty, as it ends with
        // `nil`.
        static func with<Result>(
            _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
        ) -> Result {
            let copies = texts.map { strdup($0) }
            defer { copies.forEach { free($0) } }
            let list = copies.map { UnsafePointer<CChar>($0) } + [nil]
            return list.withUnsafeBufferPointer { body($0.baseAddress.unsafelyUnwrapped) }
        }
    }
#endif
