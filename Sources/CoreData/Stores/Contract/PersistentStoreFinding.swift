/// One thing that is wrong in a store's file, as `NSPersistentStoreCoordinator.findings(in:)` tells. An addition to Apple's API.
public struct PersistentStoreFinding: Sendable, Hashable, CustomStringConvertible {
    /// The kinds of damage.
    public enum Kind: String, Sendable, CaseIterable {
        /// The database itself is damaged.
        case integrity
        /// A property has no column or table, and cannot be read.
        case schema
        /// Rows are of an entity that their table does not hold.
        case entity
        /// A counter of keys lags behind its table: keys would be given out twice. Or a counter, or the version of a row, has come to
        /// the greatest number: nothing can be saved any more.
        case counter
        /// Cells are of another SQLite type than their column; they read as nil.
        case value
        /// Rows refer to rows that are not there.
        case reference
        /// Members of an ordered relationship have no place, or share one.
        case order
        /// Files of external values are missing, or belong to no value.
        case externalData = "external data"
        /// Derived values are not what they are derived from. Looked for in stores on a server only.
        case derived = "derived values"
        /// The history does not fit itself or the rows.
        case history
    }

    /// The kind of damage.
    public let kind: Kind
    /// The damage and its place, in one sentence.
    public let message: String
    /// True if `repair(_:)` mends it.
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
    /// Sets right what can be, in one transaction. Called under the coordinator's lock.
    ///
    /// - Returns: What was set right.
    func repair() throws -> [PersistentStoreFinding]
}
