import Foundation
import SQLiteAccess

// Triggers add to a sum and subtract from it, so that a change costs one step however many rows are summed. With reals,
// and decimals stored as reals, errors accumulate that way. So each sum that a save touched is computed again once at
// its end.

/// The work for derived attributes at the end of a save, within its transaction.
struct DerivedUpkeep {
    let connection: Connection
    let layout: TableLayout
    let affected: AffectedRows
    let lookup: RowLookup
    let ids: ObjectIDCache

    /// The side effects of a save.
    struct Outcome {
        /// Rows whose stored state the writer does not know.
        var rows: [NSManagedObjectID: RowSnapshot] = [:]
        /// Rows that were not in the change set, as changes for the history.
        var others: [StoreRowChange] = []
    }

    /// Corrects sums and reads the rows whose derived values may have changed. Costs nothing in a store without any.
    func finish(_ changes: StoreChangeSet) throws -> Outcome {
        guard layout.hasDerivedAttributes || !affected.properties.isEmpty else { return Outcome() }
        try correctSums()
        let written = changes.inserted.map(\.id) + changes.updated.map(\.id)
        var wanted = Set(written.filter { layout.derivedSums.isDerived($0.entity) })
        var touched: [NSManagedObjectID: Set<String>] = [:]
        for (row, names) in affected.properties {
            guard let entity = layout.entity(numbered: row.entity) else { continue }
            let id = ids.id(entity: entity, reference: row.key)
            touched[id] = names
            wanted.insert(id)
        }
        var outcome = Outcome()
        let all = Array(wanted)
        for (id, row) in zip(all, try lookup.rows(inOrderOf: all)) { outcome.rows[id] = row }
        let known = Set(written)
        for (id, names) in touched where !known.contains(id) {
            guard let row = outcome.rows[id] else { continue }
            let slots = id.entity.layout.slots.indices.filter { slot in
                let property = id.entity.layout.slots[slot]
                return names.contains(property.name)
                    || layout.column(of: property, in: id.entity).map(names.contains) == true
            }
            outcome.others.append(
                StoreRowChange(id: id, row: row, changedSlots: slots, baseVersion: row.version))
        }
        return outcome
    }

    private func correctSums() throws {
        guard !layout.derivedSums.isEmpty else { return }
        for (row, names) in affected.properties {
            guard let entity = layout.entity(numbered: row.entity) else { continue }
            for name in names {
                guard let sum = layout.derivedSums[entity, name] else { continue }
                try correct(sum, key: row.key)
            }
        }
    }

    private func correct(_ sum: DerivedSum, key: Int64) throws {
        let total: SQLiteValue = try connection.withStatement(sum.select) { statement in
            try statement.bind(key, at: 1)
            var (real, decimal) = (0.0, Decimal(0))
            while try statement.step() {
                let kind = statement.kind(at: 0)
                if kind == .null { continue }
                if sum.isDecimal {
                    decimal += DecimalCoding.decimal(at: 0, of: statement, kind)?.decimalValue ?? 0
                } else {
                    real += statement.real(at: 0)
                }
            }
            return sum.isDecimal ? DecimalCoding.value(of: NSDecimalNumber(decimal: decimal)) : .real(real)
        }
        try connection.execute(sum.update, [total, .integer(key)])
    }
}

/// A sum of reals or decimals that is computed again after a save.
struct DerivedSum {
    let select: String
    let update: String
    let isDecimal: Bool

    /// `nil` for anything but a sum of inexact numbers over one relationship.
    init?(_ derivation: Derivation, layout: TableLayout) {
        guard case .sum(let attribute) = derivation.source, derivation.hops.count == 1,
            !(derivation.hops + [attribute]).contains(where: layout.unreadable.contains),
            let coding = ValueCoding(attribute), coding != .integer,
            let column = layout.column(of: derivation.attribute, in: derivation.entity)
        else { return nil }
        let path = DerivedPath(derivation: derivation, layout: layout)
        let value = path.column(attribute)
        select = "SELECT t1.\(value) FROM \(path.joined(upTo: 1)) WHERE t0.Z_PK = ? ORDER BY t1.Z_PK"
        let table = SQLName.quoted(layout.table(of: derivation.entity))
        update = "UPDATE \(table) SET \(SQLName.quoted(column)) = ? WHERE Z_PK = ?"
        isDecimal = coding == .decimal
    }
}

/// The derived attributes of a layout, and their sums to correct.
struct DerivedSums {
    private var sums: [ObjectIdentifier: [String: DerivedSum]] = [:]
    private var derivedEntities: Set<ObjectIdentifier> = []

    var isEmpty: Bool { sums.isEmpty }
    var hasDerivedAttributes: Bool { !derivedEntities.isEmpty }

    init() {}

    init(layout: TableLayout) {
        for entity in layout.entities {
            let derived = entity.properties.compactMap { $0 as? NSDerivedAttributeDescription }.filter {
                !$0.isTransient
            }
            guard !derived.isEmpty else { continue }
            derivedEntities.insert(ObjectIdentifier(entity))
            for attribute in derived {
                // A store of Apple's framework may have a derivation that is not supported here.
                guard let owner = attribute.owningEntity, let derivation = try? Derivation(attribute, of: owner) else {
                    continue
                }
                sums[ObjectIdentifier(entity), default: [:]][attribute.name] = DerivedSum(derivation, layout: layout)
            }
        }
        sums = sums.filter { !$0.value.isEmpty }
    }

    subscript(entity: NSEntityDescription, name: String) -> DerivedSum? { sums[ObjectIdentifier(entity)]?[name] }

    func isDerived(_ entity: NSEntityDescription) -> Bool { derivedEntities.contains(ObjectIdentifier(entity)) }
}
