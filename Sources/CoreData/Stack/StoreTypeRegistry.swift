import Foundation
import Synchronization

/// The store classes by type. One registry per process; safe on any thread.
enum StoreTypeRegistry {
    private static let classes = Mutex<[String: any RowStore.Type]>([
        NSSQLiteStoreType: SQLiteStore.self, NSInMemoryStoreType: InMemoryStore.self,
        NSBinaryStoreType: BinaryStore.self, NSXMLStoreType: XMLStore.self,
    ])

    static var all: [String: any RowStore.Type] { classes.withLock { $0 } }

    /// Registers `storeClass`; `nil` removes the type.
    static func register(_ storeClass: (any RowStore.Type)?, for storeType: String) {
        classes.withLock { $0[storeType] = storeClass }
    }

    /// The class of a store type.
    ///
    /// - Throws: `NSPersistentStoreInvalidTypeError` (134000) for a type that is not registered.
    static func storeClass(of storeType: String) throws -> any RowStore.Type {
        let known = all
        if let found = known[storeType] { return found }
        if StoreEngines.all.contains(where: { $0.storeType == storeType }) { return EngineStore.self }
        if storeType == NSPersistentStore.StoreType.postgreSQL.rawValue {
            throw StoreEngines.unknown("stores of the type \(storeType)")
        }
        throw CoreDataError.make(
            134000,
            "Unknown store type \"\(storeType)\". Known types: \(known.keys.sorted().joined(separator: ", "))."
        )
    }
}
