/// A predicate over the slots of one entity's objects, compiled to a list of conditions each of which names its
/// successors. Evaluating the common conditions calls, retains and copies nothing.
// SAFETY: immutable after `init`.
// SAFETY: `steps` has one initialised step per condition, freed in `deinit`; only numbers from `Writer` index it. The
// object retains its row during the evaluation.
final class SlotProgram: @unchecked Sendable {
    private struct Step {
        /// The slot of the property; -1 if the entity does not have the property.
        let slot: Int
        let shortcut: SlotShortcut
        let onTrue: Int
        let onFalse: Int
    }

    /// The two results of a program, used as successors.
    private static let holds = -1
    private static let fails = -2

    private var start = holds
    // Memory owned by the program: an array would be retained for each object. Never changed after `init`.
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

    /// True if `object`, of the program's entity, matches. Fires its fault if any slot is read.
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

        /// - Returns: The number of the first step of `tree`, or a result.
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
    /// The predicate compiled for the objects of one entity; `nil` if it reads more than their slots.
    func program(for layout: EntityLayout) -> SlotProgram? { ofSlots.map { SlotProgram($0, for: layout) } }
}

extension SlotShortcut {
    /// Evaluates the shortcut; `nil` if the value is of another kind and the condition has to be evaluated.
    @inline(__always)
    fileprivate func holds(for row: RowSnapshot, slot: Int) -> Bool? {
        guard slot >= 0 else { return nil }
        switch self {
        case .compare(let number, let wanted):
            guard let value = row.integer(slot) else { return nil }
            return wanted.contains(value < number ? .ascending : value == number ? .same : .descending)
        case .equal(let text, let count, let isEqual):
            // A text that is canonically equal to an ASCII text, and as long in bytes, has the same bytes.
            return row.withText(slot) { ($0 == text && $0.utf8.count == count) == isEqual }
        case .none: return nil
        }
    }
}
