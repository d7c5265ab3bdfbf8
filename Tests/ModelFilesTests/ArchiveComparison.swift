import ModelFiles

/// Compares two keyed archives object by object from their roots: classes, keys, values and references.
struct ArchiveComparison {
    private let left: KeyedArchive
    private let right: KeyedArchive
    private(set) var differences: [String] = []
    private var compared: Set<[Int]> = []

    /// The differences, one per line.
    static func differences(_ left: KeyedArchive, _ right: KeyedArchive) -> [String] {
        var comparison = ArchiveComparison(left, right)
        comparison.compare(left.root, right.root, "")
        return comparison.differences
    }

    private init(_ left: KeyedArchive, _ right: KeyedArchive) {
        self.left = left
        self.right = right
    }

    private mutating func compare(_ a: PropertyListValue?, _ b: PropertyListValue?, _ path: String) {
        if let a = left.text(a), let b = right.text(b) {
            if a != b { differences.append("\(path): '\(a)', '\(b)'") }
            return
        }
        switch (left.object(a), right.object(b)) {
        case (let a?, let b?): compare(a, b, path)
        case (nil, nil): compareValues(left.resolve(a), right.resolve(b), path)
        default: differences.append("\(path): an object and none")
        }
    }

    private mutating func compareValues(_ a: PropertyListValue?, _ b: PropertyListValue?, _ path: String) {
        if case .array(let a)? = a, case .array(let b)? = b { return compareLists(a, b, path) }
        if a != b, number(a) == nil || number(a) != number(b) {
            differences.append("\(path): \(String(describing: a)), \(String(describing: b))")
        }
    }

    /// Integers and reals of the same value are equal, because archives contain a Double's 0 as either.
    private func number(_ value: PropertyListValue?) -> Double? {
        switch value {
        case .integer(let number): Double(number)
        case .real(let number): number
        default: nil
        }
    }

    private mutating func compareLists(_ a: [PropertyListValue], _ b: [PropertyListValue], _ path: String) {
        if a.count != b.count { differences.append("\(path): \(a.count) elements, \(b.count) elements") }
        for (index, (a, b)) in zip(a, b).enumerated() { compare(a, b, "\(path)[\(index)]") }
    }

    private mutating func compare(_ a: KeyedArchive.Object, _ b: KeyedArchive.Object, _ path: String) {
        guard compared.insert([a.number, b.number]).inserted else { return }
        if a.className != b.className { differences.append("\(path): \(a.className), \(b.className)") }
        if let mine = left.entries(.reference(a.number)), let other = right.entries(.reference(b.number)) {
            return compareEntries(mine, other, path)
        }
        if a.className.hasSuffix("Set"), let mine = left.elements(.reference(a.number)),
            let other = right.elements(.reference(b.number))
        {
            return compareLists(
                mine.sorted { name($0, in: left) < name($1, in: left) },
                other.sorted { name($0, in: right) < name($1, in: right) }, path)
        }
        let keys = Set(a.fields.keys).union(b.fields.keys).subtracting(["$class"])
        for key in keys.sorted() {
            switch (a.fields[key], b.fields[key]) {
            case (let a?, let b?): compare(a, b, "\(path).\(key)")
            case (nil, _): differences.append("\(path).\(key): only on the right")
            default: differences.append("\(path).\(key): only on the left")
            }
        }
    }

    private func name(_ value: PropertyListValue, in archive: KeyedArchive) -> String {
        archive.text(value) ?? archive.object(value).flatMap { archive.text($0.fields["NSEntityName"]) } ?? ""
    }

    private mutating func compareEntries(
        _ a: [(key: PropertyListValue, value: PropertyListValue)],
        _ b: [(key: PropertyListValue, value: PropertyListValue)], _ path: String
    ) {
        let other = Dictionary(
            b.compactMap { entry in right.text(entry.key).map { ($0, entry.value) } }, uniquingKeysWith: { $1 })
        let mine = Dictionary(
            a.compactMap { entry in left.text(entry.key).map { ($0, entry.value) } }, uniquingKeysWith: { $1 })
        for key in Set(mine.keys).symmetricDifference(other.keys).sorted() {
            differences.append("\(path)/\(key): only on one side")
        }
        for key in mine.keys.sorted() {
            if let value = other[key] { compare(mine[key], value, "\(path)/\(key)") }
        }
    }
}
