/// The user's column layout of a list: visible columns, order, widths and frozen columns.
struct ColumnLayout: Codable, Equatable {
    /// The columns that the user ordered, from left to right. Others follow in their default order.
    var order: [String] = []
    var hidden: Set<String> = []
    /// Columns that are hidden by default and shown by the user.
    var added: Set<String> = []
    var widths: [String: Int] = [:]
    /// Expressions that the user added as columns, with titles. Older state files have none.
    var computed: [String]?
    /// Number of columns at the left that do not scroll sideways; `nil` for the first one, which names the record.
    /// Files of older versions have a number for another key, which was 0 if the user had not changed it.
    var frozenCount: Int?

    static let leastWidth = 3
    static let greatestWidth = 120

    var isDefault: Bool { self == ColumnLayout() }

    var frozen: Int { frozenCount ?? 1 }

    mutating func show(_ key: String, isDefault: Bool) {
        hidden.remove(key)
        if !isDefault { added.insert(key) }
    }

    mutating func hide(_ key: String) {
        hidden.insert(key)
        added.remove(key)
    }

    /// Moves a column by `step` positions among the visible columns.
    mutating func move(_ key: String, by step: Int, among shown: [String]) {
        guard let place = shown.firstIndex(of: key) else { return }
        let target = max(0, min(shown.count - 1, place + step))
        guard target != place else { return }
        var keys = shown
        keys.remove(at: place)
        keys.insert(key, at: target)
        // Hidden columns stay in `order`, after the visible ones.
        order = keys + order.filter { !keys.contains($0) }
    }

    mutating func widen(_ key: String, by step: Int, from width: Int) {
        widths[key] = max(Self.leastWidth, min(Self.greatestWidth, (widths[key] ?? width) + step))
    }

    /// The visible columns in the user's order.
    func arranged(_ columns: [PropertyColumn]) -> [PropertyColumn] {
        let shown = columns.filter { !hidden.contains($0.key) }
        guard !order.isEmpty else { return shown }
        let places = Dictionary(order.enumerated().map { ($1, $0) }) { first, _ in first }
        return shown.enumerated().sorted { left, right in
            let places = (places[left.element.key] ?? Int.max, places[right.element.key] ?? Int.max)
            return (places.0, left.offset) < (places.1, right.offset)
        }.map(\.element)
    }
}
