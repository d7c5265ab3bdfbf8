import Foundation

/// `CAST(value, "type")`. Returns `nil` if the value cannot be cast.
enum Casts {
    static func cast(_ value: PredicateValue, to type: PredicateValue) -> PredicateValue {
        guard case .text(let type) = type, !value.isNull else { return .null }
        switch type.lowercased() {
        case "nsdate", "date":
            return value.number.map { .date($0.double) } ?? text(value).flatMap(DateText.seconds).map { .date($0) }
                ?? .null
        case "nsstring", "string": return string(value).map { .text($0) } ?? .null
        case "nsnumber", "number": return number(value)
        case "nsdecimalnumber", "decimal": return decimal(value)
        case "integer", "int": return number(value).number.map { .integer(Int64(clampedReal: $0.double)) } ?? .null
        case "nsuuid", "uuid": return text(value).flatMap { UUID(uuidString: $0) }.map { .uuid($0) } ?? .null
        case "nsurl", "url": return text(value).map { .text($0) } ?? .null
        default: return .null
        }
    }

    private static func text(_ value: PredicateValue) -> String? {
        if case .text(let text) = value { return text }
        return nil
    }

    static func string(_ value: PredicateValue) -> String? {
        switch value {
        case .text(let text): text
        case .integer(let number): "\(number)"
        case .real(let number): NSNumber(value: number).stringValue
        case .decimal(let decimal): NSDecimalNumber(decimal: decimal).stringValue
        case .uuid(let uuid): uuid.uuidString
        case .date(let seconds): "\(Date(timeIntervalSinceReferenceDate: seconds))"
        default: nil
        }
    }

    /// Converts a date to its seconds since 2001.
    private static func number(_ value: PredicateValue) -> PredicateValue {
        switch value {
        case .text(let text): Int64(text).map { .integer($0) } ?? Double(text).map { .real($0) } ?? .null
        case .date(let seconds): .real(seconds)
        case .integer, .real, .decimal: value
        default: .null
        }
    }

    private static func decimal(_ value: PredicateValue) -> PredicateValue {
        switch value {
        case .decimal: value
        default:
            string(value).flatMap { Decimal(string: $0, locale: Locale(identifier: "en_US_POSIX")) }.map {
                .decimal($0)
            } ?? .null
        }
    }
}

/// Parses dates as people type them, without Foundation's formatters, which are slow to start.
enum DateText {
    /// Seconds since 2001 of `2024-06-11`, `2024-06-11 18:30`, `2024-06-11T18:30:15.5Z` or `…+02:00`; UTC without a
    /// zone.
    static func seconds(_ text: String) -> Double? {
        let pattern = #/(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?)?\s*(Z|[+-]\d{2}:?\d{2})?/#
        guard let match = text.wholeMatch(of: pattern), let year = Int(match.1), let month = Int(match.2),
            let day = Int(match.3), 1...12 ~= month, 1...daysOfMonth(month, year) ~= day
        else { return nil }
        let hour = match.4.flatMap { Int($0) } ?? 0
        let minute = match.5.flatMap { Int($0) } ?? 0
        let second = match.6.flatMap { Double($0) } ?? 0
        guard hour < 24, minute < 60, second < 61, let zone = offset(match.7) else { return nil }
        let days = daysSince1970(year, month, day) - daysSince1970(2001, 1, 1)
        return Double(days * 86400 + hour * 3600 + minute * 60 - zone) + second
    }

    private static func offset(_ text: Substring?) -> Int? {
        guard let text, text != "Z" else { return 0 }
        let digits = text.filter(\.isNumber)
        guard let number = Int(digits), number % 100 < 60 else { return nil }
        return (text.hasPrefix("-") ? -1 : 1) * (number / 100 * 3600 + number % 100 * 60)
    }

    private static func daysOfMonth(_ month: Int, _ year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// The number of days from 1970-01-01 to a Gregorian date. Computed with years that begin in March, so that the
    /// leap day is the last day.
    private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
