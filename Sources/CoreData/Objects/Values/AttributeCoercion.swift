import Foundation

/// Conversion between the two forms of attribute values: `Any?` in the public API, and `SlotValue` inside the
/// framework.
///
/// Values returned to users are `NSNumber`s (which can be cast to any Swift number or to Bool if the value fits),
/// `String`s, and Foundation's value types for dates, data, UUIDs and URLs. Values set by users may be of any class
/// suitable for the type: any number for a number, `NSString` for text, and so on. Nothing is parsed.
package enum AttributeCoercion {
    /// Returns `value` in the form of the attribute's slot, or `nil` if the attribute does not accept its class.
    ///
    /// A number is converted to the attribute's kind of number as in `NSNumber`: an integer attribute drops the
    /// fraction. Validation checks if an integer fits into 16 or 32 bits.
    package static func slotValue(_ value: Any?, for attribute: NSAttributeDescription) -> SlotValue? {
        slotValue(value, type: attribute.attributeType)
    }

    /// Returns a value as an object stores it until validation. A number out of its type's range is stored as `real`,
    /// which ``PropertyRule`` rejects.
    static func unvalidatedSlotValue(_ value: Any?, type: NSAttributeType) -> SlotValue? {
        if let fitting = slotValue(value, type: type) { return fitting }
        guard type.isNumber, let inner = unwrapped(value) else { return nil }
        return NumberCoercion.real(inner).map(SlotValue.real)
    }

    static func slotValue(_ value: Any?, type: NSAttributeType) -> SlotValue? {
        guard let value else { return .null }
        if let slot = directSlotValue(value, type) { return slot }
        // The rest are optionals in optionals, NSNull, and values of a wrong class.
        guard let inner = unwrapped(value) else { return .null }
        return directSlotValue(inner, type)
    }

    /// Returns the slot value for the common case: a value of a suitable class that is not wrapped.
    private static func directSlotValue(_ value: Any, _ type: NSAttributeType) -> SlotValue? {
        switch type {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            return NumberCoercion.integer(value).map(SlotValue.integer)
        case .booleanAttributeType:
            if let number = NumberCoercion.integer(value) { return .integer(number == 0 ? 0 : 1) }
            return NumberCoercion.real(value).flatMap { $0.isNaN ? nil : .integer(1) }
        case .doubleAttributeType: return NumberCoercion.real(value).map(SlotValue.real)
        case .floatAttributeType:
            guard let number = NumberCoercion.real(value) else { return nil }
            return type.holds(number) ? .real(Double(Float(number))) : nil
        case .decimalAttributeType: return NumberCoercion.decimal(value).map(SlotValue.decimal)
        case .stringAttributeType: return (value as? String).map(SlotValue.text)
        case .dateAttributeType: return (value as? Date).map { .real($0.timeIntervalSinceReferenceDate) }
        case .binaryDataAttributeType: return (value as? Data).map(SlotValue.data)
        case .UUIDAttributeType: return (value as? UUID).map(SlotValue.uuid)
        case .URIAttributeType: return (value as? URL).map { .text($0.absoluteString) }
        case .objectIDAttributeType: return (value as? NSManagedObjectID).map(SlotValue.reference)
        case .transformableAttributeType, .undefinedAttributeType, .compositeAttributeType:
            return unwrapped(value).flatMap(object).map(SlotValue.object)
        }
    }

    /// Returns a slot's integer in the form for users.
    @inline(__always)
    static func number(_ number: Int64, type: NSAttributeType) -> NSNumber {
        type == .booleanAttributeType ? NumberCoercion.boolean(number != 0) : NumberCoercion.number(number)
    }

    /// Returns a slot's value in the form for users; `nil` for `null`.
    package static func value(_ slot: SlotValue, type: NSAttributeType) -> Any? {
        switch slot {
        case .null: return nil
        case .integer(let number): return self.number(number, type: type)
        case .real(let number):
            switch type {
            case .dateAttributeType: return Date(timeIntervalSinceReferenceDate: number)
            case .floatAttributeType: return NSNumber(value: Float(number))
            default: return NSNumber(value: number)
            }
        case .text(let text): return type == .URIAttributeType ? URL(string: text) : text
        case .data(let data): return data
        case .uuid(let uuid): return uuid
        case .decimal(let number): return number
        case .object(let object): return unboxed(object)
        case .reference(let id): return id
        }
    }

    /// Returns a slot's value as an object, without a cast for the frequent kinds.
    static func object(_ slot: SlotValue, type: NSAttributeType) -> AnyObject? {
        switch slot {
        case .null: return nil
        case .integer(let number): return self.number(number, type: type)
        case .text(let text) where type != .URIAttributeType: return NSString(string: text)
        case .real(let number) where type == .dateAttributeType: return NSDate(timeIntervalSinceReferenceDate: number)
        case .real(let number) where type != .floatAttributeType: return NSNumber(value: number)
        case .decimal(let number): return number
        default: return value(slot, type: type).map { $0 as AnyObject }
        }
    }

    /// Returns the innermost value; `nil` for `nil` and `NSNull`, at any depth of optionals.
    private static func unwrapped(_ value: Any?) -> Any? {
        guard let value, !(value is NSNull) else { return nil }
        guard let inner = OptionalValues.unwrapped(value), !(inner is NSNull) else { return nil }
        return inner
    }

    /// Returns any value as an object. Swift values are boxed, and unboxed when read.
    private static func object(_ value: Any) -> NSObject? {
        if let object = value as? NSObject { return object }
        return ValueBox(value)
    }

    private static func unboxed(_ object: NSObject) -> Any { (object as? ValueBox)?.value ?? object }
}

/// A Swift value as an object, for transformable attributes. Equal if both values are hashable and equal.
final class ValueBox: NSObject {
    let value: Any

    init(_ value: Any) { self.value = value }

    override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? ValueBox else { return false }
        if other === self { return true }
        guard let mine = value as? AnyHashable, let theirs = other.value as? AnyHashable else { return false }
        return mine == theirs
    }

    override var hash: Int { Hashing.key(value)?.hashValue ?? 0 }

    override var description: String { "\(value)" }
}
