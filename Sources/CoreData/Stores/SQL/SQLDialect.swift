import PredicateSyntax

/// What the SQL of one database is like where databases differ: all that the translation of predicates, sort keys and groups
/// needs to know of one.
///
/// Where a property says that the database does something otherwise than memory, the translation leaves it to memory.
package struct SQLDialect: Sendable {
    /// A name, as written in a statement.
    package var quoted: @Sendable (String) -> String
    /// The names of the columns that every table of rows has: the key, the number of the entity, the version.
    package var key: String
    package var entity: String
    package var version: String
    /// Conditions that are the same for every row.
    package var always = "1"
    package var never = "0"
    /// `=` and `<>` that take two NULLs for the same.
    package var isSame = "IS"
    package var isNotSame = "IS NOT"
    /// The limit that is none; `nil` for the number -1.
    package var noLimit: String?
    /// The keywords behind a term of ORDER BY, so that NULL comes first ascending and last descending.
    package var ascendingSuffix = ""
    package var descendingSuffix = " DESC"
    /// The function that tells the place of one text in another, from 1 on.
    package var positionFunction = "instr"
    /// The text that ends a text after so many characters, by a function of both; `nil` where there is none.
    package var endFunction: String?
    /// What behind a text holds for all that have a character other than ASCII and those that neither case nor normalisation
    /// concerns, where `lower()` changes ASCII alone; `nil` where the database has no such test.
    package var unlikeASCII: String?
    /// The mean of the whole numbers of a column, as the real number that is nearest to it.
    package var average: @Sendable (String) -> String = { "AVG(\($0))" }
    /// A value as a real number.
    package var asReal: @Sendable (String) -> String = { "CAST(\($0) AS REAL)" }
    /// A whole number of at most 32 bits as one of 64.
    package var asWide: @Sendable (String) -> String = { $0 }
    /// True if numbers of different kinds compare by value and arithmetic never fails: on overflow it becomes real.
    package var hasFreeNumbers = true
    /// True if decimals keep all of their digits.
    package var keepsDecimals = false
    /// True if MIN and MAX accept UUIDs.
    package var hasLeastUUIDs = true
    /// True if a list is bound as one value.
    package var bindsLists = false
    /// True if a grouped SELECT may only select aggregates and what it groups by.
    package var groupsStrictly = false
    /// True if texts may contain a zero character.
    package var keepsZeroCharacters = true
    /// The number of values that a statement may bind.
    package var argumentLimit = 32_700
    /// The evaluators' own functions, where the database calls them.
    var textFunctions: SQLTextFunctions?

    package init(
        key: String, entity: String, version: String, quoted: @escaping @Sendable (String) -> String
    ) {
        self.key = key
        self.entity = entity
        self.version = version
        self.quoted = quoted
    }
}

/// The calls of functions and collations that run the evaluators' own code.
struct SQLTextFunctions: Sendable {
    /// A search of a part in a text: true or false, NULL where one of them is.
    var search: @Sendable (SQLTextSearch, SQLFragment, SQLFragment, ComparisonOptions) -> SQLFragment
    /// The folded bytes of a text.
    var fold: @Sendable (SQLFragment, ComparisonOptions) -> SQLFragment
    var call: @Sendable (TextFunction, SQLFragment) -> SQLFragment
    /// The collation for text that gives the order of a comparison; `nil` for the order of its bytes.
    var collation: @Sendable (StoreSortKey.Comparison) -> String?
}

/// The searches in texts, by the number under which a statement calls them.
enum SQLTextSearch: Int64 {
    case contains = 0
    case beginsWith = 1
    case endsWith = 2
    case equal = 3
    case like = 4
    case matches = 5
}

extension SQLDialect {
    /// - Throws: ``NeedsMemory`` where the database does not call the evaluators' functions.
    func functions(for what: String) throws -> SQLTextFunctions {
        guard let textFunctions else {
            throw NeedsMemory("\(what) is done by functions that the database does not have")
        }
        return textFunctions
    }

    /// True if values of two kinds of numbers compare in the database as in memory.
    func compares(_ left: SQLExpression.Kind, with right: SQLExpression.Kind) -> Bool {
        guard !hasFreeNumbers else { return true }
        switch (left, right) {
        case (.integer, .integer), (.decimal, .decimal), (.integer, .decimal), (.decimal, .integer): return true
        case (.real, .real), (.date, .date), (.real, .date), (.date, .real): return true
        case (.integer(let isNarrow), .real), (.integer(let isNarrow), .date): return isNarrow
        case (.real, .integer(let isNarrow)), (.date, .integer(let isNarrow)): return isNarrow
        default: return !left.isNumber && !right.isNumber
        }
    }

    /// A number as it is compared with values of `kind`, where not every number is.
    func comparable(_ value: SQLValue, with kind: SQLExpression.Kind) throws -> SQLValue {
        guard !hasFreeNumbers else { return value }
        switch (value, kind) {
        case (.integer(let number), .real), (.integer(let number), .date):
            guard let real = Double(exactly: number) else { break }
            return .real(real)
        case (.real(let number), .integer), (.real(let number), .decimal):
            guard let whole = Int64(exactly: number) else { break }
            return .integer(whole)
        case (.text(let text), _) where !keepsZeroCharacters && text.utf8.contains(0): break
        default: return value
        }
        throw NeedsMemory("a value of another kind is compared in memory")
    }
}
