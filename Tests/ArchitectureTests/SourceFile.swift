import Foundation

/// Words of one file's code, without comments and string literals.
struct SourceFile: Sendable {
    /// Path relative to the package, for messages.
    let path: String
    /// Number of lines with code.
    let codeLineCount: Int
    /// Identifiers in the code that begin like type names: with a capital or an underscore.
    let identifiers: Set<String>
    /// Names of types declared at the file's top level.
    let declaredTypes: Set<String>
    /// Imported modules.
    let imports: Set<String>
    /// Names with a small first letter after a dot: members that the code uses.
    let uses: Set<String>
    /// All names that the code declares or uses as labels.
    let names: Set<String>
    /// Members of types and extensions that are visible in other files.
    let members: Set<String>

    private static let typeKeywords: Set<String> = ["class", "struct", "enum", "protocol", "actor", "typealias"]

    init(path: String, text: String) {
        self.path = path
        var identifiers: Set<String> = []
        var declared: Set<String> = []
        var imports: Set<String> = []
        var words = MemberWords()
        var count = 0
        Self.code(of: Array(text.utf8) + [0]).withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else { return }
            Self.forEachWord(from: start) { word in
                if word[0] == UInt8(ascii: "_") || (0x41...0x5A).contains(word[0]) {
                    identifiers.insert(String(decoding: word, as: UTF8.self))
                } else {
                    words.note(word, after: start)
                }
            }
            var line = start
            while line.pointee != 0 {
                let length = strcspn(line, "\n")
                if strspn(line, " \t\r") < length {
                    count += 1
                    // Top-level declarations begin in the first column. Attributes and modifiers precede the keyword.
                    if !Self.isSpace(line.pointee) { Self.note(Self.words(line, length), &declared, &imports) }
                }
                line += length + (line[length] == 0 ? 0 : 1)
            }
        }
        self.identifiers = identifiers
        declaredTypes = declared
        self.imports = imports
        (uses, names, members) = (words.uses, words.names, words.members)
        codeLineCount = count
    }

    private static func note(_ words: [String], _ declared: inout Set<String>, _ imports: inout Set<String>) {
        if let keyword = words.firstIndex(of: "import"), let name = words[(keyword + 1)...].first(where: isModule) {
            imports.insert(name)
            return
        }
        if let keyword = words.firstIndex(where: typeKeywords.contains), keyword + 1 < words.count,
            words[..<keyword].allSatisfy({ $0.first?.isLowercase == true || $0 == "MainActor" }),
            words[keyword + 1].first.map({ $0.isUppercase || $0 == "_" }) == true
        {
            declared.insert(words[keyword + 1])
        }
    }

    /// False for the `class` of `import class Module.Name`.
    private static func isModule(_ word: String) -> Bool {
        !typeKeywords.contains(word) && !["func", "var", "let"].contains(word)
    }

    private static func isSpace(_ byte: CChar) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }

    private static let digits = "0123456789"
    private static let wordBytes = digits + "_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

    /// Calls `body` for each word that is not a number, up to the final zero byte.
    private static func forEachWord(from start: UnsafePointer<CChar>, _ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        wordBytes.withCString { wordBytes in
            var place = start
            while true {
                place += strcspn(place, wordBytes)
                guard place.pointee != 0 else { return }
                let length = strspn(place, wordBytes)
                if !(0x30...0x39).contains(place.pointee) {
                    place.withMemoryRebound(to: UInt8.self, capacity: length) {
                        body(UnsafeBufferPointer(start: $0, count: length))
                    }
                }
                place += length
            }
        }
    }

    private static func words(_ line: UnsafePointer<CChar>, _ length: Int) -> [String] {
        var words: [String] = []
        let copy: [CChar] = Array(UnsafeBufferPointer(start: line, count: length)) + [0]
        copy.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return }
            forEachWord(from: start) { words.append(String(decoding: $0, as: UTF8.self)) }
        }
        return words
    }

    /// Returns the text without comments and contents of string literals, because a literal may name anything. Line
    /// breaks are kept.
    ///
    /// - Parameter bytes: The text with a final zero byte; the result has one, too.
    private static func code(of bytes: [UInt8]) -> [UInt8] {
        var code: [UInt8] = []
        code.reserveCapacity(bytes.count)
        bytes.withUnsafeBytes { all in
            guard let start = all.baseAddress?.assumingMemoryBound(to: CChar.self) else { return }
            var place = start
            func starts(_ token: StaticString) -> Bool { strncmp(place, token.cString, token.utf8CodeUnitCount) == 0 }
            func skip(_ opening: StaticString, until closing: StaticString, stoppingAtNewline: Bool = false) {
                place += opening.utf8CodeUnitCount
                while place.pointee != 0, !starts(closing) {
                    if place.pointee == CChar(UInt8(ascii: "\\")) { place += 1 }
                    guard place.pointee != 0 else { return }
                    if place.pointee == 10 {
                        if stoppingAtNewline { return }
                        code.append(10)
                    }
                    place += 1
                    place += strcspn(place, "\\\"*\n")
                }
                if place.pointee != 0 { place += closing.utf8CodeUnitCount }
            }
            while place.pointee != 0 {
                let length = strcspn(place, "/\"")
                code.append(contentsOf: UnsafeRawBufferPointer(start: place, count: length))
                place += length
                if starts("//") {
                    place += strcspn(place, "\n")
                } else if starts("/*") {
                    skip("/*", until: "*/")
                } else if starts("\"\"\"") {
                    skip("\"\"\"", until: "\"\"\"")
                } else if starts("\"") {
                    skip("\"", until: "\"", stoppingAtNewline: true)
                } else if place.pointee != 0 {
                    code.append(UInt8(bitPattern: place.pointee))
                    place += 1
                }
            }
        }
        return code + [0]
    }
}

extension StaticString {
    /// The bytes with the compiler's final zero byte.
    fileprivate var cString: UnsafePointer<CChar> { UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self) }
}
