import Foundation
import ModelFiles

/// Says how a store of one model becomes one of another: one mapping for each entity.
///
/// A mapping model is used by one thread at a time; members of the class itself, and its initialisers, may be called on any.
/// Those that read or write files keep the calling thread waiting.
open class NSMappingModel: NSObject {
    /// The mappings, in the order in which a migration takes them.
    open var entityMappings: [NSEntityMapping]! = []

    /// The mappings by name; of several with one name the first.
    open var entityMappingsByName: [String: NSEntityMapping] {
        Dictionary((entityMappings ?? []).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Two mapping models are equal if their mappings are, in the same order.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSMappingModel else { return false }
        return self === other || entityMappings == other.entityMappings
    }
    open override var hash: Int { entityMappings?.count ?? 0 }

    /// A mapping model without mappings.
    public override init() { super.init() }

    /// Reads a mapping model, compiled (`.cdm`) or as a source (`.xcmappingmodel`).
    ///
    /// - Returns: `nil` where there is none at `url`, or it cannot be read; ``read(from:)`` tells why.
    public init?(contentsOf url: URL?) {
        guard let url, let mappings = try? MappingFile.mappings(at: url) else { return nil }
        super.init()
        entityMappings = mappings
    }

    /// Finds the mapping model between two models among the resources of `bundles`, by the version hashes of the
    /// entities.
    ///
    /// - Parameters:
    ///   - bundles: where to look; `nil` means the program's own resources.
    ///   - sourceModel: the model that the store was written with.
    ///   - destinationModel: the model that the store is to have.
    /// - Returns: `nil` where no mapping model has all entities of both models with their version hashes.
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

    /// As `init(from:forSourceModel:destinationModel:)` with the program's own resources.
    ///
    /// - Throws: where there is none, and a compiled one cannot be read, why that cannot: to go on without it may lose what it
    ///   would keep.
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
    /// - Throws: 134190 with the reason where the destination's values do not follow from the source's rows.
    open class func inferredMappingModel(
        forSourceModel sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel
    ) throws -> NSMappingModel {
        let difference = try ModelDifference(from: sourceModel.entities, to: destinationModel.entities)
        let model = NSMappingModel()
        model.entityMappings = InferredMappings(difference: difference).all
        return model
    }

    /// Reads a mapping model, compiled (`.cdm`) or as a source (`.xcmappingmodel`). An addition to Apple's interface, whose
    /// initialiser tells no reason.
    ///
    /// - Throws: 260 where nothing is at `url`, 257 where it must not be read, 259 where it is damaged or not understood; the
    ///   error says what is wrong where.
    public static func read(from url: URL) throws -> NSMappingModel {
        let model = NSMappingModel()
        model.entityMappings = try MappingFile.mappings(at: url)
        return model
    }

    /// Reads a source mapping model (`.xcmappingmodel`) whose models the caller has. Without them they are looked for where the
    /// file names them. An addition to Apple's interface.
    ///
    /// - Throws: 260 where nothing is at `url`, 257 where it must not be read, 259 where it is damaged or not understood: the
    ///   error says what is wrong where; 134060 where a predicate of a model is code.
    public static func read(
        from url: URL, sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel
    ) throws -> NSMappingModel {
        let model = NSMappingModel()
        model.entityMappings = try MappingFile.mappings(at: url, between: (sourceModel, destinationModel))
        return model
    }

    /// Writes the mapping model in its compiled form, as Xcode's compiler does. An addition to Apple's interface.
    ///
    /// - Throws: 134060 where an expression is code, or `url` names a source; 512 where it cannot be written. What stood at
    ///   `url` is replaced only once the new file is whole.
    public func write(to url: URL) throws { try MappingFile.write(entityMappings ?? [], to: url) }

    /// Writes the mapping model as a source, an `.xcmappingmodel` folder, as Xcode keeps it. An addition to Apple's interface.
    ///
    /// - Parameters:
    ///   - url: A name that ends in `.xcmappingmodel`; a mapping model that stands there is replaced once the new one is
    ///     whole.
    ///   - sourceModel: The model from which the mappings lead. The file holds a copy of it.
    ///   - destinationModel: The model to which they lead.
    /// - Throws: 134060 where an expression is code or the name has another ending; 512 where it cannot be written.
    public func writeSource(
        to url: URL, sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel
    ) throws {
        try MappingFile.writeSource(entityMappings ?? [], between: sourceModel, and: destinationModel, to: url)
    }
}
