/// A damage of a store, found by `NSPersistentStoreCoordinator.findings(in:)`. An addition to Apple's API.
public struct PersistentStoreFinding: Sendable, Hashable, CustomStringConvertible {
    /// The kinds of damage.
    public enum Kind: String, Sendable, CaseIterable {
        /// The database itself is damaged.
        case integrity
        /// A property has no column or table and cannot be read.
        case schema
        /// Rows have an entity that does not belong in their table.
        case entity
        /// A counter of keys is behind its table, so that keys would be reused; or a counter or a row version has
        /// reached its maximum, so that nothing can be saved.
        case counter
        /// Cells have another SQLite type than their column; they are read as nil.
        case value
        /// Rows refer to rows that do not exist.
        case reference
        /// Members of an ordered relationship have no position, or share one.
        case order
        /// Files of external values are missing or unused.
        case externalData = "external data"
        /// Derived values differ from what their derivation gives. Checked only in stores on a server.
        case derived = "derived values"
        /// The history contradicts itself or the rows.
        case history
    }

    /// The kind of damage.
    public let kind: Kind
    /// The damage and its place, in one sentence.
    public let message: String
    /// True if `repair(_:)` repairs it.
    public let isRepairable: Bool

    package init(kind: Kind, message: String, isRepairable: Bool) {
        self.kind = kind
        self.message = message
        self.isRepairable = isRepairable
    }

    public var description: String { "\(kind.rawValue): \(message)" }
}

/// A store whose file can be checked.
package protocol CheckableStore: AnyObject {
    /// Returns the damage in the file. Reads all of it. Called under the coordinator's lock.
    func findings() throws -> [PersistentStoreFinding]
    /// Repairs what can be repaired, in one transaction. Called under the coordinator's lock.
    ///
    /// - Returns: the repaired findings.
    func repair() throws -> [PersistentStoreFinding]
}
