import Foundation

/// One level of sections, resolved for an entity.
struct SectionLevel {
    private let by: SectionBy
    private let key: SectionKey?
    private let orderKey: SectionKey?

    var hasOrder: Bool { orderKey != nil }

    /// - Throws: 134060 if a key path or the type of its attribute does not fit.
    init(_ by: SectionBy, of entity: NSEntityDescription) throws {
        self.by = by
        if case .computed = by.kind { key = nil } else { key = try Self.key(by.keyPath, of: entity) }
        orderKey = try by.orderKeyPath.map { try Self.key($0, of: entity) }
        try requireType(of: entity)
    }

    private static func key(_ keyPath: String, of entity: NSEntityDescription) throws -> SectionKey {
        let key = SectionKey(keyPath, of: entity)
        guard key.attributeType == nil else { return key }
        do {
            _ = try ModelKeyPath(keyPath.split(separator: ".").map(String.init), from: entity)
        } catch {
            throw CoreDataError.make(
                134060, "Cannot make sections of \(entity.name ?? "") by \(keyPath): it is not an attribute.")
        }
        throw CoreDataError.make(
            134060, "Cannot make sections of \(entity.name ?? "") by \(keyPath): it does not end at an attribute.")
    }

    private func requireType(of entity: NSEntityDescription) throws {
        let (isRight, wanted): (Bool, String) =
            switch by.kind {
            case .period: (key?.attributeType == .dateAttributeType, "a date")
            case .letter: (key?.attributeType == .stringAttributeType, "a text")
            case .bucket: (key?.isNumber ?? false, "a number")
            default: (true, "")
            }
        guard !isRight else { return }
        throw CoreDataError.make(
            134060, "Cannot make sections of \(entity.name ?? "") by \(by.keyPath): it is not \(wanted).")
    }

    /// The key path of the order, if there is one, then the key path of the value.
    var paths: [[String]] { ((orderKey.map { [$0] } ?? []) + (key.map { [$0] } ?? [])).map(\.keys) }

    /// True if the section is the value itself.
    var isByValue: Bool { if case .value = by.kind { true } else { false } }

    var isStored: Bool { key?.isStored ?? false && orderKey?.isStored ?? true }

    var fingerprint: String? {
        guard by.comparator == nil else { return nil }
        let kind: String
        switch by.kind {
        case .value: kind = "value"
        case .period(let component):
            let calendar = by.calendar
            kind =
                "\(component) \(calendar.identifier) \(calendar.timeZone.identifier) \(calendar.firstWeekday) "
                + "\(calendar.minimumDaysInFirstWeek)"
        case .letter: kind = "letter \(by.locale.identifier)"
        case .bucket(let size): kind = "bucket \(size)"
        case .computed(let name, _):
            guard let name else { return nil }
            kind = "computed \(name)"
        case .levels: return nil
        }
        return "\(kind) of \(by.keyPath) by \(by.orderKeyPath ?? "") \(by.isAscending) \(by.placement)"
    }

    // MARK: Values

    func identity(of values: ArraySlice<SlotValue>) -> SectionValue {
        let value = key.map { section(for: $0.typed(values.last ?? .null)) } ?? .missing
        guard let orderKey, let first = values.first else { return value }
        return .levels([orderKey.typed(first), value])
    }

    func identity(of object: AnyObject) -> SectionValue {
        let value: SectionValue
        if case .computed(_, let code) = by.kind {
            value = (object as? NSManagedObject).map(code) ?? .missing
        } else {
            value = key.map { section(for: $0.value(of: object)) } ?? .missing
        }
        guard let orderKey else { return value }
        return .levels([orderKey.value(of: object), value])
    }

    func value(of identity: SectionValue) -> SectionValue {
        guard hasOrder, case .levels(let parts) = identity, let last = parts.last else { return identity }
        return last
    }

    private func section(for value: SectionValue) -> SectionValue {
        switch by.kind {
        case .period(let component):
            guard case .date(let date) = value, let period = SectionPeriod.period(of: date, component, by.calendar)
            else {
                return .missing
            }
            return .period(period)
        case .letter:
            guard case .text(let text) = value else { return .missing }
            return SectionLetter.section(of: text, by.locale)
        case .bucket(let size): return SectionBucket.section(of: value, size: size)
        default: return value
        }
    }

    func name(of value: SectionValue) -> String {
        if case .period(let component) = by.kind, case .period(let period) = value {
            return SectionPeriod.name(of: period.start, component, by.calendar)
        }
        return SectionKey.name(for: value)
    }

    // MARK: Order

    func compare(_ left: SectionValue, _ right: SectionValue) -> ComparisonResult {
        if hasOrder, let left = left.levels.first, let right = right.levels.first {
            let result = SectionValue.compare(left, right)
            if result != .orderedSame { return by.isAscending ? result : result.turned }
        }
        return Self.compare(value(of: left), value(of: right), by)
    }

