import Foundation
import PredicateSyntax
import SQLiteAccess

/// An UPDATE of all rows of a selection.
struct SetUpdate {
    private enum Term {
        case constant(RowStatements.Column, SlotValue)
        case expression(SQLFragment)
    }

    /// The cast keeps the version an integer on overflow.
    private static let nextVersion = "CAST(IFNULL(Z_OPT, 0) + 1 AS INTEGER)"

    private let rows: RowSelection
    private let text: String
    private let terms: [Term]
    private let binding: ValueBinding
    /// The changed columns for the history.
    let columns: SQLFragment

    /// `nil` if a value has no exact SQL, or does not fill exactly one plain column.
    init?(
        _ rows: RowSelection, _ values: [BatchSetValue], of entity: NSEntityDescription, _ session: SQLiteSession,
        _ files: ExternalDataChanges
    ) throws {
        self.rows = rows
        binding = ValueBinding(layout: session.layout, externalData: files)
        let known = session.statements[entity].columns
        var terms: [Term] = []
        var sets: [String] = []
        for value in values {
            guard let column = known.first(where: { $0.property.name == value.property.name }), column.isOneColumn
            else {
                return nil
            }
            let name = SQLName.quoted(column.name)
            switch value.value {
            case .constant(let constant):
                terms.append(.constant(column, constant))
                sets.append("\(name) = ?")
            case .expression(let tree):
                guard let fragment = try Self.fragment(tree, for: column.property, of: entity, session) else {
                    return nil
                }
                terms.append(.expression(fragment))
                sets.append("\(name) = \(fragment.text)")
            }
        }
        self.terms = terms
        text =
            "UPDATE \(rows.table) SET \(sets.joined(separator: ", ")), Z_OPT = \(Self.nextVersion)" + rows.clause.text
        let names = values.map(\.property.name)
        columns = Self.historyColumns(names, rows.entities, session)
    }

    /// Updates the selected rows.
    ///
    /// - Returns: the number of rows.
    func run(_ connection: Connection) throws -> Int {
        try connection.withStatement(text) { statement in
            var place = 1
            for term in terms {
                switch term {
                case .constant(let column, let value):
                    try binding.bind(value, column.coding, attribute: column.property, to: statement, at: place)
                    place += 1
                case .expression(let fragment):
                    for argument in fragment.bound {
                        try statement.bind(argument, at: place)
                        place += 1
                    }
                }
            }
            for argument in rows.clause.bound {
                try statement.bind(argument, at: place)
                place += 1
            }
            try statement.run()
        }
        return connection.changes
    }

    /// Returns the bitmap of the changed columns, which is different for each entity of a hierarchy.
    private static func historyColumns(
        _ names: [String], _ entities: [NSEntityDescription], _ session: SQLiteSession
    ) -> SQLFragment {
        let bitmaps = entities.map { entity in
            let properties = names.compactMap { entity.propertiesByName[$0] }
            return (session.layout.number(of: entity), session.historyColumns[entity].bitmap(of: properties))
        }
        guard bitmaps.count > 1 else { return .argument(.blob(bitmaps.first?.1 ?? Data())) }
        let cases = bitmaps.map { SQLFragment("WHEN \($0) THEN ?", [.blob($1)]) }
        return "CASE t0.Z_ENT " + cases.joined(separator: " ") + " END"
    }

    // MARK: Expressions

    /// Returns SQL for the new value, if it certainly gives the same value as in memory; otherwise `nil`.
    private static func fragment(
        _ tree: ExpressionTree, for property: NSPropertyDescription, of entity: NSEntityDescription,
        _ session: SQLiteSession
    ) throws -> SQLFragment? {
        guard let attribute = property as? NSAttributeDescription else { return nil }
        let tree = try PredicateResolver(entity: entity).resolve(tree)
        var translator = PredicateToSQL(
            joins: SQLJoins(entity: entity, schema: session.layout),
            storeIdentifier: session.context.storeIdentifier)
        let operand: SQLOperand
        do { operand = try translator.operand(tree) } catch is NeedsMemory { return nil }
        guard case .expression(let expression) = operand, translator.scopes[0].isAlone else { return nil }
        switch (attribute.attributeType, expression.kind) {
        case (.integer16AttributeType, .integer), (.integer32AttributeType, .integer),
            (.integer64AttributeType, .integer):
            return bits(tree, of: entity) == nil ? nil : expression.fragment
        case (.doubleAttributeType, .real), (.stringAttributeType, .text): return expression.fragment
        case (.dateAttributeType, .date):
            if case .keyPath = tree { return expression.fragment }
            return nil
        default: return nil
        }
    }

    /// Returns the number of bits, without the sign, of an integer expression's greatest value; `nil` if it may exceed
    /// 64 bits and so become a real.
    private static func bits(_ tree: ExpressionTree, of entity: NSEntityDescription) -> Int? {
        switch tree {
        case .constant(let value):
            guard let number = NumberCoercion.integer(value ?? 0) else { return nil }
            return Int64.bitWidth - number.magnitude.leadingZeroBitCount
        case .keyPath(let keys) where keys.count == 1:
            switch entity.attributesByName[keys[0]]?.attributeType {
            case .booleanAttributeType: return 1
            case .integer16AttributeType, .integer32AttributeType: return 32
            case .integer64AttributeType: return 64
            default: return nil
            }
        case .function(let name, let arguments):
            let all = arguments.compactMap { bits($0, of: entity) }
            guard all.count == arguments.count, let most = all.max() else { return nil }
            let result: Int
            switch name {
            case "add:to:", "from:subtract:": result = most + 1
            case "multiply:by:": result = all.reduce(0, +)
            case "abs:", "modulus:by:": result = most
            default: return nil
            }
            return result < 63 ? result : nil
        default: return nil
        }
    }
}

extension RowStatements.Column {
    /// True if a value fills one column and does not depend on the row.
    fileprivate var isOneColumn: Bool {
        switch coding {
        case .composite, .externalData, .transformable: false
        default: entityName == nil && positionName == nil
        }
    }
}
