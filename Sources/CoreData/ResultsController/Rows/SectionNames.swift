/// Numbers for section names: a name keeps its number as long as the list lives, whether or not it has rows now.
///
/// Names are only ever added, so every copy of the list's contents can share one table. Not thread safe.
final class SectionNames {
    private(set) var names: [String] = []
    private var numbers: [String: UInt32]?

    init(_ names: [String] = []) { self.names = names }

    /// The name of a number; the one section of a flat list has none, which is `""`.
    subscript(number: UInt32) -> String { Int(number) < names.count ? names[Int(number)] : "" }

    /// The number of `name`, a new one if it has none yet. The first call builds the table of numbers.
    func number(of name: String) -> UInt32 {
        if let known = knownNumber(of: name) { return known }
        let number = UInt32(names.count)
        names.append(name)
        numbers?[name] = number
        return number
    }

    /// Makes room for so many more names.
    func reserve(_ count: Int) {
        names.reserveCapacity(names.count + count)
        if numbers == nil { numbers = Self.numbers(of: names) }
        numbers?.reserveCapacity(names.count + count)
    }

    private static func numbers(of names: [String]) -> [String: UInt32] {
        Dictionary(names.enumerated().map { ($1, UInt32($0)) }, uniquingKeysWith: { first, _ in first })
    }

    /// The number of `name`, or `nil` if it has none.
    func knownNumber(of name: String) -> UInt32? {
        if let numbers { return numbers[name] }
        let made = Self.numbers(of: names)
        numbers = made
        return made[name]
    }
}
