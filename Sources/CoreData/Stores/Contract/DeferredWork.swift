/// The entry in a store's metadata for work that a lightweight migration deferred. It belongs to one file.
enum DeferredWork {
    /// The columns that wait to be dropped, as pairs of table and column.
    static let columnsKey = "RosterDeferredColumns"

    static let metadataKeys = [NSPersistentStoreDeferredLightweightMigrationOptionKey, columnsKey]

    static func waits(in metadata: [String: Any]?) -> Bool {
        metadata?[NSPersistentStoreDeferredLightweightMigrationOptionKey] != nil
    }

    /// Metadata to be kept by a store that is another file.
    static func leftOut(of metadata: [String: Any]) -> [String: Any] {
        metadata.filter { !metadataKeys.contains($0.key) }
    }
}
