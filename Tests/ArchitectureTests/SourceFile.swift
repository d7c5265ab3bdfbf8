import Foundation

/// What the tests ask of one file: the words of its code, comments and strings left out.
struct SourceFile: Sendable {
    /// Relative to the package, for messages.
    let path: String
    /// Lines that hold code.
    let codeLineCount: Int
    /// Every identifier used in the code that begins as names of types do: with a capital or an underscore.
    let identifiers: Set<String>
    /// The names of the types declared at the file's top level.
    let declaredTypes: Set<String>
    /// The modules imported.
    let imports: Set<String>
    /// Every name with a small letter that follows a dot: members that the code uses.
    let uses: Set<String>
    /// Every name that the code declares or labels, wherever.
    let names: Set<String>
    /// The members of types and extensions that other files see.
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
                    // At the top level means: at the first column. Attributes and modifiers stand before the keyword.
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

    /// Not the `class` of `import class Module.Name`.
    private static func isModule(_ word: String) -> Bool {
        !typeKeywords.contains(word) && !["func", "var", "let"].contains(word)
    }

    private static func isSpace(_ byte: CChar) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }

    private static let digits = "0123456789"
    private static let wordBytes = digits + "_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

    /// Calls `body` with each word that is no number, up to the zero.
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

    /// The text without comments and without the contents of string literals, which may name anything; its lines stay.
    ///
    /// - Parameter bytes: with a zero at the end, as what is returned.
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
    /// The bytes, with the zero that the compiler puts behind them.
    fileprivate var cString: UnsafePointer<CChar> { UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self) }
}
