import CSQLite3

// Restricts a connection to statements that only read, for SQL that a user types.

extension Connection {
    /// Refuses, from now on, every statement that does anything but read: changes of data and tables, transactions,
    /// `ATTACH`, and pragmas that set something.
    ///
    /// A text in double quotes is a name afterwards, never a text: SQLite would take a mistyped name as a text.
    // SAFETY: the callback uses only its arguments, during the call.
    package func allowOnlyReading() throws {
        try setPragma("query_only", to: "1")
        sqlite3_refuse_quoted_texts(handle)
        sqlite3_set_authorizer(
            handle,
            { _, action, name, value, _, _ in
                switch action {
                case SQLITE_SELECT, SQLITE_READ, SQLITE_RECURSIVE: return SQLITE_OK
                case SQLITE_FUNCTION:
                    let function = value.map { String(cString: $0).lowercased() }
                    return function == "load_extension" ? SQLITE_DENY : SQLITE_OK
                case SQLITE_PRAGMA:
                    return name.map { Connection.harmlessPragmas.contains(String(cString: $0).lowercased()) } == true
                        ? SQLITE_OK : SQLITE_DENY
                default: return SQLITE_DENY
                }
            }, nil)
    }

    /// Pragmas that read whatever their argument is.
    private static let harmlessPragmas: Set<String> = [
        "collation_list", "compile_options", "database_list", "foreign_key_list", "function_list", "index_info",
        "index_list", "index_xinfo", "integrity_check", "module_list", "pragma_list", "quick_check", "table_info",
        "table_list", "table_xinfo",
    ]

    /// Prepares the only statement of a text.
    ///
    /// - Throws: ``SQLiteError`` also if the text has none, or a second one.
    package func prepareOnly(_ sql: String) throws -> Statement {
        let statement = try prepare(sql)
        guard let first = sqlite3_sql(statement.handle) else { return statement }
        let rest = String(decoding: sql.utf8.dropFirst(strlen(first)), as: UTF8.self)
        // Nothing but spaces and comments makes no statement.
        var next: OpaquePointer?
        let result = sqlite3_prepare_v3(handle, rest, -1, 0, &next, nil)
        sqlite3_finalize(next)
        guard result == SQLITE_OK, next == nil else {
            throw SQLiteError(extendedCode: SQLITE_MISUSE, message: "there is more than one statement", sql: sql)
        }
        return statement
    }
}

extension Statement {
    /// The name of a column of the result.
    package func columnName(at column: Int) -> String {
        sqlite3_column_name(handle, Int32(column)).map { String(cString: $0) } ?? ""
    }

    /// The column of a table that a column of the result shows unchanged; `nil` for a computed one.
    package func columnOrigin(at column: Int) -> (table: String, column: String)? {
        guard let table = sqlite3_column_table_name(handle, Int32(column)),
            let origin = sqlite3_column_origin_name(handle, Int32(column))
        else { return nil }
        return (String(cString: table), String(cString: origin))
    }
}

/// Words of SQL.
package enum SQLWord {
    /// True if SQLite may take the word for a part of its language, so that as a name it needs quotes.
    package static func isKeyword(_ word: String) -> Bool {
        sqlite3_keyword_check(word, Int32(clamping: word.utf8.count)) != 0
    }
}
