import Foundation
import SQLiteAccess

/// The functions that views for questions call.
struct QuestionFunctions {
    static let date = "roster_date"
    static let uuid = "roster_uuid"
    static let externalData = "roster_external_data"

    let externalData: ExternalData
    let dateText: (Date) -> String

    func register(on connection: Connection) throws {
        try connection.addRawFunction(named: Self.date, argumentCount: 1) { arguments in
            let seconds = arguments[0]
            guard seconds.kind == .real || seconds.kind == .integer else { return seconds.value }
            return .text(dateText(Date(timeIntervalSinceReferenceDate: seconds.real)))
        }
        try connection.addRawFunction(named: Self.uuid, argumentCount: 1) { arguments in
            guard arguments[0].kind == .blob else { return arguments[0].value }
            let bytes = arguments[0].data
            guard bytes.count == 16 else { return .blob(bytes) }
            // SAFETY: the buffer has the 16 bytes of a UUID.
            return .text(bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)).uuidString })
        }
        try connection.addRawFunction(named: Self.externalData, argumentCount: 1) { arguments in
            guard arguments[0].kind == .blob else { return arguments[0].value }
            return externalData.value(of: arguments[0].data).map(SQLiteValue.blob) ?? .null
        }
        try connection.addRawCollation(named: Self.date, Self.compareDates)
    }

    /// Compares dates as text so that any length of them can be compared with any other: `2026-07-01`, SQLite's
    /// `2026-07-01 12:00:00`, `2026-07-01T12:00:00Z` and `2026-07-01T12:00:00.5Z` are in order.
    // SAFETY: SQLite holds both texts during the call, which keeps none.
    private static func compareDates(
        _ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>
    ) -> ComparisonResult {
        let (left, right) = (withoutZone(left), withoutZone(right))
        for (a, b) in zip(left, right) where a != b {
            let (a, b) = (a == space ? letterT : a, b == space ? letterT : b)
            if a != b { return a < b ? .orderedAscending : .orderedDescending }
        }
        if left.count == right.count { return .orderedSame }
        return left.count < right.count ? .orderedAscending : .orderedDescending
    }

    private static let space = UInt8(ascii: " ")
    private static let letterT = UInt8(ascii: "T")

    // SAFETY: used during `compareDates` only.
    private static func withoutZone(_ text: UnsafeBufferPointer<UInt8>) -> Slice<UnsafeBufferPointer<UInt8>> {
        text.last == UInt8(ascii: "Z") ? text.dropLast() : text[...]
    }
}
