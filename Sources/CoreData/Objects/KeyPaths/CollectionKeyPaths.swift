import Foundation

// Key-value coding of collections, which Foundation supports on Apple's systems only.

extension NSArray {
    /// The values of a key for all members, `NSNull` for `nil`; for an operator (`@count`) its result.
    ///
    /// - Precondition: The members have the key.
    public func value(forKey key: String) -> Any? { KeyPathReader.value(of: self, at: key) }

    /// The values at a key path for all members, or the result of an operator such as `@sum.wins` or
    /// `@distinctUnionOfObjects.zone`.
    ///
    /// - Precondition: The members have the keys.
    public func value(forKeyPath keyPath: String) -> Any? { KeyPathReader.value(of: self, at: keyPath) }
}

extension NSSet {
    /// The values of a key for all members; see `NSArray.value(forKey:)`.
    public func value(forKey key: String) -> Any? { KeyPathReader.value(of: self, at: key) }

    /// The value at a key path; see `NSArray.value(forKeyPath:)`.
    public func value(forKeyPath keyPath: String) -> Any? { KeyPathReader.value(of: self, at: keyPath) }
}

extension NSOrderedSet {
    /// The values of a key for all members; see `NSArray.value(forKey:)`.
    public func value(forKey key: String) -> Any? { KeyPathReader.value(of: self, at: key) }

    /// The value at a key path; see `NSArray.value(forKeyPath:)`.
    public func value(forKeyPath keyPath: String) -> Any? { KeyPathReader.value(of: self, at: keyPath) }
}
