#if PostgreSQL
    /// An error of the server, or of the connection to it.
    package struct PostgreSQLError: Error, CustomStringConvertible, Sendable {
        /// The five characters of SQLSTATE; `nil` if the server did not answer.
        package var state: String?
        /// The first line of the server's message, or libpq's.
        package var message: String
        package var detail: String?
        package var constraint: String?
        /// True if the connection can no longer be used.
        package var isConnectionLost: Bool
        /// True if a statement was cancelled (57014) by its caller, and not by the server's administrator or a
        /// `statement_timeout`.
        package var isOwnCancellation = false

        package init(
            state: String? = nil, message: String, detail: String? = nil,
            constraint: String? = nil, isConnectionLost: Bool = false
        ) {
            self.state = state
            self.message = Self.line(message)
            self.detail = detail.map(Self.line)
            self.constraint = constraint
            self.isConnectionLost = isConnectionLost
        }

        /// Joins the lines of a text: libpq puts hints in separate lines that begin with a tab.
        private static func line(_ text: String) -> String {
            text.split(whereSeparator: \.isNewline).map { line in
                let words = line.split(separator: "\t").joined(separator: " ")
                let isHint = line.first == "\t"
                return isHint ? "(\(words.trimmingPrefix(while: { $0 == " " })))" : words
            }.joined(separator: " ")
        }

        package var description: String {
            message + (detail.map { " (\($0))" } ?? "") + (state.map { " [SQLSTATE \($0)]" } ?? "")
        }
    }
#endif
