import CoreData
import Foundation

/// The statements that create the tables of a new store. All names are quoted.
struct ServerSchemaText {
    let layout: ServerLayout
    /// The number of partitions of each table, by the hash of its key. A table with unique values is not divided,
    /// because the server keeps values unique only within a partition.
    var partitions = 1

    private func name(_ name: String) -> String { layout.dialect.quoted(name) }
    private func literal(_ text: String) -> String { SQLText.literal(text) }

    /// All statements of a new store.
    func statements() -> [String] {
        storeTables() + storeComments() + signing() + rowTables() + rules()
            + ServerDerivedText(layout: layout).statements() + ServerViews(layout: layout).statements()
    }

    /// The function that signs the transactions of the history, unquoted.
    static let signature = "_sign"

    /// Returns statements that make the server record the author of each transaction, whatever the writer sends. Also
    /// for a store that was created without these columns.
    func signing() -> [String] {
        let (table, function) = (layout.tableText(ServerStoreTables.transactions), layout.tableText(Self.signature))
        let body =
            "BEGIN NEW.role := session_user; NEW.host := coalesce(host(inet_client_addr()), '[local]'); RETURN NEW; END"
        return [
            "ALTER TABLE \(table) ADD COLUMN IF NOT EXISTS role text, ADD COLUMN IF NOT EXISTS host text",
            "CREATE OR REPLACE FUNCTION \(function)() RETURNS trigger LANGUAGE plpgsql "
                + "SET search_path = pg_catalog, pg_temp AS \(literal(body))",
            "COMMENT ON FUNCTION \(function)() IS \(literal("signs the transactions of a Core Data store"))",
            "CREATE OR REPLACE TRIGGER \(name(Self.signature)) BEFORE INSERT ON \(table) FOR EACH ROW "
                + "EXECUTE FUNCTION \(function)()",
        ]
    }

    /// Creates the tables of rows and pairs, without constraints.
    func rowTables() -> [String] { layout.tables.flatMap(statements) + layout.joinTables.flatMap(statements) }

    /// Adds constraints, indexes and references to filled tables.
    func rules() -> [String] {
        uniqueConstraints().map(\.text) + layout.tables.flatMap(indexes) + references()
    }

    func references() -> [String] { layout.tables.flatMap(references) + layout.joinTables.flatMap(references) }

    private func storeTables() -> [String] {
        let table = { layout.tableText($0) }
        return [
            "CREATE TABLE \(table(ServerStoreTables.store)) (one boolean PRIMARY KEY DEFAULT true CHECK (one), "
                + "format integer NOT NULL, uuid text NOT NULL, metadata text NOT NULL, model bytea NOT NULL, "
                + "changes bigint NOT NULL DEFAULT 0, removed bigint NOT NULL DEFAULT 0, "
                + "model_number bigint NOT NULL DEFAULT 1)",
            "COMMENT ON TABLE \(table(ServerStoreTables.store)) IS "
                + literal(
                    "A Core Data store. changes: number of its last transaction; removed: number of the last transaction "
                        + "deleted from the history; model_number: increases with each migration."),
            "CREATE TABLE \(table(ServerStoreTables.entities)) (number integer PRIMARY KEY, name text NOT NULL UNIQUE, "
                + "parent integer, hash bytea)",
            "CREATE TABLE \(table(ServerStoreTables.transactions)) (number bigint PRIMARY KEY, "
                + "at double precision NOT NULL, author text, context text, bundle text, process text, "
                + "token uuid NOT NULL, role text, host text)",
            "CREATE UNIQUE INDEX ON \(table(ServerStoreTables.transactions)) (token)",
            "CREATE INDEX ON \(table(ServerStoreTables.transactions)) (at)",
            "CREATE TABLE \(table(ServerStoreTables.changes)) (transaction bigint NOT NULL, place integer NOT NULL, "
                + "kind smallint NOT NULL, entity integer NOT NULL, key bigint NOT NULL, properties text, "
                + "tombstone text, PRIMARY KEY (transaction, place))",
        ]
    }

    func storeComments() -> [String] {
        ServerStoreTables.comments.flatMap { columnComments(layout.tableText($0), $1) }
    }

    private func columnComments(_ table: String, _ columns: [(name: String, text: String)]) -> [String] {
        columns.map { "COMMENT ON COLUMN \(table).\(name($0)) IS \(literal($1))" }
    }

    // MARK: Tables of rows

    func statements(_ table: ServerTable) -> [String] {
        let text = layout.tableText(table.name)
        var columns = [
            "\(name(ServerStoreTables.key)) bigint PRIMARY KEY", "\(name(ServerStoreTables.entity)) integer NOT NULL",
            "\(name(ServerStoreTables.version)) bigint NOT NULL",
        ]
        columns += table.columns.map(definition)
        let parts = partitions(of: table)
        let division = parts.isEmpty ? "" : " PARTITION BY HASH (\(name(ServerStoreTables.key)))"
        return [
            "CREATE TABLE \(text) (\(columns.joined(separator: ", ")))\(division)"
        ] + parts + [
            "CREATE SEQUENCE \(layout.tableText(table.sequence)) INCREMENT BY \(ServerStoreTables.keysAtOnce) "
                + "OWNED BY \(text).\(name(ServerStoreTables.key))"
        ] + comments(table)
    }

