import Foundation

/// A model: the entities of a graph of managed objects, and named sets and requests of them.
///
/// Mutable, from one thread at a time, until a coordinator uses it; from then on immutable and safe to read on any thread.
open class NSManagedObjectModel: NSObject, NSCopying, @unchecked Sendable {
    /// An empty model.
    public override init() {}

    // MARK: Entities

    /// All entities, in the order in which they were given. Subentities of the given ones are added by themselves.
    open var entities: [NSEntityDescription] {
        get { allEntities }
        set {
            willModify()
            for entity in allEntities where entity.owningModel === self { entity.owningModel = nil }
            var seen: Set<ObjectIdentifier> = []
            let complete = newValue + newValue.flatMap(\.family)
            allEntities = complete.filter { seen.insert(ObjectIdentifier($0)).inserted }
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

    // MARK: Versions

    /// The names that the model's author gave to this version.
    open var versionIdentifiers: Set<AnyHashable> = [] { willSet { willModify() } }

    /// The texts that replace names of the model in front of people. Kept; nothing reads it.
    open var localizationDictionary: [String: String]? { willSet { willModify() } }

    /// The version hash of every entity.
    open var entityVersionHashesByName: [String: Data] { cachedVersionHashes ?? VersionHash.entities(allEntities) }
    private var cachedVersionHashes: [String: Data]?

    /// One text for all version hashes: base 64 of 32 bytes, as a compiled model and a store's metadata have it.
    open var versionChecksum: String { VersionHash.checksum(entityVersionHashesByName) }

    // MARK: Freezing and copying

    /// Whether a coordinator uses the model.
    final private(set) var isFrozen = false

    /// Makes the model immutable and computes what is computed once. A coordinator calls it first of all; calling it again
    /// is free.
    final func freeze() {
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
}
