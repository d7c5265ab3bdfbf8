#if PostgreSQL
    import CoreData
    import Foundation
    import PostgreSQLCluster
    import TestSupport
    import Testing

    /// Stores that are copied to a server, from there, and from one to another.
    @Suite struct ServerCopyTests {
        private static func model() -> NSManagedObjectModel {
            let shape = Shop.attribute("shape", .transformableAttributeType)
            shape.valueTransformerName = "TransformerOfAnApp"
            let model = NSManagedObjectModel()
            model.entities = [Shop.entity("Drawing", [Shop.attribute("name", .stringAttributeType), shape])]
            return model
        }

        private func copy(_ coordinator: NSPersistentStoreCoordinator, to url: URL, _ type: NSPersistentStore.StoreType)
            throws
        {
            let store = coordinator.persistentStores[0]
            let made = try coordinator.migratePersistentStore(store, to: url, options: [:], type: type)
            #expect(coordinator.persistentStores == [made])
        }

        @Test(.needs(.server), .enabled(if: PostgreSQLCluster.shared != nil, "PostgreSQL is not installed"))
        func valuesOfUnknownTransformersAreKept() throws {
            let stack = try ServerStack(Self.model())
            try stack.inContext { context in
                context.insert("Drawing", ["name": "known"])
                context.insert("Drawing", ["name": "other"])
                try context.save()
            }
            _ = try stack.psql("UPDATE \"\(stack.schema)\".\"Drawing\" SET shape = '\\x0102fa' WHERE name = 'other'")
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let cluster = try #require(PostgreSQLCluster.shared)
            let schemas = (1...2).map { "copy\($0)_\(UInt32.random(in: 0 ... .max))" }
            defer { for schema in schemas { _ = try? stack.psql("DROP SCHEMA IF EXISTS \(schema) CASCADE") } }
            let coordinator = try stack.another()
            try copy(coordinator, to: cluster.url(schema: schemas[0]), .postgreSQL)
            try copy(coordinator, to: folder.appendingPathComponent("a.xml"), .xml)
            try copy(coordinator, to: folder.appendingPathComponent("a.sqlite"), .sqlite)
            try copy(coordinator, to: cluster.url(schema: schemas[1]), .postgreSQL)
            for schema in schemas {
                let found = try stack.psql("SELECT name, shape FROM \(schema).\"Drawing\" ORDER BY name")
                #expect(found == "known|\nother|\\x0102fa", "\(found)")
            }
        }

        /// A model that was made up from tables says too little to write with, wherever the copy is to be.
        @Test(
            .needs(.server), .enabled(if: PostgreSQLCluster.shared != nil, "PostgreSQL is not installed"),
            arguments: [NSPersistentStore.StoreType.postgreSQL, .xml, .sqlite])
        func aStoreWithAnInferredModelIsNotCopied(type: NSPersistentStore.StoreType) throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let file = folder.appendingPathComponent("a.sqlite")
            let maker = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
            try maker.remove(try maker.addPersistentStore(type: .sqlite, at: file))
            let model = try NSPersistentStoreCoordinator.inferredModelForPersistentStore(at: file)
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let store = try coordinator.addPersistentStore(
                type: .sqlite, at: file, options: [NSReadOnlyPersistentStoreOption: true])
            let schema = "inferred_\(UInt32.random(in: 0 ... .max))"
            let cluster = try #require(PostgreSQLCluster.shared)
            let place = type == .postgreSQL ? cluster.url(schema: schema) : folder.appendingPathComponent("b")
            #expect(
                code { try coordinator.migratePersistentStore(store, to: place, options: [:], type: type) } == 134080)
            #expect(coordinator.persistentStores == [store] && !FileManager.default.fileExists(atPath: place.path))
            let schemas = "SELECT count(*) FROM pg_namespace WHERE nspname = '\(schema)'"
            #expect(try cluster.psql(schemas).hasPrefix("0"))
            // Nor is a new store made with it.
            #expect(code { try coordinator.addPersistentStore(type: type, at: place) } == 134080)
        }
    }
#endif
