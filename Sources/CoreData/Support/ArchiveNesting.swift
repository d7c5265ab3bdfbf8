import ModelFiles

/// Nesting depth of an archive's objects, and the number of values that a walk along all references visits.
///
/// A reader creates an object after everything inside it. In damaged bytes an object may contain itself, and the
/// reader would overflow the stack. Lists that share each other can expand to so many values that a comparison would
/// not finish.
struct ArchiveNesting {
    let archive: KeyedArchive
    /// Sizes of the visited objects, by object number.
    private var sizes: [Int: (height: Int, count: Int)] = [:]
    /// Number of values inside the object being visited.
    private var count = 0

    init(archive: KeyedArchive) { self.archive = archive }

    /// True if no object contains itself, nothing is nested deeper than `limit`, and a walk visits at most
    /// ``KeyedArchive/expansionLimit`` values. Cost: visits each value once.
    mutating func isWithin(_ limit: Int) -> Bool {
        count = 0
        return height(of: archive.root, limit) != nil
    }

    /// Number of nested objects below `value`; `nil` if more than `limit`.
    private mutating func height(of value: PropertyListValue, _ limit: Int) -> Int? {
        guard limit >= 0 else { return nil }
        switch value {
        case .reference(let number):
            if let known = sizes[number] { return known.height <= limit && add(known.count) ? known.height : nil }
            guard let object = archive.resolve(value) else { return 0 }
            let outer = count
            count = 1
            guard let inner = height(of: object, limit - 1) else { return nil }
            let size = (height: inner + 1, count: count)
            sizes[number] = size
            count = outer
            return add(size.count) ? size.height : nil
        case .array(let elements): return highest(elements, limit)
        case .dictionary(let fields): return highest(fields.values, limit)
        default: return 0
        }
    }

    /// Adds to the number of values. Returns false if the limit is exceeded.
    private mutating func add(_ more: Int) -> Bool {
        count += more
        return count <= archive.expansionLimit
    }

    private mutating func highest(_ values: some Collection<PropertyListValue>, _ limit: Int) -> Int? {
        guard add(values.count) else { return nil }
        var highest = 0
        for value in values {
            guard let height = height(of: value, limit) else { return nil }
            highest = max(highest, height)
        }
        return highest
    }
}
