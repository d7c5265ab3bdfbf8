#if PostgreSQL
    import CoreData
    import Foundation
    import PostgreSQLCluster
    import Synchronization
    import TestSupport
    import Testing

    /// A server with a streaming replica. Reads on the replica never miss writes, and the replica takes over.
    @Suite(.needs(.server), .enabled(if: PostgreSQLCluster.shared != nil, "PostgreSQL is not installed"))
    struct ServerReplicaTests {
        private struct Pair {
            let primary: PostgreSQLCluster
            let replica: PostgreSQLCluster

            init() throws {
                primary = try #require(PostgreSQLCluster.make(isDurable: true))
                replica = try primary.makeReplica()
            }
        }

        private func coordinator(_ url: URL) throws -> NSPersistentStoreCoordinator {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Shop.model())
            try coordinator.addPersistentStore(type: .postgreSQL, at: url)
            return coordinator
        }

        private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

        @Test func replicaReadsMissNoWritesAndTheReplicaTakesOver() throws {
            let pair = try Pair()
            try readsSeeWhatWasWritten(pair)
            try aListOnTheStandbyFollows(pair)
            try savesAreThereAfterAFailover(pair)
        }

        /// A row read from the primary is not deleted if the replica does not have it yet.
        @Test func aRowThatAReplicaLacksIsReadFromTheServer() throws {
            let pair = try Pair()
            let place = pair.primary.url(schema: "shop").absoluteString
            let writer = ServerStack.context(try coordinator(url(place)))
            try writer.performAndWait {
                writer.insert("Shelf", ["name": "early"])
                try writer.save()
            }
            #expect(
                eventually("the list follows") {
                    (try? pair.replica.psql("SELECT count(*) FROM shop.\"Shelf\"")) == "1"
                })
            try pair.replica.psql("SELECT pg_wal_replay_pause()")
            try writer.performAndWait {
                writer.insert("Label", ["text": "late"])
                try writer.save()
            }
            let context = ServerStack.context(
                try coordinator(
                    url("\(place)&application_name=late&replica=\(pair.replica.folder.path):\(pair.replica.port)")))
            try context.performAndWait {
                // The replica's connection is opened in the background. Until then the primary is read.
                let request = NSFetchRequest<NSManagedObject>(entityName: "Label")
                request.includesPropertyValues = false
                let label = try #require(try context.fetch(request).first)
                #expect(label.isFault)
                let asked =
                    "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'late' AND query LIKE '%Shelf%'"
                let isAsked = try eventually("the standby is asked") {
                    #expect(try context.rows("Shelf").count == 1)
                    return try pair.replica.psql(asked) != "0"
                }
                #expect(isAsked)
                #expect(label.value(forKey: "text") as? String == "late")
                #expect(!label.isDeleted && !context.hasChanges)
            }
            try pair.replica.psql("SELECT pg_wal_replay_resume()")
        }

        private func readsSeeWhatWasWritten(_ pair: Pair) throws {
            let place = pair.primary.url(schema: "shop").absoluteString
            let context = ServerStack.context(
                try coordinator(
                    url("\(place)&application_name=reader&replica=\(pair.replica.folder.path):\(pair.replica.port)")))
            func asked() throws -> Bool {
                let count = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'reader'"
                return try pair.replica.psql("\(count) AND query LIKE '%Label%'") != "0"
            }
            try context.performAndWait {
                // The replica's connection is opened outside of the lock. Until then the primary is read.
                let isAsked = try eventually("the standby is asked") {
                    context.insert("Label", ["text": "a"])
                    try context.save()
                    let (count, total) = (try context.rows("Label").count, try pair.primary.psql(total))
                    #expect("\(count)" == total)
                    return try asked()
                }
                #expect(isAsked)
                // A lagging replica is not read.
                try pair.replica.psql("SELECT pg_wal_replay_pause()")
                let before = try context.rows("Label").count
                context.insert("Label", ["text": "b"])
                try context.save()
                #expect(try context.rows("Label", "text == 'b'").count == 1)
                #expect(try pair.replica.psql(total) == "\(before)")
                try pair.replica.psql("SELECT pg_wal_replay_resume()")
                // A stopped replica is not read either.
                try pair.replica.stop()
                #expect(try context.rows("Label").count == before + 1)
                try pair.replica.start()
                for label in try context.rows("Label") { context.delete(label) }
                try context.save()
            }
        }

        /// A store opened on the standby itself, which lacks notifications and is polled.
        private func aListOnTheStandbyFollows(_ pair: Pair) throws {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Shop.model())
            try coordinator.addPersistentStore(
                type: .postgreSQL, at: pair.replica.url(schema: "shop"),
                options: [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true])
            let context = ServerStack.context(coordinator)
            context.automaticallyMergesChangesFromParent = true
            let request = NSFetchRequest<NSManagedObject>(entityName: "Label")
            request.sortDescriptors = [NSSortDescriptor(key: "text", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            controller.followsChanges = true
            try context.performAndWait { try controller.performFetch() }
            func texts() -> [String] {
                context.performAndWait {
                    (controller.fetchedObjects ?? []).compactMap { $0.value(forKey: "text") as? String }
                }
            }
            let writer = ServerStack.context(try self.coordinator(pair.primary.url(schema: "shop")))
            try writer.performAndWait {
                writer.insert("Label", ["text": "z1"])
                let second = writer.insert("Label", ["text": "z2"])
                try writer.save()
                #expect(eventually("the list follows") { texts().suffix(2) == ["z1", "z2"] }, "\(texts())")
                second.setValue("z3", forKey: "text")
                try writer.save()
                #expect(eventually("the list follows") { texts().suffix(2) == ["z1", "z3"] }, "\(texts())")
                for label in try writer.rows("Label") { writer.delete(label) }
                try writer.save()
                #expect(eventually("the list follows") { texts().isEmpty }, "\(texts())")
            }
        }

        private let total = "SELECT count(*) FROM shop.\"Label\""

        /// Outcomes of saves as reported to the caller.
        private struct Outcomes {
            var there: Set<String> = []
            var refused: Set<String> = []
            var unknown: Set<String> = []
            var isOver = false
        }

        private func savesAreThereAfterAFailover(_ pair: Pair) throws {
            // With this setting, a commit waits until the replica has it.
            try pair.primary.psql("ALTER SYSTEM SET synchronous_standby_names = '*'")
            try pair.primary.psql("SELECT pg_reload_conf()")
            let hosts = "host=\(pair.primary.folder.path),\(pair.replica.folder.path)"
            let ports = "port=\(pair.primary.port),\(pair.replica.port)"
            let coordinator = try coordinator(
                url(
                    "postgresql://\(pair.primary.user)@/postgres?\(hosts)&\(ports)&schema=shop"
                        + "&target_session_attrs=read-write"))
            let outcomes = Mutex(Outcomes())
            let done = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                let context = ServerStack.context(coordinator)
                var number = 0
                while !outcomes.withLock({ $0.isOver }) {
                    number += 1
                    let text = "n\(number)"
                    context.performAndWait {
                        context.insert("Label", ["text": text])
                        do {
                            try context.save()
                            outcomes.withLock { _ = $0.there.insert(text) }
                        } catch let error as NSError {
                            context.rollback()
                            let isUnknown = error.userInfo["outcome"] != nil
                            outcomes.withLock {
                                _ = isUnknown ? $0.unknown.insert(text) : $0.refused.insert(text)
                            }
                            Thread.sleep(forTimeInterval: 0.02)
                        }
                    }
                }
                done.signal()
            }
            func isFurther(_ count: Int) -> Bool {
                let before = outcomes.withLock { $0.there.count }
                return eventually("commits are followed") { outcomes.withLock { $0.there.count } >= before + count }
            }
            #expect(isFurther(20))
            try pair.primary.stop(mode: "immediate")
            try pair.replica.promote()
            try pair.replica.psql("ALTER SYSTEM SET synchronous_standby_names = ''")
            try pair.replica.psql("SELECT pg_reload_conf()")
            #expect(isFurther(20), "the store goes on by itself")
            outcomes.withLock { $0.isOver = true }
            done.wait()
            let all = outcomes.withLock { $0 }
            let found = try pair.replica.psql("SELECT text FROM shop.\"Label\"").split(separator: "\n").map(String.init)
            #expect(Set(found).count == found.count, "none is there twice")
            #expect(all.there.isSubset(of: found) && all.refused.isDisjoint(with: found))
            #expect(Set(found).subtracting(all.there).isSubset(of: all.unknown))
        }
    }
#endif
