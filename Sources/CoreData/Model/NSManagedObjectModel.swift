import Foundation
import ModelFiles

/// A model: the entities of an object graph, and named configurations and fetch requests.
///
/// Mutable, by one thread at a time, until a coordinator uses it; then immutable and safe to read on any thread.
// SAFETY: one thread at a time changes it; `freeze()` makes it immutable before others may see it.
open class NSManagedObjectModel: NSObject, NSCoding, NSCopying, @unchecked Sendable {
    /// Creates an empty model.
    public override init() {}

    /// Reads the model at `url`: `.momd` or `.xcdatamodeld` (the current version), `.mom` or `.xcdatamodel`.
    ///
    /// - Returns: `nil` if the file is missing or not a model. ``init(validContentsOf:)`` reports the reason.
    public convenience init?(contentsOf url: URL) {
        do { try self.init(validContentsOf: url) } catch { return nil }
    }

    /// Reads the model at `url`, with the same formats as ``init(contentsOf:)``.
    ///
    /// - Throws: a `CocoaError` of the file-reading range, with a one-line message that names the file, the line if
    ///   known, and the problem.
    public convenience init(validContentsOf url: URL) throws {
        self.init()
        try ModelLoading.fill(self, contentsOf: url)
    }

    /// Reads the model cached in a store (`Z_MODELCACHE.Z_CONTENT`).
    ///
    /// - Parameters:
    ///   - store: the path of the store, for messages.
    ///   - metadata: the store's metadata, which supplies version hashes that cannot be computed.
    /// - Throws: a `CocoaError` of the file-reading range.
    package convenience init(
        cachedModelData data: Data, store: String = "the store", metadata: [String: Any] = [:]
    ) throws {
        self.init()
        try ModelLoading.fill(self, cachedData: data, store: store, metadata: metadata)
    }

    /// The model in the form that a store caches (`Z_MODELCACHE.Z_CONTENT`).
    ///
    /// - Throws: a `CocoaError` if a predicate of the model is a block.
    package final func cachedModelData() throws -> Data { try ModelLoading.cachedData(of: self) }

    /// Merges copies of everything in `models` into one model.
    ///
    /// - Parameter models: the models; `nil` means those of the main bundle.
    /// - Returns: `nil` if two models have different entities with the same name.
    public convenience init?(byMerging models: [NSManagedObjectModel]?) {
        self.init()
        guard ModelMerging.fill(self, merging: models ?? ModelMerging.models(in: nil)) else { return nil }
    }

    /// Merges copies of the entities of `models` that a store has, in the store's version.
    ///
    /// - Returns: `nil` if an entity of the store is not in any of the models in that version.
    public convenience init?(byMerging models: [NSManagedObjectModel], forStoreMetadata metadata: [String: Any]) {
        self.init()
        guard ModelMerging.fill(self, merging: models, forStoreMetadata: metadata) else { return nil }
    }

    /// Merges all models among the resources of `bundles`. If `nil`, uses the program's folder and its module's
    /// resource bundle, or the bundles of its libraries if these have no model.
    ///
    /// - Returns: `nil` if there are no models, or two of them have different entities with the same name.
    open class func mergedModel(from bundles: [Bundle]?) -> NSManagedObjectModel? {
        let models = ModelMerging.models(in: bundles)
        return models.isEmpty ? nil : NSManagedObjectModel(byMerging: models)
    }

    /// Merges the entities that a store needs from all versions of the models in `bundles`.
    ///
    /// - Returns: `nil` if an entity of the store is not in any of the models in that version.
    open class func mergedModel(
        from bundles: [Bundle]?, forStoreMetadata metadata: [String: Any]
    ) -> NSManagedObjectModel? {
        NSManagedObjectModel(
            byMerging: StoreModelSearch(metadata: metadata).models(in: bundles), forStoreMetadata: metadata)
    }

    // MARK: Entities

