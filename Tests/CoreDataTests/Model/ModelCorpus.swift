import Foundation
import SQLiteAccess

@testable import CoreData

/// Models and stores written by Apple's tools, if this machine has them: in `ROSTER_CORPUS`, or in `shared/corpus` in
/// the package's parent folder or the one above.
enum ModelCorpus {
    static let root: URL? = {
        let package = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let named = ProcessInfo.processInfo.environment["ROSTER_CORPUS"].map { URL(fileURLWithPath: $0) }
        let candidates = [
            named, package.deletingLastPathComponent().appendingPathComponent("shared/corpus"),
            package.deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("shared/corpus"),
        ]
        return candidates.compactMap { $0 }.first { FileManager.default.fileExists(atPath: $0.path) }
    }()

    static var isPresent: Bool { root != nil }

    static func files(where condition: (URL) -> Bool) -> [URL] {
        guard let root, let walker = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil) else {
            return []
        }
        return walker.compactMap { $0 as? URL }.filter(condition).sorted { $0.path < $1.path }
    }

    static func name(_ url: URL) -> String { root.map { String(url.path.dropFirst($0.path.count + 1)) } ?? url.path }

    /// The `.momd` folders.
    static let compiledFolders = files { $0.pathExtension == "momd" }

    /// The `contents` files and source models of later Xcode versions; the oldest format has none.
    static let sources = files {
        $0.lastPathComponent == "contents" || ($0.pathExtension == "xml" && $0.path.contains("model-sources"))
    }

    /// A third of the sources, a different one for each test; all with `ROSTER_LONG_TESTS`.
    static func someSources(from first: Int) -> [URL] {
        if ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"] != nil { return sources }
        return stride(from: first, to: sources.count, by: 3).map { sources[$0] }
    }

    /// The model-related metadata of a store.
    struct StoredModel: CustomStringConvertible, Sendable {
        let url: URL
        let cachedModel: Data
        let hashes: [String: Data]
        let digest: String?
        let checksum: String?
        var description: String { name(url) }

        var metadata: [String: Any] { ["NSStoreModelVersionHashes": hashes] }
    }

    /// The stores that contain their model.
    static let stores: [StoredModel] = files { url in
        guard let handle = try? FileHandle(forReadingFrom: url) else { return false }
        defer { try? handle.close() }
        return (try? handle.read(upToCount: 15)) == Data("SQLite format 3".utf8)
    }.compactMap { url in
        guard let connection = try? Connection(path: url.path, access: .immutable),
            case .blob(let model) = try? connection.value("SELECT Z_CONTENT FROM Z_MODELCACHE"),
            case .blob(let plist) = try? connection.value("SELECT Z_PLIST FROM Z_METADATA"),
            let list = try? PropertyListSerialization.propertyList(from: plist, format: nil) as? [String: Any],
            let hashes = list["NSStoreModelVersionHashes"] as? [String: Data]
        else { return nil }
        return StoredModel(
            url: url, cachedModel: model, hashes: hashes, digest: list["NSStoreModelVersionHashesDigest"] as? String,
            checksum: list["NSStoreModelVersionChecksumKey"] as? String)
    }
}
