/// The source of a column of the new version for the rows of one entity, in terms of the old row. Names are unquoted.
enum ColumnOrigin: Equatable {
    /// The contents of a column of the old table.
    case column(String)
    /// The contents of a column of the old table, or a literal for NULL.
    case filled(String, with: String)
    /// One literal in all rows.
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

    /// The column of the old table that the values are from.
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
