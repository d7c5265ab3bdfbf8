import Foundation
import PredicateSyntax

/// A part of a comparison: a value, a key path, a function. Foundation on Linux only declares the name of this class.
///
/// Immutable, and safe on any thread if the objects in it are.
// SAFETY: immutable; values and blocks in it belong to the user, who must only share those that are safe to share.
open class NSExpression: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// The kinds, with Apple's raw values.
    public enum ExpressionType: UInt, Sendable {
        /// A constant.
        case constantValue = 0
        /// The evaluated object: `SELF`.
        case evaluatedObject = 1
        /// A variable: `$name`.
        case variable = 2
        /// The value at a key path.
        case keyPath = 3
        /// A function of arguments.
        case function = 4
        /// The members of two collections.
        case unionSet = 5
        /// The members that two collections have in common.
        case intersectSet = 6
        /// The members that only the first of two collections has.
        case minusSet = 7
        /// The members of a collection that match: `SUBQUERY`.
        case subquery = 13
        /// A list of expressions.
        case aggregate = 14
        /// Any key. Never used here.
        case anyKey = 15
        /// A block.
        case block = 19
        /// One of two expressions, depending on a predicate: `TERNARY`.
        case conditional = 20
        /// The type of `NSFetchRequestExpression`.
        case fetchRequest = 50
    }

    package let tree: ExpressionTree

    package init(_ tree: ExpressionTree) { self.tree = tree }

    /// The evaluated object: `SELF`.
    open class func expressionForEvaluatedObject() -> NSExpression { NSExpression(.evaluatedObject) }

    // MARK: Reading expressions

    /// The kind of the expression.
    open var expressionType: ExpressionType {
        switch tree {
        case .constant: .constantValue
        case .evaluatedObject: .evaluatedObject
        case .variable: .variable
        case .keyPath, .keyPathOf: .keyPath
        case .function(ExpressionTree.fetchFunction, let arguments) where arguments.count == 3: .fetchRequest
        case .function, .functionOn, .index: .function
        case .aggregate: .aggregate
        case .subquery: .subquery
        case .conditional: .conditional
        case .set(.union, _, _): .unionSet
        case .set(.intersect, _, _): .intersectSet
        case .set(.minus, _, _): .minusSet
        case .opaque: .block
        }
    }

    /// The value of a constant; a number as an `NSNumber`, which can be cast to any Swift number that it fits.
    open var constantValue: Any? {
        guard case .constant(let value) = tree else { return nil }
        return value.map(PredicateWork.known.handedOut)
    }

    /// The key path with dots. Precondition: the expression is a key path.
    open var keyPath: String {
        switch tree {
        case .keyPath(let keys), .keyPathOf(_, let keys): keys.joined(separator: ".")
        default: preconditionFailure("\(description) is no key path")
        }
    }

    /// The name of a function. Precondition: the expression is a function.
    open var function: String {
        switch tree {
        case .function(let name, _), .functionOn(_, let name, _): name
        case .index: "objectFrom:withIndex:"
        default: preconditionFailure("\(description) is no function")
        }
    }

    /// The name of a variable. Precondition: the expression is a variable or a subquery.
    open var variable: String {
        switch tree {
        case .variable(let name), .subquery(_, let name, _): name
        default: preconditionFailure("\(description) has no variable")
        }
    }

    /// The target of a function or of a key path. Precondition: the expression has one.
    open var operand: NSExpression {
        switch tree {
        case .keyPathOf(let base, _), .functionOn(let base, _, _): NSExpression(base)
        case .keyPath, .function: NSExpression(.evaluatedObject)
        default: preconditionFailure("\(description) has no operand")
        }
    }

    /// The arguments of a function; `nil` for other kinds.
    open var arguments: [NSExpression]? {
        switch tree {
        case .function(_, let arguments), .functionOn(_, _, let arguments): arguments.map { NSExpression($0) }
        default: nil
        }
    }

    /// The elements of an aggregate, or the collection of a subquery.
    open var collection: Any {
        switch tree {
        case .aggregate(let elements): elements.map { NSExpression($0) }
        case .subquery(let collection, _, _): NSExpression(collection)
        default: preconditionFailure("\(description) has no collection")
        }
    }

    /// The predicate of a subquery or a condition. Precondition: the expression has one.
    open var predicate: NSPredicate {
        switch tree {
        case .subquery(_, _, let predicate), .conditional(let predicate, _, _):
            PredicateWork.known.predicate(of: predicate)
        default: preconditionFailure("\(description) has no predicate")
        }
    }

    /// The left collection.
    ///
    /// - Precondition: The expression is a union, an intersection or a difference.
    open var left: NSExpression {
        guard case .set(_, let left, _) = tree else { preconditionFailure("\(description) has no left side") }
        return NSExpression(left)
    }

    /// The right collection.
    ///
    /// - Precondition: The expression is a union, an intersection or a difference.
    open var right: NSExpression {
        guard case .set(_, _, let right) = tree else { preconditionFailure("\(description) has no right side") }
        return NSExpression(right)
    }

    /// The expression if the predicate holds.
    ///
    /// - Precondition: The expression is a conditional one.
    open var `true`: NSExpression {
        guard case .conditional(_, let first, _) = tree else { preconditionFailure("\(description) has no condition") }
        return NSExpression(first)
    }

    /// The expression if the predicate does not hold.
    ///
    /// - Precondition: The expression is a conditional one.
    open var `false`: NSExpression {
        guard case .conditional(_, _, let second) = tree else { preconditionFailure("\(description) has no condition") }
        return NSExpression(second)
    }

    // MARK: Evaluating

    /// Returns the value of the expression for `object`; numbers are `NSNumber`s.
    ///
    /// - Parameters:
    ///   - object: the object that key paths start from.
    ///   - context: the values of the variables.
    /// - Precondition: the functions of the expression exist; Apple's framework raises an exception otherwise.
    open func expressionValue(with object: Any?, context: NSMutableDictionary?) -> Any? {
        var variables: [String: Any] = [:]
        for (key, value) in context ?? [:] { if let name = key as? String { variables[name] = value } }
        do {
            return try PredicateWork.known.value(of: tree, for: object, variables: variables)
        } catch {
            preconditionFailure("\(description) cannot be evaluated: \(error.localizedDescription)")
        }
    }

    /// Does nothing: expressions from archives are parsed from their format, and may always be evaluated.
    open func allowEvaluation() {}

    // MARK: NSObject

    open override var description: String { FormatPrinter.string(tree) }
    open func copy(with zone: NSZone? = nil) -> Any { self }

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSExpression else { return false }
        return other === self || other.description == description
    }

    open override var hash: Int { description.hash }

    /// Always `true`.
    open class var supportsSecureCoding: Bool { true }
    private static let formatKey = "NSExpressionFormat"

    open func encode(with coder: NSCoder) { coder.encode(description as NSString, forKey: Self.formatKey) }

    public required init?(coder: NSCoder) {
        guard let text = coder.decodeObject(of: NSString.self, forKey: Self.formatKey),
            let tree = try? FormatParser.expression(text as String)
        else { return nil }
        self.tree = tree
    }
}
