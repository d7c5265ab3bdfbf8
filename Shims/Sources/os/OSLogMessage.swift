import Foundation

/// Visibility of a value in the log.
public struct OSLogPrivacy: Sendable {
    /// Replacements of a hidden value.
    public enum Mask: Sendable {
        /// A hash of the value: equal values have equal hashes in one run of the program.
        case hash
        /// `<private>`.
        case none
    }

    enum Kind { case automatic, shown, hidden }

    let kind: Kind
    var mask = Mask.none

    /// Numbers and Boolean values are shown, other values are hidden.
    public static var auto: OSLogPrivacy { OSLogPrivacy(kind: .automatic) }
    /// The value is shown.
    public static var `public`: OSLogPrivacy { OSLogPrivacy(kind: .shown) }
    /// The value is hidden.
    public static var `private`: OSLogPrivacy { OSLogPrivacy(kind: .hidden) }
    /// The value is hidden.
    public static var sensitive: OSLogPrivacy { OSLogPrivacy(kind: .hidden) }
    /// Like `auto`, with a mask for hidden values.
    public static func auto(mask: Mask) -> OSLogPrivacy { OSLogPrivacy(kind: .automatic, mask: mask) }
    /// The value is replaced by a mask.
    public static func `private`(mask: Mask) -> OSLogPrivacy { OSLogPrivacy(kind: .hidden, mask: mask) }
    /// The value is replaced by a mask.
    public static func sensitive(mask: Mask) -> OSLogPrivacy { OSLogPrivacy(kind: .hidden, mask: mask) }
}

/// Alignment of a value in a column.
public struct OSLogStringAlignment: Sendable {
    enum Side { case left, right }

    let side: Side
    let columns: Int

    /// No alignment.
    public static var none: OSLogStringAlignment { OSLogStringAlignment(side: .left, columns: 0) }
    /// The value is filled with spaces at its start.
    public static func right(columns: Int) -> OSLogStringAlignment {
        OSLogStringAlignment(side: .right, columns: columns)
    }
    /// The value is filled with spaces at its end.
    public static func left(columns: Int) -> OSLogStringAlignment {
        OSLogStringAlignment(side: .left, columns: columns)
    }

    func applied(to text: String) -> String {
        let blanks = String(repeating: " ", count: max(0, columns - text.count))
        return side == .left ? text + blanks : blanks + text
    }
}

/// Digits of an integer.
public struct OSLogIntegerFormatting: Sendable {
    let radix: Int
    var prefix = ""
    var isUppercase = false
    var digits = 0

    /// Decimal digits.
    public static var decimal: OSLogIntegerFormatting { OSLogIntegerFormatting(radix: 10) }
    /// Hexadecimal digits.
    public static var hex: OSLogIntegerFormatting { OSLogIntegerFormatting(radix: 16) }
    /// Octal digits.
    public static var octal: OSLogIntegerFormatting { OSLogIntegerFormatting(radix: 8) }
    /// Decimal digits, filled with zeros.
    public static func decimal(minDigits: Int) -> OSLogIntegerFormatting {
        OSLogIntegerFormatting(radix: 10, digits: minDigits)
    }
    /// Hexadecimal digits with a prefix, in upper case, or filled with zeros.
    public static func hex(
        includePrefix: Bool = false, uppercase: Bool = false, minDigits: Int = 1
    ) -> OSLogIntegerFormatting {
        OSLogIntegerFormatting(
            radix: 16, prefix: includePrefix ? "0x" : "", isUppercase: uppercase, digits: minDigits)
    }

    func text(of value: some FixedWidthInteger) -> String {
        let digits = String(value.magnitude, radix: radix, uppercase: isUppercase)
        let zeros = String(repeating: "0", count: max(0, self.digits - digits.count))
        return (value < 0 ? "-" : "") + prefix + zeros + digits
    }
}

/// Digits of a floating-point number.
public struct OSLogFloatFormatting: Sendable {
    let conversion: String
    let precision: Int?

