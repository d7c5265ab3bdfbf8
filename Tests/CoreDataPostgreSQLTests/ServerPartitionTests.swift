#if PostgreSQL
    import CoreData
    import Foundation
    import PostgreSQLCluster
    import TestSupport
    import Testing

    /// Stores with partitioned tables, and saves that the server refuses for some time.
    @Suite(.needs(.server), .enabled(if: PostgreSQLCluster.shared != nil, "PostgreSQL is not installed"))
    struct ServerPartitionTests {
        private func coordinator(_ url: URL) throws -> NSPersistentStoreCoordinator {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Shop.model())
            try coordinator.addPersistentStore(type: .postgreSQL, at: url)
            return coordinator
        }

        @Test func aStoreIsMadeWithPartitionedTablesAndUsedLikeAnyOther() throws {
            let cluster = try #require(PostgreSQLCluster.shared)
            let schema = "p_\(UUID().uuidString.prefix(8))"
            defer { _ = try? cluster.psql("DROP SCHEMA IF EXISTS \"\(schema)\" CASCADE") }
            let url = cluster.url(schema: schema)
            let divided = try #require(URL(string: url.absoluteString + "&partitions=4"))
            try ServerStack.context(coordinator(divided)).performAndWait {}
            // The parameter counts only when the store is created.
            let context = ServerStack.context(try coordinator(url))
            try context.performAndWait {
                let shelves = (0..<40).map { context.insert("Shelf", ["name": "s\($0)"]) }
                for number in 0..<80 {
                    context.insert("Good", ["code": "\(number)", "shelf": shelves[number % 40]])
                }
                try context.save()
                let labels = (0..<400).map { ["text": "l\($0)"] }
                _ = try context.execute(NSBatchInsertRequest(entityName: "Label", objects: labels))
                let found = try context.rows("Shelf", "ANY goods.code == '41'")
                #expect(found.map { $0.value(forKey: "name") as? String } == ["s1"])
                found[0].setValue("changed", forKey: "name")
                context.delete(shelves[2])
                try context.save()
                #expect(try context.rows("Good").count == 78)
                #expect(try context.rows("Label", "text BEGINSWITH 'l1'").count == 111)
            }
            func number(_ sql: String) throws -> String { try cluster.psql(sql) }
            let parts = "SELECT count(*) FROM pg_inherits AS i WHERE i.inhparent = '\"\(schema)\"."
            #expect(try number("\(parts)\"Shelf\"'::regclass") == "4")
            // A table with unique values is not partitioned.
            #expect(try number("\(parts)\"Good\"'::regclass") == "0")
            #expect(try number("SELECT count(DISTINCT tableoid) FROM \"\(schema)\".\"Label\"") == "4")
            let coordinator = try #require(context.persistentStoreCoordinator)
            for store in coordinator.persistentStores { try coordinator.remove(store) }
            try coordinator.destroyPersistentStore(at: url, type: .postgreSQL)
            #expect(try number("SELECT count(*) FROM pg_namespace WHERE nspname = '\(schema)'") == "0")
        }

        @Test func invalidParametersAreReported() throws {
            let cluster = try #require(PostgreSQLCluster.shared)
            for text in ["partitions=0", "partitions=many", "partitions=5000", "replica="] {
                let url = try #require(URL(string: cluster.url(schema: "nothing").absoluteString + "&" + text))
                let said = message { _ = try coordinator(url) }
                #expect(said.contains(text), "\(said)")
                #expect(code { _ = try coordinator(url) } == 134080)
            }
        }

        /// A trigger fails like a serialization failure or deadlock. A sequence counts the attempts.
        @Test(arguments: ["40001", "40P01"]) func aSaveThatTheServerAbortsIsRetried(state: String) throws {
            let stack = try ServerStack(Shop.model())
            let schema = "\"\(stack.schema)\""
            try _ = stack.psql("CREATE SEQUENCE \(schema).tries")
            func refuse(_ times: Int) throws {
                try _ = stack.psql(
                    "SELECT setval('\(schema).tries', 1, false); CREATE OR REPLACE FUNCTION \(schema).refuse() RETURNS trigger "
                        + "LANGUAGE plpgsql AS $$ BEGIN IF nextval('\(schema).tries') <= \(times) THEN RAISE EXCEPTION "
                        + "'met another' USING ERRCODE = '\(state)'; END IF; RETURN NEW; END $$")
            }
            try refuse(2)
            try _ = stack.psql(
                "CREATE TRIGGER refuse BEFORE INSERT ON \(schema).\"Label\" FOR EACH ROW EXECUTE FUNCTION \(schema).refuse()"
            )
            try stack.inContext { context in
                context.insert("Label", ["text": "a"])
                try context.save()
                #expect(try stack.psql("SELECT last_value FROM \(schema).tries") == "3")
                // The number of attempts is limited.
                try refuse(1000)
                context.insert("Label", ["text": "b"])
                let error = #expect(throws: NSError.self) { try context.save() }
                let said = error?.userInfo[NSUnderlyingErrorKey] as? NSError
                #expect(said?.userInfo["SQLSTATE"] as? String == state)
                #expect(try stack.psql("SELECT last_value FROM \(schema).tries") == "6")
                try refuse(0)
                try context.save()
            }
            #expect(try stack.psql("SELECT string_agg(text, '' ORDER BY text) FROM \(schema).\"Label\"") == "ab")
        }
    }
#endif
