/// The changes that a lightweight migration makes to the file of an SQLite store, as found by
/// ``LightweightMigrationRehearsal``. An addition to Apple's API.
public struct LightweightMigrationPlan: Sendable {
    /// The planned change of one table.
    public struct Table: Sendable {
        /// The kinds of change for the rows of a table.
        public enum Work: String, Sendable {
            /// No change: the table is kept.
            case kept
            /// The rows are kept, and the table gets other columns or another name.
            case altered
            /// The rows are moved to a new table.
            case moved
            /// There are no rows: the table is new.
            case made
            /// The rows are dropped with the table.
            case dropped
        }

        /// The name of the table after the migration, or of a dropped table.
        public let name: String
        /// The name of the table before the migration; `nil` for a new table.
        public let formerName: String?
        /// The entities whose rows were in the table before; empty for a new table and for a join table.
        public let formerEntityNames: [String]
        /// The change of the table's rows.
        public let work: Work
        /// The columns that change.
        public let columns: [Column]
    }

    /// The planned change of one column.
    public struct Column: Sendable {
        /// The kinds of change for a column.
        public enum Change: String, Sendable {
            /// The column is new.
            case added
            /// The column gets another name and keeps its values.
            case renamed
            /// The values are computed from the old version.
            case rewritten
            /// The column is dropped.
            case dropped
        }

        /// The name of the column after the migration, or of a dropped column.
        public let name: String
        /// The name of the column before the migration; `nil` for a new or computed one.
        public let formerName: String?
        /// The declared type.
        public let type: String
        /// The kind of change for the column.
        public let change: Change
    }

    /// The tables of the new version in the order of their entities, then join tables, then dropped tables.
    public let tables: [Table]
    /// The statements in the order in which they run, with their values; a long binary value is `?`. Statements that
    /// depend on single rows are not included, such as those that read external files back into the table.
    public let statements: [String]
}

extension LightweightMigration {
    /// Returns the changes of the tables. Only reads the file.
    func plannedTables() throws -> [LightweightMigrationPlan.Table] {
        let movement = try movement()
        var planned = try movement.tables.map { table in
            let alteration = movement.alterations[table.table.name]
            return LightweightMigrationPlan.Table(
                name: table.table.name, formerName: table.oldTable?.name,
                formerEntityNames: table.oldTable?.entities.compactMap(\.name) ?? [],
                work: table.oldTable == nil
                    ? .made : alteration.map { $0.isNothing ? .kept : .altered } ?? .moved,
                columns: try table.plannedColumns())
        }
        for join in movement.joins {
            let former = join.formerName
            planned.append(
                LightweightMigrationPlan.Table(
                    name: join.table.name, formerName: former, formerEntityNames: [],
                    work: join.isUnchanged ? .kept : former == nil ? .made : .moved,
                    columns: join.isUnchanged || former != nil
                        ? []
                        : join.table.columns.map { .init(name: $0, formerName: nil, type: "INTEGER", change: .added) }))
        }
        let taken = Set(planned.compactMap(\.formerName))
        let before =
            old.tables.map { ($0.name, $0.entities.compactMap(\.name)) } + old.joinTables.map { ($0.table.name, []) }
        return planned
            + before.filter { !taken.contains($0.0) }.map { name, entities in
                LightweightMigrationPlan.Table(
                    name: name, formerName: name, formerEntityNames: entities, work: .dropped, columns: [])
            }
    }
}

extension TableMigration {
    /// Returns the columns that change.
    fileprivate func plannedColumns() throws -> [LightweightMigrationPlan.Column] {
        var planned: [LightweightMigrationPlan.Column] = []
        let before = oldTable?.columns ?? []
        var claimed: Set<String> = []
        for column in table.columns {
            let origins = try origins(of: column).map(\.origin)
            let sources = Set(origins.compactMap(\.sourceColumn))
            claimed.formUnion(sources)
            let former = sources.count == 1 ? sources.first : nil
            let type = before.first { $0.name == former }?.declaredType ?? column.declaredType
            let isRewritten =
                origins.contains(where: \.isComputed) || sources.count > 1 || isFilledFromPairs(column)
                || type != column.declaredType
            if isRewritten { claimed.insert(column.name) }
            let change: LightweightMigrationPlan.Column.Change? =
                isRewritten ? .rewritten : former == nil ? .added : former != column.name ? .renamed : nil
            guard let change else { continue }
            planned.append(
                .init(
                    name: column.name, formerName: change == .renamed ? former : nil, type: column.declaredType,
                    change: change))
        }
        return planned
            + before.filter { !claimed.contains($0.name) }.map {
                .init(name: $0.name, formerName: $0.name, type: $0.declaredType, change: .dropped)
            }
    }
}
