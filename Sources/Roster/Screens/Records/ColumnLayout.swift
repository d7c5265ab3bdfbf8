/// What the user made of the columns of a list: which are shown, in which order, how wide, and how many stay at the left.
struct ColumnLayout: Codable, Equatable {
    /// The columns that were put in order, from the left; others come behind as they would by themselves.
    var order: [String] = []
    var hidden: Set<String> = []
    /// Columns that are not shown by themselves and were asked for.
    var added: Set<String> = []
    var widths: [String: Int] = [:]
    /// So many columns at the left are shown whatever else has no room.
    var frozen = 0

    static let leastWidth = 3
    static let greatestWidth = 120

    var isDefault: Bool { self == ColumnLayout() }

    mutating func show(_ key: String, isDefault: Bool) {
        hidden.remove(key)
        if !isDefault { added.insert(key) }
    }

    mutating func hide(_ key: String) {
        hidden.insert(key)
        added.remove(key)
    }

    /// Moves a column by `step` places among the columns that are shown.
    mutating func move(_ key: String, by step: Int, among shown: [String]) {
        guard let place = shown.firstIndex(of: key) else { return }
        let target = max(0, min(shown.count - 1, place + step))
        guard target != place else { return }
        var keys = shown
        keys.remove(at: place)
        keys.insert(key, at: target)
        // What is hidden keeps a place, for when it comes back.
        order = keys + order.filter { !keys.contains($0) }
    }

    /// Makes a column wider or narrower.
    mutating func widen(_ key: String, by step: Int, from width: Int) {
        widths[key] = max(Self.leastWidth, min(Self.greatestWidth, (widths[key] ?? width) + step))
    }

    /// The columns in the user's order, without those that are hidden.
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
