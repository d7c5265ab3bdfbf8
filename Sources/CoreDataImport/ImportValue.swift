import Foundation

/// A value in an imported record, with the types of JSON. Numbers keep their digits, objects the order of their keys.
/// An addition to Apple's interface. A value, safe on any thread.
public indirect enum ImportValue: Equatable, Sendable {
    /// Removes the property's value, whereas a missing key leaves it unchanged.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// The digits with sign, point and exponent, as in the source.
    case number(String)
    /// A text.
    case string(String)
    /// An array.
    case array([ImportValue])
    /// A record. Of duplicate keys, the last one is used.
    case object([(key: String, value: ImportValue)])

    /// Converts values as created by `JSONSerialization`: texts, numbers, Booleans, dates, UUIDs, URLs, data, null, and
    /// arrays and dictionaries of these.
    ///
    /// Dates become ISO 8601, data base 64. The keys of a dictionary are sorted.
    /// - Returns: `nil` if it contains anything else.
    public init?(_ value: Any) {
        switch value {
        case let value as ImportValue: self = value
        case let text as String: self = .string(text)
        case let flag as Bool where type(of: value) == Bool.self || flag.isBoxed(in: value): self = .bool(flag)
        case let number as NSNumber: self = .number(number.stringValue)
        case let number as any BinaryInteger: self = .number(String(number))
        case let number as Decimal: self = .number(number.description)
        case let number as Double: self = .number(String(number))
        case let number as Float: self = .number(String(number))
        case let date as Date: self = .string(ISO8601Text.text(of: date))
        case let uuid as UUID: self = .string(uuid.uuidString)
        case let url as URL: self = .string(url.absoluteString)
        case let data as Data: self = .string(data.base64EncodedString())
        case is NSNull: self = .null
        case let values as [Any]:
            let members = values.compactMap(ImportValue.init)
            guard members.count == values.count else { return nil }
            self = .array(members)
        case let record as [String: Any]:
            let members = record.sorted { $0.key < $1.key }
                .compactMap { key, value in ImportValue(value).map { (key: key, value: $0) } }
            guard members.count == record.count else { return nil }
            self = .object(members)
        default: return nil
        }
    }

    public static func == (a: ImportValue, b: ImportValue) -> Bool {
        switch (a, b) {
        case (.null, .null): true
        case (.bool(let a), .bool(let b)): a == b
        case (.number(let a), .number(let b)), (.string(let a), .string(let b)): a == b
        case (.array(let a), .array(let b)): a == b
        case (.object(let a), .object(let b)): a.elementsEqual(b) { $0.key == $1.key && $0.value == $1.value }
        default: false
        }
    }

    // MARK: Dates

    /// Converts `date` to ISO 8601 in UTC: `1930-07-14T00:00:00Z`, with the decimals of its seconds, at most nine.
    public static func string(_ date: Date) -> ImportValue { .string(ISO8601Text.text(of: date)) }

    /// The date in an ISO 8601 text; `nil` for other values. Without a time it is midnight, without a zone UTC.
    public var date: Date? {
        if case .string(let text) = self { return ISO8601Text.date(from: text) }
        return nil
    }
}

extension Bool {
    /// True if `value` is the object for this truth value, and not a number equal to it.
    fileprivate func isBoxed(in value: Any) -> Bool { (value as? NSNumber) === NSNumber(value: self) }
}
