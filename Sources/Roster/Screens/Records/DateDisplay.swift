import CoreData
import Foundation
import RosterCommands

/// Dates as the program shows, groups, counts and reads them: of UTC, in the Gregorian calendar also before 1582.
///
/// Verbs and records that are typed have the same, so that a date on the screen is the one in a file. A zone of the user's own
/// would show days that programs keep as midnight of UTC as those before.
nonisolated enum DateDisplay {
    /// `2022-12-18`, or `2022-12-18 19:00Z`.
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

    /// The Gregorian calendar repeats after 400 years, weekdays included. Foundation's calendars change to the Julian one before
    /// 1582, and end: dates are counted in the cycle that begins in 2001.
    nonisolated struct Cycle {
        /// Cycles from that of 2001 to the date's.
        private let count: Double
        private static let length = 146_097.0 * 86_400

        init(of date: Date) { count = (date.timeIntervalSinceReferenceDate / Self.length).rounded(.down) }

        /// A date moved to the cycle of 2001 as far as this one's date is, and back.
        func moved(_ date: Date) -> Date { date.addingTimeInterval(-count * Self.length) }
        func back(_ date: Date) -> Date { date.addingTimeInterval(count * Self.length) }

        /// The year of a moved date.
        func year(_ moved: Int) -> Int { moved + 400 * Int(count) }
    }

    /// Farther dates are numbers of seconds.
    static func isInCalendar(_ date: Date) -> Bool { abs(date.timeIntervalSinceReferenceDate) < 1e15 }
}
