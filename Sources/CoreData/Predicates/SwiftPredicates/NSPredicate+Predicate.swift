import Foundation
import PredicateSyntax

extension PredicateFormatInitializable {
    /// Converts a predicate made with `#Predicate`; `nil` if it cannot be converted.
    ///
    /// Supported for modelled properties: comparisons, `&&`, `||`, `!`, arithmetic, `??`, `?.` and `!`, conditions,
    /// `contains`, `starts(with:)`, ranges, `isEmpty`, `count`, `first`, `filter`, `contains(where:)` and
    /// `allSatisfy` of to-many relationships. Casts and subscripts with a key are not. Use `NSPredicate.parse(_:)` to
    /// get the reason. On any thread. The first use of a key path evaluates it on a sample object of its class to
    /// find its keys.
    ///
    /// - Parameter predicate: its input is a class of managed objects whose entity is in a model in use, because the
    ///   model supplies the keys of key paths.
    public init?<Input>(_ predicate: Predicate<Input>) where Input: NSObject {
        guard let made = try? NSPredicate.parse(predicate) as? Self else { return nil }
        self = made
    }
}

extension NSPredicate {
    /// Converts a predicate made with `#Predicate`, and throws if this is not possible. An addition to Apple's API.
    /// On any thread. The first use of a key path evaluates it on a sample object of its class to find its keys.
    ///
    /// - Parameter predicate: its input is a class of managed objects whose entity is in a model in use.
    /// - Returns: the predicate that the equivalent format string would make.
    /// - Throws: `CocoaError` with code 2048, which names the part that cannot be converted.
    public static func parse<Input>(_ predicate: Predicate<Input>) throws -> NSPredicate where Input: NSObject {
        let translation = SwiftPredicateTranslation(input: predicate.variable.key)
        return make(try translation.predicate(predicate.expression))
    }
}

extension NSExpression {
    /// Converts an expression made with `#Expression`; `nil` if it cannot be converted. Supports the same operations
    /// as `NSPredicate`'s initialiser for a `Predicate`.
    ///
    /// - Parameter expression: its input is a class of managed objects whose entity is in a model in use.
    public convenience init?<Input, Output>(_ expression: Expression<Input, Output>) where Input: NSObject {
        let translation = SwiftPredicateTranslation(input: expression.variable.key)
        guard let tree = try? translation.value(expression.expression) else { return nil }
        self.init(tree)
    }
}
