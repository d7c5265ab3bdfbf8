/// What the tests ask of one file: the words of its code, comments and strings left out.
struct SourceFile: Sendable {
    /// Relative to the package, for messages.
    let path: String
    /// Lines that hold code.
    let codeLineCount: Int
    /// Every identifier used in the code.
    let identifiers: Set<String>
    /// The names of the types declared at the file's top level.
    let declaredTypes: Set<String>
    /// The modules imported.
    let imports: Set<String>

    private static let typeKeywords: Set<String> = ["class", "struct", "enum", "protocol", "actor", "typealias"]

    init(path: String, text: String) {
        self.path = path
        let lines = Self.codeLines(of: Array(text.utf8))
        var identifiers: Set<String> = []
        var declared: Set<String> = []
        var imports: Set<String> = []
        for line in lines {
            let words = Self.words(of: line)
            identifiers.formUnion(words)
            // At the top level means: at the first column. Attributes and modifiers stand before the keyword.
            guard let first = line.first, !Self.isSpace(first) else { continue }
            if let keyword = words.firstIndex(of: "import"), keyword + 1 < words.count {
                imports.insert(words[keyword + 1])
            }
            if let keyword = words.firstIndex(where: Self.typeKeywords.contains), keyword + 1 < words.count,
                words[..<keyword].allSatisfy({ $0.first?.isLowercase == true || $0 == "MainActor" }),
                words[keyword + 1].first.map({ $0.isUppercase || $0 == "_" }) == true
            {
                declared.insert(words[keyword + 1])
            }
        }
        self.identifiers = identifiers
        declaredTypes = declared
        self.imports = imports
        codeLineCount = lines.count { !$0.allSatisfy(Self.isSpace) }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }

    private static func words(of line: [UInt8]) -> [String] {
        func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
        func belongs(_ byte: UInt8) -> Bool {
            isDigit(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == UInt8(ascii: "_")
        }
        return line.split { !belongs($0) }.filter { !isDigit($0[$0.startIndex]) }.map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// The file's lines without comments and without the contents of string literals, which may name anything.
    private static func codeLines(of bytes: [UInt8]) -> [[UInt8]] {
        var lines: [[UInt8]] = [[]]
        var position = 0
        func starts(_ token: StaticString) -> Bool {
            guard position + token.utf8CodeUnitCount <= bytes.count else { return false }
            return (0..<token.utf8CodeUnitCount).allSatisfy { bytes[position + $0] == token.utf8Start[$0] }
        }
        func skip(_ opening: StaticString, until closing: StaticString, stoppingAtNewline: Bool = false) {
            position += opening.utf8CodeUnitCount
            while position < bytes.count, !starts(closing) {
                if bytes[position] == UInt8(ascii: "\\") { position += 1 }
                guard position < bytes.count else { return }
                if bytes[position] == UInt8(ascii: "\n") {
                    if stoppingAtNewline { return }
                    lines.append([])
                }
                position += 1
            }
            position += closing.utf8CodeUnitCount
        }
        while position < bytes.count {
            if starts("//") {
                while position < bytes.count, bytes[position] != UInt8(ascii: "\n") { position += 1 }
            } else if starts("/*") {
                skip("/*", until: "*/")
            } else if starts("\"\"\"") {
                skip("\"\"\"", until: "\"\"\"")
            } else if starts("\"") {
                skip("\"", until: "\"", stoppingAtNewline: true)
            } else {
                if bytes[position] == UInt8(ascii: "\n") {
                    lines.append([])
                } else {
                    lines[lines.count - 1].append(bytes[position])
                }
                position += 1
            }
        }
        return lines
    }
}
