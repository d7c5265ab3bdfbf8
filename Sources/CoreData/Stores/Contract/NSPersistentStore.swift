import Foundation
import Synchronization
import Glibc

/// A store of the rows of a coordinator's objects. Abstract.
///
/// A coordinator adds a store in these steps, under its lock:
/// 1. `init` stores its arguments and touches no file.
/// 2. `loadMetadata()` opens the file at `url`, or creates it if there is none and the store is not read-only. It sets
///    `metadata` and with it `identifier`, and changes nothing in an existing store.
/// 3. The coordinator compares `metadata` with its model and throws if they differ.
/// 4. `prepare()` makes the rows readable (``RowStore``).
/// 5. `didAdd(to:)` is called.
///
/// If a step throws, the store gets `willRemove(from:)` and is dropped.
// SAFETY: the coordinator's lock guards its state; `persistentStoreCoordinator` has a mutex of its own.
open class NSPersistentStore: NSObject, @unchecked Sendable {
    /// The coordinator that the store was added to. Can be read on any thread.
    open internal(set) var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
        get { owner.withLock { $0.coordinator } }
        set { owner.withLock { $0.coordinator = newValue } }
    }
    /// The coordinator that has the store. In a mutex, because the coordinator may remove the store on one thread while
    /// another reads.
    private let owner: Mutex<Owner>

    // SAFETY: only reached through the mutex that owns it.
    private struct Owner: @unchecked Sendable {
        weak var coordinator: NSPersistentStoreCoordinator?
        var url: URL?
    }

    /// The name of the configuration whose entities are in the store.
    open internal(set) var configurationName: String
    /// The options the store was added with.
    open internal(set) var options: [AnyHashable: Any]?
    /// The store's location. Can be read on any thread, even while another one moves the store.
    open var url: URL? {
        get { owner.withLock { $0.url } }
        set { owner.withLock { $0.url = newValue } }
    }
    /// The UUID of the store, as in the URIs of its object IDs.
    open var identifier: String! {
        didSet {
            reference = StoreReference(self)
            idFamilies.withLock { $0 = [] }
        }
    }
    /// The part of the store that its object IDs refer to. Made by the initialiser, and replaced when the identifier is
    /// set, which happens before the store gives any ID.
    private(set) final var reference: StoreReference!
    /// The shared parts of the store's object IDs, by the index of the entity in its model.
    private let idFamilies = Mutex<[IDFamily?]>([])
    /// True if the store is read-only.
    open var isReadOnly = false
    /// The store's metadata, at least its type and UUID once loaded. A change is written with the next save.
    open var metadata: [String: Any]! = [:]

    /// Stores the arguments; touches no file.
    ///
    /// Required, because the coordinator creates stores of the class that is registered for their type.
    public required init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        owner = Mutex(Owner(coordinator: root, url: url))
        self.configurationName = name ?? Self.defaultConfigurationName
        self.options = options
        super.init()
        self.isReadOnly = StoreOptions(options).isReadOnly
        reference = StoreReference(self)
    }

    /// Returns the shared part of the IDs of an entity's objects. Can be called on any thread.
    package final func idFamily(of entity: NSEntityDescription) -> IDFamily {
        let index = entity.layout.index
        let reference = reference
        return idFamilies.withLock { families in
            if index < families.count, let known = families[index], known.entity === entity { return known }
            while families.count <= index { families.append(nil) }
            let made = IDFamily(entity: entity, store: reference, isTemporary: false)
            families[index] = made
            return made
        }
    }

    /// The configuration name of a store that was added without one: all entities of the model.
    static let defaultConfigurationName = "PF_DEFAULT_CONFIGURATION_NAME"

    /// The string of the store's type.
    open var type: String { "" }

    /// Opens the store and reads its metadata while the store is added.
    ///
    /// - Throws: any error; adding the store then fails with it.
    open func loadMetadata() throws {}

    /// Called after the store was added.
    open func didAdd(to coordinator: NSPersistentStoreCoordinator) {}

    /// Called before the store is removed, and after adding it failed.
    open func willRemove(from coordinator: NSPersistentStoreCoordinator?) {}

    /// Reads the metadata of the store at `url` without a coordinator. Subclasses must override it.
    ///
    /// - Throws: 260 if there is no file, 259 if the file is not a store, 134000 if a subclass does not override it.
    open class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        throw lacks("metadataForPersistentStore(with:)")
    }

    /// Writes the metadata of the store at `url` at once, without a coordinator. Subclasses must override it.
    ///
    /// - Throws: 260 if there is no file, 259 if the file is not a store, 513 if permission is missing, 134000 if a
    ///   subclass does not override it.
    open class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        throw lacks("setMetadata(_:forPersistentStoreAt:)")
    }

    /// The error for a required member that a subclass does not override.
    final class func lacks(_ member: String) -> NSError {
        CoreDataError.make(134000, "The store class \(self) must override \(member).")
    }

    /// Writes the metadata with the caller's options, which may contain a timeout for locks.
    class func setMetadata(_ metadata: [String: Any]?, at url: URL, options: [AnyHashable: Any]?) throws {
        try setMetadata(metadata, forPersistentStoreAt: url)
    }

    /// True if `metadata` has changes that are not written yet.
    var hasUnsavedMetadata: Bool { false }

    /// True if the change sets of saves must contain the objects of the rows.
    var wantsObjects: Bool { false }

    /// The table of references of a store that identifies its rows by values other than numbers; otherwise `nil`.
    class func references(ofStore identifier: String) -> ReferenceTable? { nil }

    /// Returns the text of a reference for the URIs of object IDs, before it is escaped as paths are. References with
    /// equal texts identify the same row within an entity hierarchy.
    ///
    /// An addition to Apple's API. Called for subclasses of `NSAtomicStore` and `NSIncrementalStore` when they make an
    /// ID, on that thread, except for whole numbers, which are always printed in digits. By default a string is used
    /// unchanged, a UUID as its text, data as hexadecimal digits, and any other value as its description.
    ///
    /// - Parameter data: a reference that the store gave, or that ``referenceObject(forURIText:entity:)`` returned.
    open func uriText(forReferenceObject data: Any) -> String { ReferenceText.usual(data) }

    /// Returns the reference for the text in a URI; `nil` if the store has no such references.
    ///
    /// An addition to Apple's API. `NSPersistentStoreCoordinator.managedObjectID(forURIRepresentation:)` calls it under
    /// the coordinator's lock for rows to which the store has not given an ID yet, for example after a launch. By
    /// default a text of digits becomes a number, and any other text is returned unchanged. Override it in a store that
    /// checks the type of its references and uses UUIDs, data, or texts that may be digits.
    ///
    /// - Parameters:
    ///   - text: a result of ``uriText(forReferenceObject:)``, or text from another program; unescaped.
    ///   - entity: the entity in the URI.
    open func referenceObject(forURIText text: String, entity: NSEntityDescription) -> Any? {
        Int64(text).flatMap { "\($0)" == text ? NSNumber(value: $0) : nil } ?? text
    }

    /// Makes the store ready for use once its metadata is known to match the model. It may change its file here.
    func prepare() throws {}

    /// The class of the manager that migrates stores of this type with a mapping model. Return ``NSMigrationManager``,
    /// which is the default, or a subclass.
    open class func migrationManagerClass() -> AnyClass { NSMigrationManager.self }

    /// True if ``migrateByInference(from:to:)`` is implemented. Otherwise a manager migrates into a new store.
    var migratesInPlace: Bool { false }

    /// Closes all files of the store, so that another store can replace them.
    func releaseFile() {}

    /// Migrates the store, whose metadata is loaded, in place to another model version with an inferred mapping.
    ///
    /// - Throws: 134190 if no mapping can be inferred, 134110 if the rows do not fit. The store is then unchanged.
    func migrateByInference(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) throws {
        throw CoreDataError.make(
            134110,
            "Cannot migrate \(placeName) in place: stores of the type \(type) do not support it. The store is unchanged."
        )
    }

    /// Does one step of the work that lightweight migrations of the store deferred.
    ///
    /// - Returns: true if there is more to do.
    func finishDeferredMigrationTask() throws -> Bool { false }

    /// Returns the model cached in the store at `url`, as data of a compiled model; `nil` if the store has none.
    class func cachedModelData(at url: URL, options: [AnyHashable: Any]?) throws -> Data? { nil }

    /// Returns the cached model and the store's metadata.
    class func cachedModelWithMetadata(
        at url: URL, options: [AnyHashable: Any]?
    ) throws -> (model: Data, metadata: [String: Any])? {
        try cachedModelData(at: url, options: options).map { ($0, try metadataForPersistentStore(with: url)) }
    }

    /// Returns the model cached in this store, which is loaded.
    ///
    /// - Throws: errors of the connection to a server. A file that cannot be read counts as one without a cached model.
    func cachedModelData() throws -> Data? {
        guard let url else { return nil }
        return try? Self.cachedModelData(at: url, options: options)
    }

    /// True if stores of the type are on a server. Their URLs are not file URLs.
    class var isOnServer: Bool { false }

    /// True if there is no store at `url`, which is not a file URL.
    ///
    /// - Throws: an error if the type cannot find out.
    class func holdsNothing(at url: URL) throws -> Bool { (try? metadataForPersistentStore(with: url)) == nil }

    /// Refuses a location for a new store where files of a store that was moved away are left. The default never
    /// refuses.
    ///
    /// - Throws: 516.
    class func checkThatNothingIsLeft(at url: URL) throws {}

    /// Set before a store that must be new is loaded. A store on a server then throws 516 if one exists, and records
    /// here that it created its tables.
    package final var creation: StoreMaking?

    /// Changes the store's URL: its file was moved to `url`, or will be written there from now on.
    func reconnect(to url: URL) throws { self.url = url }

    /// True if stores of the type are files that can be copied while they are open.
    class var copiesFiles: Bool { false }

    /// Replaces the store at `destination` by a copy of the store at `source`. The old store stays intact until the
    /// copy is complete. The default copies one file and replaces it atomically.
    class func replaceStore(
        at destination: URL, options: [AnyHashable: Any]?, with source: URL, options sourceOptions: [AnyHashable: Any]?
    ) throws {
        try Data(contentsOf: source).write(to: destination, options: .atomic)
    }

    /// Copies the open store to `destination`, where nothing exists. Only called for types that copy files.
    func copyContents(to destination: URL) throws {
        guard let url else { return }
        try Self.replaceStore(at: destination, options: nil, with: url, options: options)
    }

    /// Infers a model from the contents of the store at `url`; `nil` if the type does not contain enough information.
    class func inferredModel(at url: URL, options: [AnyHashable: Any]?) throws -> NSManagedObjectModel? { nil }

    /// Destroys the store at `url` and everything that belongs to it. The default removes the file, if its metadata can
    /// be read as this type.
    class func destroyStore(at url: URL, options: [AnyHashable: Any]?) throws {
        guard !url.isMemoryPlace, try PlainFile.check(url.path, for: "destroy") else { return }
        _ = try metadataForPersistentStore(with: url)
        try FileManager.default.removeItem(at: url)
    }

    /// Removes the files of an incomplete store at `url` without reading them. Does nothing if `url` is not a file URL.
    /// The default removes one plain file.
    class func removeFiles(at url: URL) {
        if url.isFileURL { PlainFile.remove(url.path) }
    }

    /// Removes the remains of a new store at `url` after a step failed. Nothing existed there before.
    ///
    /// - Parameter creation: records if this store was created here: another program may have done so on its server.
    final class func removeUnfinished(at url: URL, _ creation: StoreMaking) {
        guard !url.isMemoryPlace, creation.isMade || !isOnServer else { return }
        try? destroyStore(at: url, options: nil)
        // Destroying the store fails if its file could not be filled.
        removeFiles(at: url)
    }

    /// True if the store is at `other`, in any spelling of the URL.
    final func isKept(at other: URL) -> Bool {
        guard let url else { return false }
        if url.standardizedFileURL == other.withoutPassword.standardizedFileURL { return true }
        return !url.isMemoryPlace && url.isFileURL && other.isFileURL && FileWriting.areSame(url.path, other.path)
    }
}

