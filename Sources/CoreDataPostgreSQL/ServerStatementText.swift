#if PostgreSQL
    /// Statements as the server gets them: `$1` instead of `?`, and functions and types of the server by their full names. A role may
    /// have a `search_path` in which functions of its own come before those of the server, and would change what is counted.
    enum ServerStatementText {
        /// The functions of the server that statements call by a plain name. Not `unnest`, which takes several lists only so.
        private static let functions: Set<String> = [
            "abs", "aclexplode", "avg", "chr", "clock_timestamp", "concat_ws", "count", "current_setting", "format",
            "generate_series", "has_schema_privilege", "has_sequence_privilege", "hashtextextended", "json_each",
            "length",
            "lower", "max", "min", "nextval", "pg_advisory_xact_lock", "pg_advisory_xact_lock_shared",
            "pg_current_xact_id",
            "pg_get_userbyid", "pg_notify", "quote_ident", "right", "row_number", "set_config", "setval", "split_part",
            "string_agg", "string_to_table", "strpos", "substr", "sum", "trunc", "upper",
        ]
        /// Types whose names are looked up as those of tables are; others are words of the language.
        private static let types: Set<String> = ["bytea", "float8", "int4", "int8", "regclass", "text", "uuid", "xid"]

        static func make(_ text: String) -> String {
            var result = ""
            result.reserveCapacity(text.utf8.count + 64)
            var quote: Unicode.Scalar?
            var count = 0
            var word = ""
            /// The character before the word, and whether that ends a `::`.
            var before: (last: Unicode.Scalar, isCast: Bool) = (" ", false)

            func endWord(_ next: Unicode.Scalar?) {
                guard !word.isEmpty else { return }
                let isCall = next == "(" && before.last != "." && functions.contains(word.lowercased())
                if isCall || before.isCast && next != "." && types.contains(word) { result += "pg_catalog." }
                result += word
                before = ("w", false)
                word = ""
            }

            for scalar in text.unicodeScalars {
                if let open = quote {
                    if scalar == open { quote = nil }
                    result.unicodeScalars.append(scalar)
                    continue
                }
                if scalar == "_" || scalar.properties.isAlphabetic || !word.isEmpty && "0"..."9" ~= scalar {
                    word.unicodeScalars.append(scalar)
                    continue
                }
                endWord(scalar)
                before = (scalar, scalar == ":" && before.last == ":")
                if scalar == "\"" || scalar == "'" { quote = scalar }
                if scalar == "?" {
                    count += 1
                    result += "$\(count)"
                } else {
                    result.unicodeScalars.append(scalar)
                }
            }
            endWord(nil)
            return result
        }
    }
#endif
