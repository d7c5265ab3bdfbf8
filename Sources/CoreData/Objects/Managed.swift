import Foundation

/// A property of a hand-written subclass of `NSManagedObject` that stands for a property of the model with its name, as
/// `@NSManaged` does at Apple's.
///
/// ```swift
/// final class Team: NSManagedObject {
///     @Managed var teamName: String?
///     @Managed var wins: Int16
///     @Managed var homeVenue: Venue?
/// }
/// ```
///
/// Reading and writing go straight to the object's slots: no look-up by name, and no boxes for numbers. A scalar that is
/// not optional reads as 0, `false`, an empty text or collection while the value is unset.
///
/// - Precondition: The object's entity has a property of that name, whose type fits.
@propertyWrapper
public struct Managed<Value: ManagedPropertyValue> {
    // A wrapper without storage has no key path from which its name could be read.
    private var place: UInt8 = 0

    public init() {}

    @available(*, unavailable, message: "@Managed is for properties of subclasses of NSManagedObject")
    public var wrappedValue: Value {
        get { preconditionFailure("@Managed is for properties of subclasses of NSManagedObject") }
        set { preconditionFailure("@Managed is for properties of subclasses of NSManagedObject") }
    }

    public static subscript<Owner: NSManagedObject>(
        _enclosingInstance object: Owner, wrapped wrappedKeyPath: ReferenceWritableKeyPath<Owner, Value>,
        storage storageKeyPath: ReferenceWritableKeyPath<Owner, Managed<Value>>
    ) -> Value {
        @inlinable get {
            if let value = Value.readyValue(of: object, ManagedProperty(storageKeyPath)) { return value }
            return Value.managedValue(of: object, at: ManagedPlaces.place(of: storageKeyPath, in: object))
        }
        @inlinable set {
            Value.setManagedValue(newValue, of: object, at: ManagedPlaces.place(of: storageKeyPath, in: object))
        }
    }
}

/// Where a property lives in an object, for `@Managed`.
public struct ManagedPlace {
    let place: EntityLayout.Place
}
