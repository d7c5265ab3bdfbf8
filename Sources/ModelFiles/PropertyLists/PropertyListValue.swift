import Foundation

/// A value of a property list, with the references that keyed archives consist of.
///
/// Foundation's `PropertyListSerialization` on Linux neither hands out nor takes such references; hence a reader and a
/// writer of our own.
package indirect enum PropertyListValue: Equatable, Sendable {
    case boolean(Bool)
    case integer(Int64)
    case real(Double)
    /// Seconds since 2001-01-01.
    case date(Double)
    case data(Data)
    case string(String)
    case array([PropertyListValue])
    case dictionary([String: PropertyListValue])
    /// A reference to an object of a keyed archive.
    case reference(Int)
}

/// What is wrong with a binary property list, with the offset of the byte where one is known.
package struct PropertyListError: Error, Equatable, Sendable {
    package let reason: String
    package let offset: Int?

    init(_ reason: String, at offset: Int? = nil) {
        self.reason = reason
        self.offset = offset
    }
}
