import Foundation

/// The package's own sources, read as text.
enum SourceTree {
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Every Swift file of `Sources`, by its path. Read once: several tests go through all of them.
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

    /// The Swift files below `folder`, a path relative to the package that begins with `Sources`.
    static func files(below folder: String) -> [SourceFile] {
        sources.filter { $0.path.hasPrefix(folder + "/") }
    }
}
