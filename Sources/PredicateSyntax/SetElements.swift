import Foundation

/// Reads Foundation's and Swift's sets.
package enum SetElements {
    /// The unchanged elements of a set; `nil` for other values.
    ///
    /// Never casts a Foundation set to a Swift set: that traps if elements are equal only in Swift.
    package static func of(_ value: Any) -> [Any]? {
        if type(of: value) is AnyClass { return (value as? NSSet)?.allObjects }
        return (value as? Set<AnyHashable>)?.map(\.base)
    }
}
