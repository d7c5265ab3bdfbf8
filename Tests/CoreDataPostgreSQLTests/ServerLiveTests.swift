#if PostgreSQL
    import CoreData
    import Foundation
    import PostgreSQLCluster
    import TestSupport
    import Testing

    /// What others commit is seen while it happens.
    @Suite(.needs(.server), .enabled(if: PostgreSQLCluster.shared != nil, "PostgreSQL is not installed"))
    struct ServerLiveTests {
        @Test func aControllerFollowsAnotherCoordinator() throws {
            let stack = try ServerStack(
                Shop.model(), options: [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true])
            let context = stack.context()
            context.automaticallyMergesChangesFromParent = true
            let request = NSFetchRequest<NSManagedObject>(entityName: "Good")
            request.sortDescriptors = [NSSortDescriptor(key: "stock", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            let follower = Follower()
            controller.delegate = follower
            try context.performAndWait { try controller.performFetch() }
            let other = ServerStack.context(try stack.another())
            let begun = Date()
            try other.performAndWait {
                other.insert("Good", ["code": "a", "stock": 3])
                try other.save()
            }
            #expect(eventually("the list follows") { context.performAndWait { controller.fetchedObjects?.count == 1 } })
            #expect(Date().timeIntervalSince(begun) < 2)
            try other.performAndWait {
                let good = try #require(try other.rows("Good").first)
                good.setValue(4, forKey: "stock")
                other.insert("Good", ["code": "b", "stock": 1])
                try other.save()
            }
            #expect(
                eventually("the list follows") {
                    context.performAndWait {
                        controller.fetchedObjects?.map { $0.value(forKey: "stock") as? Int } == [1, 4]
                    }
                })
            try other.performAndWait {
                for good in try other.rows("Good", "code == 'a'") { other.delete(good) }
                try other.save()
            }
            #expect(eventually("the list follows") { context.performAndWait { controller.fetchedObjects?.count == 1 } })
            #expect(context.performAndWait { follower.count } >= 3)
        }

        private final class Follower: NSObject, NSFetchedResultsControllerDelegate {
            var count = 0
            func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
                count += 1
            }
        }
    }
#endif
