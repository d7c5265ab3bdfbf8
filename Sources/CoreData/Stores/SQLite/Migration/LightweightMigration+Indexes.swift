import SQLiteAccess

extension LightweightMigration {
    /// Creates the missing indexes, R-trees and triggers of the new version, and computes derived values.
    func makeIndexes(_ objects: SchemaObjects) throws {
        let text = SchemaText(layout: new)
        let later = defers ? Set(text.fetchIndexes().map(\.text)) : []
        for statement in text.indexes() where !objects.stays(statement) && !later.contains(statement) {
            try refusingDuplicates { try connection.execute(statement) }
        }
        try fillDerivedColumns()
        for entity in new.entities {
            let spatial = SpatialIndexText(entity: entity, layout: new).triggers()
            guard !spatial.isEmpty else { continue }
            for statement in spatial { try connection.execute(statement) }
            let numbers = new.entityNumbers(of: entity, includingSubentities: true).map(String.init)
            try connection.execute(
                "UPDATE \(SQLName.quoted(new.table(of: entity))) SET Z_ENT = Z_ENT WHERE Z_ENT IN (\(numbers.joined(separator: ", ")))"
            )
        }
        for entity in new.entities {
            for derivation in try Derivation.all(of: entity) {
                for statement in DerivedTriggers(derivation: derivation, layout: new).statements() {
                    try connection.execute(statement)
                }
            }
        }
        objects.restoreForeign()
    }

    /// Computes all derived values again, because their sources may differ.
    private func fillDerivedColumns() throws {
        for entity in new.entities {
            for derivation in try Derivation.all(of: entity) {
                let path = DerivedPath(derivation: derivation, layout: new)
                let last = "t\(derivation.hops.count)"
                let result: String
                switch derivation.source {
                case .now: continue
                case .value(let attribute, let function):
                    result = path.applied(function, to: "\(last).\(path.column(attribute))")
                case .count: result = "COUNT(*)"
                case .sum(let attribute): result = "IFNULL(SUM(\(last).\(path.column(attribute))), 0)"
                }
                let table = SQLName.quoted(new.table(of: entity))
                let column = SQLName.quoted(new.column(of: derivation.attribute, in: entity) ?? "NULL")
                let numbers = new.entityNumbers(of: entity, includingSubentities: true).map(String.init)
                let value =
                    "(SELECT \(result) FROM \(path.joined(upTo: derivation.hops.count)) WHERE t0.Z_PK = \(table).Z_PK)"
                // Rows that already have the value are not written. A new column has none, and needs no comparison.
                let condition = difference.isNew(derivation.attribute) ? "" : " AND \(column) IS NOT \(value)"
                try connection.execute(
                    "UPDATE \(table) SET \(column) = \(value) WHERE Z_ENT IN (\(numbers.joined(separator: ", ")))"
                        + condition)
            }
        }
    }

    /// Runs a statement that fails if values are not unique although they must be now.
    func refusingDuplicates(_ body: () throws -> Void) throws {
        do { try body() } catch let error as SQLiteError where [.constraint, .uniqueConstraint].contains(error.kind) {
            throw CoreDataError.make(
                134110,
                "Cannot migrate the store \(path): several objects have the same values, but the model requires "
                    + "unique values (\(error.message)).",
                underlying: error, userInfo: ["reason": "Uniqueness constraint violation"])
        }
    }
}
