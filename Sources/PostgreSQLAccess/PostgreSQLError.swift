#if PostgreSQL
    /// Why the server, or the way to it, refused something.
    package struct PostgreSQLError: Error, CustomStringConvertible, Sendable {
        /// The five letters of the server's error classes; `nil` where the server said nothing.
        package var state: String?
        /// The server's first line, or the library's.
        package var message: String
        package var detail: String?
        package var constraint: String?
        /// Whether the connection is of no more use.
        package var isConnectionLost: Bool

        package init(
            state: String? = nil, message: String, detail: String? = nil,
            constraint: String? = nil, isConnectionLost: Bool = false
        ) {
            self.state = state
            self.message = message
            self.detail = detail
            self.constraint = constraint
            self.isConnectionLost = isConnectionLost
        }

        package var description: String {
            message + (detail.map { " (\($0))" } ?? "") + (state.map { " [SQLSTATE \($0)]" } ?? "")
        }
    }
#endif
