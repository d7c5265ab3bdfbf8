import PredicateSyntax
import SQLiteAccess

/// The CREATE INDEX statements of an entity's fetch indexes and uniqueness constraints.
///
/// An expression that needs the framework's own functions is not indexed: other programs could no longer write the
/// table, and a fetch index only affects speed. For R-trees see ``SpatialIndexText``.
struct FetchIndexText {
    let entity: NSEntityDescription
    let layout: TableLayout

    private var table: String { SQLName.quoted(layout.table(of: entity)) }
    private var entityName: String { entity.name ?? "" }

    func statements() -> [String] { namedStatements().map(\.text) }

    func namedStatements() -> [(name: String, text: String)] {
        var names: Set<String> = []
        let fetchIndexes = entity.indexes.compactMap(statement)
        return (markedAttributes() + fetchIndexes + compoundIndexes() + uniqueIndexes()).filter {
            names.insert($0.name).inserted
        }
    }

    private typealias NamedStatement = (name: String, text: String)

    /// Creates indexes of attributes that old models or SwiftData mark as indexed, unless a fetch index covers them.
    private func markedAttributes() -> [NamedStatement] {
        let covered = Set(entity.indexes.filter { $0.elements.count == 1 }.compactMap { $0.elements[0].property?.name })
        return entity.ownProperties.sorted { $0.name < $1.name }.compactMap { property in
            guard property is NSAttributeDescription, property.isMarkedIndexed, !property.isTransient,
                !covered.contains(property.name), let column = layout.column(of: property, in: entity)
            else { return nil }
            let name = "Z_\(entityName)_\(property.name)"
            return (
                name,
                "CREATE INDEX \(SQLName.quoted(name)) ON \(table) (\(term(SQLName.quoted(column), isAscending: true)))"
            )
        }
    }

    private func statement(for index: NSFetchIndexDescription) -> NamedStatement? {
        let elements = index.elements
        guard !elements.isEmpty, elements.allSatisfy({ $0.collationType == .binary }) else { return nil }
        // Every to-one relationship already has an index.
        if elements.count == 1, elements[0].property is NSRelationshipDescription { return nil }
        var terms: [String] = []
        for element in elements {
            guard let indexed = indexed(element) else { return nil }
            terms.append(term(indexed, isAscending: element.isAscending))
        }
        let name = "Z_\(entityName)_\(index.name)"
        let text = "CREATE INDEX \(SQLName.quoted(name)) ON \(table) (\(terms.joined(separator: ", ")))"
        return (name, text + condition(of: index))
    }

    /// Returns the quoted column or the expression.
    private func indexed(_ element: NSFetchIndexElementDescription) -> String? {
        guard let property = element.property else { return nil }
        if let description = property as? NSExpressionDescription {
            switch property.name {
            case "self": return "Z_PK"
            case "entity": return "Z_ENT"
            default: return description.expression.flatMap(text)
            }
        }
        let own = entity.propertiesByName[property.name] ?? property
        return layout.column(of: own, in: entity).map(SQLName.quoted)
    }

    private func text(of expression: NSExpression) -> String? {
        var translator = PredicateToSQL(joins: SQLJoins(entity: entity, schema: layout))
        guard case .expression(let value)? = try? translator.operand(expression.tree),
            let text = plainText(value.fragment, translator)
        else { return nil }
        return value.fragment.arguments.isEmpty && !text.contains(" ") && !text.contains("(") ? text : "(\(text))"
    }

    /// Returns the SQL of a translation that reads only the row, without the table's alias.
    private func plainText(_ fragment: SQLFragment, _ translator: PredicateToSQL) -> String? {
        guard let text = fragment.textWithLiterals, let joins = translator.scopes.first,
            !joins.from.text.contains(" JOIN "), !text.contains("SELECT"), !text.contains("NSCoreData")
        else { return nil }
        return text.split(separator: joins.alias + ".", omittingEmptySubsequences: false).joined()
    }

    /// Returns ` WHERE …` of a partial index. If the predicate has no SQL, the index covers all rows.
    private func condition(of index: NSFetchIndexDescription) -> String {
        guard let predicate = index.partialIndexPredicate else { return "" }
        var translator = PredicateToSQL(joins: SQLJoins(entity: entity, schema: layout))
        guard let resolved = try? PredicateResolver(entity: entity).resolve(predicate.syntaxTree),
            case .exact(let fragment)? = try? translator.translate(resolved),
            let text = plainText(fragment, translator)
        else { return "" }
        return " WHERE " + text
    }

    /// Returns the compound indexes of old models, under their original names.
    private func compoundIndexes() -> [NamedStatement] {
        entity.compoundIndexNames.compactMap { names in
            let columns = names.compactMap { name in
                entity.propertiesByName[name].flatMap { layout.column(of: $0, in: entity) }
            }
            guard columns.count > 1, columns.count == names.count else { return nil }
            let name = ([layout.table(of: entity)] + columns).joined(separator: "_")
            let terms = columns.map { term(SQLName.quoted($0), isAscending: true) }.joined(separator: ", ")
            return (name, "CREATE INDEX \(SQLName.quoted(name)) ON \(table) (\(terms))")
        }
    }

    private func uniqueIndexes() -> [NamedStatement] {
        entity.uniquenessConstraintNames.compactMap { names in
            let columns = names.compactMap { name in
                entity.propertiesByName[name].flatMap { layout.column(of: $0, in: entity) }
            }
            guard !names.isEmpty, columns.count == names.count else { return nil }
            let name = "Z_\(entityName)_UNIQUE_\(names.joined(separator: "_"))"
            let terms = columns.map { term(SQLName.quoted($0), isAscending: true) }.joined(separator: ", ")
            return (name, "CREATE UNIQUE INDEX \(SQLName.quoted(name)) ON \(table) (\(terms))")
        }
    }

    private func term(_ column: String, isAscending: Bool) -> String {
        "\(column) COLLATE BINARY \(isAscending ? "ASC" : "DESC")"
    }
}

extension SQLFragment {
    /// The text with the arguments as literals; `nil` if one has no literal, or a `?` may be part of a text.
    fileprivate var textWithLiterals: String? {
        let parts = text.split(separator: "?", omittingEmptySubsequences: false)
        guard parts.count == arguments.count + 1 else { return nil }
        var result = String(parts[0])
        for (argument, part) in zip(arguments, parts.dropFirst()) {
            switch argument {
            case .null: result += "NULL"
            case .integer(let number): result += "\(number)"
            case .real(let number) where number.isFinite: result += "\(number)"
            case .text(let text):
                result += SQLText.literal(text)
            case .real, .blob, .uuid, .decimal, .list: return nil
            }
            result += part
        }
        return result
    }
}
