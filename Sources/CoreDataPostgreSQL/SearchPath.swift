#if PostgreSQL
    import PostgreSQLAccess

    /// The schemas in which the server looks for names without a schema: its own alone. A role may have a `search_path` in which
    /// functions, types and operators of its own come before those of the server, and would change answers. Operators are
    /// not qualified one by one because `IN` and `IS DISTINCT FROM` cannot be.
    struct SearchPath {
        private static let value = "pg_catalog,pg_temp"
        /// The option with which a server's process starts.
        static let option = "-c search_path=\(value)"
        /// SQLSTATEs with which a connection pooler rejects ``option``; the connection is then opened without it.
        static let refusals: Set = ["08P01", "0A000"]

        /// True if the connection started with the path; `nil` before the first answer. A pooler may drop ``option`` without a
        /// word.
        private var isSet: Bool?

        /// Adds what sets the path in the transaction that `statements` begin.
        ///
        /// - Returns: the place of the added statement; `nil` if there is none.
        func add(to statements: inout [PostgreSQLConnection.Statement]) -> Int? {
            guard isSet != true, let first = statements.first else { return nil }
            // SET reads no rows: the transaction's snapshot is taken later, after its locks.
            if first.text.hasPrefix("BEGIN") {
                statements.insert(.init("SET LOCAL search_path = \(Self.value)"), at: 1)
                return 1
            }
            let name = "'search_path'"
            statements.insert(
                .init(
                    "SELECT pg_catalog.current_setting(\(name)), "
                        + "pg_catalog.set_config(\(name), '\(Self.value)', true)"), at: 0)
            return 0
        }

        /// Removes the answer to the added statement from `results`.
        mutating func take(_ place: Int?, from results: inout [PostgreSQLResult]) {
            guard let place, place < results.count else { return }
            let answer = results.remove(at: place)
            if place == 0, isSet == nil { isSet = answer.text(0, 0) == Self.value }
        }
    }
#endif
