import Foundation
import PredicateSyntax

extension ValueDocument {
    /// The value as an object; `nil` for no value and for objects of unknown classes.
    ///
    /// - Parameter kind: The type of the attribute whose default it is; determines the kind of number.
    package func object(of kind: AttributeKind = .undefined) -> Any? {
        switch self {
        case .null, .unknown: nil
        case .boolean(let flag): NSNumber(value: flag)
        case .integer(let number): Self.number(number, of: kind)
        case .real(let number): kind == .float ? NSNumber(value: Float(number)) : NSNumber(value: number)
        case .decimal(let number): NSDecimalNumber(decimal: number)
        case .string(let text): text
        case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
        case .data(let data): data
        case .uuid(let uuid): uuid
        case .uri(let text): URL(string: text)
        case .array(let values): values.map { $0.object() ?? NSNull() }
        case .set(let values): Set(values.compactMap { $0.object() as? AnyHashable })
        case .dictionary(let entries):
            Dictionary(
                entries.compactMap { entry in
                    (entry.key.object() as? AnyHashable).map { ($0, entry.value.object() ?? NSNull()) }
                }, uniquingKeysWith: { $1 })
        }
    }

    private static func number(_ number: Int64, of kind: AttributeKind) -> NSNumber {
        switch kind {
        case .integer16: NSNumber(value: Int16(clamping: number))
        case .integer32: NSNumber(value: Int32(clamping: number))
        case .boolean: NSNumber(value: number != 0)
        default: NSNumber(value: number)
        }
    }

    /// An object in the form of a model file; `unknown` for objects that files cannot store.
    ///
    /// - Parameter kind: The type of the attribute whose default it is; determines the kind of number.
    package init(object: Any?, of kind: AttributeKind = .undefined) {
        if let set = object.flatMap(SetElements.of) {
            self = .set(set.map { Self(object: $0) })
            return
        }
        switch object {
        case nil, is NSNull: self = .null
        case let text as String: self = kind == .uri ? .uri(text) : .string(text)
        case let date as Date: self = .date(date.timeIntervalSinceReferenceDate)
        case let data as Data: self = .data(data)
        case let uuid as UUID: self = .uuid(uuid)
        case let url as URL: self = .uri(url.absoluteString)
        case let decimal as Decimal: self = .decimal(decimal)
        case let decimal as NSDecimalNumber: self = .decimal(decimal.decimalValue)
        case let number as NSNumber: self.init(number: number, of: kind)
        case let values as [Any]: self = .array(values.map { Self(object: $0) })
        case let entries as [AnyHashable: Any]:
            self = .dictionary(
                entries.map { Entry(key: Self(object: $0.key.base), value: Self(object: $0.value)) }
                    .sorted { "\($0.key)" < "\($1.key)" })
        case let value?: self = .unknown(className: String(reflecting: Swift.type(of: value)))
        }
    }

    private init(number: NSNumber, of kind: AttributeKind) {
        switch kind {
        case .boolean: self = .boolean(number.boolValue)
        case .integer16, .integer32, .integer64: self = .integer(number.int64Value)
        case .double, .float: self = .real(number.doubleValue)
        case .decimal: self = .decimal(number.decimalValue)
        case .date: self = .date(number.doubleValue)
        default:
            // The encoding of the number's C type: c for Booleans, d and f for fractions.
            switch UInt8(bitPattern: number.objCType.pointee) {
            case UInt8(ascii: "c"), UInt8(ascii: "B"): self = .boolean(number.boolValue)
            case UInt8(ascii: "d"), UInt8(ascii: "f"): self = .real(number.doubleValue)
            default: self = .integer(number.int64Value)
            }
        }
    }
}
