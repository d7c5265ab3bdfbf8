import Foundation
import ModelFiles

// Additions to Apple's API for values that a program cannot read, because it lacks a class or transformer, or the
// store lacks a column or table. Such values read as nil, and the stored data is kept.
extension NSPersistentStoreCoordinator {
    /// Notes about properties that are read as nil because their stored values cannot be interpreted, one line each.
    /// May be called on any thread.
    ///
    /// - Attributes whose values have an unknown class or no transformer, once a value was read.
    /// - Properties for which an SQLite store with the model's version hashes lacks a column or a join table, from
    ///   the time the store is added. Such a property, even a required one, is nil or empty. Filtering, sorting,
    ///   grouping or computing by it is error 134020. So is saving a value of it, or deleting an object with such a
    ///   relationship, whose delete rule cannot be applied; nothing of that save is written. Everything else is read
    ///   and saved as usual; a new object's default value of such an attribute is not written. The store is not
    ///   migrated, and its rows are not copied to a store of another type (134110).
    public var readingNotes: [String] { allReadingNotes.map(\.text) }

    private var allReadingNotes: [ReadingNote] { withLock { rowStores.flatMap { $0.operations.readingNotes } } }

    /// The ``readingNotes`` about one of the properties, or about an element of a composite attribute among them.
    package func readingNotes(of properties: [NSPropertyDescription]) -> [String] {
        let leaves = properties.compactMap { $0 as? NSCompositeAttributeDescription }.flatMap(\.leaves)
        let wanted = Set((properties + leaves.map(\.attribute)).map(ObjectIdentifier.init))
        return allReadingNotes.filter { wanted.contains(ObjectIdentifier($0.property)) }.map(\.text)
    }

    /// The stored data of a transformable attribute as text: the names of the archived classes with their plain
    /// values, or the number of bytes if the data is not an archive. Needs neither the classes nor the transformer.
    /// May be called on any queue. Cost: one query.
    ///
    /// - Returns: `nil` if the store has no value, or the object is not in a store.
    /// - Throws: the store's error if it cannot be read, such as 134080, 134090 while it is locked, or 259 if it is
    ///   damaged.
    public func storedValueDescription(forKey key: String, of objectID: NSManagedObjectID) throws -> String? {
        try storedData(forKey: key, of: objectID).map {
            ArchiveOutline.text(of: $0) ?? ($0.count == 1 ? "1 byte" : "\($0.count) bytes")
        }
    }

    /// True if the store keeps the attribute's value in an external file. If it still reads as nil, the file is
    /// missing or not a plain file. May be called on any queue. Cost: one query.
    ///
    /// - Throws: the store's error if it cannot be read.
    package func refersToFile(forKey key: String, of objectID: NSManagedObjectID) throws -> Bool {
        guard objectID.entity.attributesByName[key]?.allowsExternalBinaryDataStorage == true else { return false }
        return try storedData(forKey: key, of: objectID).map(ExternalData.isReference) ?? false
    }

    /// The stored bytes of transformable attributes that cannot be decoded in this program, by object and name. May
    /// be called on any queue. Cost: one query for each entity with such attributes.
    ///
    /// - Parameter entity: the entity, including its subentities.
    /// - Throws: the store's error if it cannot be read.
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
