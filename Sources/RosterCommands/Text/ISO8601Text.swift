import CoreData
import CoreDataImport
import Foundation

/// Dates as ISO 8601 text, as the framework writes and reads them in records.
package enum ISO8601Text {
    /// `date` in UTC: `1930-07-14T00:00:00Z`, with as many decimals as the value has, nine at most.
    ///
    /// - Parameter omitsMidnight: leaves out a time of 00:00:00, for people.
    package static func text(of date: Date, omitsMidnight: Bool = false) -> String {
        guard case .string(let text) = ImportValue.string(date) else { return "" }
        return omitsMidnight && text.hasSuffix(midnight) ? String(text.dropLast(midnight.count)) : text
    }

    private static let midnight = "T00:00:00Z"

    /// The date that `text` names, or `nil`. A date without a time is midnight; a time without a zone is UTC.
    static func date(from text: String) -> Date? { ImportValue.string(text).date }
}
