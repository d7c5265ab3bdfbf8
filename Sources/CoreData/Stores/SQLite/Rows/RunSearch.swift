import SQLiteAccess

/// Finds the ends of runs of equal values among keys sorted by these values, by reading a few rows.
///
/// Reading a value with each of a million keys takes one and a half times as long as the keys only. The end of a run of
/// some hundred thousand rows is found by an exponential and then a binary search, which reads about thirty rows by
/// key. The order must keep equal values together.
struct RunSearch {
    /// The number of rows that are first read with their values.
    static let sample = 4_096
    /// The maximum number of runs in the sample. With more runs, values are read with all keys.
    static let mostOfSample = 4
    /// The maximum number of keys for which memory is reserved in advance.
    static let mostRoom: Int64 = 1 << 21
    /// Number of rows for which one lookup is allowed. A lookup takes as long as reading about fifty values with keys.
    private static let rowsOfLookUp = 256
    private static let fewLookUps = 256

    private let keys: [RowKey]
    private let group: SelectStatement.Group
    private let context: DecodingContext
    private let statement: Statement
    private var rest: Int

    /// - Parameter statement: selects the value of one key.
    init(keys: [RowKey], group: SelectStatement.Group, context: DecodingContext, statement: Statement) {
        self.keys = keys
        self.group = group
        self.context = context
        self.statement = statement
        rest = max(Self.fewLookUps, keys.count / Self.rowsOfLookUp)
    }

    /// True if sorting by an attribute keeps equal values together, and equal values have equal encodings.
    static func canRead(_ attribute: NSAttributeDescription) -> Bool {
        switch ValueCoding(attribute) {
        case .text, .integer: true
        default: false
        }
    }

    /// Finds the runs of equal values.
    ///
    /// - Returns: `nil` if there are too many runs.
    mutating func groups() throws -> [RowGroup]? {
        var groups: [RowGroup] = []
        var start = 0
        while start < keys.count {
            guard let value = try value(at: start), let end = try end(ofRunFrom: start, value) else { return nil }
            groups.append(RowGroup(value: value, count: end - start))
            start = end
        }
        return groups
    }

    private mutating func end(ofRunFrom start: Int, _ value: SlotValue) throws -> Int? {
        // `last` is the last row known to have the value. `next` is the first row known to have another one, or the
        // end.
        var last = start
        var next = keys.count
        var step = Self.sample
        while last + step < next {
            guard let found = try self.value(at: last + step) else { return nil }
            if found == value { last += step } else { next = last + step }
            step *= 2
        }
        while next - last > 1 {
            let middle = last + (next - last) / 2
            guard let found = try self.value(at: middle) else { return nil }
            if found == value { last = middle } else { next = middle }
        }
        return next
    }

    /// Looks up the value of one row.
    ///
    /// - Returns: the value of the key at `place`; `nil` if the allowed number of lookups is used up.
    private mutating func value(at place: Int) throws -> SlotValue? {
        guard rest > 0 else { return nil }
        rest -= 1
        defer { statement.reset() }
        try statement.bind(keys[place].reference, at: 1)
        guard try statement.step() else { return nil }
        return context.value(of: group.attribute, at: 0, of: statement)
    }
}
