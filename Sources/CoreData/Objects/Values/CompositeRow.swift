import Foundation

/// A composite value as stored in a row: one value per leaf. An element without a value is not in the dictionary. A
/// composite without any value is `nil`, or empty if it is required.
package enum CompositeRow {
    /// Returns one value of a composite's dictionary; `nil` if the attribute does not accept it.
    package static func value(of slot: SlotValue, at leaf: NSCompositeAttributeDescription.Leaf) -> SlotValue? {
        var current: Any?
        if case .object(let dictionary) = slot { current = dictionary }
        for name in leaf.path { current = (current as? NSDictionary)?[name as NSString] }
        return AttributeCoercion.slotValue(current, for: leaf.attribute)
    }

    /// Returns the dictionary for values in the order of the composite's leaves.
    package static func composed(_ values: [SlotValue], _ composite: NSCompositeAttributeDescription) -> SlotValue {
        var rest = values[...]
        let parts = dictionary(&rest, composite)
        return parts.isEmpty && composite.isOptional ? .null : .object(NSDictionary(dictionary: parts))
    }

    private static func dictionary(
        _ values: inout ArraySlice<SlotValue>, _ composite: NSCompositeAttributeDescription
    ) -> [String: Any] {
        var result: [String: Any] = [:]
        for element in composite.elements {
            if let inner = element as? NSCompositeAttributeDescription {
                let parts = dictionary(&values, inner)
                if !parts.isEmpty { result[element.name] = NSDictionary(dictionary: parts) }
            } else if element.isKept, let value = values.popFirst() {
                result[element.name] = AttributeCoercion.value(value, type: element.attributeType)
            }
        }
        return result
    }
}
