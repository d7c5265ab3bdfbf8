import Foundation

/// The value that a section's objects have in common, with its type. An addition to Apple's interface.
///
/// ``NSFetchedResultsSectionInfo/name`` is its text. Texts are equal if their UTF-8 is: `é` as one character and as two
/// are different. A value, safe on any thread.
public enum SectionValue: Hashable, Sendable {
    /// The objects without a value, and those whose text is empty.
    case missing
    /// A Boolean.
    case boolean(Bool)
    /// A whole number.
    case integer(Int)
    /// A floating-point number.
    case real(Double)
    /// A decimal number.
    case decimal(Decimal)
    /// A text, the address of a URI, or a letter.
    case text(String)
    /// A date.
    case date(Date)
    /// A UUID.
    case uuid(UUID)
    /// A year, month, week or day: from its first moment to the first one after it.
    case period(DateInterval)
    /// The numbers from the lower bound up to, but not including, the upper bound.
    case numbers(from: Decimal, to: Decimal)
    /// The values of several levels, the outermost first.
    case levels([SectionValue])

    /// The text; `nil` for other kinds.
    public var text: String? { if case .text(let text) = self { text } else { nil } }

    /// The moment; the start of a period.
    public var date: Date? {
        switch self {
        case .date(let date): date
        case .period(let period): period.start
        default: nil
        }
    }

    /// The number; the lower bound of a bucket.
    public var number: Decimal? {
        switch self {
        case .integer(let number): Decimal(number)
        case .real(let number): number.isFinite ? Decimal(number) : nil
        case .decimal(let number): number
        case .numbers(let from, _): from
        default: nil
        }
    }

    /// The values of the levels, the outermost first; the value itself if there are no levels.
    public var levels: [SectionValue] { if case .levels(let values) = self { values } else { [self] } }

