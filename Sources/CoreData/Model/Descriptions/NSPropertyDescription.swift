import Foundation
import ModelFiles

/// A property of an entity: the common part of attributes, relationships and fetched properties. Abstract.
///
/// Mutable, from one thread at a time, until a coordinator uses the model; from then on immutable and safe to read on any
/// thread. A change after that is a programmer's error and stops the program, as Apple's raises.
// SAFETY: one thread at a time changes it; it is frozen with its model before others may see it.
open class NSPropertyDescription: NSObject, NSCoding, NSCopying, @unchecked Sendable {
    /// The entity that declares the property; `nil` until it is in the `properties` of one.
    final var owningEntity: NSEntityDescription? {
        get { owningLink?.target }
        set { owningLink = newValue?.backlink }
    }
    private var owningLink: Backlink<NSEntityDescription>?

    public required override init() {}

    /// The property in an archive: standing alone as a copy does.
    public required convenience init?(coder: NSCoder) {
        self.init()
        guard let (property, model) = DescriptionArchive.property(with: coder) else { return nil }
        property.copyValues(to: self)
        archivedModel = model
    }

    /// Archives the property and what it leads to.
    ///
    /// - Precondition: No predicate of it is code.
    open func encode(with coder: NSCoder) { DescriptionArchive.encode(self, with: coder) }

    /// Keeps alive what a decoded property refers to.
    private var archivedModel: NSManagedObjectModel?

    /// The entity that declares the property.
    ///
    /// - Precondition: The property is in the `properties` of an entity that is still alive.
    open var entity: NSEntityDescription {
        guard let owningEntity else { preconditionFailure("The property '\(name)' does not belong to an entity.") }
        return owningEntity
    }

    /// The name of the property, unique among the properties of the entity and its ancestors.
    open var name = "" { willSet { willModify() } }

    /// Whether an object may be saved without a value. `true` by default.
    open var isOptional = true { willSet { willModify() } }

    /// Whether the value lives in memory only and is never saved. `false` by default.
    open var isTransient = false { willSet { willModify() } }

    /// Whatever the model's author noted; not part of the version hash.
    open var userInfo: [AnyHashable: Any]? = [:]

    /// A text that makes the version hash differ when only the meaning of the property changed.
    open var versionHashModifier: String? { willSet { willModify() } }

    /// The name that the property had in the version of the model from which stores are migrated.
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

    /// Whether a search index of the system shall have the value. Kept in the model; nothing on Linux reads it.
    open var isIndexedBySpotlight = false { willSet { willModify() } }

    /// Whether SQLite stores index the column of an attribute that no fetch index covers.
    @available(*, deprecated, message: "Use NSEntityDescription.indexes instead")
    open var isIndexed: Bool {
        get { isMarkedIndexed }
        set {
            willModify()
            isMarkedIndexed = newValue
        }
    }
    final var isMarkedIndexed = false

    /// Kept in the model; nothing on Linux reads it.
    @available(*, deprecated, message: "Spotlight integration is deprecated")
    open var isStoredInExternalRecord: Bool {
        get { isMarkedExternalRecord }
        set {
            willModify()
            isMarkedExternalRecord = newValue
        }
    }
    final var isMarkedExternalRecord = false

    /// The conditions that a value must meet to be saved, beside being there at all.
    open var validationPredicates: [NSPredicate] { validation.predicates }

    /// For each of the validation predicates what is wrong with a value that fails it: an error code of the validation
    /// range as an `NSNumber`, or a message.
    open var validationWarnings: [Any] { validation.warnings }

    /// Sets the conditions that a value must meet.
    ///
    /// - Parameters:
    ///   - validationPredicates: Predicates that are evaluated with the value itself; `nil` means none.
    ///   - validationWarnings: As many messages, or texts of error codes such as `"1610"`.
    /// - Precondition: Both arrays have the same count.
    open func setValidationPredicates(
        _ validationPredicates: [NSPredicate]?, withValidationWarnings validationWarnings: [String]?
    ) {
        let predicates = validationPredicates ?? []
        let warnings = validationWarnings ?? []
        precondition(
            predicates.count == warnings.count,
            "The validation predicates and warnings of '\(name)' differ in number: \(predicates.count), \(warnings.count)"
        )
        willModify()
        validation = PropertyValidation(
            rules: zip(predicates, warnings).map { .predicate($0, warning: PropertyValidation.warning($1)) })
    }
    final var validation = PropertyValidation()

    /// What the model's file said here that is not known; it is written back.
    final var unknownParts = UnknownParts()

    /// Two are equal if all that a model file says of them is, of whatever entity.
    open override func isEqual(_ object: Any?) -> Bool {
        DescriptionEquality.areEqual(self, object as? NSPropertyDescription)
    }
    open override var hash: Int { name.hashValue }

    /// The hash of what the store's form of the property depends on: 32 bytes. See `VersionHash`.
    open var versionHash: Data { VersionHash.property(self) }

    /// A copy that belongs to no entity and may be changed.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = Self()
        copyValues(to: copy)
        return copy
    }

    /// Gives all values of this property to `copy`, which is of the same class. Overriders call `super`.
    func copyValues(to copy: NSPropertyDescription) {
        copy.name = name
        copy.isOptional = isOptional
        copy.isTransient = isTransient
        copy.userInfo = userInfo
        copy.versionHashModifier = versionHashModifier
        copy.explicitRenamingIdentifier = explicitRenamingIdentifier
        copy.isIndexedBySpotlight = isIndexedBySpotlight
        copy.isMarkedIndexed = isMarkedIndexed
        copy.isMarkedExternalRecord = isMarkedExternalRecord
        copy.validation = validation
        copy.unknownParts = unknownParts
    }

    /// Called before every change: refuses it when the model is in use, and drops what was computed from the old state.
    final func willModify() { owningEntity?.willModify() }

    open override var description: String { "(\(Swift.type(of: self))) \(name)" }
}
