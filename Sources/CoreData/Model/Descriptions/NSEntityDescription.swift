import Foundation
import ModelFiles

/// An entity: the description of a kind of managed object.
///
/// Mutable, by one thread at a time, until a coordinator uses the model; then immutable and safe to read on any
/// thread. A later change is a programming error and stops the program, as Apple's framework raises an exception.
// SAFETY: one thread at a time changes it; it is frozen with its model before others may see it.
open class NSEntityDescription: NSObject, NSCoding, NSCopying, @unchecked Sendable {
    /// The model whose `entities` include this one; `nil` if there is none yet.
    final weak var owningModel: NSManagedObjectModel? { didSet { invalidateCaches() } }

    /// The reference by which properties, indexes and subentities find the entity.
    final private(set) var backlink: Backlink<NSEntityDescription>!

    public required override init() {
        super.init()
        backlink = Backlink(self)
    }

    deinit { backlink.cut() }

    /// Decodes an entity. Like a copy it belongs to no model, but it keeps its inherited properties.
    public required convenience init?(coder: NSCoder) {
        self.init()
        guard let (entity, model) = DescriptionArchive.entity(with: coder) else { return nil }
        entity.copyValues(to: self)
        superentity = entity.superentity
        archivedModel = model
    }

    /// Archives the entity and everything that it refers to.
    ///
    /// - Precondition: none of its predicates is a block.
    open func encode(with coder: NSCoder) { DescriptionArchive.encode(self, with: coder) }

    /// Keeps alive the objects that a decoded entity refers to.
    private var archivedModel: NSManagedObjectModel?

    /// The model of the entity.
    ///
    /// - Precondition: the entity is in the `entities` of a model that is still alive.
    open var managedObjectModel: NSManagedObjectModel {
        guard let owningModel else {
            preconditionFailure(
                "The model of the entity '\(name ?? "")' was deallocated. Keep a reference to the model.")
        }
        return owningModel
    }

    /// The name of the entity, unique in its model.
    open var name: String? { willSet { willModify() } }

    /// The name of the class of the entity's objects. Setting `nil` restores the default, `NSManagedObject`.
    open var managedObjectClassName: String! {
        get { explicitClassName ?? "NSManagedObject" }
        set {
            willModify()
            explicitClassName = newValue
        }
    }
    final var explicitClassName: String?
    /// The class that a program or an object registered for the entity. Guarded by the lock of
    /// `ManagedObjectClasses`.
    final var registeredClass: AnyClass?

    /// True if only subentities have objects. `false` by default.
    open var isAbstract = false { willSet { willModify() } }

    /// Notes of the model's author; not part of the version hash.
    open var userInfo: [AnyHashable: Any]? = [:]

    /// A text that changes the version hash if only the meaning of the entity changed.
    open var versionHashModifier: String? { willSet { willModify() } }

    /// The entity's name in the model version from which stores are migrated.
    ///
    /// Defaults to the present name.
    open var renamingIdentifier: String? {
        get { explicitRenamingIdentifier ?? name }
        set {
            willModify()
            explicitRenamingIdentifier = newValue
        }
    }
    final var explicitRenamingIdentifier: String?

    /// The display name of an object in a system search index. Kept in the model; unused on Linux.
    open var coreSpotlightDisplayNameExpression: NSExpression! { willSet { willModify() } }

    // MARK: Hierarchy

    /// The entity from which this one inherits properties. Set by the parent's `subentities`.
    open internal(set) var superentity: NSEntityDescription? {
        get { superentityLink?.target }
        set {
            superentityLink = newValue?.backlink
            invalidateCaches()
        }
    }
    private var superentityLink: Backlink<NSEntityDescription>?

    /// The entities that inherit from this one. Their models must include them too.
    open var subentities: [NSEntityDescription] = [] {
        willSet { willModify() }
        didSet {
            for child in oldValue where child.superentity === self { child.superentity = nil }
            for child in subentities { child.superentity = self }
        }
    }

    /// The subentities by name.
    open var subentitiesByName: [String: NSEntityDescription] {
        Dictionary(subentities.compactMap { child in child.name.map { ($0, child) } }, uniquingKeysWith: { $1 })
    }

    /// True if this is `entity` or a descendant of it. Walks up the hierarchy.
    open func isKindOf(entity: NSEntityDescription) -> Bool {
        self === entity || superentity?.isKindOf(entity: entity) == true
    }

    /// The root of the hierarchy, whose table holds the rows.
    package final var root: NSEntityDescription { superentity?.root ?? self }

    /// The name of the root of the hierarchy.
    final var rootName: String? { root.name }

    /// This entity and all its descendants, parents before children.
    package final var family: [NSEntityDescription] {
        var members: [NSEntityDescription] = []
        addFamily(to: &members)
        return members
    }

    private func addFamily(to members: inout [NSEntityDescription]) {
        members.append(self)
        for entity in subentities { entity.addFamily(to: &members) }
    }

    // MARK: Properties

    /// The properties that the entity itself declares.
    package final private(set) var ownProperties: [NSPropertyDescription] = []

    /// The properties of the entity, inherited ones first. Setting it replaces the entity's own properties; inherited
    /// properties in the new value keep their owner.
    open var properties: [NSPropertyDescription] {
        get { contents.properties }
        set {
            willModify()
            let inherited = Set((superentity?.properties ?? []).map(ObjectIdentifier.init))
            for property in ownProperties where property.owningEntity === self { property.owningEntity = nil }
            ownProperties = newValue.filter { !inherited.contains(ObjectIdentifier($0)) }
            for property in ownProperties { property.owningEntity = self }
            invalidateCaches()
        }
    }

