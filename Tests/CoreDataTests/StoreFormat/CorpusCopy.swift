import Foundation
import SQLiteAccess
import Synchronization
import Testing

@testable import CoreData

/// A writable copy of a store of the corpus, opened with the model that the store contains.
struct CorpusCopy {
    struct Source: CustomStringConvertible, Sendable {
        let name: String
        let url: URL
        /// The model of a store from before iOS 9, which contains none.
        let source: URL?
        var description: String { name }
    }

    let harness: StoreHarness
    let open: StoreHarness.Open

    static let all: [Source] = ModelCorpus.files { url in
        guard url.path.contains("/stores/"), let handle = try? FileHandle(forReadingFrom: url) else { return false }
        defer { try? handle.close() }
        return (try? handle.read(upToCount: 15)) == Data("SQLite format 3".utf8)
    }.map { url in
        let folder = url.deletingLastPathComponent()
        let models = oldModels[folder.lastPathComponent].map { folder.appendingPathComponent("model/\($0)") }
        return Source(name: folder.lastPathComponent, url: url, source: models)
    }

    private static let oldModels = [
        "bookmigration-model1": "Model.xcdatamodeld/Model1.xcdatamodel",
        "kodeco-surfjournal": "SurfJournalModel.xcdatamodeld",
    ]

    /// Store → entity → number of rows, from `STORES.tsv`.
    static let manifest: [String: [String: Int]] = {
        guard let root = ModelCorpus.root,
            let text = try? String(contentsOf: root.appendingPathComponent("STORES.tsv"), encoding: .utf8)
        else { return [:] }
        let lines = text.split(whereSeparator: \.isNewline).map {
            $0.split(separator: "\t", omittingEmptySubsequences: false)
        }
        guard let column = lines.first?.firstIndex(of: "rows_per_entity") else { return [:] }
        var result: [String: [String: Int]] = [:]
        for line in lines.dropFirst() where line.count > column {
            var counts: [String: Int] = [:]
            for entry in line[column].split(separator: ";") {
                let parts = entry.split(separator: ":")
                if parts.count == 2 { counts[String(parts[0])] = Int(parts[1]) }
            }
            result[String(line[0])] = counts
        }
        return result
    }()

    /// Models by store. A coordinator freezes them, so all copies can share one.
    private static let models = Mutex<[String: UncheckedSendable<NSManagedObjectModel>]>([:])

    private static func model(of source: Source) throws -> NSManagedObjectModel {
        if let known = models.withLock({ $0[source.name] }) { return known.value }
        let model = try readModel(of: source)
        let shared = UncheckedSendable(model)
        return models.withLock { models in
            if let known = models[source.name] { return known }
            models[source.name] = shared
            return shared
        }.value
    }

    private static func readModel(of source: Source) throws -> NSManagedObjectModel {
        if let file = source.source { return try NSManagedObjectModel(validContentsOf: file) }
        // Not read from the original, because SQLite creates files next to a store that it reads.
        let first = try StoreHarness(NSManagedObjectModel())
        try copy(source, to: first.url)
        let data = try #require(
            try SQLiteStore.cachedModelData(at: first.url, options: [NSReadOnlyPersistentStoreOption: true]))
        return try NSManagedObjectModel(
            cachedModelData: data, store: first.url.path,
            metadata: try SQLiteStore.metadataForPersistentStore(with: first.url))
    }

    init(_ source: Source) throws {
        harness = try StoreHarness(Self.model(of: source))
        try Self.copy(source, to: harness.url)
        open = try harness.open()
        // Every value of a store written by Apple's framework can be read.
        #expect(open.coordinator.readingNotes.isEmpty, "\(source)")
    }

    private static func copy(_ source: Source, to url: URL) throws {
        for suffix in ["", "-wal"] {
            let file = source.url.path + suffix
            guard FileManager.default.fileExists(atPath: file) else { continue }
            try FileManager.default.copyItem(atPath: file, toPath: url.path + suffix)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: url.path + suffix)
        }
    }

    func context() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = open.coordinator
        return context
    }

    /// All rows of all data tables: table → key → values. Without the framework's own tables.
    func contents() throws -> [String: [SQLiteValue: [SQLiteValue]]] {
        let names = try harness.sql("SELECT name, sql FROM sqlite_master WHERE type = 'table'").compactMap {
            row -> String? in
            guard case .text(let name) = row[0] else { return nil }
            let own: Set = ["Z_METADATA", "Z_PRIMARYKEY", "ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"]
            // The pages of an R-tree may be divided differently with the same rows.
            let isPages = name.hasPrefix("Z_RT_") && ["_node", "_rowid", "_parent"].contains { name.hasSuffix($0) }
            return own.contains(name) || isPages || name.hasPrefix("sqlite_") ? nil : name
        }
        var result: [String: [SQLiteValue: [SQLiteValue]]] = [:]
        for name in names {
            for row in try harness.sql("SELECT rowid, * FROM \(SQLName.quoted(name))") {
                result[name, default: [:]][row[0]] = row
            }
        }
        return result
    }
}
