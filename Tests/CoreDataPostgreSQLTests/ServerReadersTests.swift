#if PostgreSQL
    import CoreData
    import Foundation
    import PostgreSQLCluster
    import TestSupport
    import Testing

    /// Aids for people and other programs in the tables: the author of a change, views, comments.
    @Suite(.needs(.server), .enabled(if: PostgreSQLCluster.shared != nil, "PostgreSQL is not installed"))
    struct ServerReadersTests {
        /// `Event` with a subentity, dates, a required text, and a many-to-many relationship.
        private func model(_ version: Int = 1) -> NSManagedObjectModel {
            let event = Shop.entity(
                "Event",
                [
                    Shop.attribute("title", .stringAttributeType, optional: false),
                    Shop.attribute("begin", .dateAttributeType),
                    // Has the name of the view's column for `begin`.
                    Shop.attribute("begin_time", .integer16AttributeType),
                ])
            let party = Shop.entity("Party", [Shop.attribute("end", .dateAttributeType)])
            event.subentities = [party]
            let guest = Shop.entity("Guest", [Shop.attribute("name", .stringAttributeType)])
            if version > 1 {
                guest.properties.append(Shop.attribute("born", .dateAttributeType))
                event.properties.removeAll { $0.name == "begin_time" }
                party.properties.append(Shop.attribute("cost", .decimalAttributeType))
            }
            Shop.relate(event, "guests", guest, "events", ordered: true, inverseMany: true)
            let model = NSManagedObjectModel()
            model.entities = [event, party, guest]
            return model
        }

        private static var migrating: [AnyHashable: Any] {
            [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
        }

        private func history(_ coordinator: NSPersistentStoreCoordinator) throws -> [NSPersistentHistoryTransaction] {
            let context = ServerStack.context(coordinator)
            return try context.performAndWait {
                let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
                let result = try context.execute(request) as? NSPersistentHistoryResult
                return result?.result as? [NSPersistentHistoryTransaction] ?? []
            }
        }

        // MARK: Roles and hosts

        @Test func theHistoryContainsRoleAndHost() throws {
            let stack = try ServerStack(model())
            let table = "\"\(stack.schema)\"._transactions"
            let (coordinator, store) = (stack.coordinator, stack.store)
            try stack.asRole({ try coordinator.grantStatements(for: $0.name, in: store) }) { context, role in
                context.transactionAuthor = "the boss"
                context.insert("Guest", ["name": "a"])
                try context.save()
                // A role cannot sign for another.
                _ = try stack.psql(
                    "SET SESSION AUTHORIZATION \(role.sql); INSERT INTO \(table) "
                        + "(number, at, author, process, token, role, host) "
                        + "VALUES (2, 0, 'the boss', 'psql', gen_random_uuid(), 'boss', '10.0.0.1')")
                let found = try history(coordinator)
                #expect(found.map(\.author) == ["the boss", "the boss"])
                #expect(found.map(\.role) == [role.name, role.name])
                #expect(found.map(\.host) == ["127.0.0.1", "[local]"])
            }
        }

        /// A store of an older version lacks these columns until its next migration.
        @Test func migratingAnOlderStoreAddsRoleAndHost() throws {
            let stack = try ServerStack(model())
            let schema = "\"\(stack.schema)\""
            _ = try stack.psql(
                "ALTER TABLE \(schema)._transactions DROP COLUMN role, DROP COLUMN host; "
                    + "DROP FUNCTION \(schema)._sign() CASCADE; DROP VIEW \(schema).\"_view_Guest\"")
            try stack.inContext { context in
                context.insert("Guest", ["name": "a"])
                try context.save()
            }
            let before = try history(stack.coordinator)
            #expect(before.map(\.role) == [nil] && before.map(\.host) == [nil])
            try stack.coordinator.remove(stack.store)
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model(2))
            let store = try coordinator.addPersistentStore(type: .postgreSQL, at: stack.url, options: Self.migrating)
            let context = ServerStack.context(coordinator)
            try context.performAndWait {
                context.insert("Guest", ["name": "b", "born": Date(timeIntervalSinceReferenceDate: 0)])
                try context.save()
            }
            let after = try history(coordinator)
            #expect(after.map(\.role) == ["roster"] && after.map(\.host) == ["[local]"])
            let born = "SELECT extract(epoch FROM born_time)::int8 FROM \(schema).\"_view_Guest\" WHERE name = 'b'"
            #expect(try stack.psql(born) == "978307200")
            try coordinator.remove(store)
            try coordinator.destroyPersistentStore(at: stack.url, type: .postgreSQL)
            #expect(try stack.psql("SELECT count(*) FROM pg_namespace WHERE nspname = '\(stack.schema)'") == "0")
        }

        // MARK: Views

        @Test func viewsShowDatesAsTimes() throws {
            let stack = try ServerStack(model())
            let schema = "\"\(stack.schema)\""
            try stack.inContext { context in
                let moment = Date(timeIntervalSinceReferenceDate: 86_400.25)
                context.insert("Event", ["title": "talk", "begin": moment, "begin_time": 7])
                context.insert("Party", ["title": "ball", "begin": moment, "end": Date.distantPast])
                let far = Date(timeIntervalSinceReferenceDate: 1e15)
                context.insert("Party", ["title": "end", "begin": far])
                try context.save()
            }
            #expect(
                try stack.psql(
                    "SET timezone = 'UTC'; SELECT title, begin, begin_time, begin_time_2 FROM \(schema).\"_view_Event\" "
                        + "ORDER BY title"
                ).split(separator: "\n").suffix(3) == [
                    "ball|86400.25||2001-01-02 00:00:00.25+00", "end|1e+15||",
                    "talk|86400.25|7|2001-01-02 00:00:00.25+00",
                ])
            // The view of a subentity has only its own rows and columns.
            #expect(try stack.psql("SELECT count(end_time) || ' ' || count(*) FROM \(schema).\"_view_Party\"") == "1 2")
        }

        @Test func aViewGivesNoRights() throws {
            let stack = try ServerStack(model())
            let (coordinator, store) = (stack.coordinator, stack.store)
            let view = "\"\(stack.schema)\".\"_view_Guest\""
            try stack.asRole({ try coordinator.grantStatements(for: $0.name, in: store, readOnly: true) }) { _, role in
                let read = "SET SESSION AUTHORIZATION \(role.sql); SELECT count(*) FROM \(view)"
                #expect(try stack.psql(read).hasSuffix("0"))
                _ = try stack.psql("REVOKE SELECT ON \"\(stack.schema)\".\"Guest\" FROM \(role.sql)")
                #expect(throws: (any Error).self) { try stack.psql(read) }
                _ = try stack.psql("GRANT SELECT ON \"\(stack.schema)\".\"Guest\" TO \(role.sql)")
                // A migration recreates the views.
                try NSPersistentStoreCoordinator(managedObjectModel: model(2)).addPersistentStore(
                    type: .postgreSQL, at: stack.url, options: Self.migrating)
                #expect(try stack.psql(read).hasSuffix("0"))
            }
        }

        // MARK: Comments

        @Test(arguments: [false, true]) func everyColumnHasAComment(migrates: Bool) throws {
            let stack = try ServerStack(model())
            let schema = "\"\(stack.schema)\""
            if migrates {
                for table in ["_changes", "Guest", "Event.guests"] {
                    _ = try stack.psql(
                        "DO $$ DECLARE c text; BEGIN FOR c IN SELECT attname FROM pg_attribute WHERE attnum > 0 AND attrelid = "
                            + "'\(schema).\"\(table)\"'::regclass LOOP EXECUTE format('COMMENT ON COLUMN \(schema).\"\(table)\".%I "
                            + "IS NULL', c); END LOOP; END $$")
                }
                try NSPersistentStoreCoordinator(managedObjectModel: model(2)).addPersistentStore(
                    type: .postgreSQL, at: stack.url, options: Self.migrating)
            }
            let without = try stack.psql(
                "SELECT c.relname || '.' || a.attname FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid "
                    + "JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = '\(stack.schema)' "
                    + "AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped "
                    + "AND col_description(a.attrelid, a.attnum) IS NULL")
            #expect(without.isEmpty, "\(without)")
        }

        // MARK: Migrations

        /// A rehearsal changes nothing, and its statements make the same tables as the migration.
        @Test func aRehearsalReturnsTheStatementsOfAMigration() throws {
            let stack = try ServerStack(model())
            try stack.inContext { context in
                context.insert("Party", ["title": "ball", "begin": Date.distantPast])
                try context.save()
            }
            func tables() throws -> String {
                try stack.psql(
                    "SELECT c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) FROM pg_attribute AS a "
                        + "JOIN pg_class AS c ON c.oid = a.attrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace "
                        + "WHERE n.nspname = '\(stack.schema)' AND a.attnum > 0 AND NOT a.attisdropped ORDER BY 1")
            }
            let before = try tables()
            let rehearsal = try ServerMigrationRehearsal(storeAt: stack.url, model: model())
            let statements = try rehearsal.migrate(to: model(2)).statements
            #expect(try tables() == before)
            #expect(try rehearsal.migrate(to: model(2)).tables.isEmpty)
            _ = try stack.psql((["BEGIN"] + statements + ["COMMIT"]).joined(separator: ";\n"))
            let told = try tables()
            #expect(told != before)
            let other = try ServerStack(model(), schema: stack.schema + "_b")
            try other.coordinator.remove(other.store)
            try NSPersistentStoreCoordinator(managedObjectModel: model(2)).addPersistentStore(
                type: .postgreSQL, at: other.url, options: Self.migrating)
            let made = try stack.psql(
                "SELECT c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) FROM pg_attribute AS a "
                    + "JOIN pg_class AS c ON c.oid = a.attrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace "
                    + "WHERE n.nspname = '\(other.schema)' AND a.attnum > 0 AND NOT a.attisdropped ORDER BY 1")
            #expect(told == made)
        }
    }
#endif
