import Foundation

/// The statements of an entity's R-tree indexes: for each a virtual table that triggers update. The form is Apple's.
struct SpatialIndexText {
    let entity: NSEntityDescription
    let layout: TableLayout

    /// The maximum number of dimensions of an R-tree in SQLite.
    private static let dimensionLimit = 5

    private struct Index {
        /// The name of the virtual table, quoted.
        let table: String
        /// The same name, unquoted; the names of the triggers begin with it.
        let name: String
        /// The names of the indexed columns, unquoted.
        let columns: [String]
    }

    private var indexes: [Index] {
        entity.indexes.compactMap { index in
            let names = index.elements.flatMap(Self.names)
            let columns = names.compactMap { name in
                entity.propertiesByName[name].flatMap { layout.column(of: $0, in: entity) }
            }
            guard columns.count == names.count, (1...Self.dimensionLimit).contains(columns.count) else { return nil }
            let name = "Z_RT_\(entity.name ?? "")_\(index.name)"
            return Index(table: SQLName.quoted(name), name: name, columns: columns)
        }
    }

    /// Returns the attributes of an element. A location is computed from other attributes, which are in its user info.
    private static func names(_ element: NSFetchIndexElementDescription) -> [String] {
        guard element.collationType == .rTree, let property = element.property else { return [] }
        guard property.isTransient,
            let components = property.userInfo?["_NSLocationAttributeDerivedComponents"] as? String
        else { return [property.name] }
        return components.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    func tables() -> [String] {
        indexes.map { index in
            let columns = bounds(index).map { "\($0) FLOAT" }.joined(separator: ", ")
            return "CREATE VIRTUAL TABLE \(index.table) USING RTREE (Z_PK INTEGER PRIMARY KEY, \(columns))"
        }
    }

    func triggers() -> [String] {
        let table = SQLName.quoted(layout.table(of: entity))
        return indexes.flatMap { index in
            func trigger(_ event: String, _ condition: String, _ body: String) -> String {
                "CREATE TRIGGER \(SQLName.quoted("\(index.name)_\(event)")) AFTER \(event) ON \(table) FOR EACH ROW "
                    + "\(condition)BEGIN \(body) ; END"
            }
            let values = index.columns.map { "NEW.\(SQLName.quoted($0))" }.flatMap { [$0, $0] }
            let names = (["Z_PK"] + bounds(index)).joined(separator: ", ")
            let row = "\(index.table) (\(names)) VALUES (\((["NEW.Z_PK"] + values).joined(separator: ", ")))"
            return [
                trigger("INSERT", ownRows, "INSERT OR REPLACE INTO \(row)"),
                trigger(
                    "UPDATE", ownRows, "DELETE FROM \(index.table) WHERE Z_PK = NEW.Z_PK ; INSERT INTO \(row)"),
                trigger("DELETE", "", "DELETE FROM \(index.table) WHERE Z_PK = OLD.Z_PK"),
            ]
        }
    }

    private func bounds(_ index: Index) -> [String] {
        index.columns.flatMap { [SQLName.quoted($0 + "_MIN"), SQLName.quoted($0 + "_MAX")] }
    }

    /// The condition for a row of the entity, if the table has other entities.
    private var ownRows: String {
        guard entity.superentity != nil else { return "" }
        let numbers = layout.entityNumbers(of: entity, includingSubentities: true)
        return "WHEN (NEW.Z_ENT IN (\(numbers.map(String.init).joined(separator: ", ")))) "
    }
}
