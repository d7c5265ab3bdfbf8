import Foundation
import PredicateSyntax

/// The fast path: compares an attribute or to-one relationship of `SELF` with a constant, directly in the slot.
enum SlotTests {
    /// A slot test for the comparison; `nil` if it has another form.
    static func test(
        _ tree: ComparisonTree, left: CompiledExpression, right: CompiledExpression
    ) -> PredicateTest? {
        guard let access = left.slot, let constant = right.constant, !TextFolding.isNeeded(tree.options),
            !tree.options.contains(.localeSensitive)
        else { return nil }
        switch tree.comparison {
        case .equalTo: return equality(access, constant, isEqual: true)
        case .notEqualTo: return equality(access, constant, isEqual: false)
        case .lessThan: return order(access, constant, .ascending)
        case .lessThanOrEqualTo: return order(access, constant, [.ascending, .same])
        case .greaterThan: return order(access, constant, .descending)
        case .greaterThanOrEqualTo: return order(access, constant, [.descending, .same])
        default: return nil
        }
    }

    private static func test(_ access: SlotAccess, _ condition: some SlotCondition) -> PredicateTest {
        PredicateTest(ofSlots: .condition(access, condition)) { frame in
            guard case .object(let row) = frame.subject else { return condition.holds(.null) }
            return condition.holds(access.value(of: row))
        }
    }

    private static func equality(
        _ access: SlotAccess, _ constant: PredicateValue, isEqual: Bool
    ) -> PredicateTest? {
        switch constant {
        case .null: return test(access, IsNull(isEqual: isEqual))
        case .integer(let number): return test(access, EqualsInteger(number: number, isEqual: isEqual))
        case .text(let text): return test(access, EqualsText(text: text, isEqual: isEqual))
        case .object, .reference:
            guard access.isToOne, let id = constant.objectID else { return nil }
            return test(access, EqualsReference(id: id, isEqual: isEqual))
        default: return nil
        }
    }

    private static func order(
        _ access: SlotAccess, _ constant: PredicateValue, _ wanted: ComparisonResults
    ) -> PredicateTest? {
        switch constant {
        case .integer, .real, .date:
            return constant.number.map { test(access, ComparesNumber(number: $0, wanted: wanted)) }
        case .text(let text): return test(access, ComparesText(text: text, wanted: wanted))
        default: return nil
        }
    }
}

// MARK: - Conditions

private struct IsNull: SlotCondition {
    let isEqual: Bool
    func holds(_ slot: SlotValue) -> Bool { slot.isNull == isEqual }
}

private struct EqualsInteger: SlotCondition {
    let number: Int64
    let isEqual: Bool

    var shortcut: SlotShortcut { .compare(number, isEqual ? .same : [.ascending, .descending]) }

    func holds(_ slot: SlotValue) -> Bool {
        if case .integer(let value) = slot { return (value == number) == isEqual }
        return ValueOrder.areEqual(PredicateValue(slot, isDate: false), .integer(number)) == isEqual
    }
}

private struct EqualsText: SlotCondition {
    let text: String
    let isEqual: Bool

    var shortcut: SlotShortcut {
        let count = text.utf8.count
        return text.utf8.allSatisfy { $0 < 0x80 } ? .equal(text, count: count, isEqual: isEqual) : .none
    }

    func holds(_ slot: SlotValue) -> Bool {
        guard case .text(let value) = slot else { return !isEqual }
        return TextBytes.areEqual(value, text) == isEqual
    }
}

private struct EqualsReference: SlotCondition {
    let id: NSManagedObjectID
    let isEqual: Bool

    func holds(_ slot: SlotValue) -> Bool {
        guard case .reference(let value) = slot else { return !isEqual }
        return (value === id || value.isEqual(id)) == isEqual
    }
}

extension ComparisonResults {
    fileprivate func contains(_ result: ComparisonResult) -> Bool {
        switch result {
        case .orderedAscending: contains(.ascending)
        case .orderedSame: contains(.same)
        case .orderedDescending: contains(.descending)
        }
    }
}

private struct ComparesNumber: SlotCondition {
    let number: Number
    let wanted: ComparisonResults

    var shortcut: SlotShortcut {
        if case .integer(let number) = number { return .compare(number, wanted) }
        return .none
    }

    func holds(_ slot: SlotValue) -> Bool {
        let value: Number
        switch slot {
        case .integer(let slot): value = .integer(slot)
        case .real(let slot): value = .real(slot)
        case .decimal(let slot): value = Number(slot.decimalValue)
        default: return false
        }
        return Number.compare(value, number).map(wanted.contains) ?? false
    }
}

private struct ComparesText: SlotCondition {
    let text: String
    let wanted: ComparisonResults

    func holds(_ slot: SlotValue) -> Bool {
        guard case .text(let value) = slot else { return false }
        return wanted.contains(TextBytes.compare(value, text))
    }
}
