#if PostgreSQL
    import CoreData
    import Foundation
    import PostgreSQLCluster
    import TestSupport
    import Testing

    /// The documented rights of a role are sufficient, and each of them is necessary.
    @Suite(.needs(.server), .enabled(if: PostgreSQLCluster.shared != nil, "PostgreSQL is not installed"))
    struct ServerGrantsTests {
        private func model(derives: Bool) -> NSManagedObjectModel {
            let model = Shop.model()
            guard derives else { return model }
            let count = NSDerivedAttributeDescription()
            count.name = "size"
            count.attributeType = .integer32AttributeType
            count.isOptional = true
            count.derivationExpression = NSExpression(format: "goods.@count")
            model.entitiesByName["Shelf"]?.properties.append(count)
            return model
        }

        private func read(_ context: NSManagedObjectContext) throws {
            for entity in ["Shelf", "Label"] { _ = try context.rows(entity) }
            for good in try context.rows("Good") { _ = good.value(forKey: "labels").map { "\($0)" } }
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            _ = try context.execute(request)
        }

        private func write(_ context: NSManagedObjectContext) throws {
            let shelf = context.insert("Shelf", ["name": "s"])
            let good = context.insert("Good", ["code": "a", "shelf": shelf])
            let label = context.insert("Label", ["text": "l", "goods": Set([good])])
            try context.save()
            good.setValue(3, forKey: "stock")
            good.setValue(nil, forKey: "shelf")
            label.setValue(Set<NSManagedObject>(), forKey: "goods")
            try context.save()
            for object in [shelf, good, label] { context.delete(object) }
            try context.save()
        }

        @Test(arguments: [false, true]) func aWriterCanReadAndSave(derives: Bool) throws {
            let stack = try ServerStack(model(derives: derives))
            let (coordinator, store) = (stack.coordinator, stack.store)
            let count = try coordinator.grantStatements(for: nil, in: store).count
            for left in -1..<count {
                var rights: [String] = []
                let refused = code {
                    try stack.asRole(
                        { role in
                            rights = try coordinator.grantStatements(for: role.name, in: store)
                            return rights.enumerated().filter { $0.offset != left }.map(\.element)
                        }, named: "Clerk \""
                    ) { context, _ in
                        try read(context)
                        try write(context)
                    }
                }
                #expect(
                    (refused == nil) == (left == -1), "without \(left < 0 ? "nothing" : rights[left]): \(refused ?? 0)")
            }
        }

        @Test func aReaderCanReadAlone() throws {
            let stack = try ServerStack(model(derives: false))
            let (coordinator, store) = (stack.coordinator, stack.store)
            try stack.inContext { context in
                context.insert("Label", ["text": "a"])
                try context.save()
            }
            try stack.asRole({ try coordinator.grantStatements(for: $0.name, in: store, readOnly: true) }) {
                context, _ in
                try read(context)
                context.insert("Label", ["text": "b"])
                #expect(code { try context.save() } == 513)
            }
        }

        @Test func aFileHasNoRoles() throws {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Shop.model())
            let store = try coordinator.addPersistentStore(type: .inMemory, at: URL(fileURLWithPath: "/dev/null"))
            #expect(code { _ = try coordinator.grantStatements(for: "x", in: store) } == 134060)
        }
    }
#endif
