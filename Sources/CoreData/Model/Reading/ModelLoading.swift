import Foundation
import ModelFiles

/// Reads models from files and stores. Errors are `CocoaError`s with a one-line message that names the file, the line
/// if known, and the problem.
enum ModelLoading {
    /// Fills an empty model from the file at `url`.
    static func fill(_ model: NSManagedObjectModel, contentsOf url: URL) throws {
        do {
            let (document, notes) = try ModelFile.readForUse(url)
            model.readingNotes = notes
            try ModelAssembly.fill(model, from: document, file: url.path)
            model.classModules = ModelResources.modules(around: url)
            if let hashes = try writtenHashes(for: url) { VersionHash.adopt(hashes, in: model) }
        } catch let error as ModelFileError {
            throw cocoaError(error)
        }
    }

    /// The version hashes stored with a compiled model.
    private static func writtenHashes(for url: URL) throws -> [String: Data]? {
        let folder = url.pathExtension == "momd" ? url : url.deletingLastPathComponent()
        guard folder.pathExtension == "momd", url.pathExtension != "xcdatamodel",
            FileManager.default.fileExists(atPath: folder.appendingPathComponent("VersionInfo.plist").path)
        else { return nil }
        let info = try CompiledModelBundle.versionInfo(of: folder)
        let version = url == folder ? info.currentVersion : url.deletingPathExtension().lastPathComponent
        return info.hashes[version]
    }

    /// Fills an empty model from a store's cached model.
    ///
    /// - Parameter metadata: the store's metadata, which supplies version hashes that cannot be computed.
    static func fill(
        _ model: NSManagedObjectModel, cachedData: Data, store: String, metadata: [String: Any]
    ) throws {
        do {
            let (document, notes) = try ModelFile.readCached(cachedData, store: store)
            model.readingNotes = notes.map { $0.text(in: store) }
            try ModelAssembly.fill(model, from: document, file: store)
            if let hashes = ModelMerging.versionHashes(in: metadata) { VersionHash.adopt(hashes, in: model) }
        } catch let error as ModelFileError {
            throw cocoaError(error)
        }
    }

    /// Fills an empty model from one inferred from a store's tables.
    ///
    /// - Parameter metadata: the store's metadata, which supplies the version hashes.
    static func fill(
        _ model: NSManagedObjectModel, inferred document: ModelDocument, store: String, metadata: [String: Any]
    ) throws {
        try translatingErrors {
            try document.check(file: store)
            try ModelAssembly.fill(model, from: document, file: store)
        }
        let hashes = ModelMerging.versionHashes(in: metadata) ?? [:]
        for entity in model.entities { entity.writtenVersionHash = entity.name.flatMap { hashes[$0] } }
    }

    /// The document of `model`.
    ///
    /// - Throws: 134060 if a predicate is a block, or a sort has a comparator or no key.
    static func document(of model: NSManagedObjectModel) throws -> ModelDocument {
        do {
            return try ModelDisassembly.document(of: model)
        } catch let error as PredicateTranslation.Failure {
            throw CoreDataError.make(134060, "Cannot write the model: \(error)")
        }
    }

    /// The form in which a store caches `model`.
    static func cachedData(of model: NSManagedObjectModel) throws -> Data {
        do {
            return try ModelFile.writeCached(ModelDisassembly.document(of: model))
        } catch let error as ModelFileError {
            throw cocoaError(error)
        } catch let error as PredicateTranslation.Failure {
            throw CoreDataError.make(134060, "Cannot write the model to the store: \(error)")
        }
    }

    /// Runs `body`, and converts errors of model files to `CocoaError`s.
    static func translatingErrors<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as ModelFileError { throw cocoaError(error) }
    }

    private static func cocoaError(_ error: ModelFileError) -> NSError {
        let code =
            switch error.kind {
            case .missing: CocoaError.fileReadNoSuchFile
            case .unreadable: CocoaError.fileReadNoPermission
            case .malformed, .unsupported: CocoaError.fileReadCorruptFile
            case .unwritable: CocoaError.fileWriteUnknown
            }
        var info: [String: Any] = [NSFilePathErrorKey: error.file]
        if let line = error.line { info["line"] = line }
        let verb = error.kind == .unwritable ? "write" : "read"
        return CoreDataError.make(code.rawValue, "Cannot \(verb) the model \(error)", userInfo: info)
    }
}