    public static func == (left: SectionValue, right: SectionValue) -> Bool {
        switch (left, right) {
        case (.missing, .missing): true
        case (.boolean(let left), .boolean(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.real(let left), .real(let right)): left == right
        case (.decimal(let left), .decimal(let right)): left == right
        case (.text(let left), .text(let right)): TextBytes.areEqual(left, right)
        case (.date(let left), .date(let right)): left == right
        case (.uuid(let left), .uuid(let right)): left == right
        case (.period(let left), .period(let right)): left == right
        case (.numbers(let from, let to), .numbers(let otherFrom, let otherTo)): from == otherFrom && to == otherTo
        case (.levels(let left), .levels(let right)): left == right
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        switch self {
        case .missing: break
        case .boolean(let flag): hasher.combine(flag)
        case .integer(let number): hasher.combine(number)
        case .real(let number): hasher.combine(number)
        case .decimal(let number): hasher.combine(number)
        case .text(let text): TextBytes.hash(text, into: &hasher)
        case .date(let date): hasher.combine(date)
        case .uuid(let id): hasher.combine(id)
        case .period(let period): hasher.combine(period)
        case .numbers(let from, let to):
            hasher.combine(from)
            hasher.combine(to)
        case .levels(let values): hasher.combine(values)
        }
    }
}

extension SectionValue {
    /// The order of values of one kind: numbers and dates by size, texts by the bytes of their UTF-8, false first.
    static func compare(_ left: SectionValue, _ right: SectionValue) -> ComparisonResult {
        func order<Value: Comparable>(_ left: Value, _ right: Value) -> ComparisonResult {
            left < right ? .orderedAscending : left > right ? .orderedDescending : .orderedSame
        }
        switch (left, right) {
        case (.text(let left), .text(let right)): return TextBytes.compare(left, right)
        case (.integer(let left), .integer(let right)): return order(left, right)
        case (.real(let left), .real(let right)): return order(left, right)
        case (.decimal(let left), .decimal(let right)): return order(left, right)
        case (.date(let left), .date(let right)): return order(left, right)
        case (.period(let left), .period(let right)): return order(left.start, right.start)
        case (.boolean(let left), .boolean(let right)): return order(left ? 1 : 0, right ? 1 : 0)
        case (.uuid(let left), .uuid(let right)): return order(left.uuidString, right.uuidString)
        case (.numbers(let left, _), .numbers(let right, _)): return order(left, right)
        case (.levels(let left), .levels(let right)):
            for (left, right) in zip(left, right) {
                let result = compare(left, right)
                if result != .orderedSame { return result }
            }
            return order(left.count, right.count)
        default: return order(left.kind, right.kind)
        }
    }

    private var kind: Int {
        switch self {
        case .missing: 0
        case .boolean: 1
        case .integer, .real, .decimal: 2
        case .date: 3
        case .period: 4
        case .text: 5
        case .numbers: 6
        case .uuid: 7
        case .levels: 8
        }
    }
}

// MARK: As a text

extension SectionValue {
    /// A text that differs for different values, and can be parsed.
    var code: String {
        switch self {
        case .missing: "n"
        case .boolean(let flag): flag ? "b1" : "b0"
        case .integer(let number): "i\(number)"
        case .real(let number): "r\(number.bitPattern)"
        case .decimal(let number): "d\(number)"
        case .text(let text): "t\(text)"
        case .date(let date): "m\(date.timeIntervalSinceReferenceDate.bitPattern)"
        case .uuid(let id): "u\(id.uuidString)"
        case .period(let period):
            "p\(period.start.timeIntervalSinceReferenceDate.bitPattern) \(period.duration.bitPattern)"
        case .numbers(let from, let to): "k\(from) \(to)"
        case .levels(let values): "l" + values.map(\.code).map { "\($0.utf8.count):\($0)" }.joined()
        }
    }

    /// The greatest depth that is parsed, since a file may be forged.
    private static let deepestLevel = 32

    /// - Returns: `nil` for a text that is not a ``code``.
    init?(code: Substring, level: Int = 0) {
        let rest = code.dropFirst()
        switch code.first {
        case "n": self = .missing
        case "b": self = .boolean(rest == "1")
        case "i":
            guard let number = Int(rest) else { return nil }
            self = .integer(number)
        case "r":
            guard let number = Self.real(rest) else { return nil }
            self = .real(number)
        case "d":
            guard let number = Decimal(string: String(rest), locale: nil) else { return nil }
            self = .decimal(number)
        case "t": self = .text(String(rest))
        case "m":
            guard let seconds = Self.real(rest) else { return nil }
            self = .date(Date(timeIntervalSinceReferenceDate: seconds))
        case "u":
            guard let id = UUID(uuidString: String(rest)) else { return nil }
            self = .uuid(id)
        case "p":
            let parts = rest.split(separator: " ").compactMap(Self.real)
            guard parts.count == 2, parts[1] >= 0 else { return nil }
            self = .period(DateInterval(start: Date(timeIntervalSinceReferenceDate: parts[0]), duration: parts[1]))
        case "k":
            let parts = rest.split(separator: " ").compactMap { Decimal(string: String($0), locale: nil) }
            guard parts.count == 2 else { return nil }
            self = .numbers(from: parts[0], to: parts[1])
        case "l":
            guard level < Self.deepestLevel, let values = Self.values(rest, level: level + 1) else { return nil }
            self = .levels(values)
        default: return nil
        }
    }

    private static func real(_ text: Substring) -> Double? { UInt64(text).map(Double.init(bitPattern:)) }

    private static func values(_ text: Substring, level: Int) -> [SectionValue]? {
        var values: [SectionValue] = []
        var rest = text
        while !rest.isEmpty {
            guard let colon = rest.firstIndex(of: ":"), let count = Int(rest[..<colon]), count >= 0 else { return nil }
            let start = rest.index(after: colon)
            guard let end = rest.utf8.index(start, offsetBy: count, limitedBy: rest.endIndex),
                let value = SectionValue(code: rest[start..<end], level: level)
            else { return nil }
            values.append(value)
            rest = rest[end...]
        }
        return values
    }
}
