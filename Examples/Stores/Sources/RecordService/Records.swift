import Foundation

/// A record as the service keeps it and sends it, in JSON.
struct ServiceRecord: Codable, Sendable {
    /// What names it: the client gives it, and it never changes.
    var reference: String
    var entity: String
    /// Goes up by one with each change.
    var version: UInt64
    /// The attributes as texts; what is missing is nil.
    var values: [String: String]
    /// The references of the destinations of each relationship.
    var links: [String: [String]]
}

/// All that one save changes. Each record tells the version that its change is based on; new ones have 0.
struct ServiceTransaction: Codable, Sendable {
    var changed: [ServiceRecord] = []
    var deleted: [ServiceRecord] = []
}

/// What happened to a record.
struct ServiceChange: Codable, Sendable {
    enum Kind: String, Codable, Sendable { case inserted, updated, deleted }

    var reference: String
    var entity: String
    var kind: Kind
}

/// The changes since some number, and the number to ask with next.
struct ServiceChanges: Codable, Sendable {
    var last: Int
    var changes: [ServiceChange]
}

/// The answer to a transaction that was refused: the records that are not as the client thought.
struct ServiceConflict: Codable, Sendable { var references: [String] }
