import Foundation
import Synchronization

/// Turns values of one kind into values of another, and back where it can.
///
/// Foundation on Linux has none; this is Apple's. A transformable attribute names the transformer that makes its data: an
/// object of a subclass, registered under that name before the store is opened.
///
/// Transformers are shared and may be called on any thread.
// SAFETY: has no state; subclasses promise to be safe on any thread, as the framework calls them from many.
open class ValueTransformer: NSObject, ValueTransformerLookup, @unchecked Sendable {
    public override init() { super.init() }

    // MARK: Names

    private static let known = Mutex<[NSValueTransformerName: ValueTransformer]>(BuiltInTransformers.all)

    /// Makes a transformer known under a name, in place of the one that had it; `nil` takes the name away.
    public class func setValueTransformer(_ transformer: ValueTransformer?, forName name: NSValueTransformerName) {
        let old = known.withLock { known in
            let old = known[name]
            known[name] = transformer
            return old
        }
        // Goes away outside of the lock, as it may be a program's.
        withExtendedLifetime(old) {}
    }

    /// The names of all transformers that are known.
    public class func valueTransformerNames() -> [NSValueTransformerName] { known.withLock { Array($0.keys) } }

    /// The transformer of that name. Of a ``NamedValueTransformer`` class of that name, with its module, an object is made, once.
    static func transformer(named name: NSValueTransformerName) -> ValueTransformer? {
        if let transformer = known.withLock({ $0[name] }) { return transformer }
        guard let type = NSClassFromString(name.rawValue) as? any NamedValueTransformer.Type else { return nil }
        guard let made = type.init() as? ValueTransformer else { return nil }
        return known.withLock { known in
            if let first = known[name] { return first }
            known[name] = made
            return made
        }
    }

    // MARK: For subclasses

    /// The class of what ``transformedValue(_:)`` gives.
    open class func transformedValueClass() -> AnyClass { NSObject.self }

    /// Whether ``reverseTransformedValue(_:)`` does anything. Yes, unless a subclass says otherwise.
    open class func allowsReverseTransformation() -> Bool { true }

    /// The value that `value` becomes; the value itself, unless a subclass says otherwise.
    open func transformedValue(_ value: Any?) -> Any? { value }

    /// The value that becomes `value`: by default what ``transformedValue(_:)`` gives.
    ///
    /// - Precondition: the class allows it.
    open func reverseTransformedValue(_ value: Any?) -> Any? {
        precondition(
            Self.allowsReverseTransformation(),
            "The value transformer \(type(of: self)) does not allow reverse transformation.")
        return transformedValue(value)
    }
}

/// A class of transformers that need not be registered: the first use of its name, with its module, makes an object of it.
///
/// An addition: a class that does not say so may have any initialisers, and its objects are registered under their names. A
/// final class without initialisers of its own has nothing else to do.
public protocol NamedValueTransformer: AnyObject {
    /// Makes the transformer, at the first use of its name.
    init()
}

/// What lets `ValueTransformer(forName:)` give the object that is registered instead of a new one.
public protocol ValueTransformerLookup {}

extension ValueTransformerLookup where Self: ValueTransformer {
    /// The transformer that is known under `name`; `nil` where there is none, or it is of another class.
    public init?(forName name: NSValueTransformerName) {
        guard let found = ValueTransformer.transformer(named: name) as? Self else { return nil }
        self = found
    }
}

/// The name of a value transformer.
public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
    /// The name as text.
    public let rawValue: String
    /// The name of this text.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The name of this text.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// `true` for `false`, and the other way round.
    public static let negateBooleanTransformerName = NSValueTransformerName("NSNegateBoolean")
    /// Whether a value is `nil`. One way.
    public static let isNilTransformerName = NSValueTransformerName("NSIsNil")
    /// Whether a value is not `nil`. One way.
    public static let isNotNilTransformerName = NSValueTransformerName("NSIsNotNil")
    /// Keyed archives of objects of any class. Not secure: for models that ask for it.
    public static let unarchiveFromDataTransformerName = NSValueTransformerName("NSUnarchiveFromData")
    /// The same under its newer name.
    public static let keyedUnarchiveFromDataTransformerName = NSValueTransformerName("NSKeyedUnarchiveFromData")
    /// Archives of the classes of property lists, `URL`, `UUID` and `NSNull`, read securely.
    public static let secureUnarchiveFromDataTransformerName = NSValueTransformerName("NSSecureUnarchiveFromData")
}
