import Foundation
import PredicateSyntax
import Synchronization

extension NSPredicate {
    /// The predicate as a syntax tree. A block predicate is opaque.
    var syntaxTree: PredicateTree {
        switch self {
        case let predicate as NSComparisonPredicate: return .comparison(predicate.tree)
        case let predicate as NSCompoundPredicate: return predicate.tree
        case let predicate as Foundation.NSCompoundPredicate:
            let parts = predicate.subpredicates.map(\.syntaxTree)
            switch predicate.compoundPredicateType {
            case .and: return .and(parts)
            case .or: return .or(parts)
            case .not: return .not(parts.first ?? .constant(true))
            }
        default:
            switch FoundationFormat.of(self) {
            case "TRUEPREDICATE": return .constant(true)
            case "FALSEPREDICATE": return .constant(false)
            default:
                return .opaque(
                    OpaquePredicate { self.evaluate(with: $0, substitutionVariables: $1.isEmpty ? nil : $1) })
            }
        }
    }

    /// The predicate of a tree, in the class that Apple's framework would use.
    static func make(_ tree: PredicateTree) -> NSPredicate {
        switch tree {
        case .constant(let value): NSPredicate(value: value)
        case .comparison(let comparison): NSComparisonPredicate(comparison)
        case .and(let parts): NSCompoundPredicate(tree, type: .and, subpredicates: parts.map(make))
        case .or(let parts): NSCompoundPredicate(tree, type: .or, subpredicates: parts.map(make))
        case .not(let part): NSCompoundPredicate(tree, type: .not, subpredicates: [make(part)])
        case .opaque(let code): NSPredicate(block: { object, variables in code.evaluate(object, variables ?? [:]) })
        }
    }

    /// The predicate as a format string that parses back. Also works for compound predicates created in a file that
    /// imports only Foundation, for which `predicateFormat` does not. An addition to Apple's API.
    public var formatString: String { FormatPrinter.string(syntaxTree) }
}

/// Calls Foundation's `predicateFormat`, which distinguishes a constant predicate from a block.
private enum FoundationFormat {
    static func of(_ predicate: any Formatted) -> String { predicate.predicateFormat }
}

private protocol Formatted { var predicateFormat: String { get } }
extension NSPredicate: Formatted {}

/// A predicate that is evaluated by its tree, without overrides in a subclass.
protocol TreePredicate {
    /// The evaluator and the tree; `nil` for an object of a subclass.
    var evaluation: (evaluator: LazyEvaluator, tree: PredicateTree)? { get }
}

extension NSCompoundPredicate: TreePredicate {
    var evaluation: (evaluator: LazyEvaluator, tree: PredicateTree)? {
        guard type(of: self) == NSCompoundPredicate.self, !hasOwnParts, let evaluator = evaluator as? LazyEvaluator
        else {
            return nil
        }
        return (evaluator, tree)
    }
}

extension NSComparisonPredicate: TreePredicate {
    var evaluation: (evaluator: LazyEvaluator, tree: PredicateTree)? {
        guard type(of: self) == NSComparisonPredicate.self, let evaluator = evaluator as? LazyEvaluator else {
            return nil
        }
        return (evaluator, .comparison(tree))
    }
}

/// Evaluates a predicate on any object. Compiles it at the first use. Safe on any thread.
// SAFETY: the lock guards what was compiled; `first` is an atomic, and its target lives as long as the evaluator.
final class LazyEvaluator: @unchecked Sendable {
    private let lock = NSLock()
    private var compiled: CompiledPredicate?
    /// The predicate compiled for the entity of the first object, which is usually that of all. The evaluator holds
    /// it, so that its users need not retain it.
    private let first = Atomic<UInt>(0)
    /// The target of `first`. Guarded by the lock.
    private var kept: ForLayout?
    /// The predicates compiled for later entities. Guarded by the lock.
    private var others: [ObjectIdentifier: ForLayout] = [:]
    /// Maximum number of entries in `others`, because a predicate may outlive the models of its objects.
    private static let mostOthers = 64

    // SAFETY: the predicate is immutable, and the caller holds the value that a reference is taken from.
    private final class ForLayout: Sendable {
        let layout: EntityLayout
        /// The static type of the first object, if it is a managed-object class. A value declared so needs no
        /// cast.
        let declared: DeclaredClass<NSManagedObject>
        nonisolated(unsafe) private let predicate: CompiledPredicate
        private let program: SlotProgram?

