import Foundation
import ModelFiles
import SQLiteAccess

extension SQLDialect {
    /// SQLite, with the functions and collations of ``SQLFunctions``.
    static let sqlite: SQLDialect = {
        var dialect = SQLDialect(key: "Z_PK", entity: "Z_ENT", version: "Z_OPT", quoted: SQLName.quoted)
        dialect.textFunctions = SQLTextFunctions(
            search: SQLFunctions.search, fold: SQLFunctions.fold, call: SQLFunctions.call,
            collation: SQLFunctions.collation)
        return dialect
    }()
}

extension SQLiteValue {
    init(_ value: SQLValue) {
        switch value {
        case .null: self = .null
        case .integer(let number): self = .integer(number)
        case .real(let number): self = .real(number)
        case .text(let text): self = .text(text)
        case .blob(let data): self = .blob(data)
        case .uuid(let uuid): self = .blob(uuid.bytes)
        case .decimal, .list: preconditionFailure("The dialect of SQLite has neither decimals nor lists.")
        }
    }
}

extension SQLValue {
    init(_ value: SQLiteValue) {
        switch value {
        case .null: self = .null
        case .integer(let number): self = .integer(number)
        case .real(let number): self = .real(number)
        case .text(let text): self = .text(text)
        case .blob(let data): self = .blob(data)
        }
    }
}

extension SQLFragment {
    /// The arguments as SQLite's values.
    var bound: [SQLiteValue] { arguments.map(SQLiteValue.init) }
}

extension SortColumn {
    init(_ column: SQLSortColumn) { self.init(index: column.index, isAscending: column.isAscending) }
}
