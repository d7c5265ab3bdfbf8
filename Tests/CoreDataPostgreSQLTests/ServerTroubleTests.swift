#if PostgreSQL
    import CoreData
    import Foundation
    import PostgreSQLCluster
    import Synchronization
    import TestSupport
    import Testing

    /// Errors are reported in one line, and nothing is changed.
    @Suite(.needs(.server), .enabled(if: PostgreSQLCluster.shared != nil, "PostgreSQL is not installed"))
    struct ServerTroubleTests {
        private func opening(
            _ url: URL, _ model: NSManagedObjectModel = Shop.model(), options: [AnyHashable: Any]? = nil
        ) -> (code: Int, message: String) {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            do {
                try coordinator.addPersistentStore(type: .postgreSQL, at: url, options: options)
                return (0, "")
            } catch let error as NSError { return (error.code, error.localizedDescription) }
        }

        @Test func wrongPasswordsUnknownHostsAndMissingRightsAreReported() throws {
            let cluster = try #require(PostgreSQLCluster.shared)
            let name = "clerk\(UInt32.random(in: 0 ... .max))"
            try cluster.psql("CREATE ROLE \(name) LOGIN PASSWORD 'right'")
            let wrong = opening(cluster.networkURL(schema: "s", user: name, password: "s3cret"))
            #expect(wrong.code == 257 && wrong.message.contains("password authentication failed"))
            let rights = opening(cluster.networkURL(schema: "closed_\(name)", user: name, password: "right"))
            #expect(rights.code == 257 && rights.message.contains("permission denied"))
            let nowhere = opening(URL(string: "postgresql://me:s3cret@no-such-host.invalid/x?schema=s")!)
            #expect(nowhere.code == 134080 && nowhere.message.contains("no-such-host.invalid"))
            let database = opening(cluster.url(schema: "s", database: "no_such_database"))
            #expect(database.code == 260 && database.message.contains("no_such_database"))
            // A missing local file is not a missing store.
            var parts = URLComponents(
                url: cluster.networkURL(schema: "s", user: name, password: "right"), resolvingAgainstBaseURL: false)
            parts?.queryItems? += [
                URLQueryItem(name: "sslmode", value: "verify-ca"),
                URLQueryItem(name: "sslrootcert", value: "/no/such/file"),
            ]
            let certificate = opening(try #require(parts?.url))
            #expect(certificate.code == 134080)
            let role = opening(cluster.url(schema: "s", user: "no_such_role"))
            #expect(role.code == 257 && role.message.contains("no_such_role"))
            let long = opening(cluster.url(schema: String(repeating: "s", count: 64)))
            #expect(long.code == 134080 && long.message.contains("63"))
            let closed = opening(URL(string: "postgresql://me:s3cret@127.0.0.1:1/x?schema=s")!)
            #expect(closed.code == 134080 && closed.message.hasSuffix("TCP/IP connections?)."), "\(closed.message)")
            for found in [wrong, rights, nowhere, database, certificate, role, long, closed] {
                let isOneLine = found.message.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
                #expect(isOneLine && !found.message.contains("  "), "\(found.message)")
                #expect(!found.message.contains("s3cret") && !found.message.contains("right@"))
            }
            let absent = opening(cluster.url(schema: "absent"), options: [NSReadOnlyPersistentStoreOption: true])
            #expect(absent.code == 260)
            #expect(try cluster.psql("SELECT count(*) FROM pg_namespace WHERE nspname IN ('s', 'absent')") == "0")
        }

        @Test func anotherModelsSchemaIsRefusedAndCredentialsStayWithTheConnection() throws {
            let stack = try ServerStack(Shop.model())
            let found = opening(stack.url, Shop.hostile())
            #expect(found.code == 134100)
            // The message contains the store's URL.
            #expect(found.message.contains("The store \(stack.url.absoluteString) was written"), "\(found.message)")
            #expect(!found.message.contains("\n"))
            let cluster = try #require(PostgreSQLCluster.shared)
            let name = "owner\(UInt32.random(in: 0 ... .max))"
            try cluster.psql("CREATE ROLE \(name) LOGIN SUPERUSER PASSWORD 's3cret'")
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
            let url = cluster.networkURL(schema: stack.schema, user: name, password: "s3cret")
            let other = opening(url, Shop.hostile())
            #expect(other.code == 134100 && other.message.contains("\(name)@127.0.0.1:\(cluster.port)/postgres"))
            #expect(!other.message.contains("s3cret"))
            let store = try coordinator.addPersistentStore(type: .postgreSQL, at: url)
            let context = ServerStack.context(coordinator)
            let id = try context.performAndWait {
                let label = context.insert("Label", ["text": "x"])
                try context.save()
                return label.objectID
            }
            #expect(id.uriRepresentation().absoluteString.hasPrefix("x-coredata://\(store.identifier ?? "-")/Label/p"))
            #expect(store.url?.absoluteString.contains("s3cret") == false)
            #expect("\(store.metadata ?? [:])".contains("s3cret") == false)
            #expect("\(NSPersistentStoreDescription(url: url))".contains("s3cret") == false)
            #expect(coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()) == id)
            // Read-only because of the role's rights: the server's message is passed on.
            try cluster.psql(
                "CREATE ROLE r\(name) LOGIN PASSWORD 'x'; GRANT USAGE ON SCHEMA \"\(stack.schema)\" TO r\(name); "
                    + "GRANT SELECT ON ALL TABLES IN SCHEMA \"\(stack.schema)\" TO r\(name)")
            let reader = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
            try reader.addPersistentStore(
                type: .postgreSQL, at: cluster.networkURL(schema: stack.schema, user: "r\(name)", password: "x"))
            let desk = ServerStack.context(reader)
            try desk.performAndWait {
                let labels = try desk.rows("Label")
                #expect(labels.count == 1)
                desk.insert("Label", ["text": "y"])
                let refused = #expect(throws: NSError.self) { try desk.save() }
                #expect(refused?.localizedDescription.contains("permission denied") == true)
                let said = refused?.userInfo[NSUnderlyingErrorKey] as? NSError
                #expect(said?.userInfo["SQLSTATE"] as? String == "42501")
                #expect(try desk.rows("Label", "text == 'x'").count == 1)
            }
        }

        @Test func aLostConnectionIsReopened() throws {
            let stack = try ServerStack(Shop.model())
            try stack.inContext { context in
                context.insert("Label", ["text": "a"])
                try context.save()
                let cut =
                    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
                    + "AND query LIKE '%\(stack.schema)%'"
                try _ = stack.psql(cut)
                #expect(try context.rows("Label").count == 1)
                try _ = stack.psql(cut)
                context.insert("Label", ["text": "b"])
                try context.save()
                #expect(try stack.psql("SELECT count(*) FROM \"\(stack.schema)\".\"Label\"") == "2")
            }
        }

        @Test func savesThatDeadlockAreBothWritten() throws {
            let stack = try ServerStack(Shop.model())
            try stack.inContext { context in
                for number in 0..<20 { context.insert("Good", ["code": "g\(number)", "stock": 0]) }
                try context.save()
            }
            let contexts = try (0..<4).map { _ in ServerStack.context(try stack.another()) }
            DispatchQueue.concurrentPerform(iterations: contexts.count) { index in
                let context = contexts[index]
                context.performAndWait {
                    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
                    for round in 0..<15 {
                        let goods = (try? context.rows("Good", by: "code")) ?? []
                        // In alternating order, to make deadlocks possible.
                        for good in index % 2 == 0 ? goods : goods.reversed() { good.setValue(round, forKey: "stock") }
                        context.insert("Label", ["text": "\(index).\(round)"])
                        do { try context.save() } catch { Issue.record("\(error)") }
                    }
                }
            }
            #expect(
                try stack.psql("SELECT count(DISTINCT text), count(*) FROM \"\(stack.schema)\".\"Label\"") == "60|60")
            // The history has every transaction once, in order, without gaps.
            let numbers = "SELECT max(number), count(*) FROM \"\(stack.schema)\"._transactions"
            #expect(try stack.psql(numbers) == "61|61")
        }

        /// Outcomes of saves as reported to the caller.
        private final class Outcomes: Sendable {
            struct Lists {
                var there: Set<String> = []
                var refused: Set<String> = []
                var isOver = false
            }

            let all = Mutex(Lists())
            var savedCount: Int { all.withLock { $0.there.count } }
        }

        @Test func aKilledServerLosesAndRepeatsNoSave() throws {
            let cluster = try #require(PostgreSQLCluster.make(isDurable: true))
            let url = cluster.url(schema: "killed")
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Shop.model())
            try coordinator.addPersistentStore(type: .postgreSQL, at: url)
            let saved = Outcomes()
            let done = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                let context = ServerStack.context(coordinator)
                var number = 0
                while !saved.all.withLock({ $0.isOver }) {
                    number += 1
                    let text = "n\(number)"
                    context.performAndWait {
                        context.insert("Label", ["text": text])
                        do {
                            try context.save()
                            saved.all.withLock { _ = $0.there.insert(text) }
                        } catch {
                            context.rollback()
                            saved.all.withLock { _ = $0.refused.insert(text) }
                            Thread.sleep(forTimeInterval: 0.02)
                        }
                    }
                }
                done.signal()
            }
            for round in 0..<3 {
                let before = saved.savedCount
                eventually("saves succeed before round \(round)", within: 120) { saved.savedCount >= before + 20 }
                if round == 0 { try cluster.stop(mode: "immediate") } else { try cluster.kill() }
                try cluster.start()
            }
            let before = saved.savedCount
            eventually("saves succeed after the last start", within: 120) { saved.savedCount >= before + 20 }
            saved.all.withLock { $0.isOver = true }
            done.wait()
            let outcomes = saved.all.withLock { $0 }
            let (there, refused) = (outcomes.there, outcomes.refused)
            let found = try cluster.psql("SELECT text FROM killed.\"Label\"").split(separator: "\n").map(String.init)
            #expect(there.count >= before + 20, "the store went on by itself")
            #expect(Set(found) == there && found.count == there.count)
            #expect(refused.isDisjoint(with: found))
            try aStandbyIsReadAndNotWritten(cluster, url, found.count)
        }

        /// The same server as a hot standby, which lacks notifications and accepts no changes.
        private func aStandbyIsReadAndNotWritten(_ cluster: PostgreSQLCluster, _ url: URL, _ count: Int) throws {
            try cluster.stop(mode: "fast")
            try Data().write(to: cluster.folder.appendingPathComponent("data/standby.signal"))
            try cluster.start()
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Shop.model())
            try coordinator.addPersistentStore(
                type: .postgreSQL, at: url, options: [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true])
            let context = ServerStack.context(coordinator)
            try context.performAndWait {
                let found = try context.rows("Label").count
                #expect(found == count)
                context.insert("Label", ["text": "x"])
                let refused = code { try context.save() }
                #expect(refused == 513)
            }
        }
    }
#endif
