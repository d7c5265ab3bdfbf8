import Foundation

/// Reads sets of Foundation's and of Swift's.
package enum SetElements {
    /// The elements of a set, each as it is; `nil` for other values.
    ///
    /// Never casts a set of Foundation's to one of Swift's: that stops the program where elements are equal in Swift only.
    package static func of(_ value: Any) -> [Any]? {
        if type(of: value) is AnyClass { return (value as? NSSet)?.allObjects }
        return (value as? Set<AnyHashable>)?.map(\.base)
    }
}