    /// Six digits after the point.
    public static var fixed: OSLogFloatFormatting { OSLogFloatFormatting(conversion: "f", precision: nil) }
    /// A number of digits after the point.
    public static func fixed(precision: Int) -> OSLogFloatFormatting {
        OSLogFloatFormatting(conversion: "f", precision: precision)
    }
    /// An exponent of ten.
    public static var exponential: OSLogFloatFormatting { OSLogFloatFormatting(conversion: "e", precision: nil) }
    /// The shorter of the two.
    public static var hybrid: OSLogFloatFormatting { OSLogFloatFormatting(conversion: "g", precision: nil) }

    func text(of value: Double) -> String {
        String(format: "%" + (precision.map { ".\(max(0, $0))" } ?? "") + conversion, value)
    }
}

/// Words for a Boolean value.
public enum OSLogBoolFormat: Sendable {
    /// `true` and `false`.
    case truth
    /// `yes` and `no`.
    case answer
}

/// A message with values whose visibility is known.
public struct OSLogMessage: ExpressibleByStringInterpolation {
    let text: (LogOutput) -> String

    /// Creates a message without values.
    public init(stringLiteral value: String) { text = { _ in value } }

    /// Creates a message from an interpolation.
    public init(stringInterpolation: OSLogInterpolation) {
        let parts = stringInterpolation.parts
        text = { output in parts.map { $0(output) }.joined() }
    }
}

/// The parts of a message. Values are converted to text when the message is written.
public struct OSLogInterpolation: StringInterpolationProtocol {
    private(set) var parts: [(LogOutput) -> String] = []

    /// Creates an interpolation without parts.
    public init(literalCapacity: Int, interpolationCount: Int) { parts.reserveCapacity(2 * interpolationCount + 1) }

    /// Adds text, which is always shown.
    public mutating func appendLiteral(_ literal: String) { parts.append { _ in literal } }

    /// Adds a value. Numbers and Boolean values are shown by default, other values are hidden.
    public mutating func appendInterpolation<Value>(
        _ value: @autoclosure @escaping () -> Value, align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
    ) {
        add(privacy, align) {
            let value = value()
            return LoggedValue(text: String(describing: value), isScalar: LoggedValue.isScalar(value))
        }
    }

    /// Adds an integer in a format.
    public mutating func appendInterpolation(
        _ value: @autoclosure @escaping () -> some FixedWidthInteger, format: OSLogIntegerFormatting,
        align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
    ) {
        add(privacy, align) { LoggedValue(text: format.text(of: value()), isScalar: true) }
    }

    /// Adds a floating-point number in a format.
    public mutating func appendInterpolation(
        _ value: @autoclosure @escaping () -> some BinaryFloatingPoint, format: OSLogFloatFormatting,
        align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
    ) {
        add(privacy, align) { LoggedValue(text: format.text(of: Double(value())), isScalar: true) }
    }

    /// Adds a Boolean value in a format.
    public mutating func appendInterpolation(
        _ value: @autoclosure @escaping () -> Bool, format: OSLogBoolFormat, privacy: OSLogPrivacy = .auto
    ) {
        add(privacy, .none) {
            let isTrue = value()
            return LoggedValue(text: format == .truth ? "\(isTrue)" : isTrue ? "yes" : "no", isScalar: true)
        }
    }

    private mutating func add(
        _ privacy: OSLogPrivacy, _ alignment: OSLogStringAlignment, _ value: @escaping () -> LoggedValue
    ) {
        parts.append { alignment.applied(to: value().shown(privacy, output: $0)) }
    }
}

/// A value of a message as text.
struct LoggedValue {
    let text: String
    /// True for numbers and Boolean values, which are shown by default.
    let isScalar: Bool

    static func isScalar(_ value: Any) -> Bool {
        value is any BinaryInteger || value is any BinaryFloatingPoint || value is Bool
    }

    func shown(_ privacy: OSLogPrivacy, output: LogOutput) -> String {
        let isShown =
            switch privacy.kind {
            case .shown: true
            case .hidden: false
            case .automatic: isScalar
            }
        if isShown || output.showsPrivate { return text }
        return privacy.mask == .hash
            ? "<mask.hash: \(String(UInt(bitPattern: text.hashValue), radix: 16))>" : "<private>"
    }
}
