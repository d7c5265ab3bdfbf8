/// What a column of the new version holds in the rows of one entity, in terms of a row of the old one. Names are unquoted.
enum ColumnOrigin: Equatable {
    /// The contents of a column of the old table.
    case column(String)
    /// The same, and a literal where it holds nothing.
    case filled(String, with: String)
    /// The same literal in all rows.
    case constant(String)
    case computed(String)

    static let nothing = ColumnOrigin.constant("NULL")

    var text: String {
        switch self {
        case .column(let name): SQLName.quoted(name)
        case .filled(let name, let literal): "IFNULL(\(SQLName.quoted(name)), \(literal))"
        case .constant(let text), .computed(let text): text
        }
    }

    /// The column of the old table whose values it has.
    var sourceColumn: String? {
        switch self {
        case .column(let name), .filled(let name, _): name
        case .constant, .computed: nil
        }
    }

    var isComputed: Bool { if case .computed = self { true } else { false } }

    func orElse(_ literal: String) -> ColumnOrigin {
        switch self {
        case .column(let name): .filled(name, with: literal)
        case .computed(let text): .computed("IFNULL(\(text), \(literal))")
        case .filled, .constant: self
        }
    }
}
