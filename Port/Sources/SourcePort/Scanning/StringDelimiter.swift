/// The kind of quotes around a string literal.
struct StringDelimiter {
    /// The number of `#` before and after the literal, and after each backslash of an escape sequence.
    let pounds: Int
    let isMultiline: Bool

    var quotes: Int { isMultiline ? 3 : 1 }

    /// True if the literal ends with the quote at `offset`.
    func closes(in bytes: [UInt8], at offset: Int) -> Bool {
        guard offset + quotes + pounds <= bytes.count else { return false }
        return (0..<quotes).allSatisfy { bytes[offset + $0] == .quote } && hasPounds(in: bytes, at: offset + quotes)
    }

    /// True if the delimiter's number of `#` is at `offset`.
    func hasPounds(in bytes: [UInt8], at offset: Int) -> Bool {
        guard offset + pounds <= bytes.count else { return pounds == 0 }
        return (0..<pounds).allSatisfy { bytes[offset + $0] == UInt8(ascii: "#") }
    }

    /// True if three quotes at `offset`, preceded by `#`, open a literal of one line: `#"""#`, `#""a""#`. This is the
    /// case if it ends on the same line.
    func isOneLine(in bytes: [UInt8], at offset: Int) -> Bool {
        let closing = StringDelimiter(pounds: pounds, isMultiline: false)
        return bytes[(offset + 2)...].prefix { !$0.isLineBreak }.indices.contains { closing.closes(in: bytes, at: $0) }
    }
}

extension UInt8 {
    static let newline = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")
    static let quote = UInt8(ascii: "\"")
    static let backslash = UInt8(ascii: "\\")

    var isLineBreak: Bool { self == .newline || self == .carriageReturn }
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
    /// True for bytes of names. Every byte of a character outside ASCII counts as one.
    var isWordByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
            UInt8(ascii: "$"), 0x80...:
            true
        default: isDigit
        }
    }
    var isBlank: Bool { self == 0x20 || self == 0x09 }
}
