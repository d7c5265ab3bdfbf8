import Foundation
import SQLiteAccess
import Testing

@testable import CoreData

/// A folder with one store, opened and written without managed objects. Removed with its last reference.
final class StoreHarness {
    let folder: URL
    let model: NSManagedObjectModel
    var url: URL { folder.appendingPathComponent("Store.sqlite") }

    init(_ model: NSManagedObjectModel) throws {
        self.model = model
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("sqlite-store-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        if let metadata = try? SQLiteStore.metadataForPersistentStore(with: url),
            let identifier = metadata[NSStoreUUIDKey] as? String
        {
            let notes = ChangeToken.notesFolder
            for name in (try? FileManager.default.contentsOfDirectory(atPath: notes.path)) ?? []
            where name.hasPrefix(identifier) {
                try? FileManager.default.removeItem(at: notes.appendingPathComponent(name))
            }
        }
        try? FileManager.default.removeItem(at: folder)
    }

    /// An open store with its coordinator, which the store does not retain.
    final class Open: @unchecked Sendable {
        let coordinator: NSPersistentStoreCoordinator
        let store: SQLiteStore
        init(_ coordinator: NSPersistentStoreCoordinator, _ store: SQLiteStore) {
            self.coordinator = coordinator
            self.store = store
        }

        func entity(_ name: String) throws -> NSEntityDescription {
            try #require(coordinator.managedObjectModel.entitiesByName[name])
        }

        /// Inserts a row with values by property name.
        @discardableResult
        func insert(_ entity: String, _ values: [String: SlotValue], positions: [String: Int] = [:]) throws
            -> NSManagedObjectID
        {
            let row = try newRow(entity, values)
            try store.save(
                StoreChangeSet(inserted: [row], insertedPositions: [row.id: slots(positions, row.id.entity)]))
            return row.id
        }

        func newRow(_ name: String, _ values: [String: SlotValue]) throws -> IdentifiedRow {
            let entity = try entity(name)
            let id = try #require(store.obtainPermanentIDs(for: [entity]).first)
            return IdentifiedRow(
                id: id, row: .make(entity.layout.slots.map { values[$0.name] ?? .null }, version: 1))
        }

        /// A change that sets some values of a row.
        func change(
            _ id: NSManagedObjectID, _ values: [String: SlotValue], base: RowSnapshot? = nil,
            positions: [String: Int] = [:]
        ) throws -> StoreRowChange {
            let row = try base ?? #require(store.rows(for: [id])[id])
            var all = row.values.array
            var changed: [Int] = []
            for (slot, property) in id.entity.layout.slots.enumerated() {
                guard let value = values[property.name] else { continue }
                all[slot] = value
                changed.append(slot)
            }
            return StoreRowChange(
                id: id, row: .make(all, version: row.version + 1), changedSlots: changed, baseVersion: row.version,
                orderedPositions: slots(positions, id.entity))
        }

        func deletion(_ id: NSManagedObjectID) throws -> StoreRowChange {
            let row = try #require(store.rows(for: [id])[id])
            return StoreRowChange(id: id, row: nil, changedSlots: [], baseVersion: row.version)
        }

        func value(_ name: String, of id: NSManagedObjectID) throws -> SlotValue {
            let row = try #require(store.rows(for: [id])[id])
            let slot = try #require(id.entity.layout.slots.firstIndex { $0.name == name })
            return row.values[slot]
        }

        func relationship(_ entity: String, _ name: String) throws -> NSRelationshipDescription {
            try #require(self.entity(entity).relationshipsByName[name])
        }

        private func slots(_ positions: [String: Int], _ entity: NSEntityDescription) -> [Int: Int] {
            var result: [Int: Int] = [:]
            for (slot, property) in entity.layout.slots.enumerated() {
                if let place = positions[property.name] { result[slot] = place }
            }
            return result
        }

        func close() throws { try coordinator.remove(store) }
    }

    func open(_ options: [AnyHashable: Any]? = nil, configuration: String? = nil, url: URL? = nil) throws -> Open {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: configuration, at: url ?? self.url, options: options)
        return Open(coordinator, try #require(store as? SQLiteStore))
    }

    static var history: [AnyHashable: Any] { [NSPersistentHistoryTrackingKey: true] }

    /// Rows of the file, read as another program does.
    func sql(_ text: String, _ arguments: [SQLiteValue] = []) throws -> [[SQLiteValue]] {
        let connection = try Connection(path: url.path, access: .readWrite)
        return try connection.rows(text, arguments)
    }
}

/// The `CocoaError` code of an error.
func code(_ error: any Error) -> Int { (error as NSError).domain == NSCocoaErrorDomain ? (error as NSError).code : -1 }

/// The message of an error.
func message(_ error: any Error) -> String {
    (error as NSError).userInfo[NSLocalizedDescriptionKey] as? String ?? "\(error)"
}
