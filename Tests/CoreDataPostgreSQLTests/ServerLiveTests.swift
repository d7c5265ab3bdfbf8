#if PostgreSQL
    import CoreData
    import Foundation
    import PostgreSQLCluster
    import TestSupport
    import Testing

    /// Commits of others are merged as they happen.
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

        /// A commit whose history was read is merged when the server is back. The connection is lost before its row is
        /// read, or before the list has searched its position.
        ///
        /// - Parameter text: The client's bytes before the connection is lost.
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
            // The follower has noticed, and its queries fail.
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

        /// One of two stores is on a server that is away. The other is followed, and this one when it is back.
        @Test func anUnavailableStoreDoesNotDelayAnother() throws {
            let stack = try ServerStack(Shop.model())
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("away-\(UUID().uuidString).sqlite")
            defer { try? stack.coordinator.destroyPersistentStore(at: file, type: .sqlite) }
            let remote = stack.context()
            let local = ServerStack.context(NSPersistentStoreCoordinator(managedObjectModel: stack.model))
            let follows = [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true]
            try local.persistentStoreCoordinator?.addPersistentStore(
                type: .sqlite, at: file, options: [NSPersistentHistoryTrackingKey: true])
            for context in [remote, local] {
                try context.performAndWait {
                    for number in 0..<20 { context.insert("Good", ["code": "\(number)", "stock": number * 10]) }
                    try context.save()
                }
            }
            let proxy = try CuttableProxy(to: try #require(PostgreSQLCluster.shared).port)
            defer { proxy.stop() }
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
            let stores = [
                try coordinator.addPersistentStore(
                    type: .postgreSQL, at: try proxy.url(schema: stack.schema), options: follows),
                try coordinator.addPersistentStore(
                    type: .sqlite, at: file, options: follows.merging([NSPersistentHistoryTrackingKey: true]) { $1 }),
            ]
            let context = ServerStack.context(coordinator)
            context.automaticallyMergesChangesFromParent = true
            let lists = stores.map { store in
                let request = NSFetchRequest<NSManagedObject>(entityName: "Good")
                request.sortDescriptors = [NSSortDescriptor(key: "stock", ascending: true)]
                request.affectedStores = [store]
                return NSFetchedResultsController(
                    fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            }
            let follower = Follower()
            try context.performAndWait {
                for list in lists {
                    list.delegate = follower
                    try list.performFetch()
                }
                context.refreshAllObjects()
            }
            proxy.losesAnswer(after: "\"_id\" = ANY(", closing: true)
            for (context, code) in [(remote, "far"), (local, "near")] {
                try context.performAndWait {
                    context.insert("Good", ["code": code, "stock": 55])
                    try context.save()
                }
                if context === remote { eventually("the connection is lost") { proxy.isClosed } }
            }
            func isSeventh(_ code: String, in list: NSFetchedResultsController<NSManagedObject>) -> Bool {
                context.performAndWait {
                    list.fetchedObjects?.count == 21
                        && list.fetchedObjects?[6].value(forKey: "code") as? String == code
                }
            }
            eventually("the file is followed", within: 30) { isSeventh("near", in: lists[1]) }
            #expect(context.performAndWait { lists[0].fetchedObjects?.count == 20 && follower.count == 1 })
            proxy.open()
            eventually("the server is followed", within: 30) { isSeventh("far", in: lists[0]) }
            #expect(context.performAndWait { follower.count } == 2)
        }

        private final class Follower: NSObject, NSFetchedResultsControllerDelegate {
            var count = 0
            func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
                count += 1
            }
        }
    }
#endif
