import Foundation
import ModelFiles

/// Maps a store's model to another model: one mapping for each entity.
///
/// A mapping model is used by one thread at a time; class members and initialisers may be called on any thread.
/// Members that read or write files block the calling thread.
open class NSMappingModel: NSObject {
    /// The mappings, in the order in which a migration runs them.
    open var entityMappings: [NSEntityMapping]! = []

    /// The mappings by name. If several have the same name, the first one.
    open var entityMappingsByName: [String: NSEntityMapping] {
        Dictionary((entityMappings ?? []).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Two mapping models are equal if their mappings are, in the same order.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSMappingModel else { return false }
        return self === other || entityMappings == other.entityMappings
    }
    open override var hash: Int { entityMappings?.count ?? 0 }

    /// Creates a mapping model without mappings.
    public override init() { super.init() }

    /// Reads a mapping model, compiled (`.cdm`) or as a source (`.xcmappingmodel`).
    ///
    /// - Returns: `nil` if there is no file at `url`, or it cannot be read. ``read(from:)`` reports the reason.
    public init?(contentsOf url: URL?) {
        guard let url, let mappings = try? MappingFile.mappings(at: url) else { return nil }
        super.init()
        entityMappings = mappings
    }

    /// Finds the mapping model between two models among the resources of `bundles`, by the version hashes of the
    /// entities.
    ///
    /// - Parameters:
    ///   - bundles: the bundles to search; `nil` means the program's own resources.
    ///   - sourceModel: the model with which the store was written.
    ///   - destinationModel: the model to migrate to.
    /// - Returns: `nil` if no mapping model covers all entities of both models with their version hashes.
    public convenience init?(
        from bundles: [Bundle]?, forSourceModel sourceModel: NSManagedObjectModel?,
        destinationModel: NSManagedObjectModel?
    ) {
        guard let sourceModel, let destinationModel,
            let mappings = MappingFile.search(bundles, from: sourceModel, to: destinationModel).mappings
        else { return nil }
        self.init()
        entityMappings = mappings
    }

    /// Finds a mapping model as `init(from:forSourceModel:destinationModel:)` does, among the program's own
    /// resources.
    ///
    /// - Throws: the error of an unreadable compiled file, if no other file matches. Continuing without that file
    ///   could lose data that it would keep.
    static func found(
        from sourceModel: NSManagedObjectModel, to destinationModel: NSManagedObjectModel
    ) throws -> NSMappingModel? {
        let found = MappingFile.search(nil, from: sourceModel, to: destinationModel)
        guard let mappings = found.mappings else {
            if let failure = found.failure { throw failure }
            return nil
        }
        let model = NSMappingModel()
        model.entityMappings = mappings
        return model
    }

    /// Infers the mapping model between two versions of a model from names and renaming identifiers.
    ///
    /// - Throws: 134190 with the reason if the destination's values cannot be derived from the source's rows.
    open class func inferredMappingModel(
        forSourceModel sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel
    ) throws -> NSMappingModel {
        let difference = try ModelDifference(from: sourceModel.entities, to: destinationModel.entities)
        let model = NSMappingModel()
        model.entityMappings = InferredMappings(difference: difference).all
        return model
    }

    /// Reads a mapping model, compiled (`.cdm`) or as a source (`.xcmappingmodel`). An addition to Apple's API, whose
    /// initialiser does not report errors.
    ///
    /// - Throws: 260 if there is no file at `url`, 257 if it is not readable, 259 if it is damaged or not understood.
    ///   The error names the problem and its place.
    public static func read(from url: URL) throws -> NSMappingModel {
        let model = NSMappingModel()
        model.entityMappings = try MappingFile.mappings(at: url)
        return model
    }

    /// Reads a source mapping model (`.xcmappingmodel`) with the caller's models. Without them, the models that the
    /// file names are used. An addition to Apple's API.
    ///
    /// - Throws: 260 if there is no file at `url`, 257 if it is not readable, 259 if it is damaged or not understood
    ///   (the error names the problem and its place); 134060 if a predicate of a model is a block.
    public static func read(
        from url: URL, sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel
    ) throws -> NSMappingModel {
        let model = NSMappingModel()
        model.entityMappings = try MappingFile.mappings(at: url, between: (sourceModel, destinationModel))
        return model
    }

    /// Writes the mapping model in its compiled form, as Xcode's compiler does. An addition to Apple's API.
    ///
    /// - Throws: 134060 if an expression is a block, or `url` names a source; 512 if it cannot be written. An existing
    ///   file is replaced only once the new one is complete.
    public func write(to url: URL) throws { try MappingFile.write(entityMappings ?? [], to: url) }

    /// Writes the mapping model as a source, an `.xcmappingmodel` folder in Xcode's format. An addition to Apple's
    /// API.
    ///
    /// - Parameters:
    ///   - url: a name that ends in `.xcmappingmodel`; an existing mapping model is replaced once the new one is
    ///     complete.
    ///   - sourceModel: the source model of the mappings. The file contains a copy of it.
    ///   - destinationModel: the destination model of the mappings.
    /// - Throws: 134060 if an expression is a block or the name has another extension; 512 if it cannot be written.
    public func writeSource(
        to url: URL, sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel
    ) throws {
        try MappingFile.writeSource(entityMappings ?? [], between: sourceModel, and: destinationModel, to: url)
    }
}
