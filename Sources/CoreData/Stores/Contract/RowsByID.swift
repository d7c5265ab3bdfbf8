import Foundation

/// Whatever gives rows and destinations for IDs: a store, a coordinator, a parent.
package protocol RowsByID {
    /// The rows of `ids`, all of entities that are known here. A row that does not exist is missing in the answer, and its object
    /// will be a deleted one.
    ///
    /// - Throws: where one of the rows cannot be read, though it may exist.
    func rows(for ids: [NSManagedObjectID]) throws -> [NSManagedObjectID: RowSnapshot]

    /// The destinations of a to-many relationship, for each of `ids`, each destination once, in the relationship's
    /// order if it has one.
    func destinations(
        of relationship: NSRelationshipDescription, from ids: [NSManagedObjectID]
    ) throws -> [NSManagedObjectID: [NSManagedObjectID]]

    /// The same rows in the order of `ids`, `nil` for one that does not exist: without hashing where that can be done.
    func rows(inOrderOf ids: [NSManagedObjectID]) throws -> [RowSnapshot?]

    /// The same destinations in the order of `ids`.
    func destinations(
        of relationship: NSRelationshipDescription, inOrderOf ids: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]]
}

extension RowsByID {
    func rows(inOrderOf ids: [NSManagedObjectID]) throws -> [RowSnapshot?] {
        let rows = try rows(for: ids)
        return ids.map { rows[$0] }
    }

    func destinations(
        of relationship: NSRelationshipDescription, inOrderOf ids: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] {
        let destinations = try destinations(of: relationship, from: ids)
        return ids.map { destinations[$0] ?? [] }
    }
}
