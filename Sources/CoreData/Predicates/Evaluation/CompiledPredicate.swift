import Foundation
import PredicateSyntax

/// The object and variables of one evaluation.
struct EvaluationFrame {
    /// `SELF`.
    let subject: PredicateValue
    /// Variables of subqueries and of the caller.
    var variables: [String: PredicateValue] = [:]
}

/// A predicate compiled to closures, for many evaluations.
///
/// With an entity, keys are resolved in the model once and values are read by slot. Comparing an attribute with a
/// constant then does not allocate. Without an entity, the predicate reads any object by key.
///
/// Rules for `nil`, as in the SQL translation: `nil` equals only `nil`, so `a != 1` is true if `a` is `nil`. `nil` is
/// neither less nor greater, begins with nothing and contains nothing. NOT negates exactly these results.
struct CompiledPredicate {
    private let test: PredicateTest

    /// - Parameters:
    ///   - tree: the predicate; remaining variables are looked up at evaluation.
    ///   - entity: the entity of the objects, or an ancestor of it, if known.
    /// - Throws: a `CocoaError` that names the unknown key, the constant of a wrong type, the unknown function or the
    ///   malformed regular expression.
    init(_ tree: PredicateTree, entity: NSEntityDescription? = nil) throws {
        var compiler = PredicateCompiler(entity: entity)
        test = try compiler.predicate(entity.map { try PredicateResolver(entity: $0).resolve(tree) } ?? tree)
    }

    /// Compiles as ``init(_:entity:)`` without an entity does, but reads objects of `entity` by slot. Constants are
    /// not converted, and keys need not exist.
    ///
    /// - Returns: `nil` if the tree cannot be compiled in this way.
    init?(_ tree: PredicateTree, readingSlotsOf entity: NSEntityDescription) {
        var compiler = PredicateCompiler(entity: entity)
        guard let test = try? compiler.predicate(tree) else { return nil }
        self.test = test
    }

    /// The predicate as slot tests; `nil` if it reads anything other than slots of `SELF`.
    var ofSlots: SlotTree? { test.ofSlots }

    /// True if `object` matches.
    func evaluate(_ object: any RowReadable) -> Bool { test(EvaluationFrame(subject: .object(object))) }

    /// True if the predicate matches with any value as `SELF`.
    func evaluate(any object: Any?, variables: [String: Any] = [:]) -> Bool {
        test(EvaluationFrame(subject: PredicateValue(object), variables: variables.mapValues { PredicateValue($0) }))
    }
}

/// A compiled expression.
struct CompiledExpression {
    let evaluate: (EvaluationFrame) -> PredicateValue
    /// The value, if it is the same for every object.
    var constant: PredicateValue?
    /// The slot of the value, for an attribute or to-one relationship of `SELF`.
    var slot: SlotAccess?

    init(slot: SlotAccess? = nil, _ evaluate: @escaping (EvaluationFrame) -> PredicateValue) {
        self.evaluate = evaluate
        self.slot = slot
    }

    init(constant: PredicateValue) {
        self.constant = constant
        evaluate = { _ in constant }
    }

    /// The public value of an expression for one object.
    static func value(of tree: ExpressionTree, object: Any?, variables: [String: Any]) throws -> Any? {
        var compiler = PredicateCompiler(entity: nil)
        let frame = EvaluationFrame(
            subject: PredicateValue(object), variables: variables.mapValues { PredicateValue($0) })
        return try compiler.expression(tree).evaluate(frame).foundationValue
    }
}

/// The slot of a property in the rows of an entity and its descendants.
///
/// The slot depends on the concrete entity. It is looked up by the index of the row's entity, without hashing.
package struct SlotAccess {
    let isDate: Bool
    let isToOne: Bool
    private let slots: [Int32]

    init?(_ key: String, of entity: NSEntityDescription) {
        guard let property = entity.property(named: key) else { return nil }
        let family = entity.family
        var slots = [Int32](repeating: -1, count: (family.map(\.layout.index).max() ?? 0) + 1)
        for member in family {
            switch member.layout.place(of: key) {
            case .attribute(let slot), .toOne(let slot): slots[member.layout.index] = Int32(slot)
            default: return nil
            }
        }
        self.slots = slots
        isToOne = property is NSRelationshipDescription
        isDate = (property as? NSAttributeDescription)?.attributeType == .dateAttributeType
    }

    /// The slot; `-1` if the row's entity is not in the hierarchy.
    @inline(__always)
    func slot(in layout: EntityLayout) -> Int {
        let index = layout.index
        return index < slots.count ? Int(slots[index]) : -1
    }

    func slot(in row: any RowReadable) -> Int { slot(in: row.rowLayout) }

    @inline(__always)
    func value(of row: any RowReadable) -> SlotValue { row.slotValue(at: self) }
}
