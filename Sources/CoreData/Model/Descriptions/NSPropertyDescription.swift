import Foundation
import ModelFiles

/// A property of an entity: the common base class of attributes, relationships and fetched properties. Abstract.
///
/// Mutable, by one thread at a time, until a coordinator uses the model; then immutable and safe to read on any
/// thread. A later change is a programming error and stops the program, as Apple's framework raises an exception.
// SAFETY: one thread at a time changes it; it is frozen with its model before others may see it.
open class NSPropertyDescription: NSObject, NSCoding, NSCopying, @unchecked Sendable {
    /// The entity whose `properties` include this one; `nil` if there is none yet.
    package final var owningEntity: NSEntityDescription? {
        get { owningLink?.target }
        set { owningLink = newValue?.backlink }
    }
    private var owningLink: Backlink<NSEntityDescription>?

    public required override init() {}

    /// Decodes a property. Like a copy it belongs to no entity.
    public required convenience init?(coder: NSCoder) {
        self.init()
        guard let (property, model) = DescriptionArchive.property(with: coder) else { return nil }
        property.copyValues(to: self)
        archivedModel = model
    }

    /// Archives the property and everything that it refers to.
    ///
    /// - Precondition: none of its predicates is a block.
    open func encode(with coder: NSCoder) { DescriptionArchive.encode(self, with: coder) }

    /// Keeps alive the objects that a decoded property refers to.
    private var archivedModel: NSManagedObjectModel?

    /// The entity that declares the property.
    ///
    /// - Precondition: the property is in the `properties` of an entity that is still alive.
    open var entity: NSEntityDescription {
        guard let owningEntity else { preconditionFailure("The property '\(name)' does not belong to an entity.") }
        return owningEntity
    }

    /// The name of the property, unique among the properties of the entity and its ancestors.
    open var name = "" { willSet { willModify() } }

    /// True if an object may be saved without a value. `true` by default.
    open var isOptional = true { willSet { willModify() } }

    /// True if the value is in memory only and never saved. `false` by default.
    open var isTransient = false { willSet { willModify() } }

    /// Notes of the model's author; not part of the version hash.
    open var userInfo: [AnyHashable: Any]? = [:]

    /// A text that changes the version hash if only the meaning of the property changed.
    open var versionHashModifier: String? { willSet { willModify() } }

    /// The property's name in the model version from which stores are migrated.
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

    /// True if the value belongs in a system search index. Kept in the model; unused on Linux.
    open var isIndexedBySpotlight = false { willSet { willModify() } }

    /// True if SQLite stores index the column of an attribute that no fetch index covers.
    @available(*, deprecated, message: "Use NSEntityDescription.indexes instead")
    open var isIndexed: Bool {
        get { isMarkedIndexed }
        set {
            willModify()
            isMarkedIndexed = newValue
        }
    }
    final var isMarkedIndexed = false

    /// The setting of Xcode's model editor to keep the value in the external record, too. Kept in the model; unused on
    /// Linux.
    @available(*, deprecated, message: "Spotlight integration is deprecated")
    open var isStoredInExternalRecord: Bool {
        get { isMarkedExternalRecord }
        set {
            willModify()
            isMarkedExternalRecord = newValue
        }
    }
    final var isMarkedExternalRecord = false

    /// Conditions that a value must meet to be saved, in addition to being present.
    open var validationPredicates: [NSPredicate] { validation.predicates }

    /// The error for each validation predicate: an error code of the validation range as an `NSNumber`, or a message.
    open var validationWarnings: [Any] { validation.warnings }

    /// Sets the conditions that a value must meet.
    ///
    /// - Parameters:
    ///   - validationPredicates: predicates evaluated with the value itself; `nil` means none.
    ///   - validationWarnings: one message or error code as text, such as `"1610"`, for each predicate.
    /// - Precondition: both arrays have the same count.
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

    /// Unknown parts of the model file, kept to be written back.
    final var unknownParts = UnknownParts()

    /// Two properties are equal if a model file describes them alike, even in different entities.
    open override func isEqual(_ object: Any?) -> Bool {
        DescriptionEquality.areEqual(self, object as? NSPropertyDescription)
    }
    open override var hash: Int { name.hashValue }

    /// The 32-byte hash of everything that the property's schema depends on. See `VersionHash`.
    open var versionHash: Data { VersionHash.property(self) }

    /// A mutable copy that belongs to no entity.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = Self()
        copyValues(to: copy)
        return copy
    }

    /// Copies all values of this property to `copy`, which has the same class. Overrides call `super`.
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

    /// Called before every change. Stops the program if the model is in use, and clears cached values.
    final func willModify() { owningEntity?.willModify() }

    open override var description: String { "(\(Swift.type(of: self))) \(name)" }
}
