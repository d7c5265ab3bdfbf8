import Foundation
import Synchronization
import Testing

@testable import CoreData

@Suite struct CoordinatorTests {
    @Test func aStoreIsAddedFoundAndRemoved() throws {
        let url = URL(fileURLWithPath: "/memory/\(UUID().uuidString)")
        MemoryStore.register()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: League.model())
        let heard = Heard(.NSPersistentStoreCoordinatorStoresDidChange, from: coordinator)
        let store = try coordinator.addPersistentStore(
            type: NSPersistentStore.StoreType(rawValue: MemoryStore.storeType), at: url)
        #expect(coordinator.persistentStores == [store])
        #expect(coordinator.persistentStore(for: url) === store)
        #expect(coordinator.url(for: store) == url)
        #expect(store.persistentStoreCoordinator === coordinator)
        #expect(heard.count == 1)
        #expect((heard.last?.userInfo?[NSAddedPersistentStoresKey] as? [NSPersistentStore]) == [store])

        try coordinator.remove(store)
        #expect(coordinator.persistentStores.isEmpty)
        #expect(store.persistentStoreCoordinator == nil)
        #expect((heard.last?.userInfo?[NSRemovedPersistentStoresKey] as? [NSPersistentStore]) == [store])
        #expect(throws: (any Error).self) { try coordinator.remove(store) }
    }

    /// Only one of several concurrent removals removes a store: its hooks are called once.
    @Test func aStoreIsRemovedOnce() throws {
        let (coordinator, store) = try League.memoryStack()
        let heard = Heard(.NSPersistentStoreCoordinatorWillRemoveStore, from: store)
        let codes = Mutex<[Int?]>([])
        let other = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreCoordinatorWillRemoveStore, object: store, queue: nil
        ) { [unowned coordinator] notice in
            guard let store = notice.object as? NSPersistentStore, codes.withLock(\.isEmpty) else { return }
            codes.withLock { $0.append(nil) }
            do { try coordinator.remove(store) } catch { codes.withLock { $0 = [(error as NSError).code] } }
        }
        defer { NotificationCenter.default.removeObserver(other) }
        try coordinator.remove(store)
        #expect(codes.withLock { $0 } == [134060] && heard.count == 1 && coordinator.persistentStores.isEmpty)
    }

    @Test func oneStoreCannotBeAddedTwice() throws {
        let (coordinator, store) = try League.memoryStack()
        let error = try #require(
            throws: NSError.self,
            performing: {
                try coordinator.addPersistentStore(
                    ofType: MemoryStore.storeType, configurationName: nil, at: store.url)
            })
        #expect(error.code == 134080)
        #expect(error.localizedDescription.contains("already open"))
    }

    @Test func anUnknownTypeAndConfigurationAreNamed() throws {
        MemoryStore.register()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: League.model())
        let url = URL(fileURLWithPath: "/memory/x")
        let type = try #require(
            throws: NSError.self,
            performing: {
                try coordinator.addPersistentStore(ofType: "Punch cards", configurationName: nil, at: url)
            })
        #expect(type.code == 134000)
        #expect(type.localizedDescription.contains("Punch cards"))
        let configuration = try #require(
            throws: NSError.self,
            performing: {
                try coordinator.addPersistentStore(
                    ofType: MemoryStore.storeType, configurationName: "Winter", at: url)
            })
        #expect(configuration.localizedDescription.contains("Winter"))
    }

    @Test func anIDIsFoundByItsURI() throws {
        let (coordinator, store) = try League.memoryStack()
        let context = League.context(coordinator)
        let id = try context.performAndWait { () throws in
            let team = context.addTeam("Ghana")
            try context.save()
            return team.objectID
        }
        let uri = id.uriRepresentation()
        #expect(uri.absoluteString.hasPrefix("x-coredata://\(store.identifier ?? "")/Team/p"))
        #expect(coordinator.managedObjectID(forURIRepresentation: uri) == id)
        #expect(coordinator.managedObjectID(for: uri.absoluteString) == id)
        let elsewhere = "x-coredata://\(UUID().uuidString)/Team/p1"
        #expect(coordinator.managedObjectID(for: elsewhere) == nil)
        #expect(coordinator.managedObjectID(for: "x-coredata://\(store.identifier ?? "")/Absent/p1") == nil)
        #expect(coordinator.managedObjectID(for: "https://example.org/") == nil)
    }

    @Test func newObjectsGoToTheFirstWritableStore() throws {
        let (coordinator, readOnly) = try League.memoryStack(options: [NSReadOnlyPersistentStoreOption: true])
        let entity = try #require(coordinator.managedObjectModel.entitiesByName["Team"])
        #expect(readOnly.isReadOnly)
        let error = try #require(throws: NSError.self, performing: { try coordinator.store(for: entity) })
        #expect(error.localizedDescription.contains("open read-only"))
        let second = try coordinator.addPersistentStore(
            ofType: MemoryStore.storeType, configurationName: nil,
            at: URL(fileURLWithPath: "/memory/\(UUID().uuidString)"))
        #expect(try coordinator.store(for: entity) === second)
    }

    /// The reference is weak, and the coordinator is released while it is read.
    @Test func aStoresCoordinatorCanBeReadOnEveryThread() throws {
        for _ in 0..<100 {
            var pair: (coordinator: NSPersistentStoreCoordinator, store: MemoryStore)? = try League.memoryStack()
            let store = try #require(pair?.store)
            let owner = Mutex(pair?.coordinator)
            pair = nil
            let left = Mutex(0)
            DispatchQueue.concurrentPerform(iterations: 4) { thread in
                for round in 0..<200 {
                    if thread == 0, round == 100 { owner.withLock { $0 = nil } }
                    if let known = store.persistentStoreCoordinator, known.persistentStores.first === store {
                        left.withLock { $0 += 1 }
                    }
                }
            }
            #expect(left.withLock { $0 } > 0)
            #expect(store.persistentStoreCoordinator == nil)
        }
    }

    @Test func aStoreThatWasWrittenAsAnotherTypeIsRefused() throws {
        NSPersistentStoreCoordinator.registerStoreClass(MemoryStore.self, forStoreType: "MemoryStoreUnderAnotherName")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: League.model())
        let error = #expect(throws: NSError.self) {
            try coordinator.addPersistentStore(
                ofType: "MemoryStoreUnderAnotherName", configurationName: nil,
                at: URL(fileURLWithPath: "/memory/\(UUID().uuidString)"))
        }
        #expect(error?.code == 134010 && error?.localizedDescription.contains(MemoryStore.storeType) == true)
        #expect(coordinator.persistentStores.isEmpty)
    }

    @Test func metadataKeepTypeAndUUID() throws {
        let (coordinator, store) = try League.memoryStack()
        coordinator.setMetadata(["note": "hello"], for: store)
        let metadata = coordinator.metadata(for: store)
        #expect(metadata["note"] as? String == "hello")
        #expect(metadata[NSStoreUUIDKey] as? String == store.identifier)
        #expect(metadata[NSStoreTypeKey] as? String == MemoryStore.storeType)
    }

    @Test func workIsNestedAndExclusive() async throws {
        let (coordinator, _) = try League.memoryStack()
        let nested = coordinator.performAndWait { coordinator.performAndWait { 7 } }
        #expect(nested == 7)
        let counter = Counter()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                group.addTask { await coordinator.perform { counter.value += 1 } }
            }
        }
        #expect(counter.value == 100)
        await #expect(throws: CocoaError.self) {
            try await coordinator.perform { throw CocoaError(.featureUnsupported) }
        }
    }

    private final class Counter: @unchecked Sendable { var value = 0 }

    @Test func aStoreOfAnotherModelIsRefusedWithTheEntitiesThatDiffer() {
        let comparison = StoreCompatibility(
            storeHashes: ["Team": Data([1]), "Venue": Data([2]), "Referee": Data([3])],
            modelHashes: ["Team": Data([9]), "Venue": Data([2]), "Location": Data([4])])
        #expect(!comparison.isCompatible)
        #expect(comparison.different == ["Team"])
        #expect(comparison.summary == "Team changed; Location only in the model; Referee only in the store")
        #expect(StoreCompatibility(storeHashes: ["A": Data([1])], modelHashes: ["A": Data([1])]).isCompatible)
    }
}

/// Collects notifications.
final class Heard: @unchecked Sendable {
    private let lock = NSLock()
    private var notifications: [Notification] = []
    private var token: (any NSObjectProtocol)?

    init(_ name: Notification.Name, from object: AnyObject?) {
        token = NotificationCenter.default.addObserver(forName: name, object: object, queue: nil) { [weak self] heard in
            let heard = UncheckedSendable(heard)
            self?.lock.withLock { self?.notifications.append(heard.value) }
        }
    }

    deinit { token.map(NotificationCenter.default.removeObserver) }

    var all: [Notification] { lock.withLock { notifications } }
    var count: Int { all.count }
    var last: Notification? { all.last }
}
