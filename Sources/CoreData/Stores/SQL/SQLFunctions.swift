/// The collations and functions that the translated predicates and sort keys call.
enum SQLFunctions {
    /// The collation for text that gives the order of `comparison`; `nil` for SQLite's own BINARY.
    static func collation(for comparison: StoreSortKey.Comparison) -> String? {
        switch comparison {
        case .plain, .custom: nil
        case .caseInsensitive: "NSCollateCaseInsensitive"
        case .localized: "NSCollateLocaleSensitive"
        case .localizedCaseInsensitive: "NSCollateLocaleSensitiveCaseInsensitive"
        case .localizedStandard: "NSCollateFinderlike"
        }
    }
}
