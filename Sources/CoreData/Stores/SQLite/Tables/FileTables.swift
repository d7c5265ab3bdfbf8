import Foundation
import ModelFiles
import SQLiteAccess

// The SQLite store reads tables with the names of a store. Temporary views give the tables of any file these names, so
// that search, order, limits and reading ahead work unchanged. An incremental store would repeat all that in memory, and
// copying the rows to a store would read the whole file first. The views exist for one connection, and the file is only
// read.

/// The tables and views of an SQLite file that is not a store, as entities.
struct FileTables {
    /// Keys of the user info of entities and properties: the parts of the views.
    enum Key {
        static let table = "RosterTable"
        static let key = "RosterKey"
        static let value = "RosterValue"
    }

    private let connection: Connection
    private(set) var notes: [String] = []
    private var document = ModelDocument()
    private var tables: [FileTable] = []
    /// Names in use by the properties of each entity.
    private var names: [DistinctNames] = []

    /// - Returns: a model of the file's tables, and one line for each part that it lacks.
    /// - Throws: 259 if the file has no tables; an `SQLiteError` if it cannot be read.
    static func document(of connection: Connection) throws -> (model: ModelDocument, notes: [String]) {
        var tables = try FileTables(connection)
        tables.addEntities()
        for index in tables.tables.indices { tables.addRelationships(of: index) }
        return (tables.document, tables.notes)
    }

    /// True if a file is an SQLite database with tables, but not a store, not even a damaged one.
    static func areIn(_ connection: Connection) throws -> Bool {
        try connection.integer("SELECT COUNT(*) FROM sqlite_master") != 0 && !connection.hasTable("Z_METADATA")
            && !connection.hasTable("Z_PRIMARYKEY")
    }

    private init(_ connection: Connection) throws {
        self.connection = connection
        let reader = FileTableReader(connection)
        for (name, isView) in try reader.names() {
            do {
                tables.append(try reader.table(named: name, isView: isView))
            } catch let error as SQLiteError where error.kind == .statement {
                notes.append("\(name) cannot be read and is left out: \(error.message)")
            }
        }
        guard !tables.isEmpty else {
            throw CoreDataError.make(
                259, "Cannot open the store \(connection.path): the file is an SQLite database without tables.",
                userInfo: [NSFilePathErrorKey: connection.path])
        }
    }

    // MARK: Entities and attributes

    private mutating func addEntities() {
        var entityNames = DistinctNames()
        for table in tables {
            var entity = EntityDocument(name: entityNames.claim(table.name))
            if entity.name != table.name { notes.append("the table \(table.name) is called \(entity.name)") }
            entity.userInfo = [Key.table: .string(table.name), Key.key: .string(table.key)]
            var taken = DistinctNames(taken: PropertyNames.reserved)
            var properties: [String: String] = [:]
            for column in table.columns where !isReplaced(column, in: table) {
                let name = taken.claim(PropertyNames.usable(column.name))
                properties[column.name] = name
                if name != column.name { notes.append("the column \(table.name).\(column.name) is called \(name)") }
                var property = PropertyDocument(name: name, kind: .attribute(AttributeDocument(type: column.kind)))
                property.isOptional = true
                property.userInfo = [Key.value: .string(column.sql)]
                entity.properties.append(property)
            }
            let unique = table.primaryKey.compactMap { properties[$0] }
            if !unique.isEmpty, unique.count == table.primaryKey.count { entity.uniquenessConstraints = [unique] }
            names.append(taken)
            document.entities.append(entity)
        }
    }

    /// True for a column that is the key of a record of another table: the relationship says the same.
    private func isReplaced(_ column: FileTable.Column, in table: FileTable) -> Bool {
        column.kind == .integer64
            && table.references.contains {
                $0.columns.map(\.from) == [column.name] && destination(of: $0)?.isKey == true
            }
    }

    // MARK: Relationships

