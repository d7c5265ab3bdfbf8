import Foundation
import PredicateSyntax

/// What a predicate or expression is evaluated for.
struct EvaluationFrame {
    /// `SELF`.
    let subject: PredicateValue
    /// The variables of subqueries and of the caller.
    var variables: [String: PredicateValue] = [:]
}

/// A predicate, compiled to closures once and evaluated many times.
///
/// For an entity, its keys are looked up in the model once and its values are read by slot; comparing an attribute with a
/// constant then allocates nothing. Without an entity it reads any object by key.
///
/// The rules for `nil`, the same as of the SQL translation: `nil` equals `nil` and nothing else, so `a != 1` holds where `a`
/// is `nil`; `nil` is neither less nor greater, begins with nothing and contains nothing; NOT turns exactly that round.
struct CompiledPredicate {
    private let test: PredicateTest

    /// - Parameters:
    ///   - tree: the predicate; variables that are not substituted are looked up at evaluation.
    ///   - entity: the entity of the objects (or a parent of theirs), where it is known.
    /// - Throws: a `CocoaError` that says which key the entity does not have, which constant is of a wrong type, which
    ///   function does not exist or which regular expression is malformed.
    init(_ tree: PredicateTree, entity: NSEntityDescription? = nil) throws {
        var compiler = PredicateCompiler(entity: entity)
        test = try compiler.predicate(entity.map { try PredicateResolver(entity: $0).resolve(tree) } ?? tree)
    }

    /// The same as ``init(_:entity:)`` without an entity, only that values of objects of `entity` are read by slot:
    /// constants stay what they are, and keys need not exist.
    ///
    /// - Returns: `nil` where it cannot be compiled so.
    init?(_ tree: PredicateTree, readingSlotsOf entity: NSEntityDescription) {
        var compiler = PredicateCompiler(entity: entity)
        guard let test = try? compiler.predicate(tree) else { return nil }
        self.test = test
    }

    /// `nil` where more than slots of `SELF` is looked at.
    var ofSlots: SlotTree? { test.ofSlots }

    /// Whether `object` matches.
    func evaluate(_ object: any RowReadable) -> Bool { test(EvaluationFrame(subject: .object(object))) }

    /// Whether any value matches as `SELF`.
    func evaluate(any object: Any?, variables: [String: Any] = [:]) -> Bool {
        test(EvaluationFrame(subject: PredicateValue(object), variables: variables.mapValues { PredicateValue($0) }))
    }
}

/// An expression, compiled.
struct CompiledExpression {
    let evaluate: (EvaluationFrame) -> PredicateValue
    /// The value, where it is the same for every object.
    var constant: PredicateValue?
    /// Where the value stands in a row, for an attribute or to-one relationship of `SELF`.
    var slot: SlotAccess?

    init(slot: SlotAccess? = nil, _ evaluate: @escaping (EvaluationFrame) -> PredicateValue) {
        self.evaluate = evaluate
        self.slot = slot
    }

    init(constant: PredicateValue) {
        self.constant = constant
        evaluate = { _ in constant }
    }

    /// The value of an expression for one object, as a user gets it.
    static func value(of tree: ExpressionTree, object: Any?, variables: [String: Any]) throws -> Any? {
        var compiler = PredicateCompiler(entity: nil)
        let frame = EvaluationFrame(
            subject: PredicateValue(object), variables: variables.mapValues { PredicateValue($0) })
        return try compiler.expression(tree).evaluate(frame).foundationValue
    }
}

/// Where the value of a property stands in the rows of an entity and of its descendants.
///
/// A slot's number depends on the concrete entity; it is looked up by the number of the row's entity, without hashing.
struct SlotAccess {
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

    /// `-1` for a row of an entity that does not belong.
    @inline(__always)
    func slot(in layout: EntityLayout) -> Int {
        let index = layout.index
        return index < slots.count ? Int(slots[index]) : -1
    }

    func slot(in row: any RowReadable) -> Int { slot(in: row.rowLayout) }

    @inline(__always)
    func value(of row: any RowReadable) -> SlotValue { row.slotValue(at: self) }
}
