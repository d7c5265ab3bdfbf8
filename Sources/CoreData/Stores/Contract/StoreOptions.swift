import Foundation

/// The options of a store, read from the dictionary it is added with.
package struct StoreOptions {
    private let dictionary: [AnyHashable: Any]

    package init(_ dictionary: [AnyHashable: Any]?) { self.dictionary = dictionary ?? [:] }

    var isReadOnly: Bool { flag(NSReadOnlyPersistentStoreOption) ?? false }
    var ignoresVersioning: Bool { flag(NSIgnorePersistentStoreVersioningOption) ?? false }
    var migratesAutomatically: Bool { flag(NSMigratePersistentStoresAutomaticallyOption) ?? false }
    var infersMappingModel: Bool { flag(NSInferMappingModelAutomaticallyOption) ?? false }
    var defersMigration: Bool { flag(NSPersistentStoreDeferredLightweightMigrationOptionKey) ?? false }
    var forcesDestruction: Bool { flag(NSPersistentStoreForceDestroyOption) ?? false }
    var runsAnalyze: Bool { flag(NSSQLiteAnalyzeOption) ?? false }
    var runsVacuum: Bool { flag(NSSQLiteManualVacuumOption) ?? false }
    package var postsRemoteChanges: Bool { flag(NSPersistentStoreRemoteChangeNotificationPostOptionKey) ?? false }

    /// True if the options ask for a history; `nil` if they do not mention one.
    var tracksHistory: Bool? { flag(NSPersistentHistoryTrackingKey) }

    /// Seconds to wait for a lock; `nil` if not in the options.
    package var timeout: TimeInterval? {
        switch dictionary[NSPersistentStoreTimeoutOption] {
        case let number as NSNumber: number.doubleValue
        case let number as Double: number
        case let number as Int: TimeInterval(number)
        default: nil
        }
    }

    /// SQLite's pragmas, sorted by name.
    var pragmas: [(name: String, value: String)] {
        guard let pragmas = dictionary[NSSQLitePragmasOption] as? [AnyHashable: Any] else { return [] }
        return pragmas.map { (name: "\($0.key)", value: "\($0.value)") }.sorted { $0.name < $1.name }
    }

    private func flag(_ key: String) -> Bool? {
        switch dictionary[key] {
        case let value as Bool: value
        case let value as NSNumber: value.boolValue
        case let value as Int: value != 0
        case let value as String: (value as NSString).boolValue
        default: nil
        }
    }
}
