import Foundation
import PredicateSyntax

/// Adds format strings to `NSPredicate`.
///
/// Foundation on Linux has the class but not the format strings. A convenience initialiser in an extension could only
/// make a plain `NSPredicate`. A protocol's initialiser may return any instance, so that, as on Apple's platforms, a
/// format string makes an ``NSComparisonPredicate`` or an `NSCompoundPredicate` with its overrides.
///
/// The initialisers may be called on any thread. The predicates are immutable, and safe on any thread if the objects
/// in them are.
public protocol PredicateFormatInitializable {}

extension NSPredicate: PredicateFormatInitializable {}

extension PredicateFormatInitializable {
    /// Parses a predicate format string.
    ///
    /// - Parameters:
    ///   - predicateFormat: the text, with placeholders (`%@`, `%K`, `%d` …) and variables (`$name`).
    ///   - arguments: values for the placeholders. `NSNull` means `nil`.
    /// - Precondition: the text is a predicate and the arguments fit. Apple's framework raises an exception
    ///   otherwise. For text from outside the program use `NSPredicate.parse(format:arguments:)`.
    public init(format predicateFormat: String, _ arguments: Any?...) {
        self.init(format: predicateFormat, argumentArray: arguments)
    }

    /// Parses a predicate format string with its arguments in an array.
    ///
    /// - Precondition: the text is a predicate and the arguments fit.
    public init(format predicateFormat: String, argumentArray arguments: [Any?]?) {
        do {
            let made = try NSPredicate.parse(format: predicateFormat, arguments: arguments ?? [])
            guard let made = made as? Self else {
                preconditionFailure("\"\(predicateFormat)\" makes a \(type(of: made)), not a \(Self.self)")
            }
            self = made
        } catch {
            preconditionFailure("Unable to parse the format string \"\(predicateFormat)\": \(error)")
        }
    }

    /// Parses a predicate format string with C arguments, as `withVaList(_:_:)` makes them.
    ///
    /// - Precondition: the text is a predicate and the arguments fit.
    public init(format predicateFormat: String, arguments argList: CVaListPointer) {
        do {
            self.init(format: predicateFormat, argumentArray: try VariadicArguments.list(predicateFormat, argList))
        } catch {
            preconditionFailure("Unable to parse the format string \"\(predicateFormat)\": \(error)")
        }
    }
}

extension NSPredicate {
    /// Parses a predicate format string, and throws if it is malformed. An addition to Apple's API. On any thread.
    ///
    /// - Parameters:
    ///   - format: the text, with placeholders (`%@`, `%K`, `%d` …) and variables (`$name`).
    ///   - arguments: values for the placeholders. `NSNull` means `nil`.
    /// - Returns: an ``NSComparisonPredicate``, an `NSCompoundPredicate` or, for a constant, a plain predicate.
    /// - Throws: ``PredicateFormatError``, with the position of the error.
    public static func parse(format: String, arguments: [Any?] = []) throws -> NSPredicate {
        do {
            return make(try FormatParser.predicate(format, arguments: FormatArgument.list(arguments)))
        } catch {
            throw PredicateFormatError(error)
        }
    }

    /// A copy of the predicate with `$variables` replaced by the values of `variables`; other variables remain. On
    /// any thread.
    public func withSubstitutionVariables(_ variables: [String: Any]) -> NSPredicate {
        NSPredicate.make(Substitution.apply(variables, to: syntaxTree))
    }

    /// Allows a predicate from a secure archive to be evaluated. Has no effect on Linux, where every predicate may be
    /// evaluated. On any thread.
    public func allowEvaluation() {}
}

extension FormatArgument {
    /// The arguments of a call. Expressions become parts of the tree.
    static func list(_ arguments: [Any?]) -> [FormatArgument] {
        arguments.map { argument in
            if let expression = argument as? NSExpression { return .expression(expression.tree) }
            return .value(argument is NSNull ? nil : argument.flatMap(OptionalValues.unwrapped))
        }
    }
}
