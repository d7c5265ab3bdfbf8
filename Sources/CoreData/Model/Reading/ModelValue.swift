import Foundation
import ModelFiles

/// Values between model files and the objects that the classes of the model hand out.
enum ModelValue {
    /// A value as people get it; `nil` for none and for objects of unknown classes.
    ///
    /// - Parameter type: The type of the attribute whose default it is; decides the kind of number.
    static func object(_ value: ValueDocument, type: NSAttributeType = .undefinedAttributeType) -> Any? {
        value.object(of: kind(type))
    }

    /// A value in the form of a model file; `unknown` for objects that files cannot hold.
    ///
    /// - Parameter type: The type of the attribute whose default it is; decides the kind of number.
    static func document(_ value: Any?, type: NSAttributeType = .undefinedAttributeType) -> ValueDocument {
        ValueDocument(object: value, of: kind(type))
    }

    private static func kind(_ type: NSAttributeType) -> AttributeKind {
        AttributeKind(rawValue: type.rawValue) ?? .undefined
    }

    /// A limit in the form in which values are kept.
    static func slotValue(_ value: ValueDocument) -> SlotValue? {
        switch value {
        case .integer(let number): .integer(number)
        case .real(let number), .date(let number): .real(number)
        case .decimal(let number): .decimal(NSDecimalNumber(decimal: number))
        default: nil
        }
    }

    /// A limit in the form of a model file.
    static func document(_ value: SlotValue, type: NSAttributeType) -> ValueDocument {
        switch value {
        case .integer(let number): .integer(number)
        case .real(let number): type == .dateAttributeType ? .date(number) : .real(number)
        case .decimal(let number): .decimal(number.decimalValue)
        default: .null
        }
    }

    /// A user info as people get it.
    static func userInfo(_ entries: [String: ValueDocument]) -> [AnyHashable: Any] {
        var result: [AnyHashable: Any] = [:]
        for (key, value) in entries { result[key] = object(value) }
        return result
    }

    /// A user info in the form of a model file; entries whose key is no text are left out.
    static func document(userInfo: [AnyHashable: Any]?) -> [String: ValueDocument] {
        var result: [String: ValueDocument] = [:]
        for (key, value) in userInfo ?? [:] {
            if let key = key.base as? String { result[key] = document(value) }
        }
        return result
    }
}
