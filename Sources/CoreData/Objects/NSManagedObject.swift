import Foundation
import Synchronization

/// An object of a graph in a store: a row, its unsaved changes, and its relationships.
///
/// Like everything read from it, an object belongs to the queue of its context. A fault is an object whose values were
/// not accessed yet. Accessing one of them fires the fault, which reads the row from the store unless a fetch has
/// already read it. An object without a context only holds values.
open class NSManagedObject: NSObject, NSFetchRequestResult {
    /// The context in which the object is registered; `nil` before insertion, after the deletion was saved or the
    /// insertion taken back, once its store is removed, and once the context is reset or deallocated.
    ///
    /// Objects leave a deallocated context on its queue.
    public final var managedObjectContext: NSManagedObjectContext? {
        @inline(__always) get { contextReference?.with { $0.living } }
    }

    // An object's own storage: 24 bytes (flags and row number share a word), so 24 MB for a million objects.

    // SAFETY: an object belongs to one queue, and each word is accessed as a whole: no accesses overlap.
    @exclusivity(unchecked)
    final var flags: ObjectFlags = []
    /// The number of the row, while no ID has been created: see ``identifier``.
    final let rowNumber = Atomic<UInt32>(0)
    /// An ``ObjectHome/Word``: the layout, the context, and the ID or its family.
    final let homeWord: Atomic<UInt>
    /// An ``ObjectState``: the row and the object's other contents.
    @exclusivity(unchecked)
    final var stateWord = ObjectState.new.bits

    // MARK: Making objects

