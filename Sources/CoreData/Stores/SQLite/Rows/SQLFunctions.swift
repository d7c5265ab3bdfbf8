import Foundation
import PredicateSyntax
import SQLiteAccess

/// The collations and functions that translated predicates and sort keys call. They run the evaluators' own code, so
/// that SQL and memory give the same results.
enum SQLFunctions {
    private static let searchName = "NSCoreDataStringSearch"
    private static let foldName = "NSCoreDataStringFold"
    private static let textName = "NSCoreDataStringFunction"

    /// Registers all functions. Required on every connection that runs statements of ``SelectBuilder``.
    ///
    /// - Throws: `SQLiteError` if SQLite refuses.
    static func register(on connection: Connection) throws {
        let collations: [StoreSortKey.Comparison] = [
            .caseInsensitive, .localized, .localizedCaseInsensitive, .localizedStandard,
        ]
        for comparison in collations {
            guard let name = collation(comparison) else { continue }
            if comparison == .caseInsensitive {
                try connection.addRawCollation(named: name) { TextFolding.compareCaseInsensitive($0, $1) }
            } else {
                try connection.addCollation(named: name) { LocalizedOrder.compare($0, $1, comparison) }
            }
        }
        // The next two functions are for statements of this framework. Schemas, also those of other programs, must not
        // call them.
        try connection.addRawFunction(named: searchName, argumentCount: 4, isForStatementsOnly: true) { try search($0) }
        try connection.addRawFunction(named: foldName, argumentCount: 2, isForStatementsOnly: true) { arguments in
            if arguments[0].isNull { return .null }
            let options = options(arguments[1])
            return .blob(Data(arguments[0].withUTF8 { TextFolding.bytes(of: $0, options) }))
        }
        try connection.addRawFunction(named: textName, argumentCount: 2) { arguments in
            guard !arguments[0].isNull, let function = TextFunction(rawValue: arguments[1].integer) else {
                return .null
            }
            switch function.apply(to: arguments[0].text) {
            case .text(let text): return .text(text)
            case .integer(let number): return .integer(number)
            default: return .null
            }
        }
    }

    /// Returns the options in an argument, which may be any number.
    private static func options(_ argument: FunctionArgument) -> ComparisonOptions {
        ComparisonOptions(rawValue: UInt(truncatingIfNeeded: argument.integer))
            .intersection([.caseInsensitive, .diacriticInsensitive, .normalized, .localeSensitive])
    }

    // MARK: Calls

    /// Returns the collation of texts for `comparison`; `nil` for SQLite's BINARY.
    @Sendable static func collation(_ comparison: StoreSortKey.Comparison) -> String? {
        switch comparison {
        case .plain, .custom: nil
        case .caseInsensitive: "NSCollateCaseInsensitive"
        case .localized: "NSCollateLocaleSensitive"
        case .localizedCaseInsensitive: "NSCollateLocaleSensitiveCaseInsensitive"
        case .localizedStandard: "NSCollateFinderlike"
        }
    }

    /// Searches `part` in `text`: 1 or 0, or NULL if either is NULL.
    @Sendable static func search(
        _ search: SQLTextSearch, _ text: SQLFragment, _ part: SQLFragment, _ options: ComparisonOptions
    ) -> SQLFragment {
        "\(searchName)(" + text + ", " + part + ", \(search.rawValue), \(options.rawValue))"
    }

    /// Returns the folded bytes of a text as a blob.
    @Sendable static func fold(_ text: SQLFragment, _ options: ComparisonOptions) -> SQLFragment {
        "\(foldName)(" + text + ", \(options.rawValue))"
    }

    @Sendable static func call(_ function: TextFunction, _ text: SQLFragment) -> SQLFragment {
        "\(textName)(" + text + ", \(function.rawValue))"
    }

    // MARK: The search

    /// A compiled pattern, kept for a whole statement.
    private final class Prepared {
        let matches: (FunctionArgument) -> Bool

        init(_ pattern: String, _ search: SQLTextSearch, _ options: ComparisonOptions) {
            switch search {
            case .contains, .beginsWith, .endsWith:
                let kind = TextRelation.Kind(rawValue: search.rawValue) ?? .contains
                let search = TextSearch(pattern, kind, options)
                matches = { $0.withUTF8 { search.finds(in: $0) } }
            case .equal:
                let folded = TextFolding.bytes(of: pattern, options)
                matches = { $0.withUTF8 { TextFolding.bytes(of: $0, options) == folded } }
            case .like:
                let pattern = LikePattern(pattern, options)
                matches = { $0.withUTF8 { pattern.matches($0) } }
            case .matches:
                // Malformed constants were refused before. A malformed pattern in a row matches nothing, as in memory.
                let pattern = try? TextPattern(pattern, options)
                matches = { pattern?.matches($0.text) ?? false }
            }
        }
    }

    private static func search(_ arguments: FunctionArguments) throws -> SQLiteValue {
        if arguments[0].isNull || arguments[1].isNull { return .null }
        let prepared = arguments.prepared(from: 1) { pattern in
            Prepared(
                pattern.text, SQLTextSearch(rawValue: arguments[2].integer) ?? .contains, options(arguments[3]))
        }
        return .integer(prepared.matches(arguments[0]) ? 1 : 0)
    }
}
