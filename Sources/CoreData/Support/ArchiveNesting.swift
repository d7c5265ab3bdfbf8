import ModelFiles

/// How deep the objects of an archive are nested in each other, and how many a walk meets that follows every reference.
///
/// A reader makes an object once it has all within it. With one that contains itself, as damaged bytes may say, it would
/// not come to an end before the thread's stack does. Lists that share each other stand for so many values that comparing
/// them would not come to an end either.
struct ArchiveNesting {
    let archive: KeyedArchive
    /// The sizes of objects that were looked at, by their numbers.
    private var sizes: [Int: (height: Int, count: Int)] = [:]
    /// How many values are within the object that is being looked at.
    private var count = 0

    init(archive: KeyedArchive) { self.archive = archive }

    /// Whether nothing contains itself, nothing is nested deeper than `limit`, and a walk meets no more values than
    /// ``KeyedArchive/expansionLimit``. Cost: one look at each value.
    mutating func isWithin(_ limit: Int) -> Bool {
        count = 0
        return height(of: archive.root, limit) != nil
    }

    /// How many objects are nested in each other below `value`; `nil` for more than `limit`.
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

    /// `false` beyond the limit.
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
