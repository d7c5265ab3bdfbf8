import Foundation

/// The package's own sources, read as text.
enum SourceTree {
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    struct File {
        /// Relative to the package, for messages.
        let path: String
        /// Comments and string contents taken out; the line structure is kept.
        let code: String

        /// Lines that hold code.
        var codeLineCount: Int {
            code.split(separator: "\n").count { $0.contains { !$0.isWhitespace } }
        }

        /// Every identifier used in the code.
        var identifiers: Set<String> {
            Set(code.matches(of: /[A-Za-z_][A-Za-z0-9_]*/).map { String($0.output) })
        }

        /// The names of the types declared at the file's top level.
        var declaredTypes: Set<String> {
            let pattern = /(?m)^(?:[a-z@()]+\s+)*(?:class|struct|enum|protocol|actor|typealias)\s+([A-Z_][A-Za-z0-9_]*)/
            return Set(code.matches(of: pattern).map { String($0.output.1) })
        }

        /// The modules imported.
        var imports: Set<String> {
            // The words before `import`, attributes among them, do not matter.
            let pattern = /(?m)^(?:(?:@[A-Za-z_()]+|[a-z]+)\s+)*import\s+([A-Za-z_0-9]+)/
            return Set(code.matches(of: pattern).map { String($0.output.1) })
        }
    }

    /// The Swift files below `folder`, a path relative to the package.
    static func files(below folder: String) -> [File] {
        let base = root.appendingPathComponent(folder)
        guard let found = FileManager.default.enumerator(at: base, includingPropertiesForKeys: nil) else { return [] }
        return found.compactMap { entry -> File? in
            guard let url = entry as? URL, url.pathExtension == "swift",
                let text = try? String(contentsOf: url, encoding: .utf8)
            else { return nil }
            let path = String(url.path.dropFirst(root.path.count + 1))
            return File(path: path, code: withoutCommentsAndStrings(text))
        }.sorted { $0.path < $1.path }
    }

    /// Takes out comments and the contents of string literals, which may name anything.
    static func withoutCommentsAndStrings(_ text: String) -> String {
        var result: [UInt8] = []
        let bytes = Array(text.utf8)
        var position = 0
        func starts(_ token: String) -> Bool {
            let wanted = Array(token.utf8)
            return position + wanted.count <= bytes.count && Array(bytes[position..<position + wanted.count]) == wanted
        }
        func skip(until token: String, stoppingAtNewline: Bool = false) {
            while position < bytes.count, !starts(token) {
                if bytes[position] == UInt8(ascii: "\\") { position += 1 }
                guard position < bytes.count else { return }
                if bytes[position] == UInt8(ascii: "\n") {
                    if stoppingAtNewline { return }
                    result.append(UInt8(ascii: "\n"))
                }
                position += 1
            }
            position += token.utf8.count
        }
        while position < bytes.count {
            if starts("//") {
                while position < bytes.count, bytes[position] != UInt8(ascii: "\n") { position += 1 }
            } else if starts("/*") {
                position += 2
                skip(until: "*/")
            } else if starts("\"\"\"") {
                position += 3
                skip(until: "\"\"\"")
            } else if starts("\"") {
                position += 1
                skip(until: "\"", stoppingAtNewline: true)
            } else {
                result.append(bytes[position])
                position += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
