import SQLiteAccess

/// A piece of SQL and the values of its `?`s, joined as values until the statement is prepared.
struct SQLFragment: Equatable {
    var text: String
    var arguments: [SQLiteValue]

    init(_ text: String, _ arguments: [SQLiteValue] = []) {
        self.text = text
        self.arguments = arguments
    }

    static func + (left: SQLFragment, right: SQLFragment) -> SQLFragment {
        SQLFragment(left.text + right.text, left.arguments + right.arguments)
    }
}
