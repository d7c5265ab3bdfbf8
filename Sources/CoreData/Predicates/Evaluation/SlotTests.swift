import Foundation
import PredicateSyntax

/// The fast path: an attribute or to-one relationship of `SELF` compared with a constant, without leaving the slot.
enum SlotTests {
    /// `nil` where the comparison is of another form.
    static func test(
        _ tree: ComparisonTree, left: CompiledExpression, right: CompiledExpression
    ) -> PredicateCompiler.Test? {
        guard let access = left.slot, let constant = right.constant, !TextFolding.isNeeded(tree.options),
            !tree.options.contains(.localeSensitive)
        else { return nil }
        switch tree.comparison {
        case .equalTo: return equality(access, constant, isEqual: true)
        case .notEqualTo: return equality(access, constant, isEqual: false)
        case .lessThan: return order(access, constant) { $0 < 0 }
        case .lessThanOrEqualTo: return order(access, constant) { $0 <= 0 }
        case .greaterThan: return order(access, constant) { $0 > 0 }
        case .greaterThanOrEqualTo: return order(access, constant) { $0 >= 0 }
        default: return nil
        }
    }

    @inline(__always)
    private static func test(
        _ access: SlotAccess, _ holds: @escaping (SlotValue) -> Bool
    ) -> PredicateCompiler.Test {
        { frame in
            guard case .object(let row) = frame.subject else { return holds(.null) }
            return holds(access.value(of: row))
        }
    }

    private static func equality(
        _ access: SlotAccess, _ constant: PredicateValue, isEqual: Bool
    ) -> PredicateCompiler.Test? {
        switch constant {
        case .null: return test(access) { $0.isNull == isEqual }
        case .integer(let number):
            return test(access) { slot in
                if case .integer(let value) = slot { return (value == number) == isEqual }
                return ValueOrder.areEqual(PredicateValue(slot, isDate: false), constant) == isEqual
            }
        case .text(let text):
            return test(access) { slot in
                guard case .text(let value) = slot else { return !isEqual }
                return TextBytes.areEqual(value, text) == isEqual
            }
        case .object, .reference:
            guard access.isToOne, let id = constant.objectID else { return nil }
            return test(access) { slot in
                guard case .reference(let value) = slot else { return !isEqual }
                return (value === id || value.isEqual(id)) == isEqual
            }
        default: return nil
        }
    }

    private static func order(
        _ access: SlotAccess, _ constant: PredicateValue, _ holds: @escaping (Int) -> Bool
    ) -> PredicateCompiler.Test? {
        switch constant {
        case .integer, .real, .date:
            guard let number = constant.number else { return nil }
            return test(access) { slot in
                let value: Number
                switch slot {
                case .integer(let slot): value = .integer(slot)
                case .real(let slot): value = .real(slot)
                case .decimal(let slot): value = Number(slot.decimalValue)
                default: return false
                }
                return Number.compare(value, number).map { holds($0.rawValue) } ?? false
            }
        case .text(let text):
            return test(access) { slot in
                guard case .text(let value) = slot else { return false }
                return holds(TextBytes.compare(value, text).rawValue)
            }
        default: return nil
        }
    }
}