    private func partitions(of table: ServerTable) -> [String] {
        guard partitions > 1, !layout.constraints.values.contains(where: { layout.table(of: $0.entity) == table.name })
        else { return [] }
        var taken = Set(layout.tables.flatMap { [$0.name, $0.sequence] } + layout.joinTables.map(\.name))
        taken.formUnion(layout.constraints.keys)
        return (0..<partitions).map { part in
            let partition = ServerNames.claim("\(table.name)_part\(part)", &taken)
            return "CREATE TABLE \(layout.tableText(partition)) PARTITION OF \(layout.tableText(table.name)) "
                + "FOR VALUES WITH (MODULUS \(partitions), REMAINDER \(part))"
        }
    }

    /// Returns a column definition.
    func definition(_ column: ServerColumn) -> String {
        "\(name(column.name)) \(typeText(column.type))\(isAmount(column) ? " DEFAULT 0" : "")"
    }

    /// True if a column has a count or sum, which is 0 in a new row.
    private func isAmount(_ column: ServerColumn) -> Bool {
        guard case .attribute(let attribute) = column.content, column.type != .boolean else { return false }
        switch layout.derivations[attribute]?.source {
        case .count, .sum: return true
        case .value, .text, .now, nil: return false
        }
    }

    func comments(_ table: ServerTable) -> [String] {
        let text = layout.tableText(table.name)
        var statements = ["COMMENT ON TABLE \(text) IS \(literal(comment(table)))"]
        statements += columnComments(text, ServerStoreTables.rowComments)
        return statements + columnComments(text, table.columns.map { ($0.name, comment($0)) })
    }

    private func typeText(_ type: ServerType) -> String {
        // Texts are ordered by their bytes, as in memory.
        type == .text ? "text COLLATE \"C\"" : type.rawValue
    }

    private func comment(_ table: ServerTable) -> String {
        let members = table.entities.map { "\($0.name ?? "") (\(layout.number(of: $0)))" }
        let notes = table.entities.flatMap { entity in
            Self.notes(entity.renamingIdentifier, entity.name, entity.userInfo).map { "\(entity.name ?? ""): \($0)" }
        }
        return (["Rows of the entities " + members.joined(separator: ", ")] + notes).joined(separator: "; ")
    }

    /// Returns the text of a column's SQL comment: the property with its type in the model, the encoding of its values,
    /// and the model's notes on it.
    private func comment(_ column: ServerColumn) -> String {
        let owner = column.entity.name ?? ""
        switch column.content {
        case .attribute(let attribute):
            return describe("\(owner).\(attribute.name)", attribute, noted: attribute)
        case .text(let text, let functions):
            return "\(owner).\(text.name) in \(functions.name), for derived attributes"
        case .element(let composite, let leaf):
            let path = ([owner, composite.name] + leaf.path).joined(separator: ".")
            return describe(path, leaf.attribute, noted: composite)
        case .toOne(let toOne):
            let parts = ["\(owner).\(toOne.name): the key of a row of \(toOne.destinationEntity?.name ?? "")"]
            return (parts + Self.notes(of: toOne)).joined(separator: "; ")
        case .destinationEntity(let toOne): return "\(owner).\(toOne.name): the number of the row's entity"
        case .position(let toOne):
            let list = "\(toOne.destinationEntity?.name ?? "").\(toOne.inverseRelationship?.name ?? "")"
            return "\(owner).\(toOne.name): the position in \(list)"
        }
    }

    private func describe(
        _ path: String, _ attribute: NSAttributeDescription, noted: NSPropertyDescription
    ) -> String {
        var parts = ["\(path): \(attribute.attributeType.editorName)\(noted.isOptional ? "" : ", not optional")"]
        switch attribute.attributeType {
        case .dateAttributeType: parts.append("seconds since 2001-01-01 00:00:00 UTC")
        case .transformableAttributeType:
            parts.append("a value archived by \(attribute.valueTransformerName ?? "NSSecureUnarchiveFromData")")
        default: break
        }
        if let derived = noted as? NSDerivedAttributeDescription, let expression = derived.derivationExpression {
            let isWritten = layout.derivations[derived]?.written != nil
            parts.append("derived: \(expression), \(isWritten ? "written with the row" : "maintained by triggers")")
        }
        return (parts + Self.notes(of: noted)).joined(separator: "; ")
    }

    private static func notes(of property: NSPropertyDescription) -> [String] {
        notes(property.renamingIdentifier, property.name, property.userInfo)
    }