    /// All properties by name, including inherited ones.
    open var propertiesByName: [String: NSPropertyDescription] { contents.propertiesByName }

    /// All attributes by name, including inherited ones.
    open var attributesByName: [String: NSAttributeDescription] { contents.attributesByName }

    /// All relationships by name, including inherited ones.
    open var relationshipsByName: [String: NSRelationshipDescription] { contents.relationshipsByName }

    /// The relationships, including inherited ones, whose destination is `entity` itself.
    open func relationships(forDestination entity: NSEntityDescription) -> [NSRelationshipDescription] {
        properties.compactMap { $0 as? NSRelationshipDescription }.filter { $0.destinationEntity === entity }
    }

    // MARK: Constraints and indexes

    /// Sets of attributes whose values must be unique among objects: each an array of names or attributes, returned
    /// as names. Part of the version hash.
    open var uniquenessConstraints: [[Any]] {
        get { uniquenessConstraintNames }
        set {
            willModify()
            uniquenessConstraintNames = newValue.map { constraint in
                constraint.compactMap { ($0 as? NSPropertyDescription)?.name ?? $0 as? String }
            }
        }
    }
    package final var uniquenessConstraintNames: [[String]] = []

    /// The indexes that a store maintains for fetches of the entity. Not part of the version hash.
    open var indexes: [NSFetchIndexDescription] = [] {
        willSet { willModify() }
        didSet {
            for index in oldValue where index.entity === self { index.entity = nil }
            for index in indexes { index.entity = self }
        }
    }

    /// The compound indexes of old models, as arrays of property names. The setter has no effect.
    @available(*, deprecated, message: "Use NSEntityDescription.indexes instead")
    open var compoundIndexes: [[Any]] {
        get { compoundIndexNames }
        set { willModify() }
    }
    final var compoundIndexNames: [[String]] = []

    /// Two entities are equal if a model file describes them alike, including their properties.
    open override func isEqual(_ object: Any?) -> Bool {
        DescriptionEquality.areEqual(self, object as? NSEntityDescription)
    }
    open override var hash: Int { name?.hashValue ?? 0 }

    /// The 32-byte hash of everything that the entity's schema depends on. See `VersionHash`.
    open var versionHash: Data { VersionHash.entity(self) }

    /// The hash that Apple's tools wrote for this entity, if it cannot be computed; see `VersionHash`. Cleared by a
    /// change of the entity or an ancestor.
    final var writtenVersionHash: Data?

    /// Unknown parts of the model file, kept to be written back.
    final var unknownParts = UnknownParts()

    // MARK: Computed once

    private var cachedContents: EntityContents?
    private var compiledLayout: EntityLayout?
    /// Layouts from before a change, of which there may be objects.
    private var formerLayouts: [EntityLayout] = []

    /// The properties and their dictionaries.
    private var contents: EntityContents {
        if let cachedContents { return cachedContents }
        let made = EntityContents(inherited: superentity?.properties ?? [], own: ownProperties)
        cachedContents = made
        return made
    }

    /// The compiled layout. Cached until the entity or an ancestor changes.
    package final var layout: EntityLayout {
        if let compiledLayout { return compiledLayout }
        let made = EntityLayout(entity: self, index: owningModel?.layoutIndex(of: self) ?? 0)
        compiledLayout = made
        return made
    }

    /// Passes the layout without reference counting, for code that runs per object.
    // SAFETY: the entity keeps its layouts.
    @inline(__always)
    final func withLayout<Result>(_ body: (EntityLayout) throws -> Result) rethrows -> Result {
        try layoutReference.with(body)
    }

    @inline(__always)
    private final var layoutReference: Unretained<EntityLayout> { Unretained(layout) }

    /// Computes all cached values, so that later reads change nothing. Called after all entities are in place, before
    /// the model is frozen.
    final func prepareForSharing() {
        _ = contents
        _ = layout
    }

    /// Called before every change. Stops the program if the model is in use, and clears cached values.
    final func willModify() {
        owningModel?.willModify()
        invalidateCaches()
    }

    private func invalidateCaches() {
        cachedContents = nil
        if let compiledLayout, compiledLayout.hasAttachment { formerLayouts.append(compiledLayout) }
        compiledLayout = nil
        writtenVersionHash = nil
        for child in subentities { child.invalidateCaches() }
    }

    /// A mutable copy with copies of the properties and indexes. It belongs to no model and no hierarchy; its
    /// relationships keep their destinations.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = Self()
        copyValues(to: copy)
        return copy
    }

    open override var description: String {
        "(\(Swift.type(of: self))) name \(name ?? ""), managedObjectClassName \(managedObjectClassName ?? ""), "
            + "properties \(propertiesByName.keys.sorted())"
    }
}

/// The properties of an entity, including inherited ones, and their dictionaries.
struct EntityContents {
    let properties: [NSPropertyDescription]
    let propertiesByName: [String: NSPropertyDescription]
    let attributesByName: [String: NSAttributeDescription]
    let relationshipsByName: [String: NSRelationshipDescription]

    init(inherited: [NSPropertyDescription], own: [NSPropertyDescription]) {
        properties = inherited + own
        propertiesByName = Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
        attributesByName = propertiesByName.compactMapValues { $0 as? NSAttributeDescription }
        relationshipsByName = propertiesByName.compactMapValues { $0 as? NSRelationshipDescription }
    }
}
