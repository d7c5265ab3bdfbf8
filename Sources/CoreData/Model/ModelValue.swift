import Foundation
import ModelFiles

/// Values between model files and the objects that the classes of the model hand out.
enum ModelValue {
    /// A value as people get it; `nil` for none and for objects of unknown classes.
    ///
    /// - Parameter type: The type of the attribute whose default it is; decides the kind of number.
    static func object(_ value: ValueDocument, type: NSAttributeType = .undefinedAttributeType) -> Any? {
        switch value {
        case .null, .unknown: nil
        case .boolean(let flag): NSNumber(value: flag)
        case .integer(let number): Self.number(number, type: type)
        case .real(let number): type == .floatAttributeType ? NSNumber(value: Float(number)) : NSNumber(value: number)
        case .decimal(let number): NSDecimalNumber(decimal: number)
        case .string(let text): text
        case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
        case .data(let data): data
        case .uuid(let uuid): uuid
        case .uri(let text): URL(string: text)
        case .array(let values): values.map { object($0) ?? NSNull() }
        case .set(let values): Set(values.compactMap { object($0) as? AnyHashable })
        case .dictionary(let entries):
            Dictionary(
                entries.compactMap { entry in
                    (object(entry.key) as? AnyHashable).map { ($0, object(entry.value) ?? NSNull()) }
                }, uniquingKeysWith: { $1 })
        }
    }

    private static func number(_ number: Int64, type: NSAttributeType) -> NSNumber {
        switch type {
        case .integer16AttributeType: NSNumber(value: Int16(clamping: number))
        case .integer32AttributeType: NSNumber(value: Int32(clamping: number))
        case .booleanAttributeType: NSNumber(value: number != 0)
        default: NSNumber(value: number)
        }
    }

    /// A value in the form of a model file; `unknown` for objects that files cannot hold.
    ///
    /// - Parameter type: The type of the attribute whose default it is; decides the kind of number.
    static func document(_ value: Any?, type: NSAttributeType = .undefinedAttributeType) -> ValueDocument {
        switch value {
        case nil, is NSNull: .null
        case let text as String: type == .URIAttributeType ? .uri(text) : .string(text)
        case let date as Date: .date(date.timeIntervalSinceReferenceDate)
        case let data as Data: .data(data)
        case let uuid as UUID: .uuid(uuid)
        case let url as URL: .uri(url.absoluteString)
        case let decimal as Decimal: .decimal(decimal)
        case let decimal as NSDecimalNumber: .decimal(decimal.decimalValue)
        case let number as NSNumber: self.document(number: number, type: type)
        case let values as [Any]: .array(values.map { document($0) })
        case let values as Set<AnyHashable>: .set(values.map { document($0.base) })
        case let entries as [AnyHashable: Any]:
            .dictionary(
                entries.map { ValueDocument.Entry(key: document($0.key.base), value: document($0.value)) }
                    .sorted { "\($0.key)" < "\($1.key)" })
        case let value?: .unknown(className: String(reflecting: Swift.type(of: value)))
        }
    }

    private static func document(number: NSNumber, type: NSAttributeType) -> ValueDocument {
        switch type {
        case .booleanAttributeType: return .boolean(number.boolValue)
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            return .integer(number.int64Value)
        case .doubleAttributeType, .floatAttributeType: return .real(number.doubleValue)
        case .decimalAttributeType: return .decimal(number.decimalValue)
        case .dateAttributeType: return .date(number.doubleValue)
        default:
            // The encoding of the number's C type: c for Booleans, d and f for fractions.
            switch UInt8(bitPattern: number.objCType.pointee) {
            case UInt8(ascii: "c"), UInt8(ascii: "B"): return .boolean(number.boolValue)
            case UInt8(ascii: "d"), UInt8(ascii: "f"): return .real(number.doubleValue)
            default: return .integer(number.int64Value)
            }
        }
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
