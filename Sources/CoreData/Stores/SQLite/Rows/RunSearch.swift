import SQLiteAccess

/// Finds where the runs of equal values end among keys that are in the order of these values, by looking at a few of the rows.
///
/// Design. To read a value beside each of a million keys takes half as long again as the keys alone. Where a run has some
/// hundred thousand rows, its end is found by steps that double, and then by halves: some thirty rows are read by their keys.
/// It asks for an order that keeps equal values together.
struct RunSearch {
    /// So many rows are read with their values first.
    static let sample = 4_096
    /// With more runs among these, values are read beside all keys.
    static let mostOfSample = 4
    /// Room for so many keys is taken at once at most.
    static let mostRoom: Int64 = 1 << 21
    /// Of so many rows one may be looked at: a look-up takes as long as reading some fifty values beside keys.
    private static let rowsOfLookUp = 256
    private static let fewLookUps = 256

    private let keys: [RowKey]
    private let group: SelectStatement.Group
    private let context: DecodingContext
    private let statement: Statement
    private var rest: Int

    /// - Parameter statement: reads the value of one key.
    init(keys: [RowKey], group: SelectStatement.Group, context: DecodingContext, statement: Statement) {
        self.keys = keys
        self.group = group
        self.context = context
        self.statement = statement
        rest = max(Self.fewLookUps, keys.count / Self.rowsOfLookUp)
    }

    /// Whether an order keeps equal values of an attribute together, and the rows' values say by themselves that they are equal.
    static func canRead(_ attribute: NSAttributeDescription) -> Bool {
        switch ValueCoding(attribute) {
        case .text, .integer: true
        default: false
        }
    }

    /// - Returns: `nil` where there are too many runs for it.
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
        // The last row that has the value for sure, and the first one that has another.
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

    /// - Returns: `nil` when enough was looked at.
    private mutating func value(at place: Int) throws -> SlotValue? {
        guard rest > 0 else { return nil }
        rest -= 1
        defer { statement.reset() }
        try statement.bind(keys[place].reference, at: 1)
        guard try statement.step() else { return nil }
        return context.value(of: group.attribute, at: 0, of: statement)
    }
}
