import Foundation

/// `key=value`, as written on the command line.
public struct Assignment: Equatable, Sendable {
    /// The name of the property.
    public let key: String
    /// The value as text; `nil` for NULL.
    public let value: String?

    /// Reads `key=value`. `key=NULL` is NULL; `key=\NULL` is the text `NULL`.
    /// - Throws: ``CommandError`` of misuse if there is no `=` or no key.
    public init(_ text: String) throws {
        guard let sign = text.firstIndex(of: "="), sign != text.startIndex else {
            throw CommandError.misuse("“\(text)” is not an assignment: write key=value")
        }
        key = String(text[..<sign])
        let value = String(text[text.index(after: sign)...])
        if value == "NULL" {
            self.value = nil
        } else if value.hasSuffix("NULL"), !value.isEmpty, value.dropLast(4).allSatisfy({ $0 == "\\" }) {
            self.value = String(value.dropFirst())
        } else {
            self.value = value
        }
    }

    var field: (key: String, value: JSONValue) { (key, value.map(JSONValue.string) ?? .null) }
}
