import PredicateSyntax

/// The SQL of one database where databases differ, as far as predicates, sort keys and groups need it.
///
/// If the database differs from memory in a property, the translation leaves the work to memory.
package struct SQLDialect: Sendable {
    /// Quotes a name for a statement.
    package var quoted: @Sendable (String) -> String
    /// The names of the columns in every table of rows: key, entity number, version.
    package var key: String
    package var entity: String
    package var version: String
    /// Conditions that are the same for every row.
    package var always = "1"
    package var never = "0"
    /// `=` and `<>` that treat two NULLs as equal.
    package var isSame = "IS"
    package var isNotSame = "IS NOT"
    /// The value of LIMIT for no limit; `nil` for -1.
    package var noLimit: String?
    /// The keywords after a term of ORDER BY that sort NULL first ascending and last descending.
    package var ascendingSuffix = ""
    package var descendingSuffix = " DESC"
    /// The function that returns the position of one text in another, counted from 1.
    package var positionFunction = "instr"
    /// The function that returns the last characters of a text, given their number; `nil` if there is none.
    package var endFunction: String?
    /// A condition, written after a text, that finds texts which may fold unlike ASCII: those with non-ASCII
    /// characters, except characters without case or normalisation. Requires a `lower()` that changes ASCII only; `nil`
    /// if the database has no such test.
    package var unlikeASCII: String?
    /// The mean of a column of integers, as the nearest real number.
    package var average: @Sendable (String) -> String = { "AVG(\($0))" }
    /// Converts a value to a real number.
    package var asReal: @Sendable (String) -> String = { "CAST(\($0) AS REAL)" }
    /// Converts an integer of at most 32 bits to 64 bits.
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
    /// The maximum number of values that a statement may bind.
    package var argumentLimit = 32_700
    /// The functions that run the evaluators' code, if the database can call them.
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

/// Calls of the SQL functions and collations that run the evaluators' code.
struct SQLTextFunctions: Sendable {
    /// Searches a part in a text: true or false, or NULL if either is NULL.
    var search: @Sendable (SQLTextSearch, SQLFragment, SQLFragment, ComparisonOptions) -> SQLFragment
    /// Returns the folded bytes of a text.
    var fold: @Sendable (SQLFragment, ComparisonOptions) -> SQLFragment
    var call: @Sendable (TextFunction, SQLFragment) -> SQLFragment
    /// Returns the collation for a comparison of texts; `nil` for the order of their bytes.
    var collation: @Sendable (StoreSortKey.Comparison) -> String?
}

/// The searches in texts. The raw values are arguments in statements.
enum SQLTextSearch: Int64 {
    case contains = 0
    case beginsWith = 1
    case endsWith = 2
    case equal = 3
    case like = 4
    case matches = 5
}

extension SQLDialect {
    /// Returns the text functions of the dialect.
    ///
    /// - Throws: ``NeedsMemory`` if the database cannot call the evaluators' functions.
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

    /// Converts a number for a comparison with values of `kind`, for databases that compare only some kinds.
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
