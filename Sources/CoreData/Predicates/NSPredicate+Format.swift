import Foundation
import PredicateSyntax

/// Makes `NSPredicate` from format strings.
///
/// Foundation on Linux has the class but not the format strings. A convenience initialiser in an extension could only
/// make a plain `NSPredicate`; an initialiser of a protocol may hand out any instance, so that, as at Apple's, a format
/// string gives an ``NSComparisonPredicate`` or an `NSCompoundPredicate`, with all that they override.
///
/// The initialisers may be called on any thread. What they make never changes, and is safe on any thread as far as the
/// objects in it are.
public protocol PredicateFormatInitializable {}

extension NSPredicate: PredicateFormatInitializable {}

extension PredicateFormatInitializable {
    /// Reads a predicate format string.
    ///
    /// - Parameters:
    ///   - predicateFormat: the text, with placeholders (`%@`, `%K`, `%d` …) and variables (`$name`).
    ///   - arguments: what takes the place of the placeholders. `nil` and `NSNull` stand for `nil`.
    /// - Precondition: the text is a predicate and the arguments fit, as Apple's raises an exception otherwise. For text
    ///   from outside the program use `NSPredicate.parse(format:arguments:)`.
    public init(format predicateFormat: String, _ arguments: Any?...) {
        self.init(format: predicateFormat, argumentArray: arguments)
    }

    /// Reads a predicate format string with its arguments in an array.
    ///
    /// - Precondition: the text is a predicate and the arguments fit.
    public init(format predicateFormat: String, argumentArray arguments: [Any?]?) {
        do {
            let made = try NSPredicate.parse(format: predicateFormat, arguments: arguments ?? [])
            guard let made = made as? Self else {
                preconditionFailure("\"\(predicateFormat)\" makes a \(type(of: made)), which is no \(Self.self)")
            }
            self = made
        } catch {
            preconditionFailure("Unable to parse the format string \"\(predicateFormat)\": \(error)")
        }
    }

    /// Reads a predicate format string with arguments of C, as `withVaList(_:_:)` makes them.
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
    /// Reads a predicate format string and throws where it is none. An addition to Apple's interface. On any thread.
    ///
    /// - Parameters:
    ///   - format: the text, with placeholders (`%@`, `%K`, `%d` …) and variables (`$name`).
    ///   - arguments: what takes the place of the placeholders. `nil` and `NSNull` stand for `nil`.
    /// - Returns: an ``NSComparisonPredicate``, an `NSCompoundPredicate` or, for a constant, a plain predicate.
    /// - Throws: ``PredicateFormatError``, with the place of the mistake.
    public static func parse(format: String, arguments: [Any?] = []) throws -> NSPredicate {
        do {
            return make(try FormatParser.predicate(format, arguments: FormatArgument.list(arguments)))
        } catch {
            throw PredicateFormatError(error)
        }
    }

    /// A predicate with the values of `variables` in the place of its `$variables`; variables without a value stay. On any
    /// thread.
    public func withSubstitutionVariables(_ variables: [String: Any]) -> NSPredicate {
        NSPredicate.make(Substitution.apply(variables, to: syntaxTree))
    }

    /// Allows a predicate from a secure archive to be evaluated. On Linux every predicate may be: does nothing, on any
    /// thread.
    public func allowEvaluation() {}
}

extension FormatArgument {
    /// The arguments of a user's call; expressions take part in the tree.
    static func list(_ arguments: [Any?]) -> [FormatArgument] {
        arguments.map { argument in
            if let expression = argument as? NSExpression { return .expression(expression.tree) }
            return .value(argument is NSNull ? nil : argument.flatMap(OptionalValues.unwrapped))
        }
    }
}
