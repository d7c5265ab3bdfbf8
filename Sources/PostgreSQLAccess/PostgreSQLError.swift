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
        /// Whether a statement was given up (57014) because its caller wanted that, and not the server's administrator, or a
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

        /// A text of several lines as one: the library puts hints in lines of their own, behind a tabulator.
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
