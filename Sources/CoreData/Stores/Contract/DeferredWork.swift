/// The metadata entry for work that a lightweight migration deferred. It applies to one file only.
enum DeferredWork {
    /// The columns still to be dropped, as pairs of table and column.
    static let columnsKey = "RosterDeferredColumns"

    static let metadataKeys = [NSPersistentStoreDeferredLightweightMigrationOptionKey, columnsKey]

    static func waits(in metadata: [String: Any]?) -> Bool {
        metadata?[NSPersistentStoreDeferredLightweightMigrationOptionKey] != nil
    }

    /// Returns the metadata without the entry, for a store in another file.
    static func leftOut(of metadata: [String: Any]) -> [String: Any] {
        metadata.filter { !metadataKeys.contains($0.key) }
    }
}
