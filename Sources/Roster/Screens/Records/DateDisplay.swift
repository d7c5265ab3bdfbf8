import CoreData
import Foundation
import RosterCommands

/// Dates as shown, grouped, counted and read by the program: in UTC, in the Gregorian calendar even before 1582.
///
/// Verbs use the same format, so a date on the screen equals the date in a file. In the user's time zone, dates stored
/// as midnight UTC could appear as the previous day.
nonisolated enum DateDisplay {
    /// A date to the minute; without its time at midnight: `2022-12-18 19:00Z` or `2022-12-18`.
    static func short(_ date: Date) -> String {
        let parts = exact(date).split(separator: " ")
        guard parts.count == 2 else { return exact(date) }
        return "\(parts[0]) \(parts[1].prefix(5))Z"
    }

    /// `2022-12-18`, or `2022-12-18 19:00:30.5Z`.
    static func exact(_ date: Date) -> String {
        ISO8601Text.text(of: date, omitsMidnight: true).replacing("T", with: " ")
    }

    static let utc: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()

    /// The Gregorian calendar repeats every 400 years, including weekdays. Foundation's calendars use the Julian
    /// calendar before 1582 and have limits, so dates are computed in the cycle that begins in 2001.
    nonisolated struct Cycle {
        /// Number of cycles from that of 2001 to the date's cycle.
        private let count: Double
        private static let length = 146_097.0 * 86_400

        init(of date: Date) { count = (date.timeIntervalSinceReferenceDate / Self.length).rounded(.down) }

        /// Moves a date by the offset of this cycle to the cycle of 2001, or back.
        func moved(_ date: Date) -> Date { date.addingTimeInterval(-count * Self.length) }
        func back(_ date: Date) -> Date { date.addingTimeInterval(count * Self.length) }

        /// The original year of a moved date.
        func year(_ moved: Int) -> Int { moved + 400 * Int(count) }
    }

    /// False for dates too distant for the calendar, which are shown as seconds.
    static func isInCalendar(_ date: Date) -> Bool { abs(date.timeIntervalSinceReferenceDate) < 1e15 }
}
