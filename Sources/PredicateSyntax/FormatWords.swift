/// The reserved words of the grammar, and the functions that have a sign.
enum FormatWords {
    /// The reserved words in upper case. A key with one of these names is written with a leading `#`.
    static let reserved: Set<String> = [
        "AND", "OR", "IN", "NOT", "ALL", "ANY", "SOME", "NONE", "LIKE", "CASEINSENSITIVE", "CI", "MATCHES", "CONTAINS",
        "BEGINSWITH", "ENDSWITH", "BETWEEN", "NULL", "NIL", "SELF", "TRUE", "YES", "FALSE", "NO", "FIRST", "LAST",
        "SIZE",
        "ANYKEY", "SUBQUERY", "FETCH", "CAST", "FUNCTION", "TERNARY", "TRUEPREDICATE", "FALSEPREDICATE", "UNION",
        "INTERSECT", "MINUS", "UTI-CONFORMS-TO", "UTI-EQUALS",
    ]

    /// The length of the longest reserved word.
    static let longest = 16

    /// Reserved words that are accepted as keys where only a key is possible.
    static let usableAsKeys: Set<String> = ["FIRST", "LAST", "SIZE", "CI", "CASEINSENSITIVE"]

    static let comparisons: [String: ComparisonOperator] = [
        "=": .equalTo, "==": .equalTo, "!=": .notEqualTo, "<>": .notEqualTo, "<": .lessThan, "<=": .lessThanOrEqualTo,
        "=<": .lessThanOrEqualTo, ">": .greaterThan, ">=": .greaterThanOrEqualTo, "=>": .greaterThanOrEqualTo,
        "BETWEEN": .between, "IN": .in, "BEGINSWITH": .beginsWith, "CONTAINS": .contains, "ENDSWITH": .endsWith,
        "LIKE": .like, "MATCHES": .matches,
    ]

    /// The binary operators, loosest first; each with its function.
    static let binaryOperators: [[String: String]] = [
        ["|": "bitwiseOr:with:"],
        ["^": "bitwiseXor:with:"],
        ["&": "bitwiseAnd:with:"],
        ["<<": "leftshift:by:", ">>": "rightshift:by:"],
        ["+": "add:to:", "-": "from:subtract:"],
        ["*": "multiply:by:", "/": "divide:by:"],
    ]

    static let power = "raise:toPower:"

    /// The sign of a binary function.
    static let signs: [String: String] = {
        var signs = [power: "**"]
        for level in binaryOperators { for (sign, name) in level { signs[name] = sign } }
        return signs
    }()

    /// Functions of one argument that may be written without the colon.
    static let unaryFunctions: Set<String> = [
        "sum", "count", "min", "max", "average", "median", "mode", "stddev", "sqrt", "log", "ln", "exp", "floor",
        "ceiling",
        "abs", "trunc", "uppercase", "lowercase", "canonical", "onesComplement", "noindex", "length",
    ]

    static let cast = "castObject:toType:"
}
