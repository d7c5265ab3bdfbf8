import Foundation
import ModelFiles

/// Converts between values of model files and the objects of the public API.
enum ModelValue {
    /// A value as a public object; `nil` if there is none or its class is unknown.
    ///
    /// - Parameter type: the attribute type of a default value, which determines the number type.
    static func object(_ value: ValueDocument, type: NSAttributeType = .undefinedAttributeType) -> Any? {
        value.object(of: kind(type))
    }

    /// A value in model-file form; `unknown` for objects that files cannot hold.
    ///
    /// - Parameter type: the attribute type of a default value, which determines the number type.
    static func document(_ value: Any?, type: NSAttributeType = .undefinedAttributeType) -> ValueDocument {
        ValueDocument(object: value, of: kind(type))
    }

    private static func kind(_ type: NSAttributeType) -> AttributeKind {
        AttributeKind(rawValue: type.rawValue) ?? .undefined
    }

    /// A limit as a slot value.
    static func slotValue(_ value: ValueDocument) -> SlotValue? {
        switch value {
        case .integer(let number): .integer(number)
        case .real(let number), .date(let number): .real(number)
        case .decimal(let number): .decimal(NSDecimalNumber(decimal: number))
        default: nil
        }
    }

    /// A limit in model-file form.
    static func document(_ value: SlotValue, type: NSAttributeType) -> ValueDocument {
        switch value {
        case .integer(let number): .integer(number)
        case .real(let number): type == .dateAttributeType ? .date(number) : .real(number)
        case .decimal(let number): .decimal(number.decimalValue)
        default: .null
        }
    }

    /// A user info as public objects.
    static func userInfo(_ entries: [String: ValueDocument]) -> [AnyHashable: Any] {
        var result: [AnyHashable: Any] = [:]
        for (key, value) in entries { result[key] = object(value) }
        return result
    }

    /// A user info in model-file form. Omits entries whose key is not a text.
    static func document(userInfo: [AnyHashable: Any]?) -> [String: ValueDocument] {
        var result: [String: ValueDocument] = [:]
        for (key, value) in userInfo ?? [:] {
            if let key = key.base as? String { result[key] = document(value) }
        }
        return result
    }
}
