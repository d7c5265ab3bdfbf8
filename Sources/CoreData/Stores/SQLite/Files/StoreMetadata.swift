import Foundation
import SQLiteAccess

/// The one row of `Z_METADATA`: the store's UUID and a property list of its other metadata.
///
/// Unknown keys are kept.
package struct StoreMetadata {
    /// The framework version that we write: the oldest one with all of our keys.
    static let frameworkVersion = 1347

    /// Returns the metadata of a new store of `entities`.
    package static func fresh(model: NSManagedObjectModel, entities: [NSEntityDescription]) -> [String: Any] {
        var metadata: [String: Any] = [
            NSStoreTypeKey: NSSQLiteStoreType,
            NSStoreUUIDKey: UUID().uuidString,
            "NSPersistenceFrameworkVersion": frameworkVersion,
            "_NSAutoVacuumLevel": "2",
            NSStoreModelVersionIdentifiersKey: model.versionIdentifiers.map { "\($0.base)" }.sorted(),
        ]
        setHashes(of: model, entities: entities, in: &metadata)
        return metadata
    }

    /// Sets the version hashes with their digest and checksum.
    package static func setHashes(
        of model: NSManagedObjectModel, entities: [NSEntityDescription], in metadata: inout [String: Any]
    ) {
        let all = model.entityVersionHashesByName
        let hashes = Dictionary(
            entities.compactMap { entity in entity.name.flatMap { name in all[name].map { (name, $0) } } },
            uniquingKeysWith: { first, _ in first })
        metadata[NSStoreModelVersionHashesKey] = hashes
        metadata["NSStoreModelVersionHashesVersion"] = 3
        metadata["NSStoreModelVersionHashesDigest"] = VersionHash.digest(hashes)
        metadata["NSStoreModelVersionChecksumKey"] = VersionHash.checksum(hashes)
    }

    /// Adds missing metadata of a program's own store class: type, UUID and version hashes.
    static func complete(_ store: NSPersistentStore, newIdentifier: () -> String) {
        var complete = store.metadata ?? [:]
        complete[NSStoreTypeKey] = complete[NSStoreTypeKey] ?? store.type
        complete[NSStoreUUIDKey] = complete[NSStoreUUIDKey] ?? store.identifier ?? newIdentifier()
        if complete[NSStoreModelVersionHashesKey] == nil,
            let model = store.persistentStoreCoordinator?.managedObjectModel,
            let entities = model.entities(forConfigurationName: store.configurationName)
        {
            complete[NSStoreModelVersionIdentifiersKey] = model.versionIdentifiers.map { "\($0.base)" }.sorted()
            setHashes(of: model, entities: entities, in: &complete)
        }
        store.metadata = complete
    }

    /// Reads the metadata of an open store.
    ///
    /// - Throws: 259 if the file is a database but not a store; an `SQLiteError` if it cannot be read.
    static func read(from connection: Connection) throws -> [String: Any] {
        guard try connection.integer("SELECT COUNT(*) FROM sqlite_master") != 0 else {
            throw CoreDataError.make(
                259, "Cannot open the store \(connection.path): the file is empty.",
                userInfo: [NSFilePathErrorKey: connection.path])
        }
        guard try connection.hasTable("Z_METADATA") else {
            throw notAStore(connection.path, "it has no table Z_METADATA")
        }
        let row = try connection.rows("SELECT Z_UUID, Z_PLIST FROM Z_METADATA ORDER BY Z_VERSION LIMIT 1").first
        guard let row, case .text(let uuid) = row[0] else {
            throw notAStore(connection.path, "its table Z_METADATA is empty")
        }
        var metadata: [String: Any] = [:]
        if case .blob(let data) = row[1] {
            guard let list = try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
            else {
                throw notAStore(connection.path, "its metadata cannot be read")
            }
            metadata = list
        }
        metadata[NSStoreUUIDKey] = uuid
        if metadata[NSStoreTypeKey] == nil { metadata[NSStoreTypeKey] = NSSQLiteStoreType }
        return metadata
    }

    /// Writes the metadata, in a transaction or not.
    ///
    /// - Throws: 134030 for a value that a property list cannot contain.
    static func write(_ metadata: [String: Any], to connection: Connection) throws {
        var list = metadata
        let uuid = list.removeValue(forKey: NSStoreUUIDKey) as? String ?? UUID().uuidString
        if list[NSStoreTypeKey] == nil { list[NSStoreTypeKey] = NSSQLiteStoreType }
        guard
            let data = try? PropertyListSerialization.data(
                fromPropertyList: withFoundationArrays(list), format: .binary, options: 0)
        else {
            throw CoreDataError.make(
                134030, "Cannot save the metadata of \(connection.path): a value cannot be in a property list."
            )
        }
        try connection.execute("DELETE FROM Z_METADATA WHERE Z_VERSION <> 1")
        try connection.execute(
            "INSERT OR REPLACE INTO Z_METADATA (Z_VERSION, Z_UUID, Z_PLIST) VALUES (1, ?, ?)",
            [.text(uuid), .blob(data)])
    }

    /// Returns the value with every array as an `NSArray`. When linked statically, Foundation does not accept a bridged
    /// Swift array as a property list (seen with Swift 6.3).
    private static func withFoundationArrays(_ value: Any) -> Any {
        switch value {
        case let dictionary as [String: Any]: dictionary.mapValues(withFoundationArrays)
        case let array as [Any]: NSArray(array: array.map(withFoundationArrays))
        default: value
        }
    }

    private static func notAStore(_ path: String, _ reason: String) -> NSError {
        CoreDataError.make(
            259,
            "Cannot open the store \(path): the file is an SQLite database, but not a Core Data store (\(reason)).",
            userInfo: [NSFilePathErrorKey: path])
    }
}
