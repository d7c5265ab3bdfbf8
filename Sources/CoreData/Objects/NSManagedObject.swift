import Foundation
import Synchronization

/// An object of a graph that is kept in a store: a row, the changes that are not saved yet, and its neighbours.
///
/// Belongs to the queue of its context, like everything that is read from it. A fault is an object whose values were not
/// asked for yet; reading any of them makes it real, which costs no reading of the store when a fetch has already brought
/// the row. Without a context an object is a plain holder of values.
open class NSManagedObject: NSObject, NSFetchRequestResult {
    /// The context that the object is registered in; `nil` before it is inserted, after its deletion was saved, and once
    /// the context was reset or is gone.
    ///
    /// On its queue the objects leave a context that is gone.
    public final var managedObjectContext: NSManagedObjectContext? {
        @inline(__always) get { contextReference?.with { $0.living } }
    }

    // All that an object has of its own: three words, which are 24 bytes in a list of a million.

    // SAFETY: an object belongs to one queue, and each word is read or written whole: no accesses overlap.
    @exclusivity(unchecked)
    final var flags: ObjectFlags = []
    /// The row's number, where the ID was not made: see ``identifier``.
    final let rowNumber = Atomic<UInt32>(0)
    /// An ``ObjectHome/Word``: the layout, the context, what the ID is made of or the ID.
    final let homeWord: Atomic<UInt>
    /// An ``ObjectState``: the row and what else the object holds.
    @exclusivity(unchecked)
    final var stateWord = ObjectState.new.bits

    // MARK: Making objects

