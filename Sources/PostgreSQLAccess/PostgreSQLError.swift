#if PostgreSQL
    /// Why the server, or the way to it, refused something.
    package struct PostgreSQLError: Error, CustomStringConvertible, Sendable {
        /// The five letters of the server's error classes; `nil` where the server said nothing.
        package var state: String?
        /// The server's first line, or the library's.
        package var message: String
        package var detail: String?
        package var hint: String?
        package var table: String?
        package var constraint: String?
        /// Whether the connection is of no more use.
        package var isConnectionLost: Bool

        package init(
            state: String? = nil, message: String, detail: String? = nil, hint: String? = nil, table: String? = nil,
            constraint: String? = nil, isConnectionLost: Bool = false
        ) {
            self.state = state
            self.message = message
            self.detail = detail
            self.hint = hint
            self.table = table
            self.constraint = constraint
            self.isConnectionLost = isConnectionLost
        }

        package var description: String {
            message + (detail.map { " (\($0))" } ?? "") + (state.map { " [SQLSTATE \($0)]" } ?? "")
        }

        /// A transaction that met another one and may be tried again as a whole.
        package var isRetryable: Bool { state == "40001" || state == "40P01" }
        package var isUniqueViolation: Bool { state == "23505" }
    }
#endif
