/// How a string literal begins and ends.
struct StringDelimiter {
    /// The number of `#` before and after it, and after each backslash that means something.
    let pounds: Int
    let isMultiline: Bool

    var quotes: Int { isMultiline ? 3 : 1 }

    /// Whether the literal ends with the quote at `offset`.
    func closes(in bytes: [UInt8], at offset: Int) -> Bool {
        guard offset + quotes + pounds <= bytes.count else { return false }
        return (0..<quotes).allSatisfy { bytes[offset + $0] == .quote } && hasPounds(in: bytes, at: offset + quotes)
    }

    /// Whether this delimiter's number of `#` stands at `offset`.
    func hasPounds(in bytes: [UInt8], at offset: Int) -> Bool {
        guard offset + pounds <= bytes.count else { return pounds == 0 }
        return (0..<pounds).allSatisfy { bytes[offset + $0] == UInt8(ascii: "#") }
    }

    /// True if the three quotes at `offset`, with pounds before them, open a literal of one line: `#"""#`, `#""a""#`. They do where
    /// the literal is closed on its line.
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
    /// Whether it may be a part of a name. Every byte of a character beyond ASCII is taken for one.
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