    /// Creates an object of `entity` with the model's default values, and inserts it into `context` if one is given.
    ///
    /// Required, because contexts create objects of the class that the entity names. Subclasses should override
    /// `awakeFromInsert()` and `awakeFromFetch()` instead.
    public required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        homeWord = Atomic(ObjectHome.Word(of: entity).bits)
        super.init()
        withTraits { ManagedObjectClasses.note(Self.self, of: entity, $0) }
        if let context { context.insert(self) }
    }

    /// Creates an unusable object without an entity, and prints an error to standard error. Declared because calls
    /// of it, though mistakes, compile on Apple's systems too.
    public convenience override init() {
        let text = "Failed to call designated initializer on NSManagedObject class '\(Self.self)'\n"
        FileHandle.standardError.write(Data(text.utf8))
        self.init(entity: NSEntityDescription(), insertInto: nil)
    }

    /// Creates an object of the entity that has this class, and inserts it into `moc`.
    ///
    /// - Precondition: Exactly one entity of the context's model has this class.
    public required convenience init(context moc: NSManagedObjectContext) {
        self.init(entity: moc.entity(for: Self.self), insertInto: moc)
    }

    /// The entity that has this class, in a model that a coordinator uses.
    ///
    /// - Precondition: There is exactly one.
    ///
    /// If no model in use has one, prints an error to standard error and returns a description without a name.
    open class func entity() -> NSEntityDescription { ManagedObjectClasses.entity(of: self) }

    /// Creates a request for all objects of the entity that has this class.
    @_disfavoredOverload
    open class func fetchRequest() -> NSFetchRequest<NSFetchRequestResult> {
        let request = NSFetchRequest<NSFetchRequestResult>()
        request.entity = entity()
        return request
    }

    /// True if setting a property outside the model leaves the context unchanged. Always true here.
    open class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { true }

    deinit {
        if flags.contains(.observed) { ObservedObjects.forget(self) }
        ObjectState(bits: stateWord).release()
        ObjectHome.Word(bits: homeWord.load(ordering: .acquiring)).release()
    }

    // MARK: Identity and state. Nothing here fires a fault.

    /// The object's ID: temporary until its context or an ancestor of that context saves it into a store.
    public final var objectID: NSManagedObjectID { identifier?.latest ?? makeTemporaryID() }
    // SAFETY: the home that replaces another one retains it, so the home outlives this read.
    /// The object's concrete entity. Any thread.
    public final var entity: NSEntityDescription { homeForAnyThread.with { $0.layout.entity } }
    /// True if the values are not in memory, or none of them was accessed yet.
    public final var isFault: Bool { flags.contains(.fault) }
    /// True if the object is in a context and was never saved.
    public final var isInserted: Bool { flags.contains(.inserted) }
    /// True if a saved object was changed since the last save. Setting an equal value counts as a change.
    public final var isUpdated: Bool { flags.contains(.updated) }
    /// True if the next save deletes the object, or if it was deleted before it was ever saved.
    public final var isDeleted: Bool { !flags.isDisjoint(with: [.deleted, .dropped]) }
    /// True if the object was inserted, changed or deleted since the last save.
    public final var hasChanges: Bool { !flags.isDisjoint(with: [.unsaved, .dropped]) }
    /// True if any persistent value differs from the saved one.
    public final var hasPersistentChangedValues: Bool { ChangedValues.differsFromSaved(self) }
    /// 1 if the object is a fault, else 0.
    public final var faultingState: Int { isFault ? 1 : 0 }

    /// True if the relationship's destinations have not been read yet.
    open func hasFault(forRelationshipNamed key: String) -> Bool { relationshipIsFault(key) }

    /// The IDs of the destinations: an array, also for a to-one relationship. Reads IDs, not the destinations' rows.
    open func objectIDs(forRelationshipNamed key: String) -> [NSManagedObjectID] { destinationIDs(key) }

    // MARK: Values

    /// The value of a property: an `NSNumber` for a number, an `NSSet` or `NSOrderedSet` with the current destinations
    /// for a to-many relationship.
    ///
    /// - Precondition: The entity has the property, or `value(forUndefinedKey:)` is overridden.
    open func value(forKey key: String) -> Any? { KeyValueAccess.value(of: self, for: key) }

    /// Sets a property. Setting a relationship also sets its inverse.
    ///
    /// - Precondition: The entity has the property, and the value matches its type.
    open func setValue(_ value: Any?, forKey key: String) { KeyValueAccess.set(value, of: self, for: key) }

    /// The value at a key path, which may contain collection operators such as `@count` and `@sum`.
    open func value(forKeyPath keyPath: String) -> Any? { KeyPathReader.value(of: self, at: keyPath) }

    /// Sets the property at the end of a path of relationships, or an element of a composite attribute. A to-many
    /// relationship in the path sets it in each of the destinations.
    open func setValue(_ value: Any?, forKeyPath keyPath: String) { KeyValueAccess.set(value, of: self, at: keyPath) }

    /// Called for a key that neither the entity nor the framework knows. Override it to return properties of the class
    /// that are not in the model. The default implementation stops the program; Apple's raises an exception.
    open func value(forUndefinedKey key: String) -> Any? {
        preconditionFailure(KeyValueAccess.undefinedKeyMessage(self, key))
    }

    /// Called when an unknown key is set. Stops the program unless overridden.
    open func setValue(_ value: Any?, forUndefinedKey key: String) {
        preconditionFailure(KeyValueAccess.undefinedKeyMessage(self, key))
    }

    /// Never called for properties of the model, all of which accept `nil`; declared for classes that override it.
    open func setNilValueForKey(_ key: String) {
        preconditionFailure("[\(self) setNilValueForKey]: could not set nil as the value for the key \(key).")
    }

    /// The values of several properties, by name; `NSNull` for `nil`.
    open func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
        Dictionary(keys.map { ($0, value(forKey: $0) ?? NSNull()) }, uniquingKeysWith: { $1 })
    }

    /// Sets several properties, by name; `NSNull` means `nil`.
    open func setValuesForKeys(_ keyedValues: [String: Any]) {
        for (key, value) in keyedValues { setValue(value is NSNull ? nil : value, forKey: key) }
    }

    /// The value without calling any hook: a fault is not fired, and an unread value is `nil`.
    open func primitiveValue(forKey key: String) -> Any? { KeyValueAccess.primitiveValue(of: self, for: key) }

    /// Sets the value without calling any hook: the context is not notified, and the inverse is not set.
    open func setPrimitiveValue(_ value: Any?, forKey key: String) {
        KeyValueAccess.setPrimitive(value, of: self, for: key)
    }

    /// The value of a property by its name.
    public final subscript(key: String) -> Any? {
        get { value(forKey: key) }
        set { setValue(newValue, forKey: key) }
    }

    /// The value of a property by its name, with the label that Apple's documentation gives the subscript.
    public final subscript(key key: String) -> Any? {
        get { value(forKey: key) }
        set { setValue(newValue, forKey: key) }
    }

    /// The destinations of a to-many relationship as a mutable set; changing the set changes the relationship.
    open func mutableSetValue(forKey key: String) -> NSMutableSet { KeyValueAccess.mutableSet(of: self, for: key) }

    /// The destinations of an ordered relationship as a mutable ordered set; changing the set changes the relationship.
    open func mutableOrderedSetValue(forKey key: String) -> NSMutableOrderedSet {
        KeyValueAccess.mutableOrderedSet(of: self, for: key)
    }

    // MARK: Hooks of accessors

    /// Call this before reading a value through `primitiveValue(forKey:)`. Fires the fault.
    open func willAccessValue(forKey key: String?) {
        if let place = key.flatMap(layout.place(of:)) { noteRead(place) }
        fireIfNeeded()
    }

    /// Call this after reading a value through `primitiveValue(forKey:)`.
    open func didAccessValue(forKey key: String?) {}

    /// Call this before setting a value through `setPrimitiveValue(_:forKey:)`. Notifies the context of the change.
    open func willChangeValue(forKey key: String) { ManualChanges.willChange(self, key) }

    /// Call this after setting a value through `setPrimitiveValue(_:forKey:)`. Sets the inverse.
    open func didChangeValue(forKey key: String) { ManualChanges.didChange(self, key) }

    /// Call this before changing members of a to-many relationship through primitive values.
    open func willChangeValue(
        forKey inKey: String, withSetMutation inMutationKind: NSKeyValueSetMutationKind,
        using inObjects: Set<AnyHashable>
    ) {
        willChangeValue(forKey: inKey)
    }

    /// Call this after changing members of a to-many relationship through primitive values.
    open func didChangeValue(
        forKey inKey: String, withSetMutation inMutationKind: NSKeyValueSetMutationKind,
        using inObjects: Set<AnyHashable>
    ) {
        didChangeValue(forKey: inKey)
    }

    // MARK: Changes

    /// The persistent properties that differ from the saved row, with their current values; `NSNull` for `nil`.
    open func changedValues() -> [String: Any] { ChangedValues.sinceSave(of: self) }

    /// The properties that the current event changed, with their previous values; `NSNull` for `nil`. For a new object:
    /// everything that was set since its insertion.
    open func changedValuesForCurrentEvent() -> [String: Any] { ChangedValues.sinceEvent(of: self) }

    /// The values as last read or saved; `NSNull` for `nil`. Empty for a new object.
    ///
    /// - Parameter keys: The properties to return; `nil` means all except unread to-many relationships.
    open func committedValues(forKeys keys: [String]?) -> [String: Any] { ChangedValues.committed(of: self, keys) }

    // MARK: Life

    /// Called once, when the object is first inserted and has its default values. Values set through
    /// `setPrimitiveValue(_:forKey:)` are initial values, not changes. Overriders call `super` first.
    open func awakeFromInsert() {}

    /// Called each time a fault is filled from the store. Values set here are not changes, and inverses are not set.
    /// Overriders call `super` first.
    open func awakeFromFetch() {}

    /// Called after a snapshot replaced the values. Overriders call `super` first.
    open func awake(fromSnapshotEvents flags: NSSnapshotEventType) {}

    /// Called when the object is about to be deleted, while its relationships are still intact.
    open func prepareForDeletion() {}

    /// Called in each save before the object is validated, and again as long as objects change.
    open func willSave() {}

    /// Called after the save, also for deleted objects.
    open func didSave() {}

    /// Called before the object drops its values and becomes a fault.
    open func willTurnIntoFault() {}

    /// Called after the object has dropped its values and become a fault.
    open func didTurnIntoFault() {}

    // MARK: Validation

    /// Checks a value of a property against the model, after converting it to the attribute's type.
    ///
    /// Called for each property by `validateForInsert()` and `validateForUpdate()`. Override it for checks of a
    /// property. Apple's implementation also calls a method `validate<Key>(_:)` by name, which is impossible here.
    ///
    /// - Parameters:
    ///   - value: A pointer to the value, which may be replaced.
    ///   - key: The name of the property.
    /// - Throws: A `CocoaError` from 1550 to 1680, such as 1570 for a missing value.
    // SAFETY: the caller keeps the variable alive during the call.
    open func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
        try ObjectValidation.validate(value, of: self, for: key)
    }

    /// Checks the value in a variable: `validateValue(&value, forKey: "wins")`.
    ///
    /// - Parameters:
    ///   - value: The variable, whose value may be replaced.
    ///   - key: The name of the property.
    /// - Throws: A `CocoaError` from 1550 to 1680, such as 1570 for a missing value.
    // SAFETY: the caller keeps the variable alive during the call.
    public final func validateValue(_ value: UnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
        try validateValue(AutoreleasingUnsafeMutablePointer(value), forKey: key)
    }

    /// Checks a new object before it is saved. Overriders call `super` first.
    ///
    /// - Throws: An error from 1550 to 1680, such as 1570 for a missing value, or an overrider's own error; 1560 for
    ///   several errors, which are under `NSDetailedErrorsKey`.
    open func validateForInsert() throws { try ObjectValidation.validateProperties(of: self) }

    /// Checks a changed object before it is saved. Overriders call `super` first.
    ///
    /// - Throws: The errors of ``validateForInsert()``.
    open func validateForUpdate() throws { try ObjectValidation.validateProperties(of: self) }

    /// Checks that the object may be deleted. Overriders call `super` first.
    ///
    /// - Throws: 1600 for each relationship that denies it; 1560 for several, which are under `NSDetailedErrorsKey`.
    open func validateForDelete() throws { try ObjectValidation.validateDeletion(of: self) }

    // MARK: NSObject

    /// True if both are the same object: a context has one object per row.
    // SAFETY: the address is compared, not dereferenced.
    public final override func isEqual(_ object: Any?) -> Bool {
        guard let object else { return false }
        if let other = Unretained<NSManagedObject>.exactly(type(of: self), object) {
            return other == Unretained(self)
        }
        return object as? NSManagedObject === self
    }

    // SAFETY: the address is used as a number, not dereferenced.
    public final override var hash: Int { Int(bitPattern: Unretained(self).address) >> 4 }

    /// Class, entity, ID and values of the object. Does not fire the fault.
    open override var description: String { ObjectDescription.text(of: self) }
}

/// The kind of change of a to-many relationship.
public enum NSKeyValueSetMutationKind: UInt, Sendable {
    /// Members are added.
    case union = 1
    /// Members are removed.
    case minus = 2
    /// All members except the given ones are removed.
    case intersect = 3
    /// The members are replaced.
    case set = 4
}
