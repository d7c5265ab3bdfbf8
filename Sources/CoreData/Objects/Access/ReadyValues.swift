import Foundation

// Reading a property of an object whose row is here is what programs do most. It runs no code of the user's and
// releases nothing, and is told to the compiler as that: a caller that goes through a list need not retain each object
// for it, which would take as long as the read, and keep the processor from fetching the next object meanwhile. All
// else goes the long way.

/// Which property of a class an accessor stands for: see `ManagedPlaces`.
public struct ManagedProperty {
    @usableFromInline let address: UInt

    /// The property of a name, which stands in the program's text.
    @inlinable
    init(_ name: StaticString) { address = UInt(bitPattern: name.utf8Start) }
}

/// Each of these gives `nil` if there is more to do: the object is a fault or has changes, the thread records its
/// reads, or the property was not read before. Otherwise the value, or `nil` in its place where it is unset.
// SAFETY: `@_effects(releasenone)` holds, as what is called here reads only, or adds to the list of what the thread reads
// (`ObservationProbe.isTracking`): no object that a caller can refer to loses a reference.
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

    /// The values of the row, which the object holds, and where among them that of the property is.
    // SAFETY: the object holds its row and its home while its queue, where this runs, is busy here.
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
    /// The value if it can be read at once; `nil` if `managedValue(of:at:)` has to be asked.
    @inlinable
    public static func readyValue(of object: NSManagedObject, _ property: ManagedProperty) -> Self? { nil }

    /// The value if it can be read at once, with `nil` in its place where it is unset; `nil` if `managedValueIfSet` has
    /// to be asked.
    @inlinable
    public static func readyValueIfSet(of object: NSManagedObject, _ property: ManagedProperty) -> Self?? { nil }
}

extension Optional where Wrapped: ManagedPropertyValue {
    /// The value if it can be read at once; `nil` if `managedValue(of:at:)` has to be asked.
    @inlinable
    public static func readyValue(of object: NSManagedObject, _ property: ManagedProperty) -> Wrapped?? {
        Wrapped.readyValueIfSet(of: object, property)
    }
}

extension ManagedPropertyValue where Self: FixedWidthInteger {
    /// The value if it can be read at once; `nil` if `managedValue(of:at:)` has to be asked.
    @inlinable
    public static func readyValue(of object: NSManagedObject, _ property: ManagedProperty) -> Self? {
        guard let number = object.readyInteger(property) else { return nil }
        return Self(truncatingIfNeeded: number ?? 0)
    }

    /// The value if it can be read at once, with `nil` in its place where it is unset; `nil` if `managedValueIfSet` has
    /// to be asked.
    @inlinable
    public static func readyValueIfSet(of object: NSManagedObject, _ property: ManagedProperty) -> Self?? {
        guard let number = object.readyInteger(property) else { return nil }
        return .some(number.map { Self(truncatingIfNeeded: $0) })
    }
}

extension ManagedPropertyValue where Self: BinaryFloatingPoint {
    /// The value if it can be read at once; `nil` if `managedValue(of:at:)` has to be asked.
    @inlinable
    public static func readyValue(of object: NSManagedObject, _ property: ManagedProperty) -> Self? {
        guard let number = object.readyReal(property) else { return nil }
        return Self(number ?? 0)
    }

    /// The value if it can be read at once, with `nil` in its place where it is unset; `nil` if `managedValueIfSet` has
    /// to be asked.
    @inlinable
    public static func readyValueIfSet(of object: NSManagedObject, _ property: ManagedProperty) -> Self?? {
        guard let number = object.readyReal(property) else { return nil }
        return .some(number.map { Self($0) })
    }
}

extension Bool {
    /// The value if it can be read at once; `nil` if `managedValue(of:at:)` has to be asked.
    @inlinable
    public static func readyValue(of object: NSManagedObject, _ property: ManagedProperty) -> Bool? {
        guard let number = object.readyInteger(property) else { return nil }
        return (number ?? 0) != 0
    }

    /// The value if it can be read at once, with `nil` in its place where it is unset; `nil` if `managedValueIfSet` has
    /// to be asked.
    @inlinable
    public static func readyValueIfSet(of object: NSManagedObject, _ property: ManagedProperty) -> Bool?? {
        guard let number = object.readyInteger(property) else { return nil }
        return .some(number.map { $0 != 0 })
    }
}

extension Date {
    /// The value if it can be read at once; `nil` if `managedValue(of:at:)` has to be asked.
    @inlinable
    public static func readyValue(of object: NSManagedObject, _ property: ManagedProperty) -> Date? {
        guard let seconds = object.readyReal(property) else { return nil }
        return Date(timeIntervalSinceReferenceDate: seconds ?? 0)
    }

    /// The value if it can be read at once, with `nil` in its place where it is unset; `nil` if `managedValueIfSet` has
    /// to be asked.
    @inlinable
    public static func readyValueIfSet(of object: NSManagedObject, _ property: ManagedProperty) -> Date?? {
        guard let seconds = object.readyReal(property) else { return nil }
        return .some(seconds.map { Date(timeIntervalSinceReferenceDate: $0) })
    }
}

extension String {
    /// The value if it can be read at once; `nil` if `managedValue(of:at:)` has to be asked.
    @inlinable
    public static func readyValue(of object: NSManagedObject, _ property: ManagedProperty) -> String? {
        guard let text = object.readyText(property) else { return nil }
        return text ?? ""
    }

    /// The value if it can be read at once, with `nil` in its place where it is unset; `nil` if `managedValueIfSet` has
    /// to be asked.
    @inlinable
    public static func readyValueIfSet(of object: NSManagedObject, _ property: ManagedProperty) -> String?? {
        object.readyText(property)
    }
}
