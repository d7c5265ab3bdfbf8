import Foundation

/// Values of attributes between the two forms they have: `Any?` as people set and get them, and `SlotValue` as the
/// framework keeps them.
///
/// Outwards, numbers are `NSNumber`s (a cast to any Swift number or to Bool succeeds where the value fits), text is
/// `String`, and dates, data, UUIDs and URLs are Foundation's value types. Inwards, whatever can stand for the type is
/// taken: any number for a number, `NSString` for text, and so on; nothing is parsed.
package enum AttributeCoercion {
    /// `value` in the form of the attribute's slot, or `nil` if it is of a class that the attribute does not take.
    ///
    /// A number is brought into the attribute's kind of number as `NSNumber` does it: an integer attribute drops a
    /// fraction. Whether an integer fits 16 or 32 bits is a matter of validation.
    package static func slotValue(_ value: Any?, for attribute: NSAttributeDescription) -> SlotValue? {
        slotValue(value, type: attribute.attributeType)
    }

    /// A value as an object keeps it until it is validated: also a number that is out of its type's range, as `real`, which
    /// ``PropertyRule`` refuses.
    static func unvalidatedSlotValue(_ value: Any?, type: NSAttributeType) -> SlotValue? {
        if let fitting = slotValue(value, type: type) { return fitting }
        guard type.isNumber, let inner = unwrapped(value) else { return nil }
        return NumberCoercion.real(inner).map(SlotValue.real)
    }

    static func slotValue(_ value: Any?, type: NSAttributeType) -> SlotValue? {
        guard let value else { return .null }
        if let slot = directSlotValue(value, type) { return slot }
        // What is left is an optional in an optional, NSNull, or of a wrong class.
        guard let inner = unwrapped(value) else { return .null }
        return directSlotValue(inner, type)
    }

    /// The common case: a value of a class that fits, not wrapped in anything.
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

    /// A slot's integer as people get it.
    @inline(__always)
    static func number(_ number: Int64, type: NSAttributeType) -> NSNumber {
        type == .booleanAttributeType ? NumberCoercion.boolean(number != 0) : NumberCoercion.number(number)
    }

    /// A slot's value as people get it; `nil` for `null`.
    static func value(_ slot: SlotValue, type: NSAttributeType) -> Any? {
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

    /// A slot's value as an object, without the detour of a cast for the frequent kinds.
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

    /// `nil` for `nil` and `NSNull`, however often wrapped in optionals.
    private static func unwrapped(_ value: Any?) -> Any? {
        guard let value, !(value is NSNull) else { return nil }
        guard let inner = OptionalValues.unwrapped(value), !(inner is NSNull) else { return nil }
        return inner
    }

    /// Any value as an object; Swift values travel in a box that gives them back.
    private static func object(_ value: Any) -> NSObject? {
        if let object = value as? NSObject { return object }
        return ValueBox(value)
    }

    private static func unboxed(_ object: NSObject) -> Any { (object as? ValueBox)?.value ?? object }
}

/// A Swift value as an object, for transformable attributes. Equal when both values are hashable and equal.
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
