#if PostgreSQL
    import CoreData
    import Foundation
    import PostgreSQLCluster
    import TestSupport
    import Testing

    /// A server that is down, or restarts without its last commits (`synchronous_commit = off`, a lagging replica).
    @Suite(.needs(.server), .enabled(if: PostgreSQLCluster.shared != nil, "PostgreSQL is not installed"))
    struct ServerLostCommitsTests {
        private func label(_ context: NSManagedObjectContext) throws -> NSManagedObject {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Label")
            request.includesPropertyValues = false
            return try #require(try context.fetch(request).first)
        }

        /// Unreadable rows do not count as deleted, and no save deletes them.
        @Test func unreadableRowsAreNotDeleted() throws {
            let cluster = try #require(PostgreSQLCluster.make(isDurable: true))
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Shop.model())
            try coordinator.addPersistentStore(type: .postgreSQL, at: cluster.url(schema: "away"))
            let writer = ServerStack.context(coordinator)
            try writer.performAndWait {
                let goods = (0..<50).map { writer.insert("Good", ["code": "\($0)"]) }
                for number in 0..<50 { writer.insert("Label", ["text": "\(number)", "goods": Set(goods)]) }
                try writer.save()
            }
            let context = ServerStack.context(coordinator)
            try context.performAndWait {
                let label = try label(context)
                let known = try #require(try context.rows("Good").first)
                try cluster.stop()
                #expect(
                    label.value(forKey: "text") == nil && (label.value(forKey: "goods") as? Set<NSManagedObject>) == [])
                #expect((known.value(forKey: "labels") as? Set<NSManagedObject>) == [])
                context.refresh(known, mergeChanges: true)
                context.refreshAllObjects()
                #expect(code { _ = try context.existingObject(with: label.objectID) } != nil)
                for object in [label, known] { #expect(!object.isDeleted) }
                #expect(!context.hasChanges && context.deletedObjects.isEmpty)
                try cluster.start()
                // The server is not asked again directly after a failure.
                eventually("the server is asked again") { label.value(forKey: "text") != nil }
                #expect((label.value(forKey: "goods") as? Set<NSManagedObject>)?.count == 50)
                #expect((known.value(forKey: "labels") as? Set<NSManagedObject>)?.count == 50)
                #expect(!context.hasChanges)
                try context.save()
            }
            #expect(try cluster.psql("SELECT count(*) FROM away._changes WHERE kind = 2") == "0")
        }

        /// Rows that the server has lost count as deleted, and no save deletes other rows with their keys.
        @Test func onlyRowsThatTheServerLostAreDeleted() throws {
            let cluster = try #require(PostgreSQLCluster.make())
            try cluster.psql("ALTER SYSTEM SET wal_writer_delay = '10s'")
            try cluster.psql("SELECT pg_reload_conf()")
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Shop.model())
            try coordinator.addPersistentStore(type: .postgreSQL, at: cluster.url(schema: "lost"))
            try cluster.psql("CHECKPOINT")
            let writer = ServerStack.context(coordinator)
            try writer.performAndWait {
                writer.insert("Label", ["text": "a"])
                try writer.save()
            }
            let context = ServerStack.context(coordinator)
            try context.performAndWait {
                let label = try label(context)
                try cluster.stop()
                #expect(label.value(forKey: "text") == nil && !label.isDeleted)
                try cluster.start()
                eventually("the row is found to be gone") {
                    _ = label.value(forKey: "text")
                    return label.isDeleted
                }
                #expect(try cluster.psql("SELECT count(*) FROM lost.\"Label\"") == "0")
                #expect(label.isDeleted)
                // Another row gets the same key.
                try cluster.psql(
                    "INSERT INTO lost.\"Label\" (_id, _entity, _version) SELECT \(label.objectID.uriRepresentation().lastPathComponent.dropFirst()), number, 1 FROM lost._entities WHERE name = 'Label'"
                )
                try context.save()
                #expect(try cluster.psql("SELECT count(*) FROM lost.\"Label\"") == "1")
            }
        }
    }
#endif
