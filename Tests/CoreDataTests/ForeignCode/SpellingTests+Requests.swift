import CoreData
import Foundation
import Testing

/// Typed requests for parameters of an erased type, and initialisers that only the framework calls.
extension SpellingTests {
    private func open() throws -> NSManagedObjectContext {
        let entity = MigrationDesk.entity("ShopCustomer", [MigrationDesk.attribute("name")])
        entity.managedObjectClassName = "CoreDataTests.SpelledCustomer"
        let context = try NSPersistentContainer.open(
            "Spelled", model: MigrationDesk.model([entity]), at: URL(fileURLWithPath: "/dev/null")
        ).viewContext
        for name in ["b", "a"] { SpelledCustomer(context: context).name = name }
        try context.save()
        return context
    }

    @Test func controllersAndAsynchronousRequestsTakeErasedAndTypedOnes() async throws {
        let context = try open()
        let request = NSFetchRequest<SpelledCustomer>(entityName: "ShopCustomer")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let erased = NSFetchedResultsController<NSFetchRequestResult>(
            fetchRequest: request.erased, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        try erased.performFetch()
        #expect((erased.fetchedObjects as? [SpelledCustomer])?.map(\.name) == ["a", "b"])
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        try controller.performFetch()
        #expect(controller.fetchedObjects?.map(\.name) == ["a", "b"])
        let names: [String?] = try await withCheckedThrowingContinuation { continuation in
            do {
                try context.execute(
                    NSAsynchronousFetchRequest(fetchRequest: request.erased) { result in
                        continuation.resume(
                            returning: result.finalResult?.map { ($0 as? SpelledCustomer)?.name } ?? [])
                    })
            } catch {
                continuation.resume(throwing: error)
            }
        }
        #expect(names == ["a", "b"])
    }
}
