import Foundation

/// Values of composite attributes: dictionaries keyed by element names.
package enum CompositeValue {
    /// Returns the value as stored in a slot: each element in its attribute's form, elements without a value left out.
    ///
    /// - Precondition: The value is a dictionary keyed by element names, whose values fit the elements.
    package static func slotValue(_ value: Any?, _ composite: NSCompositeAttributeDescription) -> SlotValue {
        guard let value, !(value is NSNull) else { return .null }
        guard let parts = value as? [String: Any] else {
            preconditionFailure(KeyValueAccess.unacceptableMessage(composite, value))
        }
        return .object(NSDictionary(dictionary: fitting(parts, composite)))
    }

    /// Returns the dictionary `whole` with another value for the element at `path`; `nil` removes the element.
    static func setting(
        _ value: Any?, at path: ArraySlice<String>, of whole: [String: Any],
        _ composite: NSCompositeAttributeDescription
    ) -> [String: Any] {
        guard let key = path.first else { return whole }
        let element = element(key, of: composite)
        var whole = whole
        guard path.count > 1 else {
            whole[key] = value
            return whole
        }
        guard let inner = element as? NSCompositeAttributeDescription else {
            preconditionFailure(
                "'\(key)' of the composite attribute '\(composite.name)' is not composite, so it has no elements.")
        }
        whole[key] = setting(value, at: path.dropFirst(), of: whole[key] as? [String: Any] ?? [:], inner)
        return whole
    }

    private static func fitting(_ parts: [String: Any], _ composite: NSCompositeAttributeDescription) -> [String: Any] {
        var result: [String: Any] = [:]
        for (key, part) in parts {
            let element = element(key, of: composite)
            if let inner = element as? NSCompositeAttributeDescription {
                guard !(part is NSNull) else { continue }
                guard let dictionary = part as? [String: Any] else {
                    preconditionFailure(KeyValueAccess.unacceptableMessage(inner, part))
                }
                result[key] = NSDictionary(dictionary: fitting(dictionary, inner))
                continue
            }
            guard let slot = AttributeCoercion.unvalidatedSlotValue(part, type: element.attributeType) else {
                preconditionFailure(KeyValueAccess.unacceptableMessage(element, part))
            }
            result[key] = AttributeCoercion.value(slot, type: element.attributeType)
        }
        return result
    }

    private static func element(
        _ key: String, of composite: NSCompositeAttributeDescription
    ) -> NSAttributeDescription {
        guard let element = composite.elements.first(where: { $0.name == key }) else {
            preconditionFailure("The composite attribute '\(composite.name)' has no element named '\(key)'.")
        }
        return element
    }
}
