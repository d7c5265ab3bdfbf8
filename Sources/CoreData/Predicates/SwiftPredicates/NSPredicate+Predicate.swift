import Foundation
import PredicateSyntax

extension PredicateFormatInitializable {
    /// The predicate that `predicate`, made with `#Predicate`, stands for; `nil` where it has no such form.
    ///
    /// What can be said of a modelled property can be converted: comparisons, `&&`, `||`, `!`, arithmetic, `??`, `?.` and
    /// `!`, conditions, `contains`, `starts(with:)`, ranges, `isEmpty`, `count`, `first`, `filter`, `contains(where:)` and
    /// `allSatisfy` of to-many relationships. Casts and subscripts with a key cannot. Use `NSPredicate.parse(_:)` to learn
    /// the reason. On any thread; to find the keys of a key path the first time takes a trial on an object of its class.
    ///
    /// - Parameter predicate: its input is a class of managed objects whose entity is in a model that is in use: the key behind
    ///   a key path is found by the model.
    public init?<Input>(_ predicate: Predicate<Input>) where Input: NSObject {
        guard let made = try? NSPredicate.parse(predicate) as? Self else { return nil }
        self = made
    }
}

extension NSPredicate {
    /// Converts a predicate made with `#Predicate`, and throws where it has no such form. An addition to Apple's interface.
    /// On any thread; to find the keys of a key path the first time takes a trial on an object of its class.
    ///
    /// - Parameter predicate: its input is a class of managed objects whose entity is in a model that is in use.
    /// - Returns: the predicate, as a format string would make it.
    /// - Throws: `CocoaError` with code 2048, which names the part that cannot be converted.
    public static func parse<Input>(_ predicate: Predicate<Input>) throws -> NSPredicate where Input: NSObject {
        let translation = SwiftPredicateTranslation(input: predicate.variable.key)
        return make(try translation.predicate(predicate.expression))
    }
}

extension NSExpression {
    /// The expression that `expression`, made with `#Expression`, stands for; `nil` where it has no such form. What can be
    /// converted is what the initialiser of `NSPredicate` from a `Predicate` names.
    ///
    /// - Parameter expression: its input is a class of managed objects whose entity is in a model that is in use.
    public convenience init?<Input, Output>(_ expression: Expression<Input, Output>) where Input: NSObject {
        let translation = SwiftPredicateTranslation(input: expression.variable.key)
        guard let tree = try? translation.value(expression.expression) else { return nil }
        self.init(tree)
    }
}
