import Foundation

// Operations on a store's file that do not open it in a coordinator.
extension NSPersistentStoreCoordinator {
    /// The metadata of the store at `url`, with at least `NSStoreTypeKey` and `NSStoreUUIDKey`. On any thread,
    /// without a lock: opens the file.
    ///
    /// - Throws: 134000 for an unknown type, 260 if there is no file, 259 if it is not a store.
    public class func metadataForPersistentStore(
        ofType storeType: String, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        try StoreTypeRegistry.storeClass(of: storeType).metadataForPersistentStore(with: url)
    }

    /// The metadata of the store at `storeURL`, with at least `NSStoreTypeKey` and `NSStoreUUIDKey`. On any thread,
    /// without a lock: opens the file.
    ///
    /// - Throws: 134000 for an unknown type, 260 if there is no file, 259 if it is not a store.
    public class func metadataForPersistentStore(
        type storeType: NSPersistentStore.StoreType, at storeURL: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        try metadataForPersistentStore(ofType: storeType.rawValue, at: storeURL, options: options)
    }

    /// Writes the metadata of the store at `url` immediately. On any thread, without a coordinator's lock.
    ///
    /// - Throws: 134000 for an unknown type, 260 if there is no file, 259 if it is not a store, 513 without write
    ///   permission.
    public class func setMetadata(
        _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) throws {
        try StoreTypeRegistry.storeClass(of: storeType).setMetadata(metadata, at: url, options: options)
    }

    /// Writes the metadata of the store at `storeURL` immediately. On any thread, without a coordinator's lock.
    ///
    /// - Throws: 134000 for an unknown type, 260 if there is no file, 259 if it is not a store, 513 without write
    ///   permission.
    public class func setMetadata(
        _ metadata: [String: Any]?, type storeType: NSPersistentStore.StoreType, at storeURL: URL,
        options: [AnyHashable: Any]? = nil
    ) throws {
        try setMetadata(metadata, forPersistentStoreOfType: storeType.rawValue, at: storeURL, options: options)
    }

    /// The cached model of the store at `url`. On any thread, without a lock: opens the file.
    ///
    /// - Throws: 134130 if the store has no cached model; 134000 for an unknown type, 260 if there is no file, 259 if
    ///   it is not a store.
    public class func cachedModelForPersistentStore(
        at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> NSManagedObjectModel {
        let storeType = options?[NSStoreTypeKey] as? String ?? NSPersistentStoreDescription(url: url).type
        let storeClass = try StoreTypeRegistry.storeClass(of: storeType)
        guard let kept = try storeClass.cachedModelWithMetadata(at: url, options: options) else {
            throw CoreDataError.make(134130, "The store \(url.path) contains no model. Name the model to use.")
        }
        return try NSManagedObjectModel(cachedModelData: kept.model, store: url.path, metadata: kept.metadata)
    }

    /// Infers a model from the tables of a store without a cached model, for stores of old frameworks. An addition to
    /// Apple's API.
    ///
    /// Entities, hierarchy, attributes and their kinds, many-to-many relationships and uniqueness are read from the
    /// file. To-one relationships are inferred from names if the rows agree; their to-many inverses get generated
    /// names. Names are in lower case unless an index kept their spelling. Such a model opens a store read-only. On
    /// any thread, without a lock: opens the file, and reads rows of its tables.
    ///
    /// - Throws: 134060 if the store type does not support this; 260 if there is no file, 259 if it is not a store.
    public class func inferredModelForPersistentStore(
        at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> NSManagedObjectModel {
        let storeType = options?[NSStoreTypeKey] as? String ?? NSSQLiteStoreType
        guard let model = try StoreTypeRegistry.storeClass(of: storeType).inferredModel(at: url, options: options)
        else {
            throw CoreDataError.make(
                134060, "Cannot infer the model of \(url.path): this works only for SQLite stores.")
        }
        return model
    }

    /// Empties the store at `url` and removes its files: log, external data. An SQLite store becomes a valid empty
    /// file, even if there was none; it can be removed, or opened as a new store.
    ///
    /// If the coordinator has the store open, it is removed first, as with `remove(_:)`, even if destroying it then
    /// fails. Unsaved changes of its objects are lost, and contexts with such changes cannot save until they are
    /// reset or rolled back. May be called on any thread; holds the coordinator's lock while files are removed.
    ///
    /// - Parameters:
    ///   - url: the URL of the store.
    ///   - storeType: the store's type; a store of another type is not changed.
    ///   - options: the time to wait for a lock; `NSPersistentStoreForceDestroyOption` also destroys stores that are
    ///     damaged or open elsewhere.
    /// - Throws: 134000 for an unknown type, 134010 for a store of another type, 259 for a file that is not a store
    ///   (or a link or device), 134080 for a folder, 134090 if another process has it open, 513 without write
    ///   permission. After an error, the files are unchanged.
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

    /// Empties the store at `url` and removes its files: log, external data. An SQLite store becomes a valid empty
    /// file. If the coordinator has the store open, it is removed first. May be called on any thread.
    ///
    /// - Throws: 134000 for an unknown type, 134010 for a store of another type, 259 for a file that is not a store,
    ///   134080 for a folder, 134090 if another process has it open, 513 without write permission. After an error,
    ///   the files are unchanged.
    public func destroyPersistentStore(
        at url: URL, type storeType: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil
    ) throws {
        try destroyPersistentStore(at: url, ofType: storeType.rawValue, options: options)
    }

    /// The store classes by type. Each value is the address of the class as a number, because Foundation's `NSValue`
    /// cannot hold pointers on Linux. On any thread.
    public class var registeredStoreTypes: [String: NSValue] {
        StoreTypeRegistry.all.mapValues { NSNumber(value: UInt(bitPattern: ObjectIdentifier($0))) }
    }

    /// Registers `storeClass`, a subclass of ``NSAtomicStore`` or ``NSIncrementalStore``, for a store type; `nil`
    /// removes the type. Any other class stops the program as a programming error, because `NSPersistentStore` itself
    /// cannot supply rows. Process-wide, on any thread.
    public class func registerStoreClass(_ storeClass: AnyClass?, forStoreType storeType: String) {
        guard let storeClass else { return StoreTypeRegistry.register(nil, for: storeType) }
        guard let storeClass = storeClass as? any RowStore.Type else {
            preconditionFailure(
                "\(storeClass) cannot be the class of a store type: it is not a subclass of NSAtomicStore or NSIncrementalStore"
            )
        }
        StoreTypeRegistry.register(storeClass, for: storeType)
    }

    /// Registers `storeClass`, a subclass of ``NSAtomicStore`` or ``NSIncrementalStore``, for a store type; `nil`
    /// removes the type. Any other class stops the program. Process-wide, on any thread.
    public class func registerStoreClass(_ storeClass: AnyClass?, type: NSPersistentStore.StoreType) {
        registerStoreClass(storeClass, forStoreType: type.rawValue)
    }
}