    /// The table to which a reference leads, and whether its one column is that table's own key.
    private func destination(of reference: FileTable.Reference) -> (index: Int, columns: [String], isKey: Bool)? {
        guard
            let index = tables.firstIndex(where: { $0.name.lowercased() == reference.table.lowercased() && !$0.isView })
        else { return nil }
        let target = tables[index]
        let columns = reference.columns.enumerated().map { place, pair in
            pair.to ?? (place < target.primaryKey.count ? target.primaryKey[place] : "")
        }
        guard target.hasRowID,
            columns.allSatisfy({ name in target.columns.contains { $0.name.lowercased() == name.lowercased() } })
        else { return nil }
        let isKey = columns.count == 1 && columns[0].lowercased() == target.rowIDColumn?.lowercased()
        return (index, columns, isKey)
    }

    private mutating func addRelationships(of index: Int) {
        let table = tables[index]
        for reference in table.references {
            guard let (target, columns, isKey) = destination(of: reference) else {
                notes.append(
                    "the foreign key of \(table.name) to \(reference.table) leads to no table with row numbers")
                continue
            }
            let own = reference.columns.map { "t." + FileTableReader.quoted($0.from) }
            let column = table.columns.first { $0.name == reference.columns.first?.from }
            if isKey, column?.kind != .integer64 { continue }
            let parent = tables[target]
            let pairs = zip(columns, own).map { "p.\(FileTableReader.quoted($0)) = \($1)" }
            let conditions = pairs.joined(separator: " AND ")
            let value =
                isKey
                ? own[0]
                : "(SELECT p.\(parent.key) FROM main.\(SQLText.enclosed(parent.name, in: "\"")) AS p WHERE \(conditions))"
            let from = reference.columns.count == 1 ? reference.columns[0].from : ""
            let stripped = Self.withoutSuffix(from)
            // A column that stays has its name.
            let base = isKey || stripped != from ? stripped : parent.name
            let name = names[index].claim(PropertyNames.usable(base))
            let rivals = table.references.count { $0.table.lowercased() == reference.table.lowercased() }
            let back = PropertyNames.usable(table.name)
            let inverse = names[target].claim(
                rivals > 1 ? back + "By" + name.prefix(1).uppercased() + name.dropFirst() : back)
            var toOne = RelationshipDocument(destinationName: document.entities[target].name)
            (toOne.maxCount, toOne.inverseName) = (1, inverse)
            var toMany = RelationshipDocument(destinationName: document.entities[index].name)
            toMany.inverseName = name
            add(name, toOne, value, to: index)
            add(inverse, toMany, nil, to: target)
        }
    }

    private mutating func add(_ name: String, _ relationship: RelationshipDocument, _ value: String?, to index: Int) {
        var property = PropertyDocument(name: name, kind: .relationship(relationship))
        property.isOptional = true
        if let value { property.userInfo = [Key.value: .string(value)] }
        document.entities[index].properties.append(property)
    }

    /// `customer_id` and `customerId` are the key of a customer.
    private static func withoutSuffix(_ column: String) -> String {
        for suffix in ["_id", "_ID", "_Id", "Id", "ID"] where column.hasSuffix(suffix) && column.count > suffix.count {
            return String(column.dropLast(suffix.count))
        }
        return column
    }
}

/// Names of columns as names of properties.
package enum PropertyNames {
    /// Names of properties of every object.
    package static let reserved: Set<String> = [
        "description", "debugDescription", "hash", "self", "entity", "objectID", "isDeleted", "isInserted", "isUpdated",
        "isFault", "hasChanges", "managedObjectContext", "observationInfo", "class",
    ]

    /// `First Name` becomes `firstName`: a letter, then letters, digits and underscores. Such a name is unchanged.
    package static func usable(_ name: String) -> String {
        let words = name.split { !($0.isLetter || $0.isNumber || $0 == "_") }
        if words.count == 1, words[0].count == name.count, name.first?.isLetter == true { return name }
        var result = words.enumerated().map { index, word in
            index == 0 ? String(word) : word.prefix(1).uppercased() + word.dropFirst()
        }.joined()
        if result.first?.isLetter != true { result = "column" + result }
        return result.prefix(1).lowercased() + result.dropFirst()
    }
}
