import Foundation

/// How to add a store to a coordinator: where it is, of what type, and with which options.
///
/// Used by one thread at a time; do not change it before the completion handler of a store that is added with it was called.
open class NSPersistentStoreDescription: NSObject, NSCopying {
    /// Where the store is kept; the URL of `/dev/null` means in memory.
    open var url: URL?
    /// The string of the store's type; SQLite by default.
    open var type: String = NSSQLiteStoreType
    /// The configuration of the model whose entities the store holds; `nil` means all.
    open var configuration: String?
    /// Whether the store is added on another thread. `false` by default.
    open var shouldAddStoreAsynchronously = false
    /// All options, those with members of their own among them.
    open private(set) var options: [String: NSObject] = [:]

    /// A description of an SQLite store in memory (at `/dev/null`).
    public override convenience init() { self.init(url: .memoryPlace) }

    /// A description of the SQLite store at `url`, one that migrates by itself; of a PostgreSQL store where the URL's scheme is
    /// `postgresql` or `postgres`.
    public init(url: URL) {
        super.init()
        self.url = url
        if url.isPostgreSQLPlace { type = NSPersistentStore.StoreType.postgreSQL.rawValue }
        shouldMigrateStoreAutomatically = true
        shouldInferMappingModelAutomatically = true
    }

    /// Sets an option of the store; `nil` removes it.
    open func setOption(_ option: NSObject?, forKey key: String) { options[key] = option }

    /// Whether the store must not be written. `false` by default.
    open var isReadOnly: Bool {
        get { flag(NSReadOnlyPersistentStoreOption) }
        set { setFlag(newValue, NSReadOnlyPersistentStoreOption) }
    }

    /// How many seconds to wait for a store that another connection has locked; 0 where it was not set.
    open var timeout: TimeInterval {
        get { (options[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? 0 }
        set { options[NSPersistentStoreTimeoutOption] = NSNumber(value: newValue) }
    }

    /// Whether a store of another version of the model is migrated. `true` by default.
    open var shouldMigrateStoreAutomatically: Bool {
        get { flag(NSMigratePersistentStoresAutomaticallyOption) }
        set { setFlag(newValue, NSMigratePersistentStoresAutomaticallyOption) }
    }

    /// Whether the mapping model of an automatic migration is inferred where none is found. `true` by default.
    open var shouldInferMappingModelAutomatically: Bool {
        get { flag(NSInferMappingModelAutomaticallyOption) }
        set { setFlag(newValue, NSInferMappingModelAutomaticallyOption) }
    }

    /// SQLite's pragmas by name.
    open var sqlitePragmas: [String: NSObject] {
        guard let pragmas = options[NSSQLitePragmasOption] as? NSDictionary else { return [:] }
        var result: [String: NSObject] = [:]
        for (name, value) in pragmas {
            if let name = name as? String { result[name] = (value as? NSObject) ?? NSString(string: "\(value)") }
        }
        return result
    }

    /// Sets one of SQLite's pragmas; its value must be a string. `nil` removes it.
    open func setValue(_ value: NSObject?, forPragmaNamed name: String) {
        var pragmas = sqlitePragmas
        pragmas[name] = value
        options[NSSQLitePragmasOption] = pragmas.isEmpty ? nil : NSDictionary(dictionary: pragmas)
    }

    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSPersistentStoreDescription()
        copy.url = url
        copy.type = type
        copy.configuration = configuration
        copy.shouldAddStoreAsynchronously = shouldAddStoreAsynchronously
        copy.options = options
        return copy
    }

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPersistentStoreDescription else { return false }
        return url == other.url && type == other.type && configuration == other.configuration
            && shouldAddStoreAsynchronously == other.shouldAddStoreAsynchronously && options == other.options
    }

    open override var hash: Int { url?.hashValue ?? 0 }

    open override var description: String {
        "<NSPersistentStoreDescription> (type: \(type), url: \(url.map { $0.withoutPassword.absoluteString } ?? "(null)"))"
    }

    private func flag(_ key: String) -> Bool { (options[key] as? NSNumber)?.boolValue ?? false }
    private func setFlag(_ value: Bool, _ key: String) { options[key] = NSNumber(value: value) }
}
