import Foundation

/// A type of fetch results: managed objects, object IDs, dictionaries and numbers.
///
/// In Apple's framework this is an Objective-C protocol, whose existential conforms to itself, so that
/// `NSFetchRequest<NSFetchRequestResult>` compiles. Swift's marker protocols behave in the same way. Programs can
/// refine and extend the protocol. The compiler refuses only conditional casts to it (`as? NSFetchRequestResult`),
/// because it does not exist at run time.
@_marker public protocol NSFetchRequestResult: AnyObject {}

extension NSDictionary: NSFetchRequestResult {}
extension NSNumber: NSFetchRequestResult {}

/// The form of a fetch's results. A value, safe on any thread.
public struct NSFetchRequestResultType: OptionSet, Hashable, Sendable {
    /// The bits, with Apple's values.
    public let rawValue: UInt

    /// Creates a value from these bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Managed objects, the default.
    public static var managedObjectResultType: NSFetchRequestResultType { [] }
    /// `NSManagedObjectID`s.
    public static let managedObjectIDResultType = NSFetchRequestResultType(rawValue: 1)
    /// `NSDictionary`s: property name → value, read from the store.
    public static let dictionaryResultType = NSFetchRequestResultType(rawValue: 2)
    /// One `NSNumber`: the number of matching objects.
    public static let countResultType = NSFetchRequestResultType(rawValue: 4)
}
