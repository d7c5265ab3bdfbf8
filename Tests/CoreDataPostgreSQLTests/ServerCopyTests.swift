#if PostgreSQL
    import CoreData
    import Foundation
    import PostgreSQLCluster
    import TestSupport
    import Testing

    /// Stores copied to a server, from a server, and between servers.
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

        /// Apple's stores: in `ROSTER_CORPUS`, or in `shared/corpus` next to the project; empty if not found.
        private static let stores: [URL] = {
            let root = ProcessInfo.processInfo.environment["ROSTER_CORPUS"].map { URL(fileURLWithPath: $0) }
            let beside = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("shared/corpus")
            let folder = (root ?? beside).appendingPathComponent("stores")
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
            return names.filter { $0.hasPrefix("swiftdata-") }.sorted().compactMap { name in
                let place = folder.appendingPathComponent(name)
                let files = (try? FileManager.default.contentsOfDirectory(atPath: place.path)) ?? []
                return files.first { $0.hasSuffix(".store") || $0.hasSuffix(".sqlite") }
                    .map(place.appendingPathComponent)
            }
        }()

        /// SwiftData's structs and enums are composite attributes. Each element survives the copy in both directions.
        @Test(
            .enabled(if: PostgreSQLCluster.shared != nil, "PostgreSQL is not installed"),
            .enabled(if: !stores.isEmpty, "set ROSTER_CORPUS to the folder with Apple's stores"), arguments: stores)
        func compositeAttributesAreCopiedToAServerAndBack(original: URL) throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let file = folder.appendingPathComponent("a.sqlite")
            try FileManager.default.copyItem(at: original, to: file)
            let schema = "swiftdata_\(UInt32.random(in: 0 ... .max))"
            let cluster = try #require(PostgreSQLCluster.shared)
            defer { _ = try? cluster.psql("DROP SCHEMA IF EXISTS \(schema) CASCADE") }
            let model = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: file)
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(type: .sqlite, at: file)
            let known = try Self.contents(coordinator)
            if original.path.contains("swiftdata-cocktails-1414") {
                #expect(known["Cocktail"]?.contains("author={id: ") == true)
            }
            try copy(coordinator, to: cluster.url(schema: schema), .postgreSQL)
            #expect(try Self.contents(coordinator) == known)
            // Another program reads the same values.
            let other = NSPersistentStoreCoordinator(managedObjectModel: model)
            try other.addPersistentStore(type: .postgreSQL, at: cluster.url(schema: schema))
            #expect(try Self.contents(other) == known)
            try copy(other, to: folder.appendingPathComponent("b.sqlite"), .sqlite)
            #expect(try Self.contents(other) == known)
        }

        /// Values of all objects and of their related objects, by entity, in a fixed order.
        private static func contents(_ coordinator: NSPersistentStoreCoordinator) throws -> [String: String] {
            let context = ServerStack.context(coordinator)
            return try context.performAndWait {
                var found: [String: String] = [:]
                for (name, entity) in coordinator.managedObjectModel.entitiesByName where !entity.isAbstract {
                    let request = NSFetchRequest<NSManagedObject>(entityName: name)
                    request.includesSubentities = false
                    found[name] = try context.fetch(request).map { object in
                        let related = entity.relationshipsByName.keys.sorted().map { key -> String in
                            let value = object.value(forKey: key)
                            let objects =
                                (value as? NSManagedObject).map { [$0] } ?? (value as? NSOrderedSet)?.array
                                as? [NSManagedObject] ?? (value as? Set<NSManagedObject>).map { Array($0) } ?? []
                            return "\(key): " + objects.map(text(of:)).sorted().joined(separator: "; ")
                        }
                        return text(of: object) + " " + related.joined(separator: " ")
                    }.sorted().joined(separator: "\n")
                }
                return found
            }
        }

        private static func text(of object: NSManagedObject) -> String {
            object.entity.attributesByName.filter { !$0.value.isTransient }.keys.sorted()
                .map { "\($0)=\(text(of: object.value(forKey: $0)))" }.joined(separator: " ")
        }

        private static func text(of value: Any?) -> String {
            switch value {
            case nil, is NSNull: return "nil"
            case let date as Date: return "\(date.timeIntervalSinceReferenceDate)"
            case let data as Data: return data.base64EncodedString()
            case let elements as [String: Any]:
                return "{" + elements.keys.sorted().map { "\($0): \(text(of: elements[$0]))" }.joined(separator: ", ")
                    + "}"
            default: return "\(value!)"
            }
        }

        /// A model derived from tables lacks what is needed to write, so no copy can be made with it.
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
            // A new store cannot be created with this model either.
            #expect(code { try coordinator.addPersistentStore(type: type, at: place) } == 134080)
        }
    }
#endif
