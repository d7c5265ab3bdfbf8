import ModelFiles

/// How deep the objects of an archive are nested in each other.
///
/// A reader makes an object once it has all within it. With one that contains itself, as damaged bytes may say, it would
/// not come to an end before the thread's stack does.
struct ArchiveNesting {
    let archive: KeyedArchive
    /// The heights of objects that were looked at, by their numbers.
    private var heights: [Int: Int] = [:]

    init(archive: KeyedArchive) { self.archive = archive }

    /// Whether nothing contains itself, and nothing is nested deeper than `limit`. Cost: one look at each value.
    mutating func isWithin(_ limit: Int) -> Bool { height(of: archive.root, limit) != nil }

    /// How many objects are nested in each other below `value`; `nil` for more than `limit`.
    private mutating func height(of value: PropertyListValue, _ limit: Int) -> Int? {
        guard limit >= 0 else { return nil }
        switch value {
        case .reference(let number):
            if let known = heights[number] { return known <= limit ? known : nil }
            guard let object = archive.resolve(value) else { return 0 }
            guard let inner = height(of: object, limit - 1) else { return nil }
            heights[number] = inner + 1
            return inner + 1
        case .array(let elements): return highest(elements, limit)
        case .dictionary(let fields): return highest(fields.values, limit)
        default: return 0
        }
    }

    private mutating func highest(_ values: some Collection<PropertyListValue>, _ limit: Int) -> Int? {
        var highest = 0
        for value in values {
            guard let height = height(of: value, limit) else { return nil }
            highest = max(highest, height)
        }
        return highest
    }
}
