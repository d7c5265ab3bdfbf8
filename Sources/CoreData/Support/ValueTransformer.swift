import Foundation
import Synchronization

/// Converts values of one kind to another, and back if possible.
///
/// Foundation on Linux lacks this class of Apple's. A transformable attribute names the transformer that makes its
/// data: an object of a subclass, registered under that name before the store is opened.
///
/// Transformers are shared and may be called on any thread.
// SAFETY: has no state; subclasses must be safe on any thread, because the framework calls them from many.
open class ValueTransformer: NSObject, ValueTransformerLookup, @unchecked Sendable {
    public override init() { super.init() }

    // MARK: Names

    private static let known = Mutex<[NSValueTransformerName: ValueTransformer]>(BuiltInTransformers.all)

    /// Registers a transformer under a name, in place of the previous one; `nil` removes the name.
    public class func setValueTransformer(_ transformer: ValueTransformer?, forName name: NSValueTransformerName) {
        let old = known.withLock { known in
            let old = known[name]
            known[name] = transformer
            return old
        }
        // Released outside the lock, because it may be a program's.
        withExtendedLifetime(old) {}
    }

    /// The names of all registered transformers.
    public class func valueTransformerNames() -> [NSValueTransformerName] { known.withLock { Array($0.keys) } }

    /// The transformer of that name. For the name of a ``NamedValueTransformer`` class, with its module, an object is
    /// created once.
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

    /// The class of the values that ``transformedValue(_:)`` returns.
    open class func transformedValueClass() -> AnyClass { NSObject.self }

    /// True if ``reverseTransformedValue(_:)`` is supported. `true` by default.
    open class func allowsReverseTransformation() -> Bool { true }

    /// Converts `value`. By default returns the value itself.
    open func transformedValue(_ value: Any?) -> Any? { value }

    /// Converts `value` back. By default calls ``transformedValue(_:)``.
    ///
    /// - Precondition: the class allows reverse transformation.
    open func reverseTransformedValue(_ value: Any?) -> Any? {
        precondition(
            Self.allowsReverseTransformation(),
            "The value transformer \(type(of: self)) does not allow reverse transformation.")
        return transformedValue(value)
    }
}

/// A class of transformers that need no registration: an object is created at the first use of the class name, with
/// its module.
///
/// An addition to Apple's API. Other classes may have any initialisers, and their objects are registered by name. A
/// final class without its own initialisers only has to declare the conformance.
public protocol NamedValueTransformer: AnyObject {
    /// Creates the transformer at the first use of its name.
    init()
}

/// Lets `ValueTransformer(forName:)` return the registered object instead of a new one.
public protocol ValueTransformerLookup {}

extension ValueTransformerLookup where Self: ValueTransformer {
    /// The transformer registered under `name`; `nil` if there is none or it is of another class.
    public init?(forName name: NSValueTransformerName) {
        guard let found = ValueTransformer.transformer(named: name) as? Self else { return nil }
        self = found
    }
}

/// The name of a value transformer.
public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
    /// The name as text.
    public let rawValue: String
    /// Creates a name from a text.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Creates a name from a text.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// Negates a Boolean.
    public static let negateBooleanTransformerName = NSValueTransformerName("NSNegateBoolean")
    /// True if a value is `nil`. One way.
    public static let isNilTransformerName = NSValueTransformerName("NSIsNil")
    /// True if a value is not `nil`. One way.
    public static let isNotNilTransformerName = NSValueTransformerName("NSIsNotNil")
    /// Keyed archives of objects of any class. Not secure; for models that ask for it.
    public static let unarchiveFromDataTransformerName = NSValueTransformerName("NSUnarchiveFromData")
    /// The newer name of `unarchiveFromDataTransformerName`.
    public static let keyedUnarchiveFromDataTransformerName = NSValueTransformerName("NSKeyedUnarchiveFromData")
    /// Archives of the classes of property lists, `URL`, `UUID` and `NSNull`, read securely.
    public static let secureUnarchiveFromDataTransformerName = NSValueTransformerName("NSSecureUnarchiveFromData")
}
