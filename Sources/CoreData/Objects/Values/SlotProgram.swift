/// A predicate over slots for the objects of one entity, as a list of conditions each of which says where to go on: nothing is
/// called, retained or copied on the way through the usual ones.
// SAFETY: immutable once made.
// SAFETY: `steps` has as many steps as there are conditions, all initialised, freed in `deinit`; only numbers from
// `Writer` index it. The object holds its row while it is looked at.
final class SlotProgram: @unchecked Sendable {
    private struct Step {
        /// -1 where the entity does not have the property.
        let slot: Int
        let shortcut: SlotShortcut
        let onTrue: Int
        let onFalse: Int
    }

    /// Where a program ends.
    private static let holds = -1
    private static let fails = -2

    private var start = holds
    // Memory of the program's own: an array would be retained for each object. Never changed once the program is made.
    private let steps: UnsafeMutablePointer<Step>
    private let conditions: [any SlotCondition]

    init(_ tree: SlotTree, for layout: EntityLayout) {
        var writer = Writer(layout: layout)
        start = writer.write(tree, onTrue: Self.holds, onFalse: Self.fails)
        steps = .allocate(capacity: writer.steps.count)
        steps.initialize(from: writer.steps, count: writer.steps.count)
        conditions = writer.conditions
    }

    deinit {
        steps.deinitialize(count: conditions.count)
        steps.deallocate()
    }

    /// Whether `object`, of the program's entity, matches; fires its fault if any slot is looked at.
    @inline(__always)
    func holds(for object: NSManagedObject) -> Bool {
        var next = start
        if next >= 0 { object.fireIfNeeded() }
        let row = object.unchangedRow
        while next >= 0 {
            let step = steps + next
            let slot = step.pointee.slot
            let known = row.flatMap { row in
                row.with { step.pointee.shortcut.holds(for: $0, slot: slot) }
            }
            next = known ?? isTrue(next, slot, object) ? step.pointee.onTrue : step.pointee.onFalse
        }
        return next == Self.holds
    }

    @inline(never)
    private func isTrue(_ step: Int, _ slot: Int, _ object: NSManagedObject) -> Bool {
        conditions[step].holds(slot < 0 ? .null : object.slotValue(slot))
    }

    private struct Writer {
        let layout: EntityLayout
        var steps: [Step] = []
        var conditions: [any SlotCondition] = []

        /// - Returns: where `tree` begins.
        mutating func write(_ tree: SlotTree, onTrue: Int, onFalse: Int) -> Int {
            switch tree {
            case .constant(let value): return value ? onTrue : onFalse
            case .not(let part): return write(part, onTrue: onFalse, onFalse: onTrue)
            case .and(let parts): return parts.reversed().reduce(onTrue) { write($1, onTrue: $0, onFalse: onFalse) }
            case .or(let parts): return parts.reversed().reduce(onFalse) { write($1, onTrue: onTrue, onFalse: $0) }
            case .condition(let access, let condition):
                steps.append(
                    Step(
                        slot: access.slot(in: layout), shortcut: condition.shortcut, onTrue: onTrue, onFalse: onFalse))
                conditions.append(condition)
                return steps.count - 1
            }
        }
    }
}

extension CompiledPredicate {
    /// The predicate for the objects of one entity, where it looks at nothing but their slots.
    func program(for layout: EntityLayout) -> SlotProgram? { ofSlots.map { SlotProgram($0, for: layout) } }
}

extension SlotShortcut {
    /// `nil` where the condition has to be asked: for values of other kinds.
    @inline(__always)
    fileprivate func holds(for row: RowSnapshot, slot: Int) -> Bool? {
        guard slot >= 0 else { return nil }
        switch self {
        case .compare(let number, let wanted):
            guard let value = row.integer(slot) else { return nil }
            return wanted.contains(value < number ? .ascending : value == number ? .same : .descending)
        case .equal(let text, let count, let isEqual):
            // What is the same in characters, and as long as what has no other form, is the same in bytes.
            return row.withText(slot) { ($0 == text && $0.utf8.count == count) == isEqual }
        case .none: return nil
        }
    }
}
