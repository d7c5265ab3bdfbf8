#if PostgreSQL
    /// Statements as the server gets them: `$1` instead of `?`.
    enum ServerStatementText {
        static func make(_ text: String) -> String {
            var result = ""
            result.reserveCapacity(text.utf8.count + 64)
            var quote: Unicode.Scalar?
            var count = 0
            for scalar in text.unicodeScalars {
                if let open = quote {
                    if scalar == open { quote = nil }
                } else if scalar == "\"" || scalar == "'" {
                    quote = scalar
                } else if scalar == "?" {
                    count += 1
                    result += "$\(count)"
                    continue
                }
                result.unicodeScalars.append(scalar)
            }
            return result
        }
    }
#endif
