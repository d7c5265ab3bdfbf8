import Foundation
import ModelFiles

// Values that a program cannot read, because it has no such class or transformer: they are nil, and stay in the store. Additions to
// Apple's interface.
extension NSPersistentStoreCoordinator {
    /// What was read as nil so far because it could not be understood: one line for each property.
    public var readingNotes: [String] { withLock { persistentStores.flatMap { $0.operations.readingNotes } } }

    /// What the store keeps for a transformable attribute of an object, as text: the names of the archived classes with their plain
    /// values, or the number of bytes of what is no archive. Needs neither the classes nor the transformer.
    ///
    /// - Returns: `nil` where the store keeps nothing there, or the object is not in a store.
    /// - Throws: what the store throws. Cost: one query.
    public func storedValueDescription(forKey key: String, of objectID: NSManagedObjectID) throws -> String? {
        guard let attribute = objectID.entity.attributesByName[key], !objectID.isTemporaryID else { return nil }
        let data = try withLock {
            try persistentStores.first { $0.identifier == objectID.storeIdentifier }?.operations
                .storedData(of: attribute, objectID)
        }
        return data.map { ArchiveOutline.text(of: $0) ?? "\($0.count) bytes" }
    }
}
