import Foundation

/// A record as stored by the service and sent in JSON.
struct ServiceRecord: Codable, Sendable {
    /// The record's name, chosen by the client and never changed.
    var reference: String
    var entity: String
    /// Incremented by each change.
    var version: UInt64
    /// Attributes as text. A missing one is nil.
    var values: [String: String]
    /// References of the destinations by relationship.
    var links: [String: [String]]
}

/// The changes of one save. Each record has the version that its change is based on, 0 if it is new.
struct ServiceTransaction: Codable, Sendable {
    var changed: [ServiceRecord] = []
    var deleted: [ServiceRecord] = []
}

/// A change of a record.
struct ServiceChange: Codable, Sendable {
    enum Kind: String, Codable, Sendable { case inserted, updated, deleted }

    var reference: String
    var entity: String
    var kind: Kind
}

/// The changes since a number, and the number for the next request.
struct ServiceChanges: Codable, Sendable {
    var last: Int
    var changes: [ServiceChange]
}

/// The answer to a refused transaction: references of the records whose version differs.
struct ServiceConflict: Codable, Sendable { var references: [String] }