/// Outcome of creating a store that must not exist yet.
package final class StoreMaking {
    package var isMade = false
    /// The permissions of a new file from its creation on; `nil` for those of the umask.
    let permissions: mode_t?

    init(permissions: mode_t? = nil) { self.permissions = permissions }

    /// Gives a new file the permissions of the file that it is made from.
    convenience init(like url: URL?) {
        self.init(permissions: url.flatMap { $0.isFileURL && !$0.isMemoryPlace ? PlainFile.permissions($0.path) : nil })
    }
}

extension NSPersistentStore {
    /// The type of a store, as a value.
    public struct StoreType: RawRepresentable, Hashable, Sendable {
        /// The type as stores name it in their metadata.
        public let rawValue: String

        /// The type of that name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A store in an SQLite database: ``NSSQLiteStoreType``.
        public static let sqlite = StoreType(rawValue: NSSQLiteStoreType)
        /// A store in one binary file: ``NSBinaryStoreType``.
        public static let binary = StoreType(rawValue: NSBinaryStoreType)
        /// A store in memory: ``NSInMemoryStoreType``.
        public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
        /// A store in one XML file: ``NSXMLStoreType``.
        public static let xml = StoreType(rawValue: NSXMLStoreType)
        /// A store on a PostgreSQL server, for programs with `CoreDataPostgreSQL`. An addition to Apple's API.
        public static let postgreSQL = StoreType(rawValue: "PostgreSQL")
    }
}
