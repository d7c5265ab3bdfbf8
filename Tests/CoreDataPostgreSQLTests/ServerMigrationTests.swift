#if PostgreSQL
    import CoreData
    import Foundation
    import PostgreSQLCluster
    import TestSupport
    import Testing

    @Suite(.needs(.server), .enabled(if: PostgreSQLCluster.shared != nil, "PostgreSQL is not installed"))
    struct ServerMigrationTests {
        private let migrating: [AnyHashable: Any] = [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        ]

        /// The shop with a renamed text, a new required attribute, and no shelves.
        private func next() throws -> NSManagedObjectModel {
            let model = Shop.model()
            let label = try #require(model.entitiesByName["Label"])
            let text = try #require(label.propertiesByName["text"] as? NSAttributeDescription)
            text.renamingIdentifier = "text"
            text.name = "caption"
            let rank = Shop.attribute("rank", .integer32AttributeType, optional: false)
            rank.defaultValue = 7
            label.properties.append(rank)
            let stock = try #require(model.entitiesByName["Good"]?.propertiesByName["stock"] as? NSAttributeDescription)
            stock.attributeType = .integer64AttributeType
            model.entitiesByName["Good"]?.properties.removeAll { $0.name == "shelf" }
            model.entities.removeAll { $0.name == "Shelf" }
            return model
        }

        private func fill(_ stack: ServerStack) throws -> URL {
            try stack.inContext { context in
                let shelf = context.insert("Shelf", ["name": "top"])
                let label = context.insert("Label", ["text": "new"])
                for number in 0..<5 {
                    let good = context.insert(number == 2 ? "Book" : "Good", ["code": "g\(number)", "stock": number])
                    good.setValue(shelf, forKey: "shelf")
                    if number < 2 { good.mutableSetValue(forKey: "labels").add(label) }
                }
                try context.save()
                return label.objectID.uriRepresentation()
            }
        }

        @Test func aStoreIsMigratedInPlace() throws {
            let stack = try ServerStack(Shop.model())
            let uri = try fill(stack)
            try stack.coordinator.remove(stack.store)
            let model = try next()
            // No migration without the option.
            let plain = NSPersistentStoreCoordinator(managedObjectModel: model)
            #expect(code { try plain.addPersistentStore(type: .postgreSQL, at: stack.url) } == 134100)
            for _ in 0..<2 {
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
                let store = try coordinator.addPersistentStore(type: .postgreSQL, at: stack.url, options: migrating)
                let context = ServerStack.context(coordinator)
                try context.performAndWait {
                    let id = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
                    let label = try context.existingObject(with: id)
                    #expect(
                        label.value(forKey: "caption") as? String == "new" && label.value(forKey: "rank") as? Int == 7)
                    let goods = label.mutableSetValue(forKey: "goods").allObjects as? [NSManagedObject] ?? []
                    #expect(Set(goods.compactMap { $0.value(forKey: "code") as? String }) == ["g0", "g1"])
                    #expect(try context.rows("Book").map { $0.value(forKey: "stock") as? Int } == [2])
                    context.insert("Good", ["code": UUID().uuidString, "stock": Int64.max])
                    try context.save()
                }
                try coordinator.remove(store)
            }
            #expect(
                try stack.psql(
                    "SELECT count(*) FROM pg_tables WHERE schemaname = '\(stack.schema)' AND tablename LIKE '\\_old%'")
                    == "0")
            #expect(try stack.psql("SELECT to_regclass('\"\(stack.schema)\".\"Shelf\"') IS NULL") == "t")
        }

        @Test func aMigrationThatCannotBeDoneChangesNothing() throws {
            let stack = try ServerStack(Shop.model())
            _ = try fill(stack)
            try stack.coordinator.remove(stack.store)
            let model = try next()
            let needed = Shop.attribute("needed", .stringAttributeType, optional: false)
            model.entitiesByName["Label"]?.properties.append(needed)
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let error = #expect(throws: NSError.self) {
                try coordinator.addPersistentStore(type: .postgreSQL, at: stack.url, options: migrating)
            }
            #expect(error?.code == 134110 && error?.localizedDescription.contains("Label.needed") == true)
            let old = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
            try old.addPersistentStore(type: .postgreSQL, at: stack.url)
            let context = ServerStack.context(old)
            let kept = try context.performAndWait { try context.rows("Good", "shelf.name == 'top'").count }
            #expect(kept == 5)
        }
    }
#endif
