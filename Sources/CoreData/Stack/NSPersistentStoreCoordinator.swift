import Foundation

/// Ties a model to its stores and serialises the work on them.
open class NSPersistentStoreCoordinator: NSObject, @unchecked Sendable {
    public let managedObjectModel: NSManagedObjectModel
    public init(managedObjectModel model: NSManagedObjectModel) { managedObjectModel = model }
}
