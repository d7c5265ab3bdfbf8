import Foundation

/// What a fetch can give back: managed objects, object IDs, dictionaries and numbers.
///
/// Apple's is a protocol of Objective-C, whose existential conforms to itself, so that `NSFetchRequest<NSFetchRequestResult>`
/// compiles. In Swift those of marker protocols do so too. Programs refine the protocol and extend it; what the compiler
/// refuses is a conditional cast to it (`as? NSFetchRequestResult`), since it has no trace at run time.
@_marker public protocol NSFetchRequestResult: AnyObject {}

extension NSDictionary: NSFetchRequestResult {}
extension NSNumber: NSFetchRequestResult {}

/// The form in which a fetch gives its results. A value, safe on any thread.
public struct NSFetchRequestResultType: OptionSet, Hashable, Sendable {
    /// The types as bits, with Apple's values.
    public let rawValue: UInt

    /// The types of these bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Managed objects: what a request gives unless told otherwise.
    public static var managedObjectResultType: NSFetchRequestResultType { [] }
    /// `NSManagedObjectID`s.
    public static let managedObjectIDResultType = NSFetchRequestResultType(rawValue: 1)
    /// `NSDictionary`s: property name → value, straight from the store.
    public static let dictionaryResultType = NSFetchRequestResultType(rawValue: 2)
    /// One `NSNumber`: how many objects match.
    public static let countResultType = NSFetchRequestResultType(rawValue: 4)
}