    static func compare(_ left: SectionValue, _ right: SectionValue, _ by: SectionBy) -> ComparisonResult {
        if left == right { return .orderedSame }
        if left == .missing { return by.placement == .first ? .orderedAscending : .orderedDescending }
        if right == .missing { return by.placement == .first ? .orderedDescending : .orderedAscending }
        var result: ComparisonResult
        if let comparator = by.comparator {
            result =
                comparator(left, right)
                ? .orderedAscending : comparator(right, left) ? .orderedDescending : .orderedSame
        } else if case .letter = by.kind, (left == SectionLetter.other) != (right == SectionLetter.other) {
            return left == SectionLetter.other ? .orderedDescending : .orderedAscending
        } else {
            result = SectionValue.compare(left, right)
        }
        return by.isAscending ? result : result.turned
    }
}

extension ComparisonResult {
    fileprivate var turned: ComparisonResult {
        self == .orderedAscending ? .orderedDescending : self == .orderedDescending ? .orderedAscending : .orderedSame
    }
}

/// Sections by first letter.
enum SectionLetter {
    /// The section of texts that do not begin with a letter.
    static let other = SectionValue.text("#")

    static func section(of text: String, _ locale: Locale) -> SectionValue {
        guard let first = text.first(where: { !$0.isWhitespace }) else { return .missing }
        guard first.isLetter else { return other }
        if first.isASCII { return .text(first.uppercased()) }
        let folded = String(first).folding(options: [.diacriticInsensitive, .widthInsensitive], locale: locale)
        return .text(String(folded.uppercased(with: locale).prefix(1)))
    }
}

/// Sections by the size of numbers.
enum SectionBucket {
    static func section(of value: SectionValue, size: Decimal) -> SectionValue {
        let number: Decimal
        switch value {
        case .integer(let value): number = Decimal(value)
        case .decimal(let value): number = value
        case .real(let value):
            guard value.isFinite else { return .missing }
            number = Decimal(string: "\(value)", locale: nil) ?? Decimal(value)
        default: return .missing
        }
        guard number.isFinite else { return .missing }
        var quotient = number / size
        var whole = Decimal()
        NSDecimalRound(&whole, &quotient, 0, .down)
        if whole > quotient { whole -= 1 }
        let from = whole * size
        return .numbers(from: from, to: from + size)
    }
}

/// The names of years, months, weeks and days.
enum SectionPeriod {
    /// The Gregorian calendar repeats after 400 years, weekdays included.
    private static let cycle = 146_097.0 * 86_400

    /// The number of cycles to move a date by, so that Foundation's calendar, which is Julian before 1582 and ends in
    /// the far future, counts like the Gregorian one. 0 from 1583 to about the year 10,000, and for other calendars.
    private static func cycles(of date: Date, _ calendar: Calendar) -> Double {
        guard [.gregorian, .iso8601].contains(calendar.identifier) else { return 0 }
        let first = -152_672.0 * 86_400  // 1583-01-01
        let seconds = date.timeIntervalSinceReferenceDate
        guard seconds < first || seconds >= first + 20 * cycle else { return 0 }
        return -((seconds - first) / cycle).rounded(.down)
    }

    /// The period of a date; `nil` if it is out of the range of calendars.
    static func period(of date: Date, _ component: Calendar.Component, _ calendar: Calendar) -> DateInterval? {
        guard abs(date.timeIntervalSinceReferenceDate) < 1e15 else { return nil }
        let shift = cycles(of: date, calendar) * cycle
        return calendar.dateInterval(of: component, for: date.addingTimeInterval(shift)).map {
            DateInterval(start: $0.start.addingTimeInterval(-shift), duration: $0.duration)
        }
    }

    static func name(of date: Date, _ component: Calendar.Component, _ calendar: Calendar) -> String {
        let cycles = cycles(of: date, calendar)
        let parts = calendar.dateComponents(
            [.era, .year, .month, .day, .yearForWeekOfYear, .weekOfYear],
            from: date.addingTimeInterval(cycles * cycle))
        func digits(_ number: Int?, _ count: Int) -> String {
            let text = String(abs(number ?? 0))
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        var year = (component == .weekOfYear ? parts.yearForWeekOfYear : parts.year) ?? 0
        var era = ""
        switch calendar.identifier {
        case .gregorian, .iso8601:
            // Astronomical years: the year before 1 is 0.
            if parts.era == 0, component != .weekOfYear { year = 1 - year }
            year -= 400 * Int(cycles)
        default: era = "\(parts.era ?? 0)-"
        }
        let first = era + (year < 0 ? "-" : "") + digits(year, 4)
        return switch component {
        case .year: first
        case .month: "\(first)-\(digits(parts.month, 2))"
        case .weekOfYear: "\(first)-W\(digits(parts.weekOfYear, 2))"
        default: "\(first)-\(digits(parts.month, 2))-\(digits(parts.day, 2))"
        }
    }
}
