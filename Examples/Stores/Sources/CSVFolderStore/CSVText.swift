import Foundation

/// Comma-separated values (RFC 4180). An empty field is nil, a quoted empty field is an empty text.
enum CSVText {
    struct Damage: Error {
        let line: Int
        let reason: String
    }

    static func text(_ rows: [[String?]]) -> String {
        rows.map { $0.map(field).joined(separator: ",") + "\r\n" }.joined()
    }

    private static func field(_ text: String?) -> String {
        guard let text else { return "" }
        let isPlain = !text.isEmpty && !text.unicodeScalars.contains { "\",\r\n".unicodeScalars.contains($0) }
        return isPlain ? text : "\"" + text.replacingOccurrences(of: "\"", with: "\"\"") + "\""
    }

    /// - Throws: ``Damage`` with the line, counted from 1.
    static func rows(_ text: String) throws -> [[String?]] {
        var (rows, row): ([[String?]], [String?]) = ([], [])
        var (field, isQuoted, isOpen, line) = ("", false, false, 1)
        var rest = text.unicodeScalars[...]
        func end() {
            row.append(isQuoted || !field.isEmpty ? field : nil)
            (field, isQuoted) = ("", false)
        }
        while let scalar = rest.popFirst() {
            if scalar == "\n" { line += 1 }
            switch scalar {
            case "\"" where isOpen && rest.first == "\"":
                rest.removeFirst()
                field.unicodeScalars.append("\"")
            case "\"" where isOpen: isOpen = false
            case _ where isOpen: field.unicodeScalars.append(scalar)
            case "\"":
                guard field.isEmpty, !isQuoted else { throw Damage(line: line, reason: "a quote inside a field") }
                (isQuoted, isOpen) = (true, true)
            case ",": end()
            case "\r" where rest.first == "\n": break
            case "\n":
                end()
                rows.append(row)
                row = []
            default:
                guard !isQuoted else { throw Damage(line: line, reason: "text behind a quoted field") }
                field.unicodeScalars.append(scalar)
            }
        }
        guard !isOpen else { throw Damage(line: line, reason: "a quote has no end") }
        if !row.isEmpty || !field.isEmpty || isQuoted {
            end()
            rows.append(row)
        }
        return rows
    }
}
