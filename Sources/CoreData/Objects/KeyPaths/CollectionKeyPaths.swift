import Foundation

// Key-value coding of collections, which Foundation has on Apple's systems only.

extension NSArray {
    /// The value of a key for each member, `NSNull` where it has none; with an operator (`@count`) its result.
    ///
    /// - Precondition: the members have the key.
    public func value(forKey key: String) -> Any? { KeyPathReader.value(of: self, at: key) }

    /// The value at a key path: of each member, or what an operator such as `@sum.wins` or `@distinctUnionOfObjects.zone` makes of
    /// them.
    ///
    /// - Precondition: the members have the keys.
    public func value(forKeyPath keyPath: String) -> Any? { KeyPathReader.value(of: self, at: keyPath) }
}

extension NSSet {
    /// The values of a key of all members; see `NSArray.value(forKey:)`.
    public func value(forKey key: String) -> Any? { KeyPathReader.value(of: self, at: key) }

    /// The value at a key path; see `NSArray.value(forKeyPath:)`.
    public func value(forKeyPath keyPath: String) -> Any? { KeyPathReader.value(of: self, at: keyPath) }
}

extension NSOrderedSet {
    /// The values of a key of all members; see `NSArray.value(forKey:)`.
    public func value(forKey key: String) -> Any? { KeyPathReader.value(of: self, at: key) }

    /// The value at a key path; see `NSArray.value(forKeyPath:)`.
    public func value(forKeyPath keyPath: String) -> Any? { KeyPathReader.value(of: self, at: keyPath) }
}
