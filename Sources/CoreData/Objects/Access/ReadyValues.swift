import Foundation

// Reading a property of an object whose row is present is the most frequent operation. It runs no user code and
// releases nothing, and the attribute declares this to the compiler. So a caller that iterates over a list need not
// retain each object, which would take as long as the read and prevent the processor from prefetching the next object.

/// The property of a class that an accessor reads: see `ManagedPlaces`.
public struct ManagedProperty {
    @usableFromInline let address: UInt

    /// The property with a name that is a literal of the program.
    @inlinable
    init(_ name: StaticString) { address = UInt(bitPattern: name.utf8Start) }
}

/// Each method returns the value, or `.some(nil)` if it is unset. It returns `nil` if the slow path is needed: the
/// object is a fault or has changes, the thread tracks its reads, or the property was not read before.
// SAFETY: `@_effects(releasenone)` holds, as the functions called here only read, or append to the thread's list of
// reads (`ObservationProbe.isTracking`): no object that a caller can refer to loses a reference.
extension NSManagedObject {
    @usableFromInline @inline(never) @_effects(releasenone)
    final func readyInteger(_ property: ManagedProperty) -> Int64?? {
        guard let (values, slot) = readySlot(property) else { return nil }
        if let value = values.integer(slot) { return .some(value) }
        return values.isNull(slot) ? .some(nil) : nil
    }

    @usableFromInline @inline(never) @_effects(releasenone)
    final func readyReal(_ property: ManagedProperty) -> Double?? {
        guard let (values, slot) = readySlot(property) else { return nil }
        if let value = values.real(slot) { return .some(value) }
        return values.isNull(slot) ? .some(nil) : nil
    }

    @usableFromInline @inline(never) @_effects(releasenone)
    final func readyText(_ property: ManagedProperty) -> String?? {
        guard let (values, slot) = readySlot(property) else { return nil }
        if let value = values.withText(slot, { copy $0 }) { return .some(value) }
        return values.isNull(slot) ? .some(nil) : nil
    }

    /// The values of the row, which the object retains, and the property's slot.
    // SAFETY: the object's row and home are not released while its queue runs this.
    @inline(__always)
    private final func readySlot(_ property: ManagedProperty) -> (values: PackedValues, slot: Int)? {
        guard !flags.contains(.fault), !flags.contains(.observed), let row = unchangedRow else { return nil }
        let slot = home.with { home in
            if case .attribute(let slot)? = home.places[property.address], !home.isReadRecorded { slot } else { -1 }
        }
        return slot < 0 ? nil : (row.with { $0.packed }, slot)
    }
}

extension ManagedPropertyValue {
    /// The value if it is ready; `nil` if `managedValue(of:at:)` has to be called.
    @inlinable
    public static func readyValue(of object: NSManagedObject, _ property: ManagedProperty) -> Self? { nil }

    /// The value if it is ready, `.some(nil)` if it is unset; `nil` if `managedValueIfSet` has to be called.
    @inlinable
    public static func readyValueIfSet(of object: NSManagedObject, _ property: ManagedProperty) -> Self?? { nil }
}

extension Optional where Wrapped: ManagedPropertyValue {
    /// The value if it is ready; `nil` if `managedValue(of:at:)` has to be called.
    @inlinable
    public static func readyValue(of object: NSManagedObject, _ property: ManagedProperty) -> Wrapped?? {
        Wrapped.readyValueIfSet(of: object, property)
    }
}

extension ManagedPropertyValue where Self: FixedWidthInteger {
    /// The value if it is ready; `nil` if `managedValue(of:at:)` has to be called.
    @inlinable
    public static func readyValue(of object: NSManagedObject, _ property: ManagedProperty) -> Self? {
        guard let number = object.readyInteger(property) else { return nil }
        return Self(truncatingIfNeeded: number ?? 0)
    }

    /// The value if it is ready, `.some(nil)` if it is unset; `nil` if `managedValueIfSet` has to be called.
    @inlinable
    public static func readyValueIfSet(of object: NSManagedObject, _ property: ManagedProperty) -> Self?? {
        guard let number = object.readyInteger(property) else { return nil }
        return .some(number.map { Self(truncatingIfNeeded: $0) })
    }
}

extension ManagedPropertyValue where Self: BinaryFloatingPoint {
    /// The value if it is ready; `nil` if `managedValue(of:at:)` has to be called.
    @inlinable
    public static func readyValue(of object: NSManagedObject, _ property: ManagedProperty) -> Self? {
        guard let number = object.readyReal(property) else { return nil }
        return Self(number ?? 0)
    }

    /// The value if it is ready, `.some(nil)` if it is unset; `nil` if `managedValueIfSet` has to be called.
    @inlinable
    public static func readyValueIfSet(of object: NSManagedObject, _ property: ManagedProperty) -> Self?? {
        guard let number = object.readyReal(property) else { return nil }
        return .some(number.map { Self($0) })
    }
}

extension Bool {
    /// The value if it is ready; `nil` if `managedValue(of:at:)` has to be called.
    @inlinable
    public static func readyValue(of object: NSManagedObject, _ property: ManagedProperty) -> Bool? {
        guard let number = object.readyInteger(property) else { return nil }
        return (number ?? 0) != 0
    }

    /// The value if it is ready, `.some(nil)` if it is unset; `nil` if `managedValueIfSet` has to be called.
    @inlinable
    public static func readyValueIfSet(of object: NSManagedObject, _ property: ManagedProperty) -> Bool?? {
        guard let number = object.readyInteger(property) else { return nil }
        return .some(number.map { $0 != 0 })
    }
}

extension Date {
    /// The value if it is ready; `nil` if `managedValue(of:at:)` has to be called.
    @inlinable
    public static func readyValue(of object: NSManagedObject, _ property: ManagedProperty) -> Date? {
        guard let seconds = object.readyReal(property) else { return nil }
        return Date(timeIntervalSinceReferenceDate: seconds ?? 0)
    }

    /// The value if it is ready, `.some(nil)` if it is unset; `nil` if `managedValueIfSet` has to be called.
    @inlinable
    public static func readyValueIfSet(of object: NSManagedObject, _ property: ManagedProperty) -> Date?? {
        guard let seconds = object.readyReal(property) else { return nil }
        return .some(seconds.map { Date(timeIntervalSinceReferenceDate: $0) })
    }
}

extension String {
    /// The value if it is ready; `nil` if `managedValue(of:at:)` has to be called.
    @inlinable
    public static func readyValue(of object: NSManagedObject, _ property: ManagedProperty) -> String? {
        guard let text = object.readyText(property) else { return nil }
        return text ?? ""
    }

    /// The value if it is ready, `.some(nil)` if it is unset; `nil` if `managedValueIfSet` has to be called.
    @inlinable
    public static func readyValueIfSet(of object: NSManagedObject, _ property: ManagedProperty) -> String?? {
        object.readyText(property)
    }
}
