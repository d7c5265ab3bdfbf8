import Foundation

/// Conversion of dates from and to ISO 8601 text, exact to the nanosecond, without formatter or calendar objects.
///
/// Days are counted in the proleptic Gregorian calendar, in eras of 400 years (146,097 days). Years begin in March, so
/// that the leap day is the last of a year.
enum ISO8601Text {
    private static let daysFromCommonEraToReference = 730_791  // 0000-03-01 to 2001-01-01
    private static let secondsInDay = 86_400

    /// Returns `date` in UTC: `1930-07-14T00:00:00Z`, with the decimals of the value, at most nine. Years with more
    /// than four digits, or before the year 0, have a sign.
    ///
    /// - Parameter omitsMidnight: True to omit a time of 00:00:00, for display.
    static func text(of date: Date, omitsMidnight: Bool = false) -> String {
        let interval = date.timeIntervalSinceReferenceDate
        guard interval.isFinite, abs(interval) < 1e15 else { return String(describing: interval) }
        var seconds = Int(interval.rounded(.down))
        var nanoseconds = Int(((interval - Double(seconds)) * 1e9).rounded())
        if nanoseconds == 1_000_000_000 { (seconds, nanoseconds) = (seconds + 1, 0) }
        let day = floorDivide(seconds, secondsInDay)
        let second = seconds - day * secondsInDay
        let (year, month, dayOfMonth) = civil(fromDay: day)
        let date = yearText(year) + "-" + padded(month, 2) + "-" + padded(dayOfMonth, 2)
        if omitsMidnight, second == 0, nanoseconds == 0 { return date }
        let time = [second / 3600, second / 60 % 60, second % 60].map { padded($0, 2) }.joined(separator: ":")
        return date + "T" + time + fractionText(of: interval, seconds: seconds, nanoseconds) + "Z"
    }

    /// Parses `text`; `nil` if it is not a date. A date without a time is midnight, a time without a zone is UTC.
    static func date(from text: String) -> Date? {
        var scanner = DigitScanner(text)
        let sign = scanner.takeSign()
        guard let (year, digits) = scanner.takeNumber(), sign != nil || digits == 4, scanner.take("-"),
            let month = scanner.takeTwoDigits(), (1...12).contains(month), scanner.take("-"),
            let day = scanner.takeTwoDigits(), (1...daysInMonth(month, of: sign == -1 ? -year : year)).contains(day)
        else { return nil }
        var seconds = dayNumber(year: sign == -1 ? -year : year, month: month, day: day) * secondsInDay
        var fraction = ""
        if !scanner.isAtEnd {
            guard scanner.take("T") || scanner.take("t") || scanner.take(" "), let hour = scanner.takeTwoDigits(),
                hour < 24, scanner.take(":"), let minute = scanner.takeTwoDigits(), minute < 60
            else { return nil }
            seconds += hour * 3600 + minute * 60
            if scanner.take(":") {
                guard let second = scanner.takeTwoDigits(), second < 60 else { return nil }
                seconds += second
                if scanner.take(".") || scanner.take(",") {
                    fraction = scanner.takeDigits()
                    if fraction.isEmpty { return nil }
                }
            }
            guard let offset = scanner.takeZone(), scanner.isAtEnd else { return nil }
            seconds -= offset
        }
        return Date(timeIntervalSinceReferenceDate: interval(seconds: seconds, fraction: fraction))
    }

    // MARK: Calendar

    private static func civil(fromDay day: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = day + daysFromCommonEraToReference
        let era = floorDivide(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    private static func dayNumber(year: Int, month: Int, day: Int) -> Int {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = floorDivide(shiftedYear, 400)
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - daysFromCommonEraToReference
    }

    private static func daysInMonth(_ month: Int, of year: Int) -> Int {
        switch month {
        case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func floorDivide(_ dividend: Int, _ divisor: Int) -> Int {
        let (quotient, remainder) = dividend.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }

    // MARK: Fractions

    /// The shortest decimals, at most nine, that identify `interval` exactly.
    private static func fractionText(of interval: Double, seconds: Int, _ nanoseconds: Int) -> String {
        if nanoseconds == 0 { return "" }
        let digits = padded(nanoseconds, 9)
        for length in 1..<9 {
            let rounded = nanoseconds.roundedDecimals(length)
            if rounded < 1_000_000_000 {
                let text = String(padded(rounded, 9).prefix(length))
                if Self.interval(seconds: seconds, fraction: text) == interval { return "." + text }
            }
        }
        return "." + digits
    }

    /// The representable value nearest to `seconds` plus the decimals `fraction`.
    private static func interval(seconds: Int, fraction: String) -> Double {
        let digits = fraction.prefix(18)
        guard !digits.isEmpty, let numerator = Int128(digits) else { return Double(seconds) }
        var scale: Int128 = 1
        for _ in digits { scale *= 10 }
        let total = Int128(seconds) * scale + numerator
        return Double("\(total)e-\(digits.count)") ?? Double(seconds)
    }

    private static func yearText(_ year: Int) -> String {
        if year < 0 { return "-" + padded(-year, 4) }
        return (year > 9999 ? "+" : "") + padded(year, 4)
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

extension Int {
    /// Rounds nanoseconds to `count` decimals of a second.
    fileprivate func roundedDecimals(_ count: Int) -> Int {
        var unit = 1
        for _ in count..<9 { unit *= 10 }
        return (self + unit / 2) / unit * unit
    }
}

/// Parses ASCII digits and marks at the beginning of a text.
private struct DigitScanner {
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = Substring(text).utf8 }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func take(_ mark: Unicode.Scalar) -> Bool {
        guard let first = rest.first, first == UInt8(ascii: mark) else { return false }
        rest.removeFirst()
        return true
    }

    mutating func takeSign() -> Int? { take("+") ? 1 : take("-") ? -1 : nil }

    mutating func takeDigits() -> String {
        let digits = rest.prefix { (0x30...0x39).contains($0) }
        rest = rest.dropFirst(digits.count)
        return String(decoding: digits, as: UTF8.self)
    }

    mutating func takeNumber() -> (value: Int, digits: Int)? {
        let digits = takeDigits()
        guard (4...8).contains(digits.count), let value = Int(digits) else { return nil }
        return (value, digits.count)
    }

    mutating func takeTwoDigits() -> Int? {
        guard rest.count >= 2 else { return nil }
        let digits = rest.prefix(2)
        guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        rest = rest.dropFirst(2)
        return Int(String(decoding: digits, as: UTF8.self))
    }

    /// The offset from UTC in seconds: `Z`, `+02:00`, `-0330`, `+02`, or nothing.
    mutating func takeZone() -> Int? {
        if isAtEnd || take("Z") || take("z") { return 0 }
        guard let sign = takeSign(), let hours = takeTwoDigits(), hours <= 18 else { return nil }
        var minutes = 0
        if !isAtEnd {
            _ = take(":")
            guard let taken = takeTwoDigits(), taken < 60 else { return nil }
            minutes = taken
        }
        return sign * (hours * 3600 + minutes * 60)
    }
}
