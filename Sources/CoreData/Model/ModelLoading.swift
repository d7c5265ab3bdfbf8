import Foundation
import ModelFiles

/// Models in files and in stores. Errors are `CocoaError`s whose one line names the file, the line where there is one, and
/// what is wrong.
enum ModelLoading {
    /// Fills an empty model with the one at `url`.
    static func fill(_ model: NSManagedObjectModel, contentsOf url: URL) throws {
        do {
            let document = try ModelFile.read(url).model
            try ModelAssembly.fill(model, from: document, file: url.path)
        } catch let error as ModelFileError {
            throw cocoaError(error)
        }
    }

    /// Fills an empty model with one that a store keeps.
    static func fill(_ model: NSManagedObjectModel, cachedData: Data, store: String) throws {
        do {
            let document = try ModelFile.readCached(cachedData, store: store).model
            try ModelAssembly.fill(model, from: document, file: store)
        } catch let error as ModelFileError {
            throw cocoaError(error)
        }
    }

    /// The form in which a store keeps `model`.
    static func cachedData(of model: NSManagedObjectModel) throws -> Data {
        do {
            return try ModelFile.writeCached(ModelDisassembly.document(of: model))
        } catch let error as ModelFileError {
            throw cocoaError(error)
        } catch let error as PredicateTranslation.Failure {
            throw CoreDataError.make(134060, "The model cannot be kept in the store: \(error)")
        }
    }

    private static func cocoaError(_ error: ModelFileError) -> NSError {
        let code =
            switch error.kind {
            case .missing: CocoaError.fileReadNoSuchFile
            case .unreadable: CocoaError.fileReadNoPermission
            case .malformed, .unsupported: CocoaError.fileReadCorruptFile
            }
        var info: [String: Any] = [NSFilePathErrorKey: error.file]
        if let line = error.line { info["line"] = line }
        return CoreDataError.make(code.rawValue, "Cannot read the model \(error)", userInfo: info)
    }
}
