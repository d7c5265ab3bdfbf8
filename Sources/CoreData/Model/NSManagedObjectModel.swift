import Foundation
import ModelFiles

/// A model: the entities of a graph of managed objects, and named sets and requests of them.
///
/// Mutable, from one thread at a time, until a coordinator uses it; from then on immutable and safe to read on any thread.
// SAFETY: one thread at a time changes it; `freeze()` makes it immutable before others may see it.
open class NSManagedObjectModel: NSObject, NSCoding, NSCopying, @unchecked Sendable {
    /// An empty model.
    public override init() {}

    /// The model at `url`: `.momd` and `.xcdatamodeld` (the current version), `.mom` or `.xcdatamodel`.
    ///
    /// - Returns: `nil` where there is no such file, or it is not a model. ``init(validContentsOf:)`` says what is wrong.
    public convenience init?(contentsOf url: URL) {
        do { try self.init(validContentsOf: url) } catch { return nil }
    }

    /// The model at `url`, as ``init(contentsOf:)`` takes it.
    ///
    /// - Throws: a `CocoaError` of the file-reading range, whose one line names the file, the line where there is one, and
    ///   what is wrong.
    public convenience init(validContentsOf url: URL) throws {
        self.init()
        try ModelLoading.fill(self, contentsOf: url)
    }

    /// The model that a store keeps (`Z_MODELCACHE.Z_CONTENT`).
    ///
    /// - Parameters:
    ///   - store: The path of the store, for messages.
    ///   - metadata: The store's metadata: entities whose version hash cannot be computed take it from there.
    /// - Throws: a `CocoaError` of the file-reading range.
    convenience init(
        cachedModelData data: Data, store: String = "the store", metadata: [String: Any] = [:]
    ) throws {
        self.init()
        try ModelLoading.fill(self, cachedData: data, store: store, metadata: metadata)
    }

    /// The form in which a store keeps the model (`Z_MODELCACHE.Z_CONTENT`).
    ///
    /// - Throws: a `CocoaError` where a predicate of the model is a block.
    final func cachedModelData() throws -> Data { try ModelLoading.cachedData(of: self) }

    /// Copies of everything in `models` as one model.
    ///
    /// - Parameter models: The models; `nil` stands for those of the main bundle.
    /// - Returns: `nil` where two of the models have different entities of one name.
    public convenience init?(byMerging models: [NSManagedObjectModel]?) {
        self.init()
        guard ModelMerging.fill(self, merging: models ?? ModelMerging.models(in: nil)) else { return nil }
    }

    /// Copies of those entities of `models` that are in a store, in the version that it has, as one model.
    ///
    /// - Returns: `nil` where an entity of the store is in none of the models in that version.
    public convenience init?(byMerging models: [NSManagedObjectModel], forStoreMetadata metadata: [String: Any]) {
        self.init()
        guard ModelMerging.fill(self, merging: models, forStoreMetadata: metadata) else { return nil }
    }

    /// All models among the resources of `bundles` as one; for `nil` those of the program: in its folder and in its
    /// module's resource bundle, or where none are there in the bundles of its libraries.
    ///
    /// - Returns: `nil` where there are none, or two of them have different entities of one name.
    open class func mergedModel(from bundles: [Bundle]?) -> NSManagedObjectModel? {
        let models = ModelMerging.models(in: bundles)
        return models.isEmpty ? nil : NSManagedObjectModel(byMerging: models)
    }

    /// What a store needs of the models among the resources of `bundles`, in all their versions, as one model.
    ///
    /// - Returns: `nil` where an entity of the store is in none of the models in that version.
    open class func mergedModel(
        from bundles: [Bundle]?, forStoreMetadata metadata: [String: Any]
    ) -> NSManagedObjectModel? {
        NSManagedObjectModel(
            byMerging: StoreModelSearch(metadata: metadata).models(in: bundles), forStoreMetadata: metadata)
    }

    // MARK: Entities

    /// All entities, in the order in which they were given. Subentities of the given ones are added by themselves.
    open var entities: [NSEntityDescription] {
        get { allEntities }
        set {
            willModify()
            for entity in allEntities where entity.owningModel === self { entity.owningModel = nil }
            var seen: Set<ObjectIdentifier> = []
            allEntities = newValue.filter { seen.insert(ObjectIdentifier($0)).inserted }
            // What is added here may have subentities that are not among them either.
            var place = 0
            while place < allEntities.count {
                allEntities += allEntities[place].subentities.filter { seen.insert(ObjectIdentifier($0)).inserted }
                place += 1
            }
            for entity in allEntities { entity.owningModel = self }
        }
    }
    private var allEntities: [NSEntityDescription] = []

    /// The entities under their names.
    open var entitiesByName: [String: NSEntityDescription] {
        cachedEntitiesByName ?? Dictionary(named(allEntities), uniquingKeysWith: { first, _ in first })
    }
    private var cachedEntitiesByName: [String: NSEntityDescription]?

    private func named(_ entities: [NSEntityDescription]) -> [(String, NSEntityDescription)] {
        entities.compactMap { entity in entity.name.map { ($0, entity) } }
    }

    /// The entities by name: the order of ``EntityLayout/index``.
    final var entitiesInLayoutOrder: [NSEntityDescription] {
        cachedLayoutOrder ?? allEntities.sorted { ($0.name ?? "") < ($1.name ?? "") }
    }
    private var cachedLayoutOrder: [NSEntityDescription]?

    final func layoutIndex(of entity: NSEntityDescription) -> Int? {
        entitiesInLayoutOrder.firstIndex { $0 === entity }
    }

