import Foundation
import ModelFiles

/// An entity: the description of a kind of managed object.
///
/// Mutable, from one thread at a time, until a coordinator uses the model; from then on immutable and safe to read on any
/// thread. A change after that is a programmer's error and stops the program, as Apple's raises.
// SAFETY: one thread at a time changes it; it is frozen with its model before others may see it.
open class NSEntityDescription: NSObject, NSCoding, NSCopying, @unchecked Sendable {
    /// The model that has the entity; `nil` until it is in the `entities` of one.
    final weak var owningModel: NSManagedObjectModel? { didSet { invalidateCaches() } }

    /// How properties, indexes and subentities know the entity.
    final private(set) var backlink: Backlink<NSEntityDescription>!

    public required override init() {
        super.init()
        backlink = Backlink(self)
    }

    deinit { backlink.cut() }

    /// The entity in an archive: standing alone as a copy does, but inheriting what it inherited.
    public required convenience init?(coder: NSCoder) {
        self.init()
        guard let (entity, model) = DescriptionArchive.entity(with: coder) else { return nil }
        entity.copyValues(to: self)
        superentity = entity.superentity
        archivedModel = model
    }

    /// Archives the entity and what it leads to.
    ///
    /// - Precondition: No predicate of it is code.
    open func encode(with coder: NSCoder) { DescriptionArchive.encode(self, with: coder) }

    /// Keeps alive what a decoded entity refers to.
    private var archivedModel: NSManagedObjectModel?

    /// The model that has the entity.
    ///
    /// - Precondition: The entity is in the `entities` of a model that is still alive.
    open var managedObjectModel: NSManagedObjectModel {
        guard let owningModel else {
            preconditionFailure("The entity '\(name ?? "")' does not belong to a model that is still in use.")
        }
        return owningModel
    }

    /// The name of the entity, unique in its model.
    open var name: String? { willSet { willModify() } }

    /// The name of the class of the entity's objects. Setting `nil` brings back the default, `NSManagedObject`.
    open var managedObjectClassName: String! {
        get { explicitClassName ?? "NSManagedObject" }
        set {
            willModify()
            explicitClassName = newValue
        }
    }
    final var explicitClassName: String?
    /// The class that a program or an object named for the entity. Guarded by the lock of `ManagedObjectClasses`.
    final var registeredClass: AnyClass?

    /// Whether only descendants of the entity have objects. `false` by default.
    open var isAbstract = false { willSet { willModify() } }

    /// Whatever the model's author noted; not part of the version hash.
    open var userInfo: [AnyHashable: Any]? = [:]

    /// A text that makes the version hash differ when only the meaning of the entity changed.
    open var versionHashModifier: String? { willSet { willModify() } }

    /// The name that the entity had in the version of the model from which stores are migrated.
    ///
    /// Reads as the name while it is not set.
    open var renamingIdentifier: String? {
        get { explicitRenamingIdentifier ?? name }
        set {
            willModify()
            explicitRenamingIdentifier = newValue
        }
    }
    final var explicitRenamingIdentifier: String?

    /// What a search index of the system shall show for an object. Kept in the model; nothing on Linux reads it.
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

    /// The entities that inherit from this one. Their models must have them too.
    open var subentities: [NSEntityDescription] = [] {
        willSet { willModify() }
        didSet {
            for child in oldValue where child.superentity === self { child.superentity = nil }
            for child in subentities { child.superentity = self }
        }
    }

    /// The subentities under their names.
    open var subentitiesByName: [String: NSEntityDescription] {
        Dictionary(subentities.compactMap { child in child.name.map { ($0, child) } }, uniquingKeysWith: { $1 })
    }

    /// `true` when this is `entity` or a descendant of it. Steps up the hierarchy.
    open func isKindOf(entity: NSEntityDescription) -> Bool {
        self === entity || superentity?.isKindOf(entity: entity) == true
    }

    /// The entity at the top of the hierarchy: the one whose table holds the rows.
    final var root: NSEntityDescription { superentity?.root ?? self }

    /// The name of the entity at the top of the hierarchy.
    final var rootName: String? { root.name }

    /// This entity and all its descendants, parents before children.
    final var family: [NSEntityDescription] {
        var members: [NSEntityDescription] = []
        addFamily(to: &members)
        return members
    }

