import Foundation

/// A value inside a model file: a default value, a limit, an entry of the user info, a constant of a predicate.
package indirect enum ValueDocument: Equatable, Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case real(Double)
    case decimal(Decimal)
    case string(String)
    /// Seconds since 2001-01-01.
    case date(Double)
    case data(Data)
    case uuid(UUID)
    case uri(String)
    case array([ValueDocument])
    case set([ValueDocument])
    case dictionary([Entry])
    /// An object of an unknown class. The owner of the value keeps the object itself.
    case unknown(className: String)

    package struct Entry: Equatable, Sendable {
        package var key: ValueDocument
        package var value: ValueDocument

        package init(key: ValueDocument, value: ValueDocument) {
            self.key = key
            self.value = value
        }
    }

    /// True if no part of the value is of an unknown class.
    var isKnown: Bool {
        switch self {
        case .unknown: false
        case .array(let values), .set(let values): values.allSatisfy(\.isKnown)
        case .dictionary(let entries): entries.allSatisfy { $0.key.isKnown && $0.value.isKnown }
        default: true
        }
    }

    /// The text of a string.
    package var text: String? {
        if case .string(let text) = self { text } else { nil }
    }
}
