#if PostgreSQL
    import CoreData
    import Foundation
    import PostgreSQLAccess
    import PostgreSQLCluster
    import TestSupport
    import Testing

    /// Another program migrates or removes tables while a follower has the store open.
    @Suite(.needs(.server), .enabled(if: PostgreSQLCluster.shared != nil, "PostgreSQL is not installed"))
    struct ServerLossTests {
        private func model(_ version: Int) -> NSManagedObjectModel {
            let item = Shop.entity("Item", [Shop.attribute("text", .stringAttributeType)])
            if version > 1 { item.properties.append(Shop.attribute("size", .integer16AttributeType)) }
            let model = NSManagedObjectModel()
            model.entities = [item]
            return model
        }

        enum Loss: CaseIterable { case migration, removal }

        @Test(arguments: Loss.allCases) func followersAreNotifiedOfLostTables(loss: Loss) async throws {
            let stack = try ServerStack(
                model(1), options: [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true])
            let coordinator = stack.coordinator
            #expect(throws: Never.self) { try coordinator.checkFile(of: stack.store) }
            let losses = AsyncStream<Int> { continuation in
                let observer = NotificationCenter.default.addObserver(
                    forName: NSPersistentStoreCoordinator.storeFileDidVanishNotification, object: coordinator,
                    queue: nil
                ) { notification in
                    continuation.yield((notification.userInfo?[NSUnderlyingErrorKey] as? NSError)?.code ?? 0)
                }
                nonisolated(unsafe) let kept = observer
                continuation.onTermination = { _ in NotificationCenter.default.removeObserver(kept) }
            }
            switch loss {
            case .migration:
                try NSPersistentStoreCoordinator(managedObjectModel: model(2)).addPersistentStore(
                    type: .postgreSQL, at: stack.url,
                    options: [
                        NSMigratePersistentStoresAutomaticallyOption: true,
                        NSInferMappingModelAutomaticallyOption: true,
                    ])
            case .removal: _ = try stack.psql("DROP SCHEMA \"\(stack.schema)\" CASCADE")
            }
            var told = losses.makeAsyncIterator()
            let first = await told.next()
            #expect(first == 134100)
            #expect(code { try coordinator.checkFile(of: stack.store) } == 134100)
        }

        /// A revoked right is not reported as missing tables.
        @Test func aMissingRightIsReportedAsSuch() throws {
            let stack = try ServerStack(model(1))
            let rights = "SELECT ON ALL TABLES IN SCHEMA \"\(stack.schema)\""
            try stack.asRole({
                ["GRANT USAGE ON SCHEMA \"\(stack.schema)\" TO \($0.sql)", "GRANT \(rights) TO \($0.sql)"]
            }) { context, role in
                #expect(try context.rows("Item").isEmpty)
                _ = try stack.psql("REVOKE \(rights) FROM \(role.sql)")
                #expect(code { _ = try context.rows("Item") } == 513)
                _ = try stack.psql("GRANT \(rights) TO \(role.sql)")
                #expect(try context.rows("Item").isEmpty)
            }
        }

        /// A role without the right to write cannot block the saves of others.
        @Test func aReaderCannotTakeTheLockOfSaves() throws {
            let stack = try ServerStack(model(1), options: [NSPersistentStoreTimeoutOption: 0.5])
            let number = UInt32.random(in: 0 ... .max)
            let role = "onlooker_\(number)"
            defer { _ = try? stack.psql("DROP OWNED BY \(role); DROP ROLE \(role)") }
            let table = "\"\(stack.schema)\"._store"
            _ = try stack.psql(
                "CREATE ROLE \(role); GRANT USAGE ON SCHEMA \"\(stack.schema)\" TO \(role); GRANT SELECT ON \(table) TO \(role)"
            )
            for mode in ["ROW EXCLUSIVE", "SHARE ROW EXCLUSIVE", "EXCLUSIVE"] {
                #expect(throws: (any Error).self) {
                    try stack.psql("BEGIN; SET ROLE \(role); LOCK TABLE \(table) IN \(mode) MODE; COMMIT")
                }
            }
            let cluster = try #require(PostgreSQLCluster.shared)
            let holder = try PostgreSQLConnection(ConnectionSettings(cluster.url(), applicationName: "tests"))
            // The advisory lock is held during the saves below.
            defer { _ = try? holder.run("SELECT pg_advisory_unlock_all()") }
            try holder.run("SET ROLE \(role)")
            try holder.run("SELECT pg_advisory_lock(hashtextextended('coredata ' || (SELECT uuid FROM \(table)), 0))")
            try stack.inContext { context in
                context.insert("Item", ["text": "a"])
                try context.save()
                let delete = NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Item"))
                _ = try context.execute(delete)
            }
        }

        /// A save needs few rights: only those to write its own rows in the store's own tables.
        @Test func aWriterNeedsFewRights() throws {
            let stack = try ServerStack(model(1))
            let schema = "\"\(stack.schema)\""
            let rights = [
                "USAGE ON SCHEMA \(schema)", "SELECT ON ALL TABLES IN SCHEMA \(schema)",
                "INSERT, UPDATE, DELETE ON \(schema).\"Item\"", "UPDATE (changes) ON \(schema)._store",
                "INSERT ON \(schema)._transactions, \(schema)._changes", "USAGE ON ALL SEQUENCES IN SCHEMA \(schema)",
            ]
            try stack.asRole({ role in rights.map { "GRANT \($0) TO \(role.sql)" } }) { context, _ in
                let item = context.insert("Item", ["text": "a"])
                try context.save()
                item.setValue("b", forKey: "text")
                try context.save()
                context.delete(item)
                try context.save()
            }
            #expect(try stack.psql("SELECT count(*) FROM \(schema)._transactions") == "3")
        }

        @Test func anEmptySchemaIsRefused() throws {
            let cluster = try #require(PostgreSQLCluster.shared)
            let text = cluster.url(schema: "x").absoluteString
            let url = try #require(URL(string: text.replacingOccurrences(of: "schema=x", with: "schema=")))
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model(1))
            #expect(code { try coordinator.addPersistentStore(type: .postgreSQL, at: url) } == 134080)
        }
    }
#endif
