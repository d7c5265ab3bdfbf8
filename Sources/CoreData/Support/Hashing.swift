import Foundation

/// Which objects may be asked for their hash.
enum Hashing {
    /// The classes whose hash calls itself in Foundation on Linux (seen with Swift 6.3.1) until the stack is full.
    static let endlessClassNames: Set = ["NSError", "NSDecimalNumber", "NSDecimalNumberPlaceholder"]

    /// Whether an object may be a member of a set or a key.
    static func isSafe(_ object: Any) -> Bool { !(object is NSError || object is NSDecimalNumber) }
}