        init(_ object: NSManagedObject, in value: Any?, _ predicate: CompiledPredicate) {
            layout = object.layout
            declared = DeclaredClass(of: value)
            self.predicate = predicate
            program = predicate.program(for: object.layout)
        }

        /// True if `object` matches; `nil` if it is of another entity.
        @inline(__always)
        func evaluate(_ object: NSManagedObject) -> Bool? {
            guard object.has(layout) else { return nil }
            return program?.holds(for: object) ?? predicate.evaluate(object)
        }
    }

    /// True if `object` matches; `nil` unless it has the entity of the first object, and was put into the `Any` as
    /// the same class.
    // SAFETY: `first` is 0 or names `kept`, which is set once and stays while the evaluator lives.
    @inline(__always)
    func evaluateKnown(_ object: Any?) -> Bool? {
        guard let first = UnsafeRawPointer(bitPattern: first.load(ordering: .acquiring)), let object else { return nil }
        return evaluate(opened: object, by: Unretained<ForLayout>(address: first))
    }

    /// True if `value` matches; `nil` if it is of another type than the first object, or of another entity.
    // SAFETY: the evaluator holds `known`, and the caller the value.
    @inline(__always)
    private func evaluate<Value>(opened value: Value, by known: Unretained<ForLayout>) -> Bool? {
        guard let reference = known.with(\.declared).reference(in: value) else { return nil }
        return reference.with { object in known.with { $0.evaluate(object) } }
    }

    /// True if `object` matches.
    ///
    /// - Precondition: as for `evaluate(_:with:variables:)`.
    @inline(__always)
    func evaluate(_ tree: @autoclosure () -> PredicateTree, on object: NSManagedObject) -> Bool {
        evaluateFirst(object) ?? evaluate(tree(), with: object, variables: nil)
    }

    /// True if `object` matches; `nil` if it is not of the first object's entity.
    // SAFETY: `first` is 0 or names `kept`, which is set once and stays while the evaluator lives.
    @inline(__always)
    private func evaluateFirst(_ object: NSManagedObject) -> Bool? {
        guard let first = UnsafeRawPointer(bitPattern: first.load(ordering: .acquiring)) else { return nil }
        return Unretained<ForLayout>(address: first).with { $0.evaluate(object) }
    }

    /// - Precondition: the functions exist and the regular expressions are well formed. Apple's framework raises an
    ///   exception otherwise.
    func evaluate(_ tree: PredicateTree, with object: Any?, variables: [String: Any]?) -> Bool {
        if variables == nil, let row = object as? NSManagedObject {
            if let known = evaluateFirst(row) ?? forLayout(of: row, in: object, tree).evaluate(row) {
                return known
            }
        }
        return untyped(tree).evaluate(any: object, variables: variables ?? [:])
    }

    /// The predicate already compiled for `layout`; `nil` if there is none yet. Call under the lock.
    private func known(for layout: EntityLayout) -> ForLayout? {
        if let kept, kept.layout === layout { return kept }
        return others[ObjectIdentifier(layout)]
    }

    /// The predicate compiled for the layout of `object`, which reads its values by slot.
    // SAFETY: `first` is the address of an object that `kept` retains.
    private func forLayout(of object: NSManagedObject, in value: Any?, _ tree: PredicateTree) -> ForLayout {
        let layout = object.layout
        if let known = lock.withLock({ known(for: layout) }) { return known }
        let made = ForLayout(object, in: value, CompiledPredicate(tree, readingSlotsOf: layout.entity) ?? untyped(tree))
        return lock.withLock {
            if let known = known(for: layout) { return known }
            guard kept != nil else {
                kept = made
                first.store(UInt(bitPattern: Unretained(made).address), ordering: .releasing)
                return made
            }
            if others.count == Self.mostOthers { others = [:] }
            others[ObjectIdentifier(layout)] = made
            return made
        }
    }

    /// Compiles outside the lock, because this compares and hashes constants of a program's own types.
    private func untyped(_ tree: PredicateTree) -> CompiledPredicate {
        if let known = lock.withLock({ compiled }) { return known }
        do {
            let made = try CompiledPredicate(tree)
            return lock.withLock {
                let first = compiled ?? made
                compiled = first
                return first
            }
        } catch {
            preconditionFailure("\(FormatPrinter.string(tree)) cannot be evaluated: \(error.localizedDescription)")
        }
    }
}
