import Foundation

/// Refers to one version of a model by its checksum and location. Immutable, safe on any thread.
// SAFETY: immutable, as are the referenced models once they are in use.
open class NSManagedObjectModelReference: NSObject, @unchecked Sendable {
    private enum Place {
        case model(NSManagedObjectModel)
        case file(URL)
        case named(String, Bundle?)
        case hashes([String: Data], Bundle?)
    }

    private let place: Place
    /// The checksum of the version, as in its model's `versionChecksum` and in Xcode's build log.
    open private(set) var versionChecksum: String

    /// Refers to `model` itself.
    public init(model: NSManagedObjectModel, versionChecksum: String) {
        place = .model(model)
        self.versionChecksum = versionChecksum
    }

    /// Refers to a version in the model file at `fileURL`.
    public init(fileURL: URL, versionChecksum: String) {
        place = .file(fileURL)
        self.versionChecksum = versionChecksum
    }

    /// Refers to a version of the named model.
    ///
    /// - Parameters:
    ///   - modelName: the name of the model's file, without its extension.
    ///   - bundle: the bundle of the model; `nil` means the program's own resources.
    ///   - versionChecksum: the version's `NSManagedObjectModel.versionChecksum`.
    public init(name modelName: String, in bundle: Bundle?, versionChecksum: String) {
        place = .named(modelName, bundle)
        self.versionChecksum = versionChecksum
    }

    /// Refers to the version with these entity version hashes.
    ///
    /// - Parameters:
    ///   - versionHash: entity name → hash, as in a store's metadata.
    ///   - bundle: the bundle of the model; `nil` means the program's own resources.
    ///   - versionChecksum: the version's `NSManagedObjectModel.versionChecksum`.
    public init(entityVersionHashes versionHash: [AnyHashable: Any], in bundle: Bundle?, versionChecksum: String) {
        var hashes: [String: Data] = [:]
        for (name, hash) in versionHash { if let name = name as? String { hashes[name] = hash as? Data } }
        place = .hashes(hashes, bundle)
        self.versionChecksum = versionChecksum
    }

    /// The model, located at the first access.
    ///
    /// - Precondition: it exists and has the checksum. A migration throws 134504 instead.
    open var resolvedModel: NSManagedObjectModel {
        do { return try resolve() } catch { preconditionFailure(error.localizedDescription) }
    }

    /// Returns the model that the reference names.
    ///
    /// - Throws: 134504 if there is no such model, or it has another checksum.
    func resolve() throws -> NSManagedObjectModel {
        let candidates: [NSManagedObjectModel] =
            switch place {
            case .model(let model): [model]
            case .file(let url): Self.versions([url])
            case .named(let name, let bundle):
                Self.versions(
                    ModelMerging.files(in: bundle.map { [$0] }).filter {
                        $0.deletingPathExtension().lastPathComponent == name
                    })
            case .hashes(let hashes, let bundle):
                StoreModelSearch(metadata: [NSStoreModelVersionHashesKey: hashes])
                    .models(in: bundle.map { [$0] })
            }
        if let found = candidates.first(where: { $0.versionChecksum == versionChecksum }) { return found }
        let others = candidates.map(\.versionChecksum).joined(separator: ", ")
        throw CoreDataError.make(
            134504,
            "Cannot find the model version \(versionChecksum) of \(placeName)"
                + (others.isEmpty ? "." : ". Versions found: \(others)."))
    }

    private static func versions(_ files: [URL]) -> [NSManagedObjectModel] {
        files.flatMap { [$0] + ModelMerging.otherVersions(of: $0) }.compactMap(NSManagedObjectModel.init(contentsOf:))
    }

    private var placeName: String {
        switch place {
        case .model: "the given model"
        case .file(let url): url.path
        case .named(let name, _): "the model \(name)"
        case .hashes(let hashes, _): "the model of \(hashes.keys.sorted().joined(separator: ", "))"
        }
    }
}
