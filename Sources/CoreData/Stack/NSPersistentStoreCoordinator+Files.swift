import Foundation

// What can be done with a store's file without opening it in a coordinator.
extension NSPersistentStoreCoordinator {
    /// The metadata of the store at `url`; holds at least `NSStoreTypeKey` and `NSStoreUUIDKey`. On any thread, without a
    /// lock: opens the file.
    ///
    /// - Throws: 134000 for an unknown type, 260 where nothing is there, 259 where it is no store.
    public class func metadataForPersistentStore(
        ofType storeType: String, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        try StoreTypeRegistry.storeClass(of: storeType).metadataForPersistentStore(with: url)
    }

    /// The metadata of the store at `storeURL`; holds at least `NSStoreTypeKey` and `NSStoreUUIDKey`. On any thread,
    /// without a lock: opens the file.
    ///
    /// - Throws: 134000 for an unknown type, 260 where nothing is there, 259 where it is no store.
    public class func metadataForPersistentStore(
        type storeType: NSPersistentStore.StoreType, at storeURL: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        try metadataForPersistentStore(ofType: storeType.rawValue, at: storeURL, options: options)
    }

    /// Writes the metadata of the store at `url` at once. On any thread, without a coordinator's lock.
    ///
    /// - Throws: 134000 for an unknown type, 260 where nothing is there, 259 where it is no store, 513 for want of permission.
    public class func setMetadata(
        _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) throws {
        try StoreTypeRegistry.storeClass(of: storeType).setMetadata(metadata, at: url, options: options)
    }

    /// Writes the metadata of the store at `storeURL` at once. On any thread, without a coordinator's lock.
    ///
    /// - Throws: 134000 for an unknown type, 260 where nothing is there, 259 where it is no store, 513 for want of permission.
    public class func setMetadata(
        _ metadata: [String: Any]?, type storeType: NSPersistentStore.StoreType, at storeURL: URL,
        options: [AnyHashable: Any]? = nil
    ) throws {
        try setMetadata(metadata, forPersistentStoreOfType: storeType.rawValue, at: storeURL, options: options)
    }

    /// The model that the store at `url` keeps of itself. On any thread, without a lock: opens the file.
    ///
    /// - Throws: 134130 where the store keeps none; 134000 for an unknown type, 260 where nothing is there, 259 where it is
    ///   no store.
    public class func cachedModelForPersistentStore(
        at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> NSManagedObjectModel {
        let storeType = options?[NSStoreTypeKey] as? String ?? NSPersistentStoreDescription(url: url).type
        let storeClass = try StoreTypeRegistry.storeClass(of: storeType)
        guard let kept = try storeClass.cachedModelWithMetadata(at: url, options: options) else {
            throw CoreDataError.make(134130, "The store \(url.path) keeps no model of its own; name the model to use.")
        }
        return try NSManagedObjectModel(cachedModelData: kept.model, store: url.path, metadata: kept.metadata)
    }

    /// A model for a store that keeps none, inferred from its tables: for stores of old frameworks. An addition.
    ///
    /// Entities, hierarchy, attributes and their kinds, many-to-many relationships and what is unique are as the file says.
    /// To-one relationships are told from names, where the rows agree; the to-many at their other end has a made-up name.
    /// Names are in lower case where no index kept their spelling. A store opens with such a model for reading only. On any
    /// thread, without a lock: opens the file, and reads rows of its tables.
    ///
    /// - Throws: 134060 where the type of store cannot be read like that; 260 where nothing is there, 259 where it is no
    ///   store.
    public class func inferredModelForPersistentStore(
        at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> NSManagedObjectModel {
        let storeType = options?[NSStoreTypeKey] as? String ?? NSSQLiteStoreType
        guard let model = try StoreTypeRegistry.storeClass(of: storeType).inferredModel(at: url, options: options)
        else {
            throw CoreDataError.make(
                134060, "The model of \(url.path) cannot be inferred: only SQLite stores say enough.")
        }
        return model
    }

    /// Empties the store at `url` and removes what belongs to it: log, external data. An SQLite store leaves a valid empty file
    /// behind, which can be removed, or opened as a new store, also if there was none.
    ///
    /// A store that the coordinator has open there leaves it first, as with `remove(_:)`: also where destroying it fails then.
    /// Unsaved changes of its objects are lost, and saves of contexts that have such changes throw until they are reset or rolled
    /// back. May be called on any thread; holds the coordinator's lock while files go.
    ///
    /// - Parameters:
    ///   - url: where the store is.
    ///   - storeType: the store's type; nothing of another type is touched.
    ///   - options: the time to wait for a lock; `NSPersistentStoreForceDestroyOption` destroys also what others have open, or
    ///     what is damaged.
    /// - Throws: 134000 for an unknown type, 134010 for a store of another type, 259 for what is no store (a link or a device is
    ///   none), 134080 for a folder, 134090 where another process has it open, 513 for want of permission. Then everything stands
    ///   as it was.
    public func destroyPersistentStore(
        at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil
    ) throws {
        let storeClass = try StoreTypeRegistry.storeClass(of: storeType)
        let open = rowStores.filter { $0.isKept(at: url) }
        if let other = open.first(where: { $0.type != storeType }) {
            throw CoreDataError.make(
                134010,
                "Cannot destroy \(url.path) as a store of type \(storeType): it is open as one of type \(other.type).")
        }
        for store in open { try remove(store) }
        try withLock { try storeClass.destroyStore(at: url, options: options) }
    }

    /// Empties the store at `url` and removes what belongs to it: log, external data. An SQLite store leaves a valid empty file
    /// behind; a store that the coordinator has open there leaves it first. May be called on any thread.
    ///
    /// - Throws: 134000 for an unknown type, 134010 for a store of another type, 259 for what is no store, 134080 for a folder,
    ///   134090 where another process has it open, 513 for want of permission. Then everything stands as it was.
    public func destroyPersistentStore(
        at url: URL, type storeType: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil
    ) throws {
        try destroyPersistentStore(at: url, ofType: storeType.rawValue, options: options)
    }

    /// The store classes by type; each value is the address of the class as a number, since Foundation's `NSValue` holds no
    /// pointers here. On any thread.
    public class var registeredStoreTypes: [String: NSValue] {
        StoreTypeRegistry.all.mapValues { NSNumber(value: UInt(bitPattern: ObjectIdentifier($0))) }
    }

    /// Makes `storeClass`, a subclass of ``NSAtomicStore`` or ``NSIncrementalStore``, the class of a store type; `nil` takes
    /// the type out. Stops the program where the class is neither, as that is a mistake in the program: `NSPersistentStore`
    /// itself has no way to be asked for rows. For the whole process, on any thread.
    public class func registerStoreClass(_ storeClass: AnyClass?, forStoreType storeType: String) {
        guard let storeClass else { return StoreTypeRegistry.register(nil, for: storeType) }
        guard let storeClass = storeClass as? any RowStore.Type else {
            preconditionFailure(
                "\(storeClass) cannot be the class of a store type: it is not a subclass of NSAtomicStore or NSIncrementalStore"
            )
        }
        StoreTypeRegistry.register(storeClass, for: storeType)
    }

    /// Makes `storeClass`, a subclass of ``NSAtomicStore`` or ``NSIncrementalStore``, the class of a store type; `nil` takes
    /// the type out. Stops the program where the class is neither. For the whole process, on any thread.
    public class func registerStoreClass(_ storeClass: AnyClass?, type: NSPersistentStore.StoreType) {
        registerStoreClass(storeClass, forStoreType: type.rawValue)
    }
}
