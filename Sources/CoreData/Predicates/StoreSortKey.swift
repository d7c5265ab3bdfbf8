/// One sort descriptor as a value.
struct StoreSortKey: Hashable, Sendable {
    /// The comparison of values; the names follow Apple's comparison selectors.
    enum Comparison: Hashable, Sendable {
        case plain
        case caseInsensitive
        case localized
        case localizedCaseInsensitive
        case localizedStandard
        /// A comparator that only its sort descriptor has. Stores cannot run it.
        case custom
    }

    var keyPath: [String]
    var ascending: Bool
    var comparison: Comparison = .plain
}
