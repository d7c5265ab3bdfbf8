import Foundation
import ModelFiles
import SQLiteAccess

// A store without its model says a good deal: entities by name and hierarchy, columns with the kind of value, a second
// column beside each relationship to a family, a table for each many-to-many relationship with the names of both ends.
// What it does not say is where the case of the letters went, which attribute was an integer of which size, and where a
// to-one column leads. The last is told from names, and only where the rows agree; else the column stays a number.

/// Infers the model of a store that keeps none, from its tables. For reading only: delete rules, validation, transformers
/// and the names of to-many relationships with a to-one inverse are not in a file.
struct ModelInference {
    let traces: StoreTraces
    let connection: Connection
    private(set) var notes: [String] = []
    private var document = ModelDocument()
    /// The places of the entities in the document, by number.
    private var places: [Int64: Int] = [:]

    /// The first framework that names indexes of attributes otherwise than those of relationships.
    static let clearIndexNames = 847

    /// Infers the model of the store that is open in `connection`.
    ///
    /// - Returns: The model, and what could not be told, a line each.
    /// - Throws: 259 where the file has no entities; an `SQLiteError` where it cannot be read.
    static func infer(
        _ connection: Connection, metadata: [String: Any]
    ) throws -> (model: ModelDocument, notes: [String]) {
        let version = (metadata["NSPersistenceFrameworkVersion"] as? NSNumber)?.intValue ?? 0
        var inference = try ModelInference(
            traces: StoreTraces(connection), connection: connection, frameworkVersion: version)
        try inference.addEntities()
        for root in inference.traces.roots { try inference.addColumns(of: root) }
        try inference.addRelationships()
        inference.document.versionIdentifiers = metadata[NSStoreModelVersionIdentifiersKey] as? [String] ?? []
        return (inference.document, inference.notes)
    }

    private let toOne: ToOneTraces

    private init(traces: StoreTraces, connection: Connection, frameworkVersion: Int) throws {
        self.traces = traces
        self.connection = connection
        toOne = try ToOneTraces(traces: traces, connection: connection, frameworkVersion: frameworkVersion)
    }

    private mutating func addEntities() throws {
        for entity in traces.entities {
            guard traces.root(of: entity) != nil else {
                throw CoreDataError.make(
                    259,
                    "Cannot tell the model of the store \(connection.path): the parents of the entity \(entity.name) "
                        + "lead nowhere.")
            }
            places[entity.number] = document.entities.count
            var made = EntityDocument(name: entity.name)
            made.parentName = traces.entity(numbered: entity.parent)?.name
            document.entities.append(made)
        }
    }

    // MARK: Attributes

    /// Adds the attributes of a table to the entity at the top, since a column does not say which entity declares it.
    private mutating func addColumns(of root: StoreTraces.Entity) throws {
        let table = traces.table(of: root)
        guard let columns = traces.columns[table], let place = places[root.number] else {
            notes.append("the entity \(root.name) has no table")
            return
        }
        let spelling = SpellingTraces(traces.indexes[table] ?? [])
        let relationships = Set(try toOne.columns(of: root).map(\.column))
        for column in columns where !Self.isBookkeeping(column.name) && !relationships.contains(column.name) {
            guard column.name.hasPrefix("Z"), column.name.count > 1 else {
                notes.append("the column \(table).\(column.name) was passed over")
                continue
            }
            if isCompanion(column.name, in: table) { continue }
            let name = spelling.name(of: column.name)
            document.entities[place].properties.append(try attribute(name, column, table: table))
        }
        addConstraints(of: root, place, spelling)
    }

    /// `Z_PK`, `Z_ENT`, `Z_OPT` and the places in ordered relationships.
    private static func isBookkeeping(_ column: String) -> Bool {
        ["Z_PK", "Z_ENT", "Z_OPT"].contains(column) || column.hasPrefix("Z_FOK_")
    }

    /// Whether the column belongs to a relationship: `Z3_OWNER` beside `ZOWNER`, `Z3BOOKS` of a one-way relationship.
    private func isCompanion(_ column: String, in table: String) -> Bool {
        guard let (number, rest) = ColumnName.numbered(column) else { return false }
        if rest.hasPrefix("_") { return traces.columnNames(of: table).contains("Z" + rest.dropFirst()) }
        return traces.entity(numbered: number) != nil
    }

    private func attribute(_ name: String, _ column: StoreTraces.Column, table: String) throws -> PropertyDocument {
        var attribute = AttributeDocument(type: Self.kind(of: column.type))
        if attribute.type == .binary {
            let values = ValueTraces(connection: connection, table: table, column: column.name)
            if try values.areUUIDs() {
                attribute.type = .uuid
            } else {
                attribute.allowsExternalBinaryDataStorage = try values.nameFiles()
            }
        }
        var property = PropertyDocument(name: name, kind: .attribute(attribute))
        property.isOptional = true
        return property
    }

