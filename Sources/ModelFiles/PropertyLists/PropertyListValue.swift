import Foundation

/// A value of a property list, including the references in keyed archives.
///
/// Foundation's `PropertyListSerialization` on Linux does not support such references, so we have our own reader and
/// writer.
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

/// An error in a binary property list, with the byte offset if known.
package struct PropertyListError: Error, Equatable, Sendable {
    package let reason: String
    package let offset: Int?

    init(_ reason: String, at offset: Int? = nil) {
        self.reason = reason
        self.offset = offset
    }
}
