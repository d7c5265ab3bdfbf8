import CoreDataPredicates
import Foundation
import PredicateSyntax

// Expressions can be created on any thread.
extension NSExpression {
    /// Parses an expression format string. For text from outside the program use ``parse(format:arguments:)``.
    ///
    /// - Precondition: the text is an expression and the arguments fit.
    public convenience init(format expressionFormat: String, _ arguments: Any?...) {
        self.init(format: expressionFormat, argumentArray: arguments)
    }

    /// Parses an expression format string with its arguments in an array.
    ///
    /// - Precondition: the text is an expression and the arguments fit.
    public convenience init(format expressionFormat: String, argumentArray arguments: [Any?]) {
        do {
            self.init(try FormatParser.expression(expressionFormat, arguments: FormatArgument.list(arguments)))
        } catch {
            preconditionFailure("Unable to parse the format string \"\(expressionFormat)\": \(error)")
        }
    }

    /// Parses an expression format string with C arguments, as `withVaList(_:_:)` makes them.
    ///
    /// - Precondition: the text is an expression and the arguments fit.
    public convenience init(format expressionFormat: String, arguments argList: CVaListPointer) {
        do {
            self.init(
                format: expressionFormat, argumentArray: try VariadicArguments.list(expressionFormat, argList))
        } catch {
            preconditionFailure("Unable to parse the format string \"\(expressionFormat)\": \(error)")
        }
    }

    /// Parses an expression format string, and throws if it is malformed. An addition to Apple's API. On any thread.
    ///
    /// - Throws: ``PredicateFormatError``, with the position of the error.
    public static func parse(format: String, arguments: [Any?] = []) throws -> NSExpression {
        do {
            return NSExpression(try FormatParser.expression(format, arguments: FormatArgument.list(arguments)))
        } catch {
            throw PredicateFormatError(error)
        }
    }

    /// A constant. `nil`, `NSNull` and an empty optional all become `nil`.
    public convenience init(forConstantValue obj: Any?) {
        self.init(.constant(obj is NSNull ? nil : obj.flatMap(OptionalValues.unwrapped)))
    }
    /// The value of a variable: `$name` in a format.
    public convenience init(forVariable string: String) { self.init(.variable(string)) }
    /// The value at a key path. A path that begins with `$` reads a variable.
    public convenience init(forKeyPath keyPath: String) {
        let keys = keyPath.split(separator: ".").map(String.init)
        guard let first = keys.first, first.hasPrefix("$"), keys.count > 1 else {
            self.init(.keyPath(keys))
            return
        }
        self.init(.keyPathOf(.variable(String(first.dropFirst())), Array(keys.dropFirst())))
    }

    /// The value at the key path of a Swift key path of managed properties. The first use of a key path finds its
    /// keys by a trial on an object of the class.
    ///
    /// - Precondition: the key path has a key, and the class has an entity in a model in use.
    public convenience init<Root, Value>(forKeyPath keyPath: KeyPath<Root, Value>) {
        guard let key = (Root.self as? any KeyPathNaming.Type)?.key(of: keyPath) else {
            preconditionFailure("\(keyPath) is not a property of a managed object")
        }
        self.init(forKeyPath: key)
    }

    /// A function of arguments, such as `sum:`. Arguments other than expressions become constants.
    ///
    /// - Precondition: the function is in Apple's list.
    public convenience init(forFunction name: String, arguments parameters: [Any]) {
        precondition(Functions.exists(name), "Unknown function \(name)")
        self.init(.function(name, parameters.map(Self.tree(of:))))
    }

    /// The function `name` of the value of `target`: `FUNCTION(target, name, …)` in a format.
    public convenience init(forFunction target: NSExpression, selectorName name: String, arguments parameters: [Any]?) {
        self.init(.functionOn(target.tree, name, (parameters ?? []).map(Self.tree(of:))))
    }

    /// A list: `{a, b}` in a format. Elements other than expressions become constants.
    public convenience init(forAggregate subexpressions: [Any]) {
        self.init(.aggregate(subexpressions.map(Self.tree(of:))))
    }

    /// The union of two collections: `a UNION b`.
    public convenience init(forUnionSet left: NSExpression, with right: NSExpression) {
        self.init(.set(.union, left.tree, right.tree))
    }

    /// The intersection of two collections: `a INTERSECT b`.
    public convenience init(forIntersectSet left: NSExpression, with right: NSExpression) {
        self.init(.set(.intersect, left.tree, right.tree))
    }

    /// The elements of the left collection that are not in the right one: `a MINUS b`.
    public convenience init(forMinusSet left: NSExpression, with right: NSExpression) {
        self.init(.set(.minus, left.tree, right.tree))
    }

    /// The elements of a collection that match: `SUBQUERY(collection, $variable, predicate)`.
    public convenience init(
        forSubquery expression: NSExpression, usingIteratorVariable variable: String, predicate: NSPredicate
    ) {
        self.init(.subquery(expression.tree, variable: variable, predicate: predicate.syntaxTree))
    }

    /// One expression if a predicate is true, and another if it is false: `TERNARY(predicate, a, b)`.
    public convenience init(
        forConditional predicate: NSPredicate, trueExpression: NSExpression, falseExpression: NSExpression
    ) {
        self.init(.conditional(predicate.syntaxTree, trueExpression.tree, falseExpression.tree))
    }

    /// A block expression: it can be evaluated, but a store cannot translate it. The block runs on the thread that
    /// evaluates the expression.
    @preconcurrency
    public convenience init(
        block: @escaping @Sendable (Any?, [NSExpression], NSMutableDictionary?) -> Any, arguments: [NSExpression]?
    ) {
        let arguments = arguments ?? []
        self.init(
            .opaque(
                OpaqueExpression { object, variables in
                    block(object, arguments, NSMutableDictionary(dictionary: variables))
                }))
    }

    private static func tree(of argument: Any) -> ExpressionTree {
        (argument as? NSExpression)?.tree ?? .constant(argument is NSNull ? nil : argument)
    }
}
