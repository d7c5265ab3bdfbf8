#if PostgreSQL
    import CoreData
    import Foundation
    import PostgreSQLAccess
    import PostgreSQLCluster
    import TestSupport
    import Testing

    /// Requests that a server refuses, aborts, or blocks, and unusual settings.
    @Suite(.needs(.server), .enabled(if: PostgreSQLCluster.shared != nil, "PostgreSQL is not installed"))
    struct ServerRefusalTests {
        private func connection() throws -> PostgreSQLConnection {
            let cluster = try #require(PostgreSQLCluster.shared)
            return try PostgreSQLConnection(ConnectionSettings(cluster.url(), applicationName: "tests"))
        }

        private func refusal(_ body: () throws -> Void) -> NSError? {
            do { try body() } catch { return error as NSError }
            return nil
        }

        // MARK: Notifications

        /// Poolers and compatible servers have their own errors for LISTEN.
        @Test func aServerThatRefusesToListenIsPolled() throws {
            let stack = try ServerStack(Shop.model())
            let proxy = try CuttableProxy(to: try #require(PostgreSQLCluster.shared).port)
            defer { proxy.stop() }
            // A syntax error for the server.
            proxy.garble("LISTEN ", as: "LISTED ")
            proxy.count("LISTED ")
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
            try coordinator.addPersistentStore(
                type: .postgreSQL, at: try proxy.url(schema: stack.schema),
                options: [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true])
            #expect(proxy.found == 1)
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
            try stack.inContext { other in
                other.insert("Label", ["text": "a"])
                try other.save()
            }
            eventually("the list follows") { texts() == ["a"] }
        }

        // MARK: Readings

        /// Replaces a table by a view whose first reads the server aborts.
        private struct Refusals {
            let stack: ServerStack
            private var schema: String { "\"\(stack.schema)\"" }

            init(_ stack: ServerStack) throws {
                self.stack = stack
                try refuse(0, "00000")
                _ = try stack.psql(
                    "ALTER TABLE \(schema).\"Label\" RENAME TO kept; "
                        + "CREATE VIEW \(schema).\"Label\" AS SELECT * FROM \(schema).kept WHERE \(schema).refuse()")
            }

            /// A sequence counts aborted reads, too.
            func refuse(_ times: Int, _ state: String) throws {
                _ = try stack.psql(
                    "CREATE SEQUENCE IF NOT EXISTS \(schema).tries; SELECT setval('\(schema).tries', 1, false); "
                        + "CREATE OR REPLACE FUNCTION \(schema).refuse() RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$ "
                        + "BEGIN IF nextval('\(schema).tries') <= \(times) THEN RAISE EXCEPTION 'given up' USING ERRCODE = "
                        + "'\(state)'; END IF; RETURN true; END $$")
            }

            var tries: Int {
                get throws { Int(try stack.psql("SELECT last_value FROM \(schema).tries")) ?? 0 }
            }
        }

        /// A standby aborts queries that conflict with recovery.
        @Test(arguments: ["40001", "40P01"]) func aReadThatTheServerAbortsIsRetried(state: String) throws {
            let stack = try ServerStack(Shop.model())
            try stack.inContext { context in
                context.insert("Label", ["text": "a"])
                try context.save()
            }
            let refusals = try Refusals(stack)
            try stack.inContext { context in
                try refusals.refuse(2, state)
                let found = try context.rows("Label").map { $0.value(forKey: "text") as? String }
                #expect(found == ["a"])
                #expect(try refusals.tries >= 3)
                // The number of attempts is limited.
                try refusals.refuse(1000, state)
                let error = refusal { _ = try context.rows("Label") }
                #expect(error?.code == 134070)
                let said = error?.userInfo[NSUnderlyingErrorKey] as? NSError
                #expect(said?.userInfo["SQLSTATE"] as? String == state)
                #expect(try refusals.tries == 6)
            }
        }

        /// An administrator or a `statement_timeout` ended the query. Repeating it would take as long.
        @Test func aReadEndedByAnAdministratorIsNotACancellation() throws {
            let stack = try ServerStack(Shop.model())
            try stack.inContext { context in
                context.insert("Label", ["text": "a"])
                try context.save()
            }
            let refusals = try Refusals(stack)
            try stack.inContext { context in
                try refusals.refuse(1, "57014")
                let error = refusal { _ = try context.rows("Label") }
                #expect(error?.code == 134070)
                #expect(try refusals.tries == 1)
                #expect(try context.rows("Label").count == 1)
            }
        }

        // MARK: Locks

        @Test func metadataAndHistoryRemovalWaitForTheTimeoutOnly() throws {
            let options: [AnyHashable: Any] = [NSPersistentStoreTimeoutOption: 0.1]
            let stack = try ServerStack(Shop.model(), options: options)
            let kept = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .postgreSQL, at: stack.url)
            let noted = kept.merging(["note": "new"]) { $1 }
            func note() throws {
                try NSPersistentStoreCoordinator.setMetadata(
                    noted, type: .postgreSQL, at: stack.url, options: options)
            }
            let context = stack.context()
            func removeHistory() throws {
                try context.performAndWait {
                    _ = try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: Date.distantFuture))
                }
            }
            try context.performAndWait {
                context.insert("Label", ["text": "a"])
                try context.save()
            }
            let holder = try connection()
            // A wait without a limit would take this long.
            try holder.run("SET idle_in_transaction_session_timeout = 120000")
            try holder.run("BEGIN")
            try holder.run("SELECT 1 FROM \"\(stack.schema)\"._store FOR UPDATE")
            for refused in [refusal(note), refusal(removeHistory)] {
                #expect(refused?.code == 134090)
                #expect(refused?.localizedDescription.contains("(waited 0.1 s)") == true)
            }
            try holder.run("ROLLBACK")
            let count = "SELECT count(*) FROM \"\(stack.schema)\"._transactions"
            #expect(try stack.psql(count) == "1")
            try note()
            try removeHistory()
            #expect(try stack.psql(count) == "0")
            let now = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .postgreSQL, at: stack.url)
            #expect(now["note"] as? String == "new")
        }

        /// Ways in which rows of two tables are part of a save.
        enum Touch: CaseIterable {
            case change
            case delete
            case look
        }

        /// Two saves that lock the same tables in different orders would deadlock.
        @Test(arguments: Touch.allCases, [false, true])
        func tablesAreLockedInOneOrder(touch: Touch, isReversed: Bool) throws {
            let stack = try ServerStack(Shop.model())
            let context = stack.context()
            let (first, last) = ("\"\(stack.schema)\".\"Good\"", "\"\(stack.schema)\".\"Label\"")
            try context.performAndWait {
                context.insert("Good", ["code": "a"])
                context.insert("Label", ["text": "a"])
                try context.save()
            }
            let (holder, watcher) = (try connection(), try connection())
            try holder.run("BEGIN")
            try holder.run("SELECT 1 FROM \(first) FOR UPDATE")
            let done = DispatchSemaphore(value: 0)
            DispatchQueue(label: "saver").async {
                context.performAndWait {
                    do {
                        for name in isReversed ? ["Label", "Good"] : ["Good", "Label"] {
                            for object in try context.rows(name) {
                                switch touch {
                                case .change: object.setValue("b", forKey: name == "Good" ? "code" : "text")
                                case .delete: context.delete(object)
                                case .look: context.detectConflicts(for: object)
                                }
                            }
                        }
                        if touch == .look { context.insert("Shelf") }
                        try context.save()
                    } catch { Issue.record("\(error)") }
                }
                done.signal()
            }
            let waiting =
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND strpos(query, $1) > 0"
            func isWaiting() throws -> Bool {
                try watcher.run(waiting, [.value(.text(first), .text)]).value(0, 0) == .integer(1)
            }
            try eventually("the save waits for \(first)") { try isWaiting() }
            let free = try watcher.run("SELECT 1 FROM \(last) FOR UPDATE SKIP LOCKED").rowCount
            #expect(free == 1, "and has not taken \(last) before")
            try holder.run("COMMIT")
            done.wait()
        }

        // MARK: Texts

        /// A database or role for which a backslash in a literal is an escape.
        @Test func backslashesSurviveWhereTheyAreEscapes() throws {
            let cluster = try #require(PostgreSQLCluster.shared)
            let number = UInt32.random(in: 0 ... .max)
            let (role, schema) = ("old\(number)", "t_old\(number)")
            try cluster.psql(
                "CREATE ROLE \(role) LOGIN SUPERUSER PASSWORD 'x'; "
                    + "ALTER ROLE \(role) SET standard_conforming_strings = off")
            defer { _ = try? cluster.psql("DROP SCHEMA IF EXISTS \(schema) CASCADE; DROP ROLE \(role)") }
            let (entity, name) = ("back\\'slash\\", "n\\'ame\\")
            let thing = Shop.entity(entity, [Shop.attribute(name, .stringAttributeType)])
            thing.userInfo = ["about": "c:\\temp\\"]
            let size = NSDerivedAttributeDescription()
            size.name = "s\\ize"
            size.attributeType = .integer32AttributeType
            size.isOptional = true
            let part = Shop.entity("Part", [Shop.attribute("text", .stringAttributeType)])
            Shop.relate(thing, "parts", part, "thing")
            size.derivationExpression = NSExpression(format: "parts.@count")
            thing.properties.append(size)
            let model = NSManagedObjectModel()
            model.entities = [thing, part]
            let texts = ["\\", "a\\'b", "\\n", "\\\\server\\", "%\\_%"]
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let store = try coordinator.addPersistentStore(
                type: .postgreSQL, at: cluster.networkURL(schema: schema, user: role, password: "x"))
            let context = ServerStack.context(coordinator)
            try context.performAndWait {
                for text in texts {
                    let thing = context.insert(entity, [name: text])
                    context.insert("Part", ["text": text, "thing": thing])
                }
                try context.save()
                context.reset()
                for text in texts {
                    for format in ["%K == %@", "%K BEGINSWITH %@", "%K CONTAINS %@"] {
                        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
                        request.predicate = NSPredicate(format: format, name, text)
                        let found = try context.fetch(request).compactMap { $0.value(forKey: name) as? String }
                        #expect(found.contains(text), "\(format) \(text)")
                        #expect(format != "%K == %@" || found == [text])
                    }
                }
                let sizes = try context.rows(entity).map { $0.value(forKey: "s\\ize") as? Int }
                #expect(sizes == texts.map { _ in 1 })
            }
            #expect(try coordinator.findings(in: store).isEmpty)
            let table = "\"\(schema)\".\"\(entity)\""
            let found = try cluster.psql("SELECT \"\(name)\" FROM \(table) ORDER BY _id")
            #expect(found.split(separator: "\n").map(String.init) == texts)
            let comment = try cluster.psql(
                "SELECT col_description(attrelid, attnum) FROM pg_attribute WHERE attrelid = '\(table.replacing("'", with: "''"))'"
                    + "::regclass AND attname = '\(name.replacing("'", with: "''"))'")
            #expect(comment.hasPrefix("\(entity).\(name): String"), "\(comment)")
        }
    }
#endif
