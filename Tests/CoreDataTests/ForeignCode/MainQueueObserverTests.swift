import CoreData
import Foundation
import Synchronization
import Testing

/// Observers on the main queue, as in most programs, during a save of a main-queue context. Uses only the public
/// interface.
@MainActor @Suite struct MainQueueObserverTests {
    private func open() throws -> NSPersistentContainer {
        let entity = MigrationDesk.entity("Note", [MigrationDesk.attribute("title")])
        return try NSPersistentContainer.open(
            "Notes", model: MigrationDesk.model([entity]), at: URL(fileURLWithPath: "/dev/null"))
    }

    @Test(.timeLimit(.minutes(10))) func aSaveOnTheMainActorDoesNotWaitForItself() throws {
        let context = try open().viewContext
        let inserted = Mutex(0)
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: context, queue: .main
        ) { note in
            let count = (note.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>)?.count ?? 0
            inserted.withLock { $0 += count }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        _ = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
        try context.save()
        #expect(inserted.withLock { $0 } == 1)
    }

    @Test(.timeLimit(.minutes(10))) func aBackgroundSaveIsReportedOnTheMainQueue() async throws {
        let context = try open().newBackgroundContext()
        let isOnMain = Mutex(false)
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: context, queue: .main
        ) { _ in MainActor.assumeIsolated { isOnMain.withLock { $0 = true } } }
        defer { NotificationCenter.default.removeObserver(observer) }
        try await context.perform {
            _ = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
            try context.save()
        }
        #expect(isOnMain.withLock { $0 })
    }
}