    /// The type by the column's declaration; of whole numbers the widest.
    private static func kind(of declaration: String) -> AttributeKind {
        switch declaration {
        case "INTEGER": .integer64
        case "TIMESTAMP": .date
        case "FLOAT": .double
        case "DECIMAL": .decimal
        case "VARCHAR": .string
        case "BLOB": .binary
        case let text where text.contains("INT"): .integer64
        case let text where text.contains("CHAR") || text.contains("TEXT"): .string
        case let text where text.contains("REAL") || text.contains("DOUB") || text.contains("FLOA"): .double
        default: .binary
        }
    }

    private mutating func addConstraints(of root: StoreTraces.Entity, _ place: Int, _ spelling: SpellingTraces) {
        let known = Set(document.entities[place].properties.map(\.name))
        for index in traces.indexes[traces.table(of: root)] ?? [] where index.isUnique {
            let names = index.columns.map(spelling.name(of:))
            guard !names.isEmpty, names.allSatisfy(known.contains) else { continue }
            document.entities[place].uniquenessConstraints.append(names)
        }
    }

    // MARK: Relationships

    private mutating func addRelationships() throws {
        var plan = RelationshipPlan(traces: traces, document: document)
        for root in traces.roots {
            let found = try toOne.columns(of: root)
            for column in found { plan.addToOne(column, of: root) }
            notes += try toOne.unclear(of: root, known: found)
            plan.addOneWay(of: root)
        }
        try plan.addInverses { try InverseTraces(connection: connection).areInverse($0, $1) }
        plan.addJoinTables()
        notes += plan.notes
        document = plan.document
    }
}

/// Names of columns that hold the number of an entity.
enum ColumnName {
    /// Takes `Z12_OWNER` or `Z12BOOKS` apart; `nil` where no number stands behind the Z.
    static func numbered(_ column: String) -> (number: Int64, rest: Substring)? {
        guard column.hasPrefix("Z") else { return nil }
        return number(column.dropFirst())
    }

    /// Takes `Z_12BOOKS` apart, the name of a join table or one of its columns.
    static func joined(_ name: String) -> (number: Int64, rest: Substring)? {
        guard name.hasPrefix("Z_"), let (number, rest) = number(name.dropFirst(2)), !rest.hasPrefix("_") else {
            return nil
        }
        return (number, rest)
    }

    private static func number(_ text: Substring) -> (number: Int64, rest: Substring)? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int64(digits), digits.count < text.count else { return nil }
        return (number, text.dropFirst(digits.count))
    }
}

/// How names were spelled before they became columns in upper case, where an index kept it: `Z_Car_UNIQUE_numberPlate`.
private struct SpellingTraces {
    private var spellings: [String: String] = [:]

    init(_ indexes: [StoreTraces.Index]) {
        for index in indexes {
            let words = index.name.split(separator: "_")
            guard words.first == "Z", words.count > index.columns.count else { continue }
            for (word, column) in zip(words.suffix(index.columns.count), index.columns)
            where "Z" + word.uppercased() == column {
                spellings[column] = String(word)
            }
        }
    }

    /// The name of the property of a column: in the spelling that an index kept, else in lower case.
    func name(of column: String) -> String { spellings[column] ?? column.dropFirst().lowercased() }
}

/// What the values of a column say of their type.
private struct ValueTraces {
    let connection: Connection
    let table: String
    let column: String

    private var place: String { SQLName.quoted(column) + " FROM " + SQLName.quoted(table) }

    /// Returns true if there are values and all of them are UUIDs: 16 bytes with a version and the variant that UUIDs have.
    func areUUIDs() throws -> Bool {
        let name = SQLName.quoted(column)
        let isUUID =
            "typeof(\(name)) = 'blob' AND length(\(name)) = 16 AND substr(hex(\(name)), 13, 1) BETWEEN '1' AND '8' "
            + "AND substr(hex(\(name)), 17, 1) IN ('8', '9', 'A', 'B')"
        let counts = try connection.rows(
            "SELECT COUNT(\(name)), COALESCE(SUM(\(isUUID)), 0) FROM (SELECT \(place) LIMIT 1000)")
        guard case .integer(let all)? = counts.first?[0], case .integer(let fitting)? = counts.first?[1] else {
            return false
        }
        return all > 0 && all == fitting
    }

    /// Whether a value stands in a file of its own: the mark 2 and the name of the file, a UUID as text.
    func nameFiles() throws -> Bool {
        let name = SQLName.quoted(column)
        return try connection.value(
            "SELECT 1 FROM \(SQLName.quoted(table)) WHERE typeof(\(name)) = 'blob' AND length(\(name)) = 38 "
                + "AND substr(hex(\(name)), 1, 2) = '02' AND substr(hex(\(name)), 75, 2) = '00' LIMIT 1") != nil
    }
}