    /// All entities, in the given order. Missing subentities of the given ones are added.
    open var entities: [NSEntityDescription] {
        get { allEntities }
        set {
            willModify()
            for entity in allEntities where entity.owningModel === self { entity.owningModel = nil }
            var seen: Set<ObjectIdentifier> = []
            allEntities = newValue.filter { seen.insert(ObjectIdentifier($0)).inserted }
            // The added entities may also have missing subentities.
            var place = 0
            while place < allEntities.count {
                allEntities += allEntities[place].subentities.filter { seen.insert(ObjectIdentifier($0)).inserted }
                place += 1
            }
            for entity in allEntities { entity.owningModel = self }
        }
    }
    private var allEntities: [NSEntityDescription] = []

    /// The entities by name.
    open var entitiesByName: [String: NSEntityDescription] {
        cachedEntitiesByName ?? Dictionary(named(allEntities), uniquingKeysWith: { first, _ in first })
    }
    private var cachedEntitiesByName: [String: NSEntityDescription]?

    private func named(_ entities: [NSEntityDescription]) -> [(String, NSEntityDescription)] {
        entities.compactMap { entity in entity.name.map { ($0, entity) } }
    }

    /// The entities sorted by name, as ``EntityLayout/index`` numbers them.
    package final var entitiesInLayoutOrder: [NSEntityDescription] {
        cachedLayoutOrder ?? allEntities.sorted { ($0.name ?? "") < ($1.name ?? "") }
    }
    private var cachedLayoutOrder: [NSEntityDescription]?

    final func layoutIndex(of entity: NSEntityDescription) -> Int? {
        entitiesInLayoutOrder.firstIndex { $0 === entity }
    }

    /// The modules in whose resources the model was found. The model's classes are looked up there.
    final var classModules: [String] = []

    // MARK: Configurations

    /// The names of the configurations, except the default one.
    open var configurations: [String] { configurationMembers.keys.sorted() }

    /// The names of each configuration's entities.
    final var configurationMembers: [String: [String]] = [:]

    /// The entities of a configuration; all entities for `nil` or the default configuration's name.
    ///
    /// - Returns: `nil` if there is no such configuration.
    open func entities(forConfigurationName configuration: String?) -> [NSEntityDescription]? {
        guard let configuration, configuration != Self.defaultConfigurationName else { return entities }
        guard let names = configurationMembers[configuration] else { return nil }
        let byName = entitiesByName
        return names.compactMap { byName[$0] }
    }

    /// Defines a configuration of `entities`, which must be in the model.
    open func setEntities(_ entities: [NSEntityDescription], forConfigurationName configuration: String) {
        willModify()
        for entity in entities {
            precondition(
                entity.owningModel === self,
                "The entity '\(entity.name ?? "")' is not in the model. Add it to the model before the configuration '\(configuration)'."
            )
        }
        configurationMembers[configuration] = entities.compactMap(\.name)
    }

    /// The name of the default configuration in Apple's files.
    static let defaultConfigurationName = "PF_DEFAULT_CONFIGURATION_NAME"

    // MARK: Fetch requests

    /// The named fetch requests. They are shared: copy one before changing it.
    open private(set) var fetchRequestTemplatesByName: [String: NSFetchRequest<NSFetchRequestResult>] = [:]

    /// The fetch request of that name. It is shared: copy it before changing it.
    open func fetchRequestTemplate(forName name: String) -> NSFetchRequest<NSFetchRequestResult>? {
        fetchRequestTemplatesByName[name]
    }

    /// Copies a fetch request template and replaces its variables by values.
    ///
    /// - Parameters:
    ///   - name: the name of the template.
    ///   - variables: the values by variable name, without `$`; `NSNull` means `nil`.
    /// - Returns: `nil` if there is no such template.
    open func fetchRequestFromTemplate(
        withName name: String, substitutionVariables variables: [String: Any]
    ) -> NSFetchRequest<NSFetchRequestResult>? {
        guard let template = fetchRequestTemplatesByName[name],
            let request = template.copy() as? NSFetchRequest<NSFetchRequestResult>
        else { return nil }
        request.predicate = template.predicate?.withSubstitutionVariables(variables)
        return request
    }

    /// Adds a named fetch request; `nil` removes it.
    open func setFetchRequestTemplate(_ template: NSFetchRequest<NSFetchRequestResult>?, forName name: String) {
        willModify()
        fetchRequestTemplatesByName[name] = template
    }

    // MARK: Versions