    private func addFamily(to members: inout [NSEntityDescription]) {
        members.append(self)
        for entity in subentities { entity.addFamily(to: &members) }
    }

    // MARK: Properties

    /// The properties that the entity itself declares, without the inherited ones.
    final private(set) var ownProperties: [NSPropertyDescription] = []

    /// The properties of the entity: inherited ones first. Setting it sets those that the entity itself declares;
    /// inherited ones in the new value stay where they are.
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

    /// All properties, inherited ones too, under their names.
    open var propertiesByName: [String: NSPropertyDescription] { contents.propertiesByName }

    /// All attributes, inherited ones too, under their names.
    open var attributesByName: [String: NSAttributeDescription] { contents.attributesByName }

    /// All relationships, inherited ones too, under their names.
    open var relationshipsByName: [String: NSRelationshipDescription] { contents.relationshipsByName }

    /// The relationships of the entity, inherited ones too, that lead to `entity` itself.
    open func relationships(forDestination entity: NSEntityDescription) -> [NSRelationshipDescription] {
        properties.compactMap { $0 as? NSRelationshipDescription }.filter { $0.destinationEntity === entity }
    }

    // MARK: Constraints and indexes

    /// The sets of attributes whose values no two objects may share: each an array of names or of attributes, read back
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
    final var uniquenessConstraintNames: [[String]] = []

    /// The indexes that a store keeps for fetches of the entity. Not part of the version hash.
    open var indexes: [NSFetchIndexDescription] = [] {
        willSet { willModify() }
        didSet {
            for index in oldValue where index.entity === self { index.entity = nil }
            for index in indexes { index.entity = self }
        }
    }

    /// The compound indexes of old models, as arrays of property names. Setting them does nothing.
    @available(*, deprecated, message: "Use NSEntityDescription.indexes instead")
    open var compoundIndexes: [[Any]] {
        get { compoundIndexNames }
        set { willModify() }
    }
    final var compoundIndexNames: [[String]] = []

    /// Two are equal if all that a model file says of them is, properties and all.
    open override func isEqual(_ object: Any?) -> Bool {
        DescriptionEquality.areEqual(self, object as? NSEntityDescription)
    }
    open override var hash: Int { name?.hashValue ?? 0 }

    /// The hash of what the store's form of the entity depends on: 32 bytes. See `VersionHash`.
    open var versionHash: Data { VersionHash.entity(self) }

    /// The hash that Apple's tools wrote for this very entity, where it cannot be computed; see `VersionHash`. A change of
    /// the entity or an ancestor drops it.
    final var writtenVersionHash: Data?

    /// What the model's file said here that is not known; it is written back.
    final var unknownParts = UnknownParts()

    // MARK: Computed once

    private var cachedContents: EntityContents?
    private var compiledLayout: EntityLayout?

    /// The properties with their dictionaries.
    private var contents: EntityContents {
        if let cachedContents { return cachedContents }
        let made = EntityContents(inherited: superentity?.properties ?? [], own: ownProperties)
        cachedContents = made
        return made
    }

    /// The compiled layout. Made once; a change of the entity or an ancestor makes it anew.
    final var layout: EntityLayout {
        if let compiledLayout { return compiledLayout }
        let made = EntityLayout(entity: self, index: owningModel?.layoutIndex(of: self) ?? 0)
        compiledLayout = made
        return made
    }

    /// Computes everything that is computed once, so that reading changes nothing afterwards. Called with all other
    /// entities in place, before the model is frozen.
    final func prepareForSharing() {
        _ = contents
        _ = layout
    }

    /// Called before every change: refuses it when the model is in use, and drops what was computed from the old state.
    final func willModify() {
        owningModel?.willModify()
        invalidateCaches()
    }

    private func invalidateCaches() {
        cachedContents = nil
        compiledLayout = nil
        writtenVersionHash = nil
        for child in subentities { child.invalidateCaches() }
    }

    /// A copy with copies of the properties and indexes, which belongs to no model and no hierarchy, and may be changed.
    /// Its relationships lead to the same destinations.
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

/// The properties of an entity, inherited ones too, and the dictionaries of them.
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
