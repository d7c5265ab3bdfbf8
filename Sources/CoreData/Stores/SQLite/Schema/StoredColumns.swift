/// Finds the columns of a model in the tables of a store's file.
struct StoredColumns {
    let file: StoredSchema

    /// Returns the tables with their readable columns. A property with a missing column is added to `unreadable` with
    /// all of its columns.
    ///
    /// - Throws: 134020 if a whole table is missing.
    func tables(_ planned: [EntityTable], noting unreadable: inout UnreadableProperties) throws -> [EntityTable] {
        for table in planned {
            let present = Set(file.columns(of: table.name))
            guard !present.isEmpty else {
                throw CoreDataError.make(
                    134020, "The store \(file.path) does not match the model: it has no table \(table.name).")
            }
            for column in table.columns where !present.contains(column.name.uppercased()) {
                unreadable.add(column.property, because: "the table \(table.name) has no column \(column.name)")
            }
        }
        if unreadable.isEmpty { return planned }
        return planned.map { table in
            EntityTable(
                name: table.name, entities: table.entities,
                columns: table.columns.filter { !unreadable.contains($0.property) })
        }
    }
}