    /// The modules among whose resources the model was found: its classes are looked for there.
    final var classModules: [String] = []

    // MARK: Configurations

    /// The names of the configurations, without the default one.
    open var configurations: [String] { configurationMembers.keys.sorted() }

    /// The names of the entities of each configuration.
    final var configurationMembers: [String: [String]] = [:]

    /// The entities of the configuration of that name; `nil`, and the default configuration's name, mean all entities.
    ///
    /// - Returns: `nil` when there is no such configuration.
    open func entities(forConfigurationName configuration: String?) -> [NSEntityDescription]? {
        guard let configuration, configuration != Self.defaultConfigurationName else { return entities }
        guard let names = configurationMembers[configuration] else { return nil }
        let byName = entitiesByName
        return names.compactMap { byName[$0] }
    }

    /// Makes `entities`, which the model already has, the configuration of that name.
    open func setEntities(_ entities: [NSEntityDescription], forConfigurationName configuration: String) {
        willModify()
        for entity in entities {
            precondition(
                entity.owningModel === self,
                "The entity '\(entity.name ?? "")' is not in the model: add it before it goes into '\(configuration)'.")
        }
        configurationMembers[configuration] = entities.compactMap(\.name)
    }

    /// The name under which Apple's files keep the default configuration.
    static let defaultConfigurationName = "PF_DEFAULT_CONFIGURATION_NAME"

    // MARK: Fetch requests

    /// The named fetch requests. They are shared: copy one before changing it.
    open private(set) var fetchRequestTemplatesByName: [String: NSFetchRequest<NSFetchRequestResult>] = [:]

    /// The fetch request of that name. It is shared: copy it before changing it.
    open func fetchRequestTemplate(forName name: String) -> NSFetchRequest<NSFetchRequestResult>? {
        fetchRequestTemplatesByName[name]
    }

    /// A copy of the fetch request of that name, its variables replaced by values.
    ///
    /// - Parameters:
    ///   - name: the name of the template.
    ///   - variables: the values by the names of the variables, without `$`; `NSNull` stands for `nil`.
    /// - Returns: `nil` where there is no such request.
    open func fetchRequestFromTemplate(
        withName name: String, substitutionVariables variables: [String: Any]
    ) -> NSFetchRequest<NSFetchRequestResult>? {
        guard let template = fetchRequestTemplatesByName[name],
            let request = template.copy() as? NSFetchRequest<NSFetchRequestResult>
        else { return nil }
        request.predicate = template.predicate?.withSubstitutionVariables(variables)
        return request
    }

    /// Adds a named fetch request, or takes it away when it is `nil`.
    open func setFetchRequestTemplate(_ template: NSFetchRequest<NSFetchRequestResult>?, forName name: String) {
        willModify()
        fetchRequestTemplatesByName[name] = template
    }

    // MARK: Versions

    /// The names that the model's author gave to this version.
    open var versionIdentifiers: Set<AnyHashable> = [] { willSet { willModify() } }

    /// The texts that replace names of the model in front of people. Kept; nothing reads it.
    open var localizationDictionary: [String: String]? { willSet { willModify() } }

    /// Two models are equal if all that a model file says of them is.
    open override func isEqual(_ object: Any?) -> Bool {
        DescriptionEquality.areEqual(self, object as? NSManagedObjectModel)
    }
    open override var hash: Int { entities.count }

    /// The version hash of every entity.
    open var entityVersionHashesByName: [String: Data] { cachedVersionHashes ?? VersionHash.entities(allEntities) }
    private var cachedVersionHashes: [String: Data]?

    /// One text for all version hashes: base 64 of 32 bytes, as a compiled model and a store's metadata have it.
    open var versionChecksum: String { VersionHash.checksum(entityVersionHashesByName) }

    /// Whether the entities of a configuration have the version hashes that a store's metadata gives.
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

    /// Whether the model was inferred from the tables of a store that keeps none: see
    /// `NSPersistentStoreCoordinator.inferredModelForPersistentStore(at:options:)`. Stores open with it for reading only.
    public final internal(set) var isInferred = false

    /// What could not be told when the model was inferred, a line each.
    public final internal(set) var inferenceNotes: [String] = []

    /// What is not known of the file from which the model was read: a line each, with its place. It is kept, and written back
    /// by ``write(to:)`` into a file of the same form. An addition.
    public final internal(set) var readingNotes: [String] = []

    /// What the model's file said that is not known; it is written back. That of a configuration is the part of its name.
    final var unknownParts = UnknownParts()

    /// The part of ``unknownParts`` that belongs to a configuration.
    static func unknownPart(ofConfiguration name: String) -> String { "configuration " + name }

    // MARK: Freezing and copying

    /// Whether a coordinator uses the model.
    final private(set) var isFrozen = false

    /// Several coordinators may be made of a model at once.
    private static let freezing = NSLock()

    /// Makes the model immutable and computes what is computed once. A coordinator calls it first of all; calling it again
    /// is free. Any thread.
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

    /// Called before every change of the model and of what is in it.
    final func willModify() {
        precondition(!isFrozen, "Can't modify an immutable model.")
    }

    /// A copy with copies of everything in it, which may be changed.
    open func copy(with zone: NSZone? = nil) -> Any { ModelCopying.copy(of: self) }

    // MARK: Archives

    /// The model in an archive.
    public required convenience init?(coder: NSCoder) {
        self.init()
        guard DescriptionArchive.decode(self, with: coder) else { return nil }
    }

    /// Archives the model.
    ///
    /// - Precondition: No predicate of it is code.
    open func encode(with coder: NSCoder) { DescriptionArchive.encode(self, with: coder) }
}