    /// The identifiers that the model's author gave to this version.
    open var versionIdentifiers: Set<AnyHashable> = [] { willSet { willModify() } }

    /// Localised texts for names of the model. Kept, but unused.
    open var localizationDictionary: [String: String]? { willSet { willModify() } }

    /// Two models are equal if a model file describes them alike.
    open override func isEqual(_ object: Any?) -> Bool {
        DescriptionEquality.areEqual(self, object as? NSManagedObjectModel)
    }
    open override var hash: Int { entities.count }

    /// The version hash of every entity.
    open var entityVersionHashesByName: [String: Data] { cachedVersionHashes ?? VersionHash.entities(allEntities) }
    private var cachedVersionHashes: [String: Data]?

    /// A checksum of all version hashes: base 64 of 32 bytes, as in a compiled model and a store's metadata.
    open var versionChecksum: String { VersionHash.checksum(entityVersionHashesByName) }

    /// True if the entities of a configuration have the version hashes in a store's metadata.
    ///
    /// - Parameters:
    ///   - configuration: the name of the configuration; `nil` means all entities.
    ///   - metadata: the store's metadata, with its version hashes under `NSStoreModelVersionHashesKey`.
    open func isConfiguration(
        withName configuration: String?, compatibleWithStoreMetadata metadata: [String: Any]
    ) -> Bool {
        guard let entities = entities(forConfigurationName: configuration),
            let stored = ModelMerging.versionHashes(in: metadata)
        else { return false }
        let hashes = VersionHash.entities(of: self, as: stored)
        let names = Set(entities.compactMap(\.name))
        return hashes.filter { names.contains($0.key) } == stored
    }

    /// The checksum of each version of the model at `modelURL`, by the version's name.
    ///
    /// - Throws: a `CocoaError` of the file-reading range.
    open class func __checksumsForVersionedModel(at modelURL: URL) throws -> [String: String] {
        try ModelMerging.checksums(ofVersionsAt: modelURL)
    }

    /// True if the model was inferred from the tables of a store without a cached model: see
    /// `NSPersistentStoreCoordinator.inferredModelForPersistentStore(at:options:)`. Such a model opens stores
    /// read-only.
    public final internal(set) var isInferred = false

    /// Facts that could not be inferred, one line each.
    public final internal(set) var inferenceNotes: [String] = []

    /// Unknown parts of the file from which the model was read, one line each, with their places. They are kept, and
    /// ``write(to:)`` writes them back to a file of the same form. An addition to Apple's API.
    public final internal(set) var readingNotes: [String] = []

    /// Unknown parts of the model file, kept to be written back. Parts of a configuration are under its part name.
    final var unknownParts = UnknownParts()

    /// The key in ``unknownParts`` for a configuration.
    static func unknownPart(ofConfiguration name: String) -> String { "configuration " + name }

    // MARK: Freezing and copying

    /// True if a coordinator uses the model.
    final private(set) var isFrozen = false

    /// Held while the model is frozen, because several coordinators may be created from it at once.
    private static let freezing = NSLock()

    /// Makes the model immutable and computes all cached values. Every coordinator calls it first; repeated calls are
    /// free. Any thread.
    final func freeze() { Self.freezing.withLock(freezeOnce) }

    private func freezeOnce() {
        guard !isFrozen else { return }
        let order = entitiesInLayoutOrder
        cachedLayoutOrder = order
        cachedEntitiesByName = entitiesByName
        for entity in allEntities { entity.prepareForSharing() }
        cachedVersionHashes = VersionHash.entities(allEntities)
        isFrozen = true
    }

    /// Called before every change of the model or its contents.
    final func willModify() {
        precondition(!isFrozen, "Can't modify an immutable model.")
    }

    /// A mutable copy with copies of everything in it.
    open func copy(with zone: NSZone? = nil) -> Any { ModelCopying.copy(of: self) }

    // MARK: Archives

    /// Decodes a model.
    public required convenience init?(coder: NSCoder) {
        self.init()
        guard DescriptionArchive.decode(self, with: coder) else { return nil }
    }

    /// Archives the model.
    ///
    /// - Precondition: none of its predicates is a block.
    open func encode(with coder: NSCoder) { DescriptionArchive.encode(self, with: coder) }
}
