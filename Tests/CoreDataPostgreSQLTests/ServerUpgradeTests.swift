#if PostgreSQL
    import CoreData
    import Foundation
    import PostgreSQLCluster
    import TestSupport
    import Testing

    /// Values that a migration keeps, and its effect on programs that have the store open.
    @Suite(.needs(.server), .enabled(if: PostgreSQLCluster.shared != nil, "PostgreSQL is not installed"))
    struct ServerUpgradeTests {
        private var migrating: [AnyHashable: Any] { Self.migrating }
        private static var migrating: [AnyHashable: Any] {
            [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
        }

        /// `Item` and `Zebra`. Version 2 adds `Apple`, whose name sorts before both.
        private func zoo(_ version: Int) -> NSManagedObjectModel {
            let item = Shop.entity("Item", [Shop.attribute("text", .stringAttributeType)])
            let zebra = Shop.entity("Zebra", [Shop.attribute("text", .stringAttributeType)])
            item.subentities = []
            let model = NSManagedObjectModel()
            model.entities = [item, zebra]
            if version > 1 {
                // A different hierarchy, which makes the migration recreate the tables.
                zebra.properties.append(Shop.attribute("stripes", .integer16AttributeType))
                model.entities.append(Shop.entity("Apple", [Shop.attribute("text", .stringAttributeType)]))
            }
            return model
        }

        @Test func concurrentMigrationsRunOnceAndOthersNotice() throws {
            let stack = try ServerStack(zoo(1))
            let stale = stack.context()
            try stale.performAndWait {
                for number in 0..<20 { stale.insert(number < 10 ? "Item" : "Zebra", ["text": "\(number)"]) }
                try stale.save()
            }
            let (model, url) = (zoo(2), stack.url)
            let coordinators = (0..<3).map { _ in NSPersistentStoreCoordinator(managedObjectModel: model) }
            DispatchQueue.concurrentPerform(iterations: coordinators.count) { index in
                do {
                    try coordinators[index].addPersistentStore(type: .postgreSQL, at: url, options: Self.migrating)
                } catch {
                    Issue.record("\(error)")
                }
            }
            for coordinator in coordinators {
                let context = ServerStack.context(coordinator)
                try context.performAndWait {
                    #expect(try context.rows("Item").count == 10)
                    #expect(try context.rows("Zebra").count == 10)
                    context.insert("Apple", ["text": "a"])
                    try context.save()
                }
            }
            // A program with the old version cannot write rows that the new version would misread.
            stale.performAndWait {
                stale.insert("Zebra", ["text": "late"])
                let late = code { try stale.save() }
                #expect(late == 134100)
                #expect(code { _ = try stale.rows("Zebra") } == 134100)
            }
            let number = try stack.psql("SELECT model_number FROM \"\(stack.schema)\"._store")
            #expect(number == "2")
            #expect(try stack.psql("SELECT count(*) FROM \"\(stack.schema)\".\"Zebra\"") == "10")
        }

        /// `Thing` and `Box`, before and after many changes.
        private func things(_ version: Int) -> NSManagedObjectModel {
            let isNew = version > 1
            let note = Shop.attribute("note", .stringAttributeType, optional: !isNew)
            if isNew { note.defaultValue = "none" }
            let city = Shop.attribute("city", .stringAttributeType)
            let zip = Shop.attribute("zip", .stringAttributeType)
            zip.defaultValue = "0000"
            let place = NSCompositeAttributeDescription()
            place.name = "place"
            place.isOptional = true
            place.elements = isNew ? [city, zip] : [city]
            let thing = Shop.entity(
                "Thing",
                [
                    Shop.attribute("name", .stringAttributeType), note,
                    Shop.attribute("small", isNew ? .integer16AttributeType : .booleanAttributeType),
                    Shop.attribute("real", isNew ? .doubleAttributeType : .booleanAttributeType),
                    Shop.attribute("decimal", isNew ? .decimalAttributeType : .booleanAttributeType), place,
                ])
            let box = Shop.entity("Box", [Shop.attribute("name", .stringAttributeType)])
            // A to-one relationship becomes to-many; lists get an order, on both sides of pairs, too.
            Shop.relate(box, "contents", thing, "box", inverseMany: isNew)
            Shop.relate(box, "list", thing, "lister", ordered: isNew)
            Shop.relate(box, "pairs", thing, "pairers", ordered: isNew, inverseMany: true)
            let model = NSManagedObjectModel()
            model.entities = [thing, box]
            return model
        }

        @Test func aMigrationKeepsWhatTheFileStoreKeeps() throws {
            let stack = try ServerStack(things(1))
            try stack.inContext { context in
                let box = context.insert("Box", ["name": "b"])
                let things = (0..<3).map { number in
                    context.insert(
                        "Thing",
                        [
                            "name": "t\(number)", "small": number == 1, "real": number == 1, "decimal": number == 1,
                            "place": ["city": "c\(number)"],
                        ])
                }
                things[0].setValue("said", forKey: "note")
                for thing in things {
                    thing.setValue(box, forKey: "box")
                    thing.setValue(box, forKey: "lister")
                    box.mutableSetValue(forKey: "pairs").add(thing)
                }
                try context.save()
            }
            try stack.coordinator.remove(stack.store)
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: things(2))
            try coordinator.addPersistentStore(type: .postgreSQL, at: stack.url, options: migrating)
            let context = ServerStack.context(coordinator)
            try context.performAndWait {
                let things = try context.rows("Thing", by: "name")
                #expect(things.map { $0.value(forKey: "note") as? String } == ["said", "none", "none"])
                for (index, thing) in things.enumerated() {
                    let wanted = index == 1 ? 1 : 0
                    #expect(thing.value(forKey: "small") as? Int == wanted)
                    #expect(thing.value(forKey: "real") as? Double == Double(wanted))
                    #expect(thing.value(forKey: "decimal") as? NSDecimalNumber == NSDecimalNumber(value: wanted))
                    let place = thing.value(forKey: "place") as? [String: Any]
                    #expect(place?["city"] as? String == "c\(index)" && place?["zip"] as? String == "0000")
                    #expect((thing.value(forKey: "box") as? Set<NSManagedObject>)?.count == 1)
                }
                let box = try #require(try context.rows("Box").first)
                for key in ["list", "pairs"] {
                    let list = box.value(forKey: key) as? NSOrderedSet
                    #expect(
                        list?.array.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String }.count == 3
                    )
                }
                #expect((box.value(forKey: "contents") as? Set<NSManagedObject>)?.count == 3)
            }
            let places = "SELECT count(*) FROM \"\(stack.schema)\".\"Thing\" WHERE lister_order IS NULL"
            #expect(try stack.psql(places) == "0")
        }

        @Test func migrationsKeepRightsAndViews() throws {
            let stack = try ServerStack(Shop.model())
            let schema = "\"\(stack.schema)\""
            let name = "reader\(UInt32.random(in: 0 ... .max))"
            try stack.inContext { context in
                context.insert("Label", ["text": "x"])
                context.insert("Good", ["code": "g", "stock": 1])
                try context.save()
            }
            _ = try stack.psql(
                "CREATE ROLE \(name) LOGIN; GRANT USAGE ON SCHEMA \(schema) TO \(name); "
                    + "GRANT SELECT ON \(schema).\"Good\", \(schema).\"Label\" TO \(name); "
                    + "CREATE VIEW \(schema).texts AS SELECT text FROM \(schema).\"Label\"; "
                    + "CREATE VIEW \(schema).stocks AS SELECT stock FROM \(schema).\"Good\"")
            try stack.coordinator.remove(stack.store)
            let model = Shop.model()
            let rank = Shop.attribute("rank", .integer32AttributeType, optional: false)
            rank.defaultValue = 7
            model.entitiesByName["Label"]?.properties.append(rank)
            let stock = try #require(model.entitiesByName["Good"]?.propertiesByName["stock"] as? NSAttributeDescription)
            stock.attributeType = .integer64AttributeType
            func open() throws {
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
                try coordinator.addPersistentStore(type: .postgreSQL, at: stack.url, options: migrating)
            }
            let refused = #expect(throws: NSError.self) { try open() }
            #expect(refused?.code == 134110 && refused?.localizedDescription.contains("stocks") == true)
            #expect(refused?.localizedDescription.contains("\n") == false)
            _ = try stack.psql("DROP VIEW \(schema).stocks")
            try open()
            #expect(try stack.psql("SET ROLE \(name); SELECT count(*), sum(stock) FROM \(schema).\"Good\"") == "1|1")
            #expect(try stack.psql("SELECT text FROM \(schema).texts") == "x")
            #expect(try stack.psql("SET ROLE \(name); SELECT text, rank FROM \(schema).\"Label\"") == "x|7")
        }

        @Test func migrationsUseThePasswordOfTheURLAndAStoreOpensOnce() throws {
            let cluster = try #require(PostgreSQLCluster.shared)
            let stack = try ServerStack(zoo(1))
            let name = "owner\(UInt32.random(in: 0 ... .max))"
            try cluster.psql("CREATE ROLE \(name) LOGIN SUPERUSER PASSWORD 's3cret'")
            let url = cluster.networkURL(schema: stack.schema, user: name, password: "s3cret")
            try stack.coordinator.remove(stack.store)
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: zoo(2))
            let store = try coordinator.addPersistentStore(type: .postgreSQL, at: url, options: migrating)
            #expect(coordinator.persistentStore(for: url) === store)
            // The same URL, and another URL of the same store.
            for other in [url, stack.url] {
                #expect(code { try coordinator.addPersistentStore(type: .postgreSQL, at: other) } == 134080)
            }
        }

        @Test func stagedMigrationsAreForFiles() throws {
            let stack = try ServerStack(zoo(1))
            try stack.coordinator.remove(stack.store)
            var options = migrating
            options[NSPersistentStoreStagedMigrationManagerOptionKey] = NSStagedMigrationManager([])
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: zoo(2))
            #expect(
                code { try coordinator.addPersistentStore(type: .postgreSQL, at: stack.url, options: options) }
                    == 134110)
            #expect(try stack.psql("SELECT to_regclass('\"\(stack.schema)\".\"Apple\"') IS NULL") == "t")
        }

        @Test func aCopyOverwritesNothing() throws {
            let cluster = try #require(PostgreSQLCluster.shared)
            let stack = try ServerStack(zoo(1))
            try stack.inContext { context in
                context.insert("Item", ["text": "kept"])
                try context.save()
            }
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: zoo(1))
            let store = try coordinator.addPersistentStore(
                type: .sqlite, at: folder.appendingPathComponent("a.sqlite"))
            #expect(code { _ = try coordinator.migratePersistentStore(store, to: stack.url, type: .postgreSQL) } == 516)
            #expect(try stack.psql("SELECT text FROM \"\(stack.schema)\".\"Item\"") == "kept")
            // A server that refuses the client makes no store, and its URL is not used as a file path.
            let file = folder.appendingPathComponent("backup")
            try Data("kept".utf8).write(to: file)
            let wrong = try #require(
                URL(string: "postgresql://no_such_role:x@127.0.0.1:\(cluster.port)\(file.path)?schema=s"))
            let refused = code { _ = try coordinator.migratePersistentStore(store, to: wrong, type: .postgreSQL) }
            #expect(refused == 257)
            #expect(try Data(contentsOf: file) == Data("kept".utf8))
        }
    }
#endif
