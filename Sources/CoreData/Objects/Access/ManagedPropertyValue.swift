import Foundation

/// A type that an `@Managed` property may have.
///
/// Only the framework's types conform: the numbers, `Bool`, `String`, `Date`, `Data`, `UUID`, `URL`, `Decimal`, every
/// `NSObject` (managed objects, `NSSet`, `NSOrderedSet`, `NSNumber`, transformable values), `Set`, `Array` and
/// `Dictionary` (relationships, fetched properties, values of transformers and composites), and optionals of these.
public protocol ManagedPropertyValue {
    /// The value of the object's property. An unset value, or one of another type, reads as the type's empty value.
    static func managedValue(of object: NSManagedObject, at place: ManagedPlace) -> Self

    /// Sets the object's property.
    static func setManagedValue(_ value: Self, of object: NSManagedObject, at place: ManagedPlace)

    /// The value of the object's property; `nil` if it is unset.
    static func managedValueIfSet(of object: NSManagedObject, at place: ManagedPlace) -> Self?

    /// The value of the object's property if it can be read without side effects, or the empty value if it is unset;
    /// `nil` if ``managedValue(of:at:)`` has to be called. Never differs from that method's result.
    static func readyValue(of object: NSManagedObject, _ property: ManagedProperty) -> Self?

    /// The value as ``readyValue(of:_:)`` returns it, except that an unset value is `.some(nil)`.
    static func readyValueIfSet(of object: NSManagedObject, _ property: ManagedProperty) -> Self??
}

extension ManagedPropertyValue {
    /// The value of the object's property; `nil` if it is unset.
    public static func managedValueIfSet(of object: NSManagedObject, at place: ManagedPlace) -> Self? {
        managedValue(of: object, at: place)
    }
}

/// A value that is stored in a slot.
protocol SlotRepresentable: ManagedPropertyValue {
    /// The value that an unset property reads as.
    static var emptyValue: Self { get }
    init?(slot: SlotValue)
    /// The value for the slot of an attribute of that type; `nil` if the type does not accept it.
    func slot(for type: NSAttributeType) -> SlotValue?
}

extension SlotRepresentable {
    /// The value of the object's property; empty if it is unset or of another type.
    public static func managedValue(of object: NSManagedObject, at place: ManagedPlace) -> Self {
        read(object, place.place, as: Self.self) ?? emptyValue
    }

    /// The value of the object's property; `nil` if it is unset.
    public static func managedValueIfSet(of object: NSManagedObject, at place: ManagedPlace) -> Self? {
        read(object, place.place, as: Self?.self)
    }

    @inline(__always)
    private static func read(
        _ object: NSManagedObject, _ place: EntityLayout.Place, as type: @autoclosure () -> Any.Type
    ) -> Self? {
        guard case .attribute(let slot) = place else { return nil }
        object.noteRead(place, as: type())
        return Self(slot: object.slotValue(slot))
    }

    /// Sets the object's property.
    ///
    /// - Precondition: The property's type accepts the value.
    public static func setManagedValue(_ value: Self, of object: NSManagedObject, at place: ManagedPlace) {
        guard case .attribute(let slot) = place.place,
            let fitting = value.slot(for: object.withLayout({ $0.attributeTypes[slot] }))
        else { preconditionFailure("A property of '\(object.objectID)' cannot have a value of type \(Self.self).") }
        object.setAttribute(fitting, slot: slot)
    }
}

// MARK: Numbers

extension SlotRepresentable where Self: FixedWidthInteger {
    static var emptyValue: Self { 0 }

    @inline(__always)
    init?(slot: SlotValue) {
        switch slot {
        case .integer(let number): self = Self(truncatingIfNeeded: number)
        case .real(let number):
            guard let exact = Self(exactly: number.rounded(.towardZero)) else { return nil }
            self = exact
        case .decimal(let number):
            guard let whole = NumberCoercion.integer(number) else { return nil }
            self = Self(truncatingIfNeeded: whole)
        default: return nil
        }
    }

    func slot(for type: NSAttributeType) -> SlotValue? {
        switch type {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            Int64(exactly: self).map(SlotValue.integer) ?? .real(Double(self))
        default: AttributeCoercion.slotValue(self, type: type)
        }
    }
}

