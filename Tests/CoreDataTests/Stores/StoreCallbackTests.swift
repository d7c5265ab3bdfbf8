import CoreData
import Foundation
import StoreConformance
import TestSupport
import Testing

/// Calls of coordinators and contexts to stores defined by a program.
@Suite struct StoreCallbackTests {
    private func stack() throws -> (StoreConformance, DocumentStore) {
        let stack = try StoreConformance(DocumentStore.type)
        return (stack, try #require(stack.store as? DocumentStore))
    }

    /// Two saved authors.
    private func authors(_ stack: StoreConformance) throws -> [NSManagedObjectID] {
        try stack.inContext { context in
            let made = ["Ada", "Bo"].map { context.make("Author", named: $0) }
            try context.save()
            return made.map(\.objectID)
        }
    }

    /// A released context reports from another thread.
    private func waits(_ store: DocumentStore, until condition: @escaping ([NSManagedObjectID: Int]) -> Bool) -> Bool {
        eventually("the holders are counted") {
            store.persistentStoreCoordinator?.performAndWait { condition(store.holders) } ?? false
        }
    }

    @Test func rowsAreCountedByTheContextsThatHoldThem() throws {
        let (stack, store) = try stack()
        let ids = try authors(stack)
        #expect(waits(store) { holders in ids.allSatisfy { holders[$0] == 0 } }, "the context that made them went away")
        let context = stack.context()
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
            let found = try context.fetch(request)
            #expect(ids.allSatisfy { store.holders[$0] == 1 } && found.count == 2)
            #expect(try context.fetch(request).count == 2 && store.holders[ids[0]] == 1, "each context once")
        }
        let other = stack.context()
        try other.performAndWait {
            let ada = other.object(with: ids[0])
            #expect(store.holders[ids[0]] == 2 && store.holders[ids[1]] == 1)
            #expect(ada.text("name") == "Ada")
            other.reset()
            #expect(store.holders[ids[0]] == 1)
            let again = try other.existingObject(with: ids[0])
            #expect(store.holders[ids[0]] == 2)
            other.delete(again)
            try other.save()
            #expect(store.holders[ids[0]] == 1, "what was deleted left the context")
        }
        context.performAndWait { context.reset() }
        #expect(ids.allSatisfy { store.holders[$0] == 0 })
    }

    @Test func newObjectsAreReportedOnceTheyHaveRows() throws {
        let (stack, store) = try stack()
        let context = stack.context()
        try context.performAndWait {
            let ada = context.make("Author", named: "Ada")
            context.processPendingChanges()
            #expect(store.holders.isEmpty)
            try context.save()
            #expect(store.holders[ada.objectID] == 1)
            context.refreshAllObjects()
            #expect(store.holders[ada.objectID] == 1, "a fault is an object, too")
        }
    }

    @Test func aStoreHearsWhenItJoinsAndLeaves() throws {
        let (stack, store) = try stack()
        #expect(store.life == ["added"])
        try stack.coordinator.remove(store)
        #expect(store.life == ["added", "removed"])
    }

    /// A store that cannot be opened is released and notified of it.
    final class RefusingStore: NSAtomicStore, @unchecked Sendable {
        nonisolated(unsafe) static var heard: [String] = []

        override var type: String { "org.example.RefusingStore" }

        override func load() throws { throw CocoaError(.fileReadCorruptFile) }

        override func didAdd(to coordinator: NSPersistentStoreCoordinator) { Self.heard.append("added") }

        override func willRemove(from coordinator: NSPersistentStoreCoordinator?) { Self.heard.append("removed") }
    }

    @Test func aStoreThatIsRefusedHearsThatItLeaves() throws {
        let type = NSPersistentStore.StoreType(rawValue: "org.example.RefusingStore")
        NSPersistentStoreCoordinator.registerStoreClass(RefusingStore.self, type: type)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("refused-\(UUID().uuidString)")
        #expect(throws: CocoaError.self) { try coordinator.addPersistentStore(type: type, at: url) }
        #expect(RefusingStore.heard == ["removed"])
    }
}