    /// A new object of `entity`, with the default values of the model, inserted into `context` if one is given.
    ///
    /// Required, because contexts make objects of the class that the entity names. Subclasses rather override
    /// `awakeFromInsert()` and `awakeFromFetch()`.
    public required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        homeWord = Atomic(ObjectHome.Word(of: entity.layout).bits)
        super.init()
        withTraits { ManagedObjectClasses.note(Self.self, of: entity, $0) }
        if let context { context.insert(self) }
    }

    /// An object that nothing can be done with, as it has no entity; standard error says so. Declared because programs that call
    /// it by mistake compile on Apple's systems too.
    public convenience override init() {
        let text = "Failed to call designated initializer on NSManagedObject class '\(Self.self)'\n"
        FileHandle.standardError.write(Data(text.utf8))
        self.init(entity: NSEntityDescription(), insertInto: nil)
    }

    /// A new object of the entity that has this class, inserted into `moc`.
    ///
    /// - Precondition: Exactly one entity of the context's model has this class.
    public required convenience init(context moc: NSManagedObjectContext) {
        self.init(entity: moc.entity(for: Self.self), insertInto: moc)
    }

    /// The entity that has this class, of a model that a coordinator uses.
    ///
    /// - Precondition: There is exactly one.
    ///
    /// Where no model in use has one, that is said on standard error, and the result is a description without a name.
    open class func entity() -> NSEntityDescription { ManagedObjectClasses.entity(of: self) }

    /// A request for all objects of the entity that has this class.
    @_disfavoredOverload
    open class func fetchRequest() -> NSFetchRequest<NSFetchRequestResult> {
        let request = NSFetchRequest<NSFetchRequestResult>()
        request.entity = entity()
        return request
    }

    /// Whether setting a property that the model does not have leaves the context unchanged. Always so here.
    open class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { true }

    deinit {
        if flags.contains(.observed) { ObservedObjects.forget(self) }
        ObjectState(bits: stateWord).release()
        ObjectHome.Word(bits: homeWord.load(ordering: .acquiring)).release()
    }

    // MARK: Identity and state. Nothing here fires a fault.

    /// The object's ID: a temporary one until it is saved into a store, by its context or by one of those beneath it.
    public final var objectID: NSManagedObjectID { identifier?.latest ?? makeTemporaryID() }
    // SAFETY: a home that is replaced is kept by the one that takes its place, so that it outlives this look.
    /// The entity of the object: the concrete one. On any thread.
    public final var entity: NSEntityDescription { homeForAnyThread.with { $0.layout.entity } }
    /// Whether the values are not here yet, or were not asked for.
    public final var isFault: Bool { flags.contains(.fault) }
    /// Whether the object is new: in a context, and not saved yet.
    public final var isInserted: Bool { flags.contains(.inserted) }
    /// Whether a saved object was changed since. Setting an equal value counts.
    public final var isUpdated: Bool { flags.contains(.updated) }
    /// Whether the next save deletes the object, or it was deleted before it was ever saved.
    public final var isDeleted: Bool { !flags.isDisjoint(with: [.deleted, .dropped]) }
    /// Whether the object was inserted, changed or deleted since the last save.
    public final var hasChanges: Bool { !flags.isDisjoint(with: [.unsaved, .dropped]) }
    /// Whether values that are saved differ from the saved ones.
    public final var hasPersistentChangedValues: Bool { ChangedValues.differsFromSaved(self) }
    /// 0 once the object is settled, 1 while it is a fault.
    public final var faultingState: Int { isFault ? 1 : 0 }

    /// Whether the relationship's destinations have not been read yet.
    open func hasFault(forRelationshipNamed key: String) -> Bool { relationshipIsFault(key) }

    /// The IDs of the destinations, an array for a to-one relationship too. Reads IDs, not the destinations' rows.
    open func objectIDs(forRelationshipNamed key: String) -> [NSManagedObjectID] { destinationIDs(key) }

    // MARK: Values

    /// The value of a property. Numbers are `NSNumber`s, a to-many relationship is an `NSSet` or `NSOrderedSet` of the
    /// destinations as they are now.
    ///
    /// - Precondition: The entity has the property, or `value(forUndefinedKey:)` is overridden.
    open func value(forKey key: String) -> Any? { KeyValueAccess.value(of: self, for: key) }

    /// Sets a property, and the inverse of a relationship with it.
    ///
    /// - Precondition: The entity has the property, and the value fits its type.
    open func setValue(_ value: Any?, forKey key: String) { KeyValueAccess.set(value, of: self, for: key) }

    /// The value at the end of a path of keys, which may hold collection operators such as `@count` and `@sum`.
    open func value(forKeyPath keyPath: String) -> Any? { KeyPathReader.value(of: self, at: keyPath) }

    /// Sets the property at the end of a path of relationships, or an element of a composite attribute. Where the path
    /// goes through a to-many relationship, it is set in each of the destinations.
    open func setValue(_ value: Any?, forKeyPath keyPath: String) { KeyValueAccess.set(value, of: self, at: keyPath) }

    /// Called for a key that neither the entity nor the framework knows. Override it to answer for properties of the
    /// class that are not in the model; without that it stops the program, as Apple's raises.
    open func value(forUndefinedKey key: String) -> Any? {
        preconditionFailure(KeyValueAccess.undefinedKeyMessage(self, key))
    }

    /// Called when a key is set that neither the entity nor the framework knows. Stops the program unless overridden.
    open func setValue(_ value: Any?, forUndefinedKey key: String) {
        preconditionFailure(KeyValueAccess.undefinedKeyMessage(self, key))
    }

    /// Never called for properties of the model, all of which can be unset; it is here for classes that override it.
    open func setNilValueForKey(_ key: String) {
        preconditionFailure("[\(self) setNilValueForKey]: could not set nil as the value for the key \(key).")
    }

    /// The values of several properties, by name; `NSNull` for `nil`.
    open func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
        Dictionary(keys.map { ($0, value(forKey: $0) ?? NSNull()) }, uniquingKeysWith: { $1 })
    }

    /// Sets several properties, by name; `NSNull` stands for `nil`.
    open func setValuesForKeys(_ keyedValues: [String: Any]) {
        for (key, value) in keyedValues { setValue(value is NSNull ? nil : value, forKey: key) }
    }

    /// The value without any hook: a fault is not fired, and an unread value is `nil`.
    open func primitiveValue(forKey key: String) -> Any? { KeyValueAccess.primitiveValue(of: self, for: key) }

    /// Sets the value without any hook: the context does not hear of it, and no inverse is kept up.
    open func setPrimitiveValue(_ value: Any?, forKey key: String) {
        KeyValueAccess.setPrimitive(value, of: self, for: key)
    }

    /// The value of a property by its name.
    public final subscript(key: String) -> Any? {
        get { value(forKey: key) }
        set { setValue(newValue, forKey: key) }
    }

    /// The value of a property by its name, with the label that the documentation's title of the subscript has.
    public final subscript(key key: String) -> Any? {
        get { value(forKey: key) }
        set { setValue(newValue, forKey: key) }
    }

    /// The destinations of a to-many relationship as a set whose changes are changes of the relationship.
    open func mutableSetValue(forKey key: String) -> NSMutableSet { KeyValueAccess.mutableSet(of: self, for: key) }

    /// The destinations of an ordered relationship as an ordered set whose changes are changes of the relationship.
    open func mutableOrderedSetValue(forKey key: String) -> NSMutableOrderedSet {
        KeyValueAccess.mutableOrderedSet(of: self, for: key)
    }

    // MARK: Hooks of accessors

    /// To be called before a value is read through `primitiveValue(forKey:)`: fires the fault.
    open func willAccessValue(forKey key: String?) {
        if let place = key.flatMap(layout.place(of:)) { noteRead(place) }
        fireIfNeeded()
    }

    /// To be called after a value was read through `primitiveValue(forKey:)`.
    open func didAccessValue(forKey key: String?) {}

    /// To be called before a value is set through `setPrimitiveValue(_:forKey:)`: the context hears of the change.
    open func willChangeValue(forKey key: String) { ManualChanges.willChange(self, key) }

    /// To be called after a value was set through `setPrimitiveValue(_:forKey:)`: keeps up the inverse.
    open func didChangeValue(forKey key: String) { ManualChanges.didChange(self, key) }

    /// To be called before members of a to-many relationship are changed through primitive values.
    open func willChangeValue(
        forKey inKey: String, withSetMutation inMutationKind: NSKeyValueSetMutationKind,
        using inObjects: Set<AnyHashable>
    ) {
        willChangeValue(forKey: inKey)
    }

    /// To be called after members of a to-many relationship were changed through primitive values.
    open func didChangeValue(
        forKey inKey: String, withSetMutation inMutationKind: NSKeyValueSetMutationKind,
        using inObjects: Set<AnyHashable>
    ) {
        didChangeValue(forKey: inKey)
    }

    // MARK: Changes

    /// The saved properties that differ from the saved row, with their present values; `NSNull` for `nil`.
    open func changedValues() -> [String: Any] { ChangedValues.sinceSave(of: self) }

    /// The properties that the current event changed, with the values they had before it; `NSNull` for `nil`. Of a
    /// new object, everything that was set since it was inserted.
    open func changedValuesForCurrentEvent() -> [String: Any] { ChangedValues.sinceEvent(of: self) }

    /// The values as they were last read or saved; `NSNull` for `nil`. A new object has none.
    ///
    /// - Parameter keys: The properties wanted; `nil` means all but to-many relationships that were not read yet.
    open func committedValues(forKeys keys: [String]?) -> [String: Any] { ChangedValues.committed(of: self, keys) }

    // MARK: Life

    /// Called once, when the object is first inserted; the default values are in place. Values set through
    /// `setPrimitiveValue(_:forKey:)` are where the object starts, not changes. Overriders call `super` first.
    open func awakeFromInsert() {}

    /// Called each time a fault becomes real from the store. What is set here is not a change, and no inverse is kept up.
    /// Overriders call `super` first.
    open func awakeFromFetch() {}

    /// Called after values were replaced from a snapshot. Overriders call `super` first.
    open func awake(fromSnapshotEvents flags: NSSnapshotEventType) {}

    /// Called when the object is about to be deleted; its relationships are still intact.
    open func prepareForDeletion() {}

    /// Called in each save before the object is validated, again as long as objects change.
    open func willSave() {}

    /// Called after the save, of deleted objects too.
    open func didSave() {}

    /// Called before the values are dropped.
    open func willTurnIntoFault() {}

    /// Called after the values were dropped.
    open func didTurnIntoFault() {}

    // MARK: Validation

    /// Checks a value of a property against the model, after bringing it into the attribute's form.
    ///
    /// Called for each property by `validateForInsert()` and `validateForUpdate()`. Override it for checks of a property
    /// (Apple's calls a method `validate<Key>(_:)` by name, which cannot be found here).
    ///
    /// - Parameters:
    ///   - value: points to the value, and may be replaced.
    ///   - key: the name of the property.
    /// - Throws: a `CocoaError` from 1550 to 1680, such as 1570 for a missing value.
    // SAFETY: the caller holds the variable during the call.
    open func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
        try ObjectValidation.validate(value, of: self, for: key)
    }

    /// Checks the value in a variable: `validateValue(&value, forKey: "wins")`.
    ///
    /// - Parameters:
    ///   - value: the variable, whose value may be replaced.
    ///   - key: the name of the property.
    /// - Throws: a `CocoaError` from 1550 to 1680, such as 1570 for a missing value.
    // SAFETY: the caller holds the variable during the call.
    public final func validateValue(_ value: UnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
        try validateValue(AutoreleasingUnsafeMutablePointer(value), forKey: key)
    }

    /// Checks a new object before it is saved. Overriders call `super` first.
    ///
    /// - Throws: an error from 1550 to 1680, such as 1570 for a missing value, or an overrider's own; 1560 with several under
    ///   `NSDetailedErrorsKey`.
    open func validateForInsert() throws { try ObjectValidation.validateProperties(of: self) }

    /// Checks a changed object before it is saved. Overriders call `super` first.
    ///
    /// - Throws: as ``validateForInsert()`` does.
    open func validateForUpdate() throws { try ObjectValidation.validateProperties(of: self) }

    /// Checks that the object may be deleted. Overriders call `super` first.
    ///
    /// - Throws: 1600 for each relationship that denies it; 1560 with several under `NSDetailedErrorsKey`.
    open func validateForDelete() throws { try ObjectValidation.validateDeletion(of: self) }

    // MARK: NSObject

    /// Objects are equal when they are the same: a context has one object for a row.
    // SAFETY: the address is compared and not followed.
    public final override func isEqual(_ object: Any?) -> Bool {
        guard let object else { return false }
        if let other = Unretained<NSManagedObject>.exactly(type(of: self), object) {
            return other == Unretained(self)
        }
        return object as? NSManagedObject === self
    }

    // SAFETY: the address is a number here, and not followed.
    public final override var hash: Int { Int(bitPattern: Unretained(self).address) >> 4 }

    /// Class, entity, ID and values. Does not fire the fault.
    open override var description: String { ObjectDescription.text(of: self) }
}

/// How the members of a to-many relationship are about to change.
public enum NSKeyValueSetMutationKind: UInt, Sendable {
    /// Members are added.
    case union = 1
    /// Members are taken out.
    case minus = 2
    /// All but some members are taken out.
    case intersect = 3
    /// The members are replaced.
    case set = 4
}
