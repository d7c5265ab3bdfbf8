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
            try other.performAndWait {
                other.insert("Good", ["code": "a", "stock": 3])
                try other.save()
            }
            #expect(eventually("the list follows") { context.performAndWait { controller.fetchedObjects?.count == 1 } })
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

        /// A commit whose history was read is merged when the server is back, where the connection was lost before its row was
        /// read, or before the list has read where it belongs.
        ///
        /// - Parameter text: what the follower says before the connection is lost.
        @Test(arguments: ["WHERE number > ", "\"_id\" = ANY("]) func aCommitThatCouldNotBeReadIsFollowed(text: String)
            throws
        {
            let stack = try ServerStack(Shop.model())
            let other = stack.context()
            try other.performAndWait {
                for number in 0..<20 { other.insert("Good", ["code": "\(number)", "stock": number * 10]) }
                try other.save()
            }
            let proxy = try CuttableProxy(to: try #require(PostgreSQLCluster.shared).port)
            defer { proxy.stop() }
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
            try coordinator.addPersistentStore(
                type: .postgreSQL, at: try proxy.url(schema: stack.schema),
                options: [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true])
            let context = ServerStack.context(coordinator)
            context.automaticallyMergesChangesFromParent = true
            let request = NSFetchRequest<NSManagedObject>(entityName: "Good")
            request.sortDescriptors = [NSSortDescriptor(key: "stock", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            let follower = Follower()
            controller.delegate = follower
            try context.performAndWait {
                try controller.performFetch()
                context.refreshAllObjects()
            }
            proxy.losesAnswer(after: text, closing: true)
            try other.performAndWait {
                other.insert("Good", ["code": "new", "stock": 55])
                try other.save()
            }
            eventually("the connection is lost") { proxy.isClosed }
            // The follower has found out, and asks in vain.
            #expect(throws: (any Error).self) { _ = try context.performAndWait { try context.count(for: request) } }
            #expect(context.performAndWait { follower.count } == 0)
            proxy.open()
            eventually("the list follows", within: 30) {
                context.performAndWait {
                    controller.fetchedObjects?.count == 21
                        && controller.fetchedObjects?[6].value(forKey: "code") as? String == "new"
                }
            }
            #expect(context.performAndWait { follower.count } == 1)
        }

        private final class Follower: NSObject, NSFetchedResultsControllerDelegate {
            var count = 0
            func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
                count += 1
            }
        }
    }
#endif
