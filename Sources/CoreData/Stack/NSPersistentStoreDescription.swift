import Foundation

/// The URL, type, configuration and options of a store to add to a coordinator.
///
/// Used by one thread at a time. Do not change it until the completion handler of its store was called.
open class NSPersistentStoreDescription: NSObject, NSCopying {
    /// The URL of the store; `/dev/null` means in memory.
    open var url: URL?
    /// The store type. SQLite by default.
    open var type: String = NSSQLiteStoreType
    /// The configuration of the model whose entities the store has; `nil` means all.
    open var configuration: String?
    /// True if the store is added on another thread. `false` by default.
    open var shouldAddStoreAsynchronously = false
    /// All options, including those with their own members.
    open private(set) var options: [String: NSObject] = [:]

    /// Creates a description of an SQLite store in memory (at `/dev/null`).
    public override convenience init() { self.init(url: .memoryPlace) }

    /// Creates a description of the store at `url`: a PostgreSQL store if the scheme is `postgresql` or `postgres`,
    /// else an SQLite store. It is migrated automatically.
    public init(url: URL) {
        super.init()
        self.url = url
        if url.isPostgreSQLPlace { type = NSPersistentStore.StoreType.postgreSQL.rawValue }
        shouldMigrateStoreAutomatically = true
        shouldInferMappingModelAutomatically = true
    }

    /// Sets an option of the store; `nil` removes it.
    open func setOption(_ option: NSObject?, forKey key: String) { options[key] = option }

    /// True to open the store read-only. `false` by default.
    open var isReadOnly: Bool {
        get { flag(NSReadOnlyPersistentStoreOption) }
        set { setFlag(newValue, NSReadOnlyPersistentStoreOption) }
    }

    /// Seconds to wait for a store that another connection has locked; 0 if not set.
    open var timeout: TimeInterval {
        get { (options[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? 0 }
        set { options[NSPersistentStoreTimeoutOption] = NSNumber(value: newValue) }
    }

    /// True if a store of another model version is migrated. `true` by default.
    open var shouldMigrateStoreAutomatically: Bool {
        get { flag(NSMigratePersistentStoresAutomaticallyOption) }
        set { setFlag(newValue, NSMigratePersistentStoresAutomaticallyOption) }
    }

    /// True if an automatic migration infers the mapping model if none is found. `true` by default.
    open var shouldInferMappingModelAutomatically: Bool {
        get { flag(NSInferMappingModelAutomaticallyOption) }
        set { setFlag(newValue, NSInferMappingModelAutomaticallyOption) }
    }

    /// SQLite pragmas by name.
    open var sqlitePragmas: [String: NSObject] {
        guard let pragmas = options[NSSQLitePragmasOption] as? NSDictionary else { return [:] }
        var result: [String: NSObject] = [:]
        for (name, value) in pragmas {
            if let name = name as? String { result[name] = (value as? NSObject) ?? NSString(string: "\(value)") }
        }
        return result
    }

    /// Sets an SQLite pragma; its value must be a string. `nil` removes it.
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
