import Foundation

/// Dates as people read them in a list: short, and in the user's own zone.
///
/// A date that is midnight in Greenwich is shown as a day: so programs keep days that have no time.
enum DateDisplay {
    private static let calendar: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .current
        return calendar
    }()

    /// `2022-12-18`, or `2022-12-18 19:00`.
    static func short(_ date: Date) -> String {
        let seconds = date.timeIntervalSinceReferenceDate
        guard seconds.isFinite, abs(seconds) < 2e11 else { return "\(seconds)" }
        if seconds.truncatingRemainder(dividingBy: 86400) == 0 {
            return text(date, in: utc, withTime: false)
        }
        return text(date, in: calendar, withTime: true)
    }

    /// The date in the user's zone, and behind it exactly, where that says more.
    static func exact(_ date: Date) -> String {
        let short = short(date)
        guard let attribute = short.contains(":") ? exactText(date) : nil else { return short }
        return "\(short)  (\(attribute))"
    }

    private static func exactText(_ date: Date) -> String? {
        let seconds = date.timeIntervalSinceReferenceDate
        guard seconds.isFinite, abs(seconds) < 2e11 else { return nil }
        let parts = utc.dateComponents([.hour, .minute, .second], from: date)
        let fraction = seconds - seconds.rounded(.down)
        let thousandths = Int((fraction * 1000).rounded(.down))
        let rest = thousandths > 0 ? "." + padded(thousandths, to: 3) : ""
        let time = "\(padded(parts.hour ?? 0)):\(padded(parts.minute ?? 0)):\(padded(parts.second ?? 0))\(rest)"
        return "\(text(date, in: utc, withTime: false))T\(time)Z"
    }

    static let utc: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(secondsFromGMT: 0) ?? .current
        return calendar
    }()

    private static func text(_ date: Date, in calendar: Calendar, withTime: Bool) -> String {
        let parts = calendar.dateComponents([.era, .year, .month, .day, .hour, .minute], from: date)
        let year = parts.era == 0 ? -(parts.year ?? 0) : parts.year ?? 0
        let day =
            "\(year < 1000 && year >= 0 ? padded(year, to: 4) : String(year))-\(padded(parts.month ?? 0))-\(padded(parts.day ?? 0))"
        return withTime ? "\(day) \(padded(parts.hour ?? 0)):\(padded(parts.minute ?? 0))" : day
    }

    private static func padded(_ number: Int, to width: Int = 2) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }
}
