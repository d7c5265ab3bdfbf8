import Foundation

/// The package's own sources as text.
enum SourceTree {
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Every Swift file of `Sources`. Read once, because several tests check all of them.
    private static let sources: [SourceFile] = {
        let base = root.appendingPathComponent("Sources")
        guard let found = FileManager.default.enumerator(at: base, includingPropertiesForKeys: nil) else { return [] }
        return found.compactMap { entry -> SourceFile? in
            guard let url = entry as? URL, url.pathExtension == "swift",
                let text = try? String(contentsOf: url, encoding: .utf8)
            else { return nil }
            return SourceFile(path: String(url.path.dropFirst(root.path.count + 1)), text: text)
        }.sorted { $0.path < $1.path }
    }()

    /// Swift files below `folder`, a path relative to the package that begins with `Sources`.
    static func files(below folder: String) -> [SourceFile] {
        sources.filter { $0.path.hasPrefix(folder + "/") }
    }

    /// Texts of the files below a folder that have one of the extensions.
    static func texts(below folder: String, _ extensions: Set<String> = ["swift"]) -> [SourceText] {
        let base = root.appendingPathComponent(folder)
        guard let found = FileManager.default.enumerator(atPath: base.path) else { return [] }
        return found.compactMap { $0 as? String }.sorted().compactMap { name in
            guard let dot = name.lastIndex(of: "."), extensions.contains(String(name[name.index(after: dot)...])) else {
                return nil
            }
            return text(of: "\(folder)/\(name)")
        }
    }

    /// The text of one file; nil if it cannot be read.
    static func text(of path: String) -> SourceText? {
        (try? Data(contentsOf: root.appendingPathComponent(path))).map { SourceText(path: path, bytes: [UInt8]($0)) }
    }

    /// Texts of all Swift files of `Sources` and `Port/Sources`.
    static let sourceTexts = texts(below: "Sources") + texts(below: "Port/Sources")
}
