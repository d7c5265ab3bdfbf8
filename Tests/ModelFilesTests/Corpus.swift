import Foundation

/// Files written by Apple's tools: in `ROSTER_CORPUS`, or in `shared/corpus` next to the package or one folder above.
/// Empty if not found.
enum Corpus {
    static let root: URL? = {
        let package = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let named = ProcessInfo.processInfo.environment["ROSTER_CORPUS"].map { URL(fileURLWithPath: $0) }
        let candidates = [
            named, package.deletingLastPathComponent().appendingPathComponent("shared/corpus"),
            package.deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("shared/corpus"),
        ]
        return candidates.compactMap { $0 }.first { FileManager.default.fileExists(atPath: $0.path) }
    }()

    static var isPresent: Bool { root != nil }

    /// Files in the corpus that meet the condition, sorted by path.
    static func files(where condition: (URL) -> Bool) -> [URL] {
        guard let root, let walker = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil) else {
            return []
        }
        return walker.compactMap { $0 as? URL }.filter(condition).sorted { $0.path < $1.path }
    }

    /// The `contents` files of source models.
    static let sources = files {
        $0.lastPathComponent == "contents" || ($0.pathExtension == "xml" && $0.path.contains("model-sources"))
    }

    /// The compiled models.
    static let compiled = files { $0.pathExtension == "mom" }

    /// The path relative to the corpus, for messages.
    static func name(_ url: URL) -> String { root.map { String(url.path.dropFirst($0.path.count + 1)) } ?? url.path }
}