extension SlotRepresentable where Self: BinaryFloatingPoint {
    static var emptyValue: Self { 0 }

    @inline(__always)
    init?(slot: SlotValue) {
        switch slot {
        case .real(let number): self = Self(number)
        case .integer(let number): self = Self(number)
        case .decimal(let number): self = Self(NumberCoercion.real(number) ?? .nan)
        default: return nil
        }
    }

    /// A date attribute takes and returns seconds since 2001, as in generated classes with scalars.
    func slot(for type: NSAttributeType) -> SlotValue? {
        switch type {
        case .doubleAttributeType, .dateAttributeType: .real(Double(self))
        default: AttributeCoercion.unvalidatedSlotValue(Double(self), type: type)
        }
    }
}

extension Int: SlotRepresentable {}
extension Int8: SlotRepresentable {}
extension Int16: SlotRepresentable {}
extension Int32: SlotRepresentable {}
extension Int64: SlotRepresentable {}
extension UInt: SlotRepresentable {}
extension UInt8: SlotRepresentable {}
extension UInt16: SlotRepresentable {}
extension UInt32: SlotRepresentable {}
extension UInt64: SlotRepresentable {}
extension Double: SlotRepresentable {}
extension Float: SlotRepresentable {}
extension CGFloat: SlotRepresentable {}

extension Bool: SlotRepresentable {
    static var emptyValue: Bool { false }

    init?(slot: SlotValue) {
        guard case .integer(let number) = slot else { return nil }
        self = number != 0
    }

    func slot(for type: NSAttributeType) -> SlotValue? {
        type == .booleanAttributeType ? .integer(self ? 1 : 0) : AttributeCoercion.slotValue(self, type: type)
    }
}

extension Decimal: SlotRepresentable {
    static var emptyValue: Decimal { 0 }

    init?(slot: SlotValue) {
        switch slot {
        case .decimal(let number): self = number.decimalValue
        case .integer(let number): self = Decimal(number)
        case .real(let number):
            guard let decimal = NumberCoercion.decimal(number) else { return nil }
            self = decimal.decimalValue
        default: return nil
        }
    }

    func slot(for type: NSAttributeType) -> SlotValue? { AttributeCoercion.unvalidatedSlotValue(self, type: type) }
}

// MARK: Other values

extension String: SlotRepresentable {
    static var emptyValue: String { "" }

    init?(slot: SlotValue) {
        guard case .text(let text) = slot else { return nil }
        self = text
    }

    func slot(for type: NSAttributeType) -> SlotValue? {
        type == .stringAttributeType ? .text(self) : AttributeCoercion.slotValue(self, type: type)
    }
}

extension Date: SlotRepresentable {
    static var emptyValue: Date { Date(timeIntervalSinceReferenceDate: 0) }

    init?(slot: SlotValue) {
        guard case .real(let seconds) = slot else { return nil }
        self = Date(timeIntervalSinceReferenceDate: seconds)
    }

    func slot(for type: NSAttributeType) -> SlotValue? {
        type == .dateAttributeType
            ? .real(timeIntervalSinceReferenceDate) : AttributeCoercion.slotValue(self, type: type)
    }
}

extension Data: SlotRepresentable {
    static var emptyValue: Data { Data() }

    init?(slot: SlotValue) {
        guard case .data(let data) = slot else { return nil }
        self = data
    }

    func slot(for type: NSAttributeType) -> SlotValue? {
        type == .binaryDataAttributeType ? .data(self) : AttributeCoercion.slotValue(self, type: type)
    }
}

extension UUID: SlotRepresentable {
    static var emptyValue: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }

    init?(slot: SlotValue) {
        guard case .uuid(let uuid) = slot else { return nil }
        self = uuid
    }

    func slot(for type: NSAttributeType) -> SlotValue? {
        type == .UUIDAttributeType ? .uuid(self) : AttributeCoercion.slotValue(self, type: type)
    }
}

extension URL: SlotRepresentable {
    static var emptyValue: URL { URL(fileURLWithPath: "/") }

    init?(slot: SlotValue) {
        guard case .text(let text) = slot, let url = URL(string: text) else { return nil }
        self = url
    }

    func slot(for type: NSAttributeType) -> SlotValue? { AttributeCoercion.slotValue(self, type: type) }
}
