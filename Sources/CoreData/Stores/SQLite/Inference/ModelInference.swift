import Foundation
import ModelFiles
import SQLiteAccess

// Much of a model can be found in its store: entities with names and hierarchy, columns with value types, a second
// column for each relationship to several entities, and a table for each many-to-many relationship with the names of
// both ends. Not in the store are the case of names, the sizes of integers, and the destinations of to-one columns.
// Destinations are inferred from names, and only if the rows agree; otherwise the column stays a number.

/// Infers the model of a store from its tables if the store has no model. Read-only: delete rules, validation,
/// transformers and the names of to-many relationships with a to-one inverse are not in the file.
struct ModelInference {
    let traces: StoreTraces
    let connection: Connection
    private(set) var notes: [String] = []
    private var document = ModelDocument()
    /// The indexes of the entities in the document, by entity number.
    private var places: [Int64: Int] = [:]

    /// The first version of the framework that names indexes of attributes differently from those of relationships.
    static let clearIndexNames = 847

    /// Infers the model of the store opened in `connection`.
    ///
    /// - Returns: the model, and one line for each part that could not be inferred.
    /// - Throws: 259 if the file has no entities; an `SQLiteError` if it cannot be read.
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
                    "Cannot infer the model of the store \(connection.path): the parents of the entity \(entity.name) "
                        + "do not exist.")
            }
            places[entity.number] = document.entities.count
            var made = EntityDocument(name: entity.name)
            made.parentName = traces.entity(numbered: entity.parent)?.name
            document.entities.append(made)
        }
    }

    // MARK: Attributes

    /// Adds the attributes of a table to the root entity, because a column does not show which entity declares it.
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
                notes.append("the column \(table).\(column.name) was skipped")
                continue
            }
            if isCompanion(column.name, in: table) { continue }
            let name = spelling.name(of: column.name)
            document.entities[place].properties.append(try attribute(name, column, table: table))
        }
        addConstraints(of: root, place, spelling)
    }

    /// True for `Z_PK`, `Z_ENT`, `Z_OPT` and the positions in ordered relationships.
    private static func isBookkeeping(_ column: String) -> Bool {
        ["Z_PK", "Z_ENT", "Z_OPT"].contains(column) || column.hasPrefix("Z_FOK_")
    }

    /// True if the column belongs to a relationship: `Z3_OWNER` to `ZOWNER`, `Z3BOOKS` to a one-way relationship.
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

    /// Returns the type for the column's declaration; the largest one for integers.
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

/// Parses names of columns that contain an entity number.
enum ColumnName {
    /// Splits `Z12_OWNER` or `Z12BOOKS`; `nil` if the Z is not followed by a number.
    static func numbered(_ column: String) -> (number: Int64, rest: Substring)? {
        guard column.hasPrefix("Z") else { return nil }
        return number(column.dropFirst())
    }

    /// Splits `Z_12BOOKS`, the name of a join table or one of its columns.
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

/// The spelling of names before they became columns in upper case, from indexes: `Z_Car_UNIQUE_numberPlate`.
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

    /// Returns the name of a column's property: as spelled in an index, otherwise in lower case.
    func name(of column: String) -> String { spellings[column] ?? column.dropFirst().lowercased() }
}

/// Finds the type of a column from its values.
private struct ValueTraces {
    let connection: Connection
    let table: String
    let column: String

    private var place: String { SQLName.quoted(column) + " FROM " + SQLName.quoted(table) }

    /// Returns true if there are values and all of them are UUIDs: 16 bytes with a version and a UUID's variant.
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

    /// Returns true if a value is in a file: it then has the mark 2 and the file's name, a UUID as text.
    func nameFiles() throws -> Bool {
        let name = SQLName.quoted(column)
        return try connection.value(
            "SELECT 1 FROM \(SQLName.quoted(table)) WHERE typeof(\(name)) = 'blob' AND length(\(name)) = 38 "
                + "AND substr(hex(\(name)), 1, 2) = '02' AND substr(hex(\(name)), 75, 2) = '00' LIMIT 1") != nil
    }
}
