import Foundation
import PredicateSyntax
import Synchronization

extension NSPredicate {
    /// The predicate as a value. A block predicate is opaque.
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

    /// The predicate of a tree, of the class that Apple's would be.
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

    /// The predicate as a format string that parses back, also where Foundation's own `predicateFormat` does not know:
    /// for compound predicates made in a file that imports Foundation alone. An addition to Apple's interface.
    public var formatString: String { FormatPrinter.string(syntaxTree) }
}

/// Reaches Foundation's `predicateFormat`, which tells a constant predicate from a block.
private enum FoundationFormat {
    static func of(_ predicate: any Formatted) -> String { predicate.predicateFormat }
}

private protocol Formatted { var predicateFormat: String { get } }
extension NSPredicate: Formatted {}

/// A predicate that is evaluated as its tree says, and in no way of a subclass's own.
protocol TreePredicate {
    /// `nil` for an object of a subclass.
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

/// The evaluation of a predicate on any object, compiled at the first use. Safe on any thread.
// SAFETY: the lock guards what was compiled; `first` is an atomic, and what it leads to lives as long as the evaluator.
final class LazyEvaluator: @unchecked Sendable {
    private let lock = NSLock()
    private var compiled: CompiledPredicate?
    /// The predicate for the entity whose object came first: usually all objects are of it. Kept by the evaluator, so
    /// that its users need not retain it.
    private let first = Atomic<UInt>(0)
    /// What `first` names. Guarded by the lock.
    private var kept: ForLayout?
    /// The predicates for the entities that came later, which they keep. Guarded by the lock.
    private var others: [ObjectIdentifier: ForLayout] = [:]
    /// How many these are at most: a predicate may outlive the models of its objects.
    private static let mostOthers = 64

    // SAFETY: the predicate is immutable, and the caller holds the value that a reference is taken from.
    private final class ForLayout: Sendable {
        let layout: EntityLayout
        /// The static type of the first object, if it is a class of managed objects: all values of that type are objects then.
        let declared: DeclaredClass<NSManagedObject>
        nonisolated(unsafe) private let predicate: CompiledPredicate
        private let program: SlotProgram?

        init(_ object: NSManagedObject, in value: Any?, _ predicate: CompiledPredicate) {
            layout = object.layout
            declared = DeclaredClass(of: value)
            self.predicate = predicate
            program = predicate.program(for: object.layout)
        }

        /// `nil` where `object` is of another entity.
        @inline(__always)
        func evaluate(_ object: NSManagedObject) -> Bool? {
            guard object.has(layout) else { return nil }
            return program?.holds(for: object) ?? predicate.evaluate(object)
        }
    }

    /// Whether `object` matches, where it is of the entity of the first one that came, and was put into a value of any type
    /// as one of the same class; `nil` otherwise.
    // SAFETY: `first` is 0 or names `kept`, which is set once and stays while the evaluator lives.
    @inline(__always)
    func evaluateKnown(_ object: Any?) -> Bool? {
        guard let first = UnsafeRawPointer(bitPattern: first.load(ordering: .acquiring)), let object else { return nil }
        return evaluate(opened: object, by: Unretained<ForLayout>(address: first))
    }

    /// `nil` where `value` is of another type than the first, or its object of another entity.
    // SAFETY: the evaluator holds `known`, and the caller the value.
    @inline(__always)
    private func evaluate<Value>(opened value: Value, by known: Unretained<ForLayout>) -> Bool? {
        guard let reference = known.with(\.declared).reference(in: value) else { return nil }
        return reference.with { object in known.with { $0.evaluate(object) } }
    }

    /// Whether `object` matches.
    ///
    /// - Precondition: as that of the other.
    @inline(__always)
    func evaluate(_ tree: @autoclosure () -> PredicateTree, on object: NSManagedObject) -> Bool {
        evaluateFirst(object) ?? evaluate(tree(), with: object, variables: nil)
    }

    /// The same for an object.
    // SAFETY: `first` is 0 or names `kept`, which is set once and stays while the evaluator lives.
    @inline(__always)
    private func evaluateFirst(_ object: NSManagedObject) -> Bool? {
        guard let first = UnsafeRawPointer(bitPattern: first.load(ordering: .acquiring)) else { return nil }
        return Unretained<ForLayout>(address: first).with { $0.evaluate(object) }
    }

    /// - Precondition: the predicate can be evaluated: its functions exist, its regular expressions are well formed, as
    ///   Apple's raises an exception otherwise.
    func evaluate(_ tree: PredicateTree, with object: Any?, variables: [String: Any]?) -> Bool {
        if variables == nil, let row = object as? NSManagedObject {
            if let known = evaluateFirst(row) ?? forLayout(of: row, in: object, tree).evaluate(row) {
                return known
            }
        }
        return untyped(tree).evaluate(any: object, variables: variables ?? [:])
    }

    /// What was compiled for objects of that layout. Under the lock.
    private func known(for layout: EntityLayout) -> ForLayout? {
        if let kept, kept.layout === layout { return kept }
        return others[ObjectIdentifier(layout)]
    }

    /// The predicate that reads the values of such objects by slot.
    // SAFETY: `kept` holds what `first` names.
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

    /// Compiled outside of the lock, as the constants of a program's own types are compared and hashed for it.
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