    /// Returns the former name, and the texts in the user info.
    private static func notes(_ identifier: String?, _ name: String?, _ info: [AnyHashable: Any]?) -> [String] {
        let former = identifier.flatMap { $0 == name ? nil : "was \($0)" }
        let texts = (info ?? [:]).compactMap { key, value in (value as? String).map { "\(key): \($0)" } }
        return (former.map { [$0] } ?? []) + texts.sorted()
    }

    // MARK: Relationships

    func statements(_ table: ServerJoinTable) -> [String] {
        let text = layout.tableText(table.name)
        var columns = ["\(name(table.owner)) bigint NOT NULL", "\(name(table.destination)) bigint NOT NULL"]
        columns += [table.order, table.inverseOrder].compactMap(\.self).map { "\(name($0)) bigint" }
        columns.append("PRIMARY KEY (\(name(table.owner)), \(name(table.destination)))")
        return [
            "CREATE TABLE \(text) (\(columns.joined(separator: ", ")))",
            "CREATE INDEX ON \(text) (\(name(table.destination)), \(name(table.owner)))",
        ] + comments(table)
    }

    func comments(_ table: ServerJoinTable) -> [String] {
        let relationship = table.relationship
        let (owner, destination) = (relationship.entity.name ?? "", relationship.destinationEntity?.name ?? "")
        let list = "\(owner).\(relationship.name)"
        let back = "\(destination).\(relationship.inverseRelationship?.name ?? "")"
        var columns = [
            (table.owner, "the key of a row of \(owner)"), (table.destination, "the key of a row of \(destination)"),
        ]
        if let order = table.order { columns.append((order, "the position in \(list)")) }
        if let order = table.inverseOrder { columns.append((order, "the position in \(back)")) }
        let text = layout.tableText(table.name)
        return ["COMMENT ON TABLE \(text) IS \(literal("Pairs of \(list)"))"] + columnComments(text, columns)
    }

    /// The rows of both ends must exist at the end of each transaction.
    private func references(_ table: ServerJoinTable) -> [String] {
        guard let destination = table.relationship.destinationEntity else { return [] }
        return [(table.owner, table.relationship.entity), (table.destination, destination)].map { column, entity in
            reference(from: layout.tableText(table.name), column, to: entity, "ON DELETE CASCADE")
        }
    }

    private func reference(
        from table: String, _ column: String, to entity: NSEntityDescription, _ action: String = ""
    ) -> String {
        "ALTER TABLE \(table) ADD FOREIGN KEY (\(name(column))) REFERENCES \(layout.tableText(of: entity)) \(action) "
            + "DEFERRABLE INITIALLY DEFERRED"
    }

    /// Makes to-one relationships foreign keys, unless the model's rules let a reference outlive its row.
    private func references(_ table: ServerTable) -> [String] {
        table.columns.compactMap { column in
            guard case .toOne(let toOne) = column.content, let destination = toOne.destinationEntity,
                let inverse = toOne.inverseRelationship, inverse.deleteRule != .noActionDeleteRule
            else { return nil }
            return reference(from: layout.tableText(table.name), column.name, to: destination)
        }
    }

    // MARK: Indexes

    /// The uniqueness constraints of the tables. They are deferrable, so that rows may swap unique values in one
    /// transaction.
    func uniqueConstraints() -> [(name: String, table: String, text: String)] {
        layout.constraints.sorted { $0.key < $1.key }.map { constraint, meaning in
            let columns = meaning.names.compactMap { property in
                meaning.entity.propertiesByName[property].flatMap { layout.column(of: $0, in: meaning.entity) }
            }
            let table = layout.table(of: meaning.entity)
            let text =
                "ALTER TABLE \(layout.tableText(table)) ADD CONSTRAINT \(name(constraint)) UNIQUE "
                + "(\(columns.map(name).joined(separator: ", "))) DEFERRABLE INITIALLY IMMEDIATE"
            return (constraint, table, text)
        }
    }

    func indexes(_ table: ServerTable) -> [String] {
        let text = layout.tableText(table.name)
        var statements: [String] = []
        for column in table.columns {
            guard case .toOne(let toOne) = column.content else { continue }
            let position = layout.positionColumn(of: toOne).map { ", \(name($0))" } ?? ""
            statements.append("CREATE INDEX ON \(text) (\(name(column.name))\(position))")
        }
        if table.entities.count > 1 {
            statements.append("CREATE INDEX ON \(text) (\(name(ServerStoreTables.entity)))")
        }
        for entity in table.entities {
            for index in entity.indexes {
                let terms = index.elements.compactMap { term($0, entity) }
                guard !terms.isEmpty, terms.count == index.elements.count else { continue }
                statements.append("CREATE INDEX ON \(text) (\(terms.joined(separator: ", ")))")
            }
        }
        return statements
    }

    private func term(_ element: NSFetchIndexElementDescription, _ entity: NSEntityDescription) -> String? {
        guard element.collationType == .binary, let property = element.property,
            let column = layout.column(of: entity.propertiesByName[property.name] ?? property, in: entity)
        else { return nil }
        return name(column) + (element.isAscending ? layout.dialect.ascendingSuffix : layout.dialect.descendingSuffix)
    }
}
