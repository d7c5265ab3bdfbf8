#if PostgreSQL
    import CoreData
    import Foundation
    import PostgreSQLCluster
    import Synchronization
    import TestSupport
    import Testing

    /// A pooler in transaction mode. Each transaction may run in another server process, without the client's earlier
    /// settings, prepared statements and locks.
    @Suite(
        .needs(.server), .enabled(if: PostgreSQLCluster.shared != nil, "PostgreSQL is not installed"),
        .enabled(if: ConnectionPooler.isInstalled, "PgBouncer is not installed"))
    struct ServerPoolerTests {
        private let options: [AnyHashable: Any] = [
            NSPersistentHistoryTrackingKey: true, NSPersistentStoreRemoteChangeNotificationPostOptionKey: true,
        ]

        /// Six writers and a follower share two server connections.
        @Test func moreClientsThanConnectionsWriteAndFollow() throws {
            let cluster = try #require(PostgreSQLCluster.shared)
            let pooler = try ConnectionPooler(before: cluster, connections: 2)
            let stack = try ServerStack(Shop.model())
            let url = pooler.url(schema: stack.schema)
            let (model, options) = (stack.model, options)
            func coordinator() throws -> NSPersistentStoreCoordinator {
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
                try coordinator.addPersistentStore(type: .postgreSQL, at: url, options: options)
                return coordinator
            }
            let list = ServerStack.context(try coordinator())
            list.automaticallyMergesChangesFromParent = true
            let request = NSFetchRequest<NSManagedObject>(entityName: "Label")
            request.sortDescriptors = [NSSortDescriptor(key: "text", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: list, sectionNameKeyPath: nil, cacheName: nil)
            let follower = Follower()
            controller.delegate = follower
            try list.performAndWait { try controller.performFetch() }

            let (writers, saves) = (6, 10)
            let coordinators = try (0..<writers).map { _ in try coordinator() }
            DispatchQueue.concurrentPerform(iterations: writers) { writer in
                do { try Self.write(coordinators[writer], writer, saves) } catch {
                    Issue.record("writer \(writer): \(error)")
                }
            }
            #expect(
                try stack.psql(
                    "SELECT count(*), count(DISTINCT text), sum(_version) FROM \"\(stack.schema)\".\"Label\"")
                    == "\(writers * saves)|\(writers * saves)|\(writers * saves * 2)")
            eventually("the list shows all saves", within: 120) {
                list.performAndWait { controller.fetchedObjects?.count } == writers * saves
            }
            let texts = list.performAndWait { controller.fetchedObjects?.map { $0.value(forKey: "text") as? String } }
            #expect(texts == texts?.sorted { ($0 ?? "") < ($1 ?? "") })
            #expect(follower.batches.load(ordering: .relaxed) > 0)
            #expect(try stack.coordinator.findings(in: stack.store).isEmpty)
        }

        /// Each round inserts a row in one save and changes it in another.
        private static func write(_ coordinator: NSPersistentStoreCoordinator, _ writer: Int, _ saves: Int) throws {
            let context = ServerStack.context(coordinator)
            try context.performAndWait {
                for number in 0..<saves {
                    let label = context.insert("Label", ["text": "new"])
                    try context.save()
                    label.setValue("w\(writer) \(number)", forKey: "text")
                    try context.save()
                }
            }
        }

        private final class Follower: NSObject, NSFetchedResultsControllerDelegate {
            let batches = Atomic(0)
            func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
                batches.add(1, ordering: .relaxed)
            }
        }

        /// The pooler refuses or silently drops settings of the connection, so each transaction has its own.
        @Test(arguments: [false, true]) func operatorsOfARoleAreNotCalledThroughIt(dropsSettings: Bool) throws {
            let cluster = try #require(PostgreSQLCluster.shared)
            let pooler = try ConnectionPooler(before: cluster, connections: 1, dropsSettings: dropsSettings)
            let own = "tricks_\(UInt32.random(in: 0 ... .max))"
            let stack = try ServerStack(Shop.model())
            let context = ServerStack.context(
                try {
                    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
                    try coordinator.addPersistentStore(type: .postgreSQL, at: pooler.url(schema: stack.schema))
                    return coordinator
                }())
            defer { _ = try? stack.psql("DROP SCHEMA IF EXISTS \(own) CASCADE") }
            try context.performAndWait {
                context.insert("Good", ["code": "abc"])
                try context.save()
                // Another client of the pooler has set the path, and the server process keeps it.
                _ = try stack.psql(
                    "CREATE SCHEMA \(own); CREATE FUNCTION \(own).no(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT false'; "
                        + "CREATE OPERATOR \(own).= (LEFTARG = text, RIGHTARG = text, FUNCTION = \(own).no)")
                let path = "SET search_path = \(own), pg_catalog"
                #expect(try cluster.psql("\(path); SELECT 'a' = 'a'::text", at: pooler) == "f")
                #expect(try cluster.psql("SELECT 'a' = 'a'::text", at: pooler) == "f")
                for _ in 0..<3 { #expect(try context.rows("Good", "code == 'abc'").count == 1) }
                context.insert("Good", ["code": "abd"])
                try context.save()
                try context.setQueryGenerationFrom(.current)
                #expect(try context.rows("Good", "code IN {'abc', 'abd'}").count == 2)
                // Return the only connection.
                try context.setQueryGenerationFrom(nil)
            }
            #expect(
                try cluster.psql("SELECT 'a' = 'a'::text", at: pooler) == "f", "the other client's setting is as it was"
            )
        }

        @Test func batchesMigrationsAndGroupsGoThroughIt() throws {
            let pooler = try ConnectionPooler(before: try #require(PostgreSQLCluster.shared), connections: 1)
            let stack = try ServerStack(Shop.model())
            try stack.coordinator.remove(stack.store)
            let model = Shop.model()
            model.entitiesByName["Label"]?.properties.append(Shop.attribute("rank", .integer32AttributeType))
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(
                type: .postgreSQL, at: pooler.url(schema: stack.schema),
                options: [
                    NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
                ])
            let context = ServerStack.context(coordinator)
            try context.performAndWait {
                let rows = (0..<500).map { ["text": "l\($0)", "rank": $0 % 5] as [String: Any] }
                // A statement prepared in another process may make one batch fail.
                for _ in 0..<2 {
                    let insert = NSBatchInsertRequest(entityName: "Label", objects: rows)
                    if (try? context.execute(insert)) != nil { break }
                }
                #expect(try context.rows("Label", "rank == 4").count == 100)
                let update = NSBatchUpdateRequest(entityName: "Label")
                update.predicate = NSPredicate(format: "rank == 4")
                update.propertiesToUpdate = ["rank": 3]
                _ = try context.execute(update)
                let groups = NSFetchRequest<NSDictionary>(entityName: "Label")
                groups.resultType = .dictionaryResultType
                groups.propertiesToFetch = ["rank"]
                groups.propertiesToGroupBy = ["rank"]
                groups.sortDescriptors = [NSSortDescriptor(key: "rank", ascending: true)]
                let found: [NSDictionary] = try context.fetch(groups)
                #expect(found.map { $0["rank"] as? Int } == [0, 1, 2, 3])
                _ = try context.execute(NSBatchDeleteRequest(fetchRequest: .init(entityName: "Label")))
                #expect(try context.rows("Label").isEmpty)
            }
        }
    }
#endif
