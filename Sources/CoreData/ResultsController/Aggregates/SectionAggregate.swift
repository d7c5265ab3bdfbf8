import Foundation

/// A number over the objects of a section, or of a whole list. An addition to Apple's interface.
///
/// Values that are unset are skipped, and an aggregate of none is ``SectionValue/missing`` (a sum: 0). Sums of whole numbers
/// are exact whatever their size, sums of decimals up to 38 digits; those of real numbers are kept to twice their digits, and
/// infinite where they leave the range on the way. What is not a number makes a sum one that is not, counts, and is neither
/// the least nor the greatest value. A sum of which digits were lost is added up anew when one of its numbers goes, so that it
/// is always what a new fetch would give.
///
/// A value, safe on any thread.
public struct SectionAggregate: Hashable, Sendable, CustomStringConvertible {
    enum Function: String, Sendable {
        case count
        case sum
        case average
        case minimum
        case maximum
    }

    let function: Function
    /// The key path, also over to-one relationships, of the attribute.
    public let keyPath: String

    /// How many of the objects have a value, of any type but data, transformed values and composites.
    public static func count(_ keyPath: String) -> SectionAggregate { .init(function: .count, keyPath: keyPath) }

    /// The sum of numbers.
    public static func sum(_ keyPath: String) -> SectionAggregate { .init(function: .sum, keyPath: keyPath) }

    /// The average of numbers: a decimal of decimals, else a real number.
    public static func average(_ keyPath: String) -> SectionAggregate { .init(function: .average, keyPath: keyPath) }

    /// The least value: of numbers, dates or texts.
    public static func minimum(_ keyPath: String) -> SectionAggregate { .init(function: .minimum, keyPath: keyPath) }

    /// The greatest value: of numbers, dates or texts.
    public static func maximum(_ keyPath: String) -> SectionAggregate { .init(function: .maximum, keyPath: keyPath) }

    public var description: String { "\(function.rawValue)(\(keyPath))" }
}
