import Foundation
import SQLiteAccess

// Decoding is the hot loop of every fetch, with one call per value. So the plan of a row is an array of trivial steps
// without reference counts, values are written directly to the snapshot's array, and object IDs of to-one destinations
// come from a small cache, because many rows refer to the same few objects.

/// Decodes result rows with the columns of ``RowColumns`` to snapshots. A class, like its plans, because a struct's
/// parts would all be retained for each row.
final class RowDecoder {
    /// The column and coding of one slot. Trivial, so that copying it costs nothing.
    private struct Step {
        /// The index of the slot's column in the statement; -1 for a slot without a column.
        let column: Int
        /// The entity column of a reference to several entities; otherwise -1.
        let entityColumn: Int
        let coding: ValueCoding
        /// The destination's `Z_ENT`, if a row does not have it.
        let destination: Int64
    }

    // SAFETY: `init` initialises as many steps as it allocates, and `deinit` frees them; steps are trivial.
    private final class Plan {
        let entityIndex: UInt32
        /// The steps of the plan, in memory of its own: an array would be retained for each row.
        let steps: UnsafeBufferPointer<Step>
        /// The value of each slot without a column: the default of a transient one, otherwise null.
        let absent: [SlotValue]
        let layout: EntityLayout

        init(layout: EntityLayout, steps: [Step]) {
            entityIndex = UInt32(layout.index)
            let memory = UnsafeMutableBufferPointer<Step>.allocate(capacity: steps.count)
            _ = memory.initialize(fromContentsOf: steps)
            self.steps = UnsafeBufferPointer(memory)
            absent = layout.traits.transientStart
            self.layout = layout
        }

        deinit { steps.deallocate() }
    }

    private let plans: [Int64: Plan]
    private let context: DecodingContext
    /// The plan if all rows have one entity. Plans are retained by `plans` only, not when they are used.
    // SAFETY: `plans`, which never changes, retains it.
    private let onlyPlan: Unretained<Plan>?
    private let onlyNumber: Int64?

    // SAFETY: see `onlyPlan`.
    init(columns: RowColumns, context: DecodingContext) {
        self.context = context
        var plans: [Int64: Plan] = [:]
        for (number, entity) in columns.entities {
            let layout = entity.entity.layout
            let steps = zip(layout.slots, entity.slots).map { property, place in
                Self.step(property, value: place.value, entity: place.entity, layout: context.layout)
            }
            plans[number] = Plan(layout: layout, steps: steps)
        }
        self.plans = plans
        let only = plans.count == 1 ? plans.first : nil
        self.onlyPlan = (only?.value).map { Unretained($0) }
        self.onlyNumber = only?.key
    }

    private static func step(
        _ property: NSPropertyDescription, value: Int, entity: Int, layout: TableLayout
    ) -> Step {
        if let relationship = property as? NSRelationshipDescription {
            let destination = relationship.destinationEntity.map { layout.number(of: $0) } ?? 0
            return Step(column: value, entityColumn: entity, coding: .reference, destination: destination)
        }
        guard let attribute = property as? NSAttributeDescription, let coding = ValueCoding(attribute) else {
            return Step(column: -1, entityColumn: -1, coding: .integer, destination: 0)
        }
        return Step(column: value, entityColumn: -1, coding: coding, destination: 0)
    }

    /// Returns true if the columns include the entity of the current row. Called for queries that may find other
    /// entities.
    func isPrepared(for statement: Statement) -> Bool {
        let number = statement.integer(at: RowColumns.entityColumn)
        return number == onlyNumber || plans[number] != nil
    }

    // SAFETY: `plans`, which never changes, retains every plan.
    @inline(__always)
    private func plan(of statement: Statement) -> Unretained<Plan>? {
        onlyPlan ?? plans[statement.integer(at: RowColumns.entityColumn)].map { Unretained($0) }
    }

    @inline(__always)
    private func key(of statement: Statement, _ plan: Plan) -> RowKey {
        RowKey(entity: plan.entityIndex, reference: statement.integer(at: RowColumns.primaryKeyColumn))
    }

    /// Returns only the key of the current row.
    // SAFETY: see `plan(of:)`.
    func key(of statement: Statement) -> RowKey? {
        plan(of: statement)?.with { key(of: statement, $0) }
    }

    /// Returns the key and snapshot of the current row; `nil` for a row of an entity that is not in the query.
    // SAFETY: see `plan(of:)`.
    func row(of statement: Statement) -> (key: RowKey, snapshot: RowSnapshot)? {
        plan(of: statement)?.with { (key(of: statement, $0), snapshot(of: statement, $0)) }
    }

    /// Returns only the snapshot of the current row.
    // SAFETY: see `plan(of:)`.
    func snapshot(of statement: Statement) -> RowSnapshot? {
        plan(of: statement)?.with { snapshot(of: statement, $0) }
    }

    // SAFETY: the callers retain decoder, plan and statement until the closure has run. It does not escape.
    @inline(__always)
    private func snapshot(of statement: Statement, _ plan: Plan) -> RowSnapshot {
        let version = statement.integer(at: RowColumns.versionColumn)
        // A closure would retain its captures for each row. The callers hold all three until this returns.
        let held = (
            decoder: Unretained(self), plan: Unretained(plan),
            statement: Unretained(statement)
        )
        return RowSnapshot.make(version: version, count: plan.steps.count) { values in
            held.decoder.with { decoder in
                held.plan.with { plan in
                    held.statement.with { decoder.write(plan, $0, to: &values) }
                }
            }
        }
    }

    @inline(__always)
    private func write(_ plan: Plan, _ statement: Statement, to values: inout PackedValues.Writer) {
        for slot in plan.steps.indices { write(plan.steps[slot], slot, plan, statement, to: &values) }
    }

    /// Appends the value of one slot; null for a cell whose type is not the attribute's.
    @inline(__always)
    private func write(
        _ step: Step, _ slot: Int, _ plan: Plan, _ statement: Statement, to values: inout PackedValues.Writer
    ) {
        let column = step.column
        guard column >= 0 else { return values.append(plan.absent[slot]) }
        switch step.coding {
        case .integer: if let number = statement.storedInteger(at: column) { return values.append(.integer(number)) }
        case .real, .date: if let number = statement.storedNumber(at: column) { return values.append(.real(number)) }
        case .text: if let text = statement.storedText(at: column) { return values.append(text: text) }
        default: break
        }
        values.append(value(step, slot, plan, statement))
    }

    private func value(_ step: Step, _ slot: Int, _ plan: Plan, _ statement: Statement) -> SlotValue {
        let column = step.column
        let kind = statement.kind(at: column)
        if step.coding != .composite && kind == .null { return .null }
        switch step.coding {
        case .reference:
            guard kind == .integer else { return context.mistyped(plan.layout.slots[slot], kind) }
            let own = step.entityColumn < 0 ? 0 : statement.integer(at: step.entityColumn)
            return context.reference(to: statement.integer(at: column), entity: own == 0 ? step.destination : own)
        case .composite:
            guard let composite = plan.layout.slots[slot] as? NSCompositeAttributeDescription else { return .null }
            return context.compositeValue(composite, from: column, of: statement)
        default:
            return context.rareValue(
                step.coding, at: column, of: statement, kind, attribute: plan.layout.attribute(at: slot))
        }
    }
}
