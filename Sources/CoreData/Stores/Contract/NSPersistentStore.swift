import Foundation
import Synchronization
import Glibc

/// A store: where the rows of a coordinator's objects live. Abstract.
///
/// A coordinator adds a store in these steps, under its lock:
/// 1. `init`, which stores what it is given and touches no file;
/// 2. `loadMetadata()`, which opens what `url` names, or makes it new where nothing is there and the store is not read
///    only, and sets `metadata` and with it `identifier`; it changes nothing in a store that was there;
/// 3. the coordinator compares `metadata` with its model and throws where they differ;
/// 4. `prepare()`, after which the rows can be asked for (``RowStore``);
/// 5. `didAdd(to:)`.
///
/// When a step throws the store is dropped, after `willRemove(from:)`.
// SAFETY: the coordinator's lock guards its state; `persistentStoreCoordinator` has a mutex of its own.
open class NSPersistentStore: NSObject, @unchecked Sendable {
    /// The coordinator that the store was added to.
    open internal(set) var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
        get { owner.withLock { $0.coordinator } }
        set { owner.withLock { $0.coordinator = newValue } }
    }
    /// Read on any thread, while a coordinator takes the store out on another.
    private let owner: Mutex<Owner>

    // SAFETY: only reached through the mutex that owns it.
    private struct Owner: @unchecked Sendable {
        weak var coordinator: NSPersistentStoreCoordinator?
        var url: URL?
    }

    /// The name of the configuration whose entities the store holds.
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
    /// What the store's object IDs hold of it; there once the store is made, and anew when its identifier is set, which
    /// is before it has any ID to give.
    private(set) final var reference: StoreReference!
    /// The shared parts of the store's object IDs, by the index of the entity in its model.
    private let idFamilies = Mutex<[IDFamily?]>([])
    /// True if the store is read-only.
    open var isReadOnly = false
    /// What the store says of itself; holds at least its type and its UUID once loaded. A change is written with the
    /// next save.
    open var metadata: [String: Any]! = [:]

    /// Stores the arguments; touches no file.
    ///
    /// Required, because the coordinator makes stores of the class that is registered for their type.
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

    /// Returns the shared part of the IDs of an entity's objects. On any thread.
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

    /// The configuration of a store that was added without one: all entities of the model.
    static let defaultConfigurationName = "PF_DEFAULT_CONFIGURATION_NAME"

    /// The string of the store's type.
    open var type: String { "" }

    /// Opens the store and reads its metadata, while it is added.
    ///
    /// - Throws: an overrider's own error, which refuses the store: adding it throws the same.
    open func loadMetadata() throws {}

    /// Called when the store was added.
    open func didAdd(to coordinator: NSPersistentStoreCoordinator) {}

    /// Called before the store is removed, and when adding it failed.
    open func willRemove(from coordinator: NSPersistentStoreCoordinator?) {}

    /// Reads the metadata of the store at `url` without a coordinator. Subclasses must override it.
    ///
    /// - Throws: 260 where nothing is there, 259 where it is no store; 134000 where a subclass does not override it.
    open class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        throw lacks("metadataForPersistentStore(with:)")
    }

    /// Writes the metadata of the store at `url` at once, without a coordinator. Subclasses must override it.
    ///
    /// - Throws: 260 where nothing is there, 259 where it is no store, 513 for want of permission; 134000 where a subclass does not
    ///   override it.
    open class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        throw lacks("setMetadata(_:forPersistentStoreAt:)")
    }

    /// The error for a required member that a subclass does not override.
    final class func lacks(_ member: String) -> NSError {
        CoreDataError.make(134000, "The store class \(self) must override \(member).")
    }

    /// The same with the options of the caller, for stores that wait for others.
    class func setMetadata(_ metadata: [String: Any]?, at url: URL, options: [AnyHashable: Any]?) throws {
        try setMetadata(metadata, forPersistentStoreAt: url)
    }

    /// True if `metadata` changed since they were written.
    var hasUnsavedMetadata: Bool { false }

    /// True if change sets of saves need the objects of the rows.
    var wantsObjects: Bool { false }

    /// What the store's keys stand for, where its rows are known by something else.
    class func references(ofStore identifier: String) -> ReferenceTable? { nil }

    /// The text of a reference as it stands in the URIs of object IDs, where it is escaped as paths are. References of equal texts
    /// name the same row of their hierarchy of entities.
    ///
    /// An addition to Apple's API. Asked of subclasses of `NSAtomicStore` and `NSIncrementalStore` when they make an ID, on the
    /// thread on which they do, and not for whole numbers, which are printed as such. Prints by default a text as it is, a UUID as
    /// its text, data as hexadecimal digits, and the description of anything else.
    ///
    /// - Parameter data: what the store gave as a reference, or read by ``referenceObject(forURIText:entity:)``.
    open func uriText(forReferenceObject data: Any) -> String { ReferenceText.usual(data) }

    /// The reference whose text stands in a URI; `nil` where it can be none of the store's.
    ///
    /// An addition to Apple's API. Asked, under the coordinator's lock, by
    /// `NSPersistentStoreCoordinator.managedObjectID(forURIRepresentation:)` for rows that the store has not named itself yet, as
    /// after a launch. By default the number that the text is the digits of, and else the text: a store whose references are
    /// UUIDs, data, or texts that may be digits, and which looks at their type, overrides it.
    ///
    /// - Parameters:
    ///   - text: what ``uriText(forReferenceObject:)`` gave, or what another program wrote; without escapes.
    ///   - entity: the entity in the URI.
    open func referenceObject(forURIText text: String, entity: NSEntityDescription) -> Any? {
        Int64(text).flatMap { "\($0)" == text ? NSNumber(value: $0) : nil } ?? text
    }

    /// Makes the store ready for use, once its metadata were found to fit the model: here a store may change its file.
    func prepare() throws {}

    /// The class of the manager that migrates stores of this type by a mapping model, ``NSMigrationManager`` by default. What
    /// is returned must be that class or a subclass of it.
    open class func migrationManagerClass() -> AnyClass { NSMigrationManager.self }

    /// True if ``migrateByInference(from:to:)`` is implemented: other stores are migrated by a manager, into a new store.
    var migratesInPlace: Bool { false }

    /// Closes whatever the store has open, so that another store can take the place of its file.
    func releaseFile() {}

    /// Brings the store, whose metadata were loaded, to another version of its model by a mapping that is inferred.
    ///
    /// - Throws: 134190 where it cannot be inferred, 134110 where the rows do not fit; then the store is as it was.
    func migrateByInference(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) throws {
        throw CoreDataError.make(
            134110, "Stores of the type \(type) cannot be migrated in place; \(placeName) stays as it was.")
    }

    /// Does one step of what lightweight migrations of the store put off.
    ///
    /// - Returns: whether there is more to do.
    func finishDeferredMigrationTask() throws -> Bool { false }

    /// The model cached in the store at `url`, as a compiled model's data; `nil` where the store keeps none.
    class func cachedModelData(at url: URL, options: [AnyHashable: Any]?) throws -> Data? { nil }

    /// The same with the store's metadata.
    class func cachedModelWithMetadata(
        at url: URL, options: [AnyHashable: Any]?
    ) throws -> (model: Data, metadata: [String: Any])? {
        try cachedModelData(at: url, options: options).map { ($0, try metadataForPersistentStore(with: url)) }
    }

    /// The same of this store, which was loaded.
    ///
    /// - Throws: what keeps a server from being asked; a file that cannot be read counts as one that keeps none.
    func cachedModelData() throws -> Data? {
        guard let url else { return nil }
        return try? Self.cachedModelData(at: url, options: options)
    }

    /// True if stores of the type are on a server. Their URLs are not file URLs.
    class var isOnServer: Bool { false }

    /// Whether there is no store at `url`, which names no file.
    ///
    /// - Throws: where that cannot be told, if the type knows the difference.
    class func holdsNothing(at url: URL) throws -> Bool { (try? metadataForPersistentStore(with: url)) == nil }

    /// Refuses a place for a new store where no store is, but what belongs to one that was moved away. The default knows nothing
    /// of the kind.
    ///
    /// - Throws: 516.
    class func checkThatNothingIsLeft(at url: URL) throws {}

    /// Set before the store is loaded where it must be a new one: a store on a server throws 516 then where there is one
    /// already, and says here that it made its tables.
    package final var creation: StoreMaking?

    /// Goes on with `url` instead of where the store was: opens what was moved there, or writes there from now on.
    func reconnect(to url: URL) throws { self.url = url }

    /// True if stores of the type are files that can be copied while they are open.
    class var copiesFiles: Bool { false }

    /// Puts a copy of the store at `source` in the place of whatever stands at `destination`, which stays whole until the
    /// copy is. The default copies a file that is written as a whole.
    class func replaceStore(
        at destination: URL, options: [AnyHashable: Any]?, with source: URL, options sourceOptions: [AnyHashable: Any]?
    ) throws {
        try Data(contentsOf: source).write(to: destination, options: .atomic)
    }

    /// Makes a copy of the open store at `destination`, where nothing stands. Asked of types that copy files.
    func copyContents(to destination: URL) throws {
        guard let url else { return }
        try Self.replaceStore(at: destination, options: nil, with: url, options: options)
    }

    /// A model inferred from what the store at `url` holds; `nil` where the type does not say enough.
    class func inferredModel(at url: URL, options: [AnyHashable: Any]?) throws -> NSManagedObjectModel? { nil }

    /// Destroys the store at `url` and all that belongs to it. The default removes the file, if the type can read its metadata
    /// from there.
    class func destroyStore(at url: URL, options: [AnyHashable: Any]?) throws {
        guard !url.isMemoryPlace, try PlainFile.check(url.path, for: "destroy") else { return }
        _ = try metadataForPersistentStore(with: url)
        try FileManager.default.removeItem(at: url)
    }

    /// Removes the files of a store at `url` without reading them: for a store that could not be made whole. Does nothing where
    /// `url` names no file. The default removes one plain file.
    class func removeFiles(at url: URL) {
        if url.isFileURL { PlainFile.remove(url.path) }
    }

    /// Removes what a step that failed left of a new store at `url`, where nothing stood before.
    ///
    /// - Parameter creation: what the store says of its making: another program may have made one on the same server meanwhile.
    final class func removeUnfinished(at url: URL, _ creation: StoreMaking) {
        guard !url.isMemoryPlace, creation.isMade || !isOnServer else { return }
        try? destroyStore(at: url, options: nil)
        // A file that could not be filled is no store that could be destroyed.
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
    /// The permissions of a new file, which it has before anything is in it; `nil` for what the umask leaves.
    let permissions: mode_t?

    init(permissions: mode_t? = nil) { self.permissions = permissions }

    /// A new file is read by those who may read the file that it is made from.
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
        /// A store on a PostgreSQL server, for programs that link the product `CoreDataPostgreSQL`. An addition to Apple's types.
        public static let postgreSQL = StoreType(rawValue: "PostgreSQL")
    }
}
