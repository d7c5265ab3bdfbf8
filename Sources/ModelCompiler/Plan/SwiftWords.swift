/// Converts names of a model to Swift.
enum SwiftWords {
    /// Words that need backticks as the name of a declaration.
    private static let reserved: Set<String> = [
        "Any", "Self", "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer",
        "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard",
        "if", "import", "in", "init", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup",
        "private", "protocol", "public", "repeat", "rethrows", "return", "self", "static", "struct", "subscript",
        "super", "switch", "throw", "throws", "true", "try", "typealias", "var", "where", "while",
    ]

    /// The name in source, in backticks if it is a keyword.
    static func escaped(_ name: String) -> String { reserved.contains(name) ? "`\(name)`" : name }

    /// True if the name can be an identifier, including keywords.
    static func isIdentifier(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first, name != "_" else { return false }
        return isHead(first) && name.unicodeScalars.dropFirst().allSatisfy { isHead($0) || isTail($0) }
    }

    /// True for characters that can begin an identifier: letters, and all beyond the first plane, including emoji.
    private static func isHead(_ scalar: Unicode.Scalar) -> Bool {
        let isBeyond = (0x10000...0xEFFFD).contains(scalar.value) && scalar.value & 0xFFFF < 0xFFFE
        return scalar == "_" || isBeyond || scalar.properties.isXIDStart
    }

    private static func isTail(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isXIDContinue }

    /// The string literal of a text.
    static func literal(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case _ where scalar.properties.generalCategory == .control:
                result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// The text with its first character in upper case, as relationship names have in accessors.
    static func capitalized(_ name: String) -> String { name.prefix(1).uppercased() + name.dropFirst() }

    /// The last component of a class name: `Team` for `League.Team` and for `.Team`. `nil` if there is none.
    static func className(_ name: String?) -> String? {
        guard let name, !name.hasSuffix("."), let last = name.split(separator: ".").last else { return nil }
        return String(last)
    }
}
