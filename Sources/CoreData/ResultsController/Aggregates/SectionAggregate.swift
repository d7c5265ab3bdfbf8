import Foundation

/// An aggregate of the objects of a section, or of a whole list. An addition to Apple's interface.
///
/// Unset values are skipped, and an aggregate of no values is ``SectionValue/missing`` (a sum: 0). Sums of whole
/// numbers are exact at any size, sums of decimals up to 38 digits. Sums of real numbers have twice the precision of a
/// Double, and are infinite if an intermediate sum overflows. NaN makes a sum NaN, is counted, and is neither the least
/// nor the greatest value. A rounded sum is calculated again when one of its numbers is removed, so it always equals
/// the result of a new fetch.
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

    /// The number of objects that have a value, for attributes of any type but data, transformables and composites.
    public static func count(_ keyPath: String) -> SectionAggregate { .init(function: .count, keyPath: keyPath) }

    /// The sum of numbers.
    public static func sum(_ keyPath: String) -> SectionAggregate { .init(function: .sum, keyPath: keyPath) }

    /// The average of numbers: a decimal for decimals, otherwise a real number.
    public static func average(_ keyPath: String) -> SectionAggregate { .init(function: .average, keyPath: keyPath) }

    /// The least of numbers, dates or texts.
    public static func minimum(_ keyPath: String) -> SectionAggregate { .init(function: .minimum, keyPath: keyPath) }

    /// The greatest of numbers, dates or texts.
    public static func maximum(_ keyPath: String) -> SectionAggregate { .init(function: .maximum, keyPath: keyPath) }

    public var description: String { "\(function.rawValue)(\(keyPath))" }
}
