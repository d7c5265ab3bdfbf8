import Foundation
import Observation
import Testing

@testable import CoreData

/// Derived values that a store by Apple's framework computes by triggers during a save, as read from the objects.
@Suite(.enabled(if: ModelCorpus.isPresent, "set ROSTER_CORPUS to the folder with Apple's stores"))
struct DerivedValueTests {
    /// The covers are required and need an unknown transformer.
    private final class Book: NSManagedObject {
        override func validateForUpdate() throws {}
    }

    @Test func aSaveReturnsTheDerivedValues() throws {
        let stored = try #require(
            ModelCorpus.stores.first { $0.url.lastPathComponent == "SampleModel2_V1.sqlite" })
        let model = try NSManagedObjectModel(
            cachedModelData: stored.cachedModel, store: stored.url.path, metadata: stored.metadata)
        let entity = try #require(model.entitiesByName["Book"])
        ManagedObjectClasses.register(Book.self, for: entity)
        let harness = try StoreHarness(model)
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: stored.url.path + suffix) {
            try Data(contentsOf: URL(fileURLWithPath: stored.url.path + suffix))
                .write(to: URL(fileURLWithPath: harness.url.path + suffix))
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: harness.url,
            options: [NSPersistentHistoryTrackingKey: true])
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.use { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            request.predicate = NSPredicate(format: "pagesCount > 1")
            let book = try #require(try context.fetch(request).first)
            let before = try #require(book.value(forKey: "pagesCount") as? Int)
            let pages = book.objects("pages")
            #expect(pages.count == before)
            for page in pages.prefix(2) { context.delete(page) }
            #expect(book.value(forKey: "pagesCount") as? Int == before, "nothing is derived before the save")
            let told = Told()
            withObservationTracking {
                _ = book.value(forKey: "pagesCount")
            } onChange: {
                told.wasTold = true
            }
            try context.save()
            #expect(book.value(forKey: "pagesCount") as? Int == before - 2 && told.wasTold)
            #expect(!book.hasChanges && book.changedValues().isEmpty)
            context.refresh(book, mergeChanges: false)
            #expect(book.value(forKey: "pagesCount") as? Int == before - 2)
        }
    }

    private final class Told: @unchecked Sendable {
        var wasTold = false
    }
}
