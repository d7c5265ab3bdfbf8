import Foundation
import ModelFiles

// Values that a program cannot read, because it has no such class or transformer, or because a store has no column or table for
// them: they are nil, and what the store holds stays. Additions to Apple's interface.
extension NSPersistentStoreCoordinator {
    /// What was read as nil so far because it could not be understood: one line for each property. Called on any thread.
    ///
    /// - Attributes whose values are of a class that is not here, or have no transformer, once a value was read.
    /// - Properties of which an SQLite store that has the version hashes of the model lacks a column or a join table, from the time on
    ///   when it is added. Such a property is nil, or has no objects, and a required one may be. To filter, sort, group or compute by it
    ///   is 134020; to save a value of it too, or to delete an object with such a relationship, whose rule cannot be followed: then
    ///   nothing of the save is written. All else is read and saved as usual; a new object's default value of such an attribute is
    ///   left out. The store is not migrated, nor its rows copied into one of another type: 134110.
    public var readingNotes: [String] { allReadingNotes.map(\.text) }

    private var allReadingNotes: [ReadingNote] { withLock { rowStores.flatMap { $0.operations.readingNotes } } }

    /// Those of ``readingNotes`` that are about one of the properties, or about an element of a composite attribute among them.
    package func readingNotes(of properties: [NSPropertyDescription]) -> [String] {
        let leaves = properties.compactMap { $0 as? NSCompositeAttributeDescription }.flatMap(\.leaves)
        let wanted = Set((properties + leaves.map(\.attribute)).map(ObjectIdentifier.init))
        return allReadingNotes.filter { wanted.contains(ObjectIdentifier($0.property)) }.map(\.text)
    }

    /// What the store keeps for a transformable attribute of an object, as text: the names of the archived classes with
    /// their plain values, or the number of bytes of what is no archive. Needs neither the classes nor the transformer. May
    /// be called on any queue. Cost: one query.
    ///
    /// - Returns: `nil` where the store keeps nothing there, or the object is not in a store.
    /// - Throws: the store's error where it cannot be read, such as 134080, 134090 while it is locked, or 259 where it is
    ///   damaged.
    public func storedValueDescription(forKey key: String, of objectID: NSManagedObjectID) throws -> String? {
        try storedData(forKey: key, of: objectID).map {
            ArchiveOutline.text(of: $0) ?? ($0.count == 1 ? "1 byte" : "\($0.count) bytes")
        }
    }

    /// Whether the store says that the value of an attribute is in a file of its own. Where it reads as nil nevertheless, the file
    /// is missing, or is no plain file. May be called on any queue. Cost: one query.
    ///
    /// - Throws: the store's error where it cannot be read.
    package func refersToFile(forKey key: String, of objectID: NSManagedObjectID) throws -> Bool {
        guard objectID.entity.attributesByName[key]?.allowsExternalBinaryDataStorage == true else { return false }
        return try storedData(forKey: key, of: objectID).map(ExternalData.isReference) ?? false
    }

    /// The bytes that stores keep for transformable attributes of which no object can be made here, by object and name. May be
    /// called on any queue. Cost: one query for each entity that has such attributes.
    ///
    /// - Parameter entity: also for its subentities.
    /// - Throws: the store's error where it cannot be read.
    package func uncodedValues(
        of entity: NSEntityDescription, among ids: [NSManagedObjectID]
    ) throws -> [NSManagedObjectID: [String: Data]] {
        var query = StoreQuery(entity: entity)
        query.keepsUncoded = true
        return try withLock {
            var result: [NSManagedObjectID: [String: Data]] = [:]
            for (identifier, ids) in Dictionary(grouping: ids, by: \.storeIdentifier) {
                guard let store = rowStores.first(where: { $0.identifier == identifier }) else { continue }
                query.predicate = NSPredicate(format: "SELF IN %@", ids).syntaxTree
                let found = try store.operations.fetch(query)
                for (key, row) in zip(found.keys, found.rows) {
                    let id = store.operations.objectID(for: key)
                    for (slot, value) in row.values.enumerated() {
                        guard case .object(let object) = value, let data = UncodedValue.data(in: object) else {
                            continue
                        }
                        result[id, default: [:]][id.entity.layout.slots[slot].name] = data
                    }
                }
            }
            return result
        }
    }

    private func storedData(forKey key: String, of objectID: NSManagedObjectID) throws -> Data? {
        guard let attribute = objectID.entity.attributesByName[key], !objectID.isTemporaryID else { return nil }
        return try withLock {
            try rowStores.first { $0.identifier == objectID.storeIdentifier }?.operations
                .storedData(of: attribute, objectID)
        }
    }
}
