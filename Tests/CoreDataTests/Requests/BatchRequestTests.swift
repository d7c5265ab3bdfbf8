import CoreData
import Foundation
import Testing

/// Batch requests, as made by programs written for Apple's framework.
@Suite struct BatchRequestTests {
    enum Kind: CaseIterable { case sqlite, nowhere, memory }

    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        return attribute
    }

    private static func relate(
        _ from: NSEntityDescription, _ name: String, many: Bool, rule: NSDeleteRule = .nullifyDeleteRule,
        _ to: NSEntityDescription, _ back: String, backMany: Bool
    ) {
        let there = NSRelationshipDescription()
        there.name = name
        there.destinationEntity = to
        there.maxCount = many ? 0 : 1
        there.deleteRule = rule
        let home = NSRelationshipDescription()
        home.name = back
        home.destinationEntity = from
        home.maxCount = backMany ? 0 : 1
        home.deleteRule = .nullifyDeleteRule
        there.inverseRelationship = home
        home.inverseRelationship = there
        from.properties += [there]
        to.properties += [home]
    }

    /// Venues with walks of dogs and a keeper each; dogs with a unique chip number, toys that are deleted with them,
    /// and a vet who cannot be deleted while there are patients.
    static func model() -> NSManagedObjectModel {
        let dog = NSEntityDescription()
        dog.name = "Dog"
        let name = attribute("name", .stringAttributeType)
        name.isOptional = false
        let age = attribute("age", .integer32AttributeType)
        age.defaultValue = 1
        let picture = attribute("picture", .binaryDataAttributeType)
        picture.allowsExternalBinaryDataStorage = true
        dog.properties = [
            name, age, attribute("chip", .stringAttributeType), attribute("weight", .decimalAttributeType),
            attribute("born", .dateAttributeType), picture,
        ]
        dog.uniquenessConstraints = [["chip"]]
        let puppy = NSEntityDescription()
        puppy.name = "Puppy"
        dog.subentities = [puppy]
        func entity(_ name: String) -> NSEntityDescription {
            let entity = NSEntityDescription()
            entity.name = name
            entity.properties = [attribute("name", .stringAttributeType)]
            return entity
        }
        let (toy, vet, friend, kennel) = (entity("Toy"), entity("Vet"), entity("Friend"), entity("Kennel"))
        relate(dog, "toys", many: true, rule: .cascadeDeleteRule, toy, "dog", backMany: false)
        relate(vet, "patients", many: true, rule: .denyDeleteRule, dog, "vet", backMany: false)
        relate(dog, "friends", many: true, friend, "dogs", backMany: true)
        relate(dog, "kennel", many: false, kennel, "dog", backMany: false)
        let dogCount = NSDerivedAttributeDescription()
        dogCount.name = "patientCount"
        dogCount.attributeType = .integer64AttributeType
        dogCount.derivationExpression = NSExpression(format: "patients.@count")
        vet.properties += [dogCount]
        let model = NSManagedObjectModel()
        model.entities = [dog, puppy, toy, vet, friend, kennel]
        return model
    }

    final class Stack: @unchecked Sendable {
        let container: NSPersistentContainer
        private let folder: URL

        init(_ kind: Kind = .sqlite, history: Bool = false) throws {
            folder = FileManager.default.temporaryDirectory.appendingPathComponent("Batch-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            container = NSPersistentContainer(name: "Dogs", managedObjectModel: BatchRequestTests.model())
            let description = NSPersistentStoreDescription(
                url: kind == .nowhere ? URL(fileURLWithPath: "/dev/null") : folder.appendingPathComponent("dogs.sqlite")
            )
            if kind == .memory { description.type = NSInMemoryStoreType }
            if history {
                description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
                description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
            }
            container.persistentStoreDescriptions = [description]
            var failure: (any Error)?
            container.loadPersistentStores { failure = $1 }
            if let failure { throw failure }
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        func use<Result>(_ body: (NSManagedObjectContext) throws -> Result) throws -> Result {
            let context = container.newBackgroundContext()
            return try context.performAndWait { try body(context) }
        }

        func names(_ format: String = "TRUEPREDICATE", _ entity: String = "Dog") throws -> [String] {
            try use { context in
                let request = NSFetchRequest<NSManagedObject>(entityName: entity)
                request.predicate = NSPredicate(format: format)
                request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
                return try context.fetch(request).map { $0.value(forKey: "name") as? String ?? "-" }
            }
        }
    }

    final class Listener: NSObject, NSFetchedResultsControllerDelegate {
        var inserted = 0

        func controller(
            _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
            at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
        ) { if type == .insert { inserted += 1 } }
    }

    private func error(_ body: () throws -> Void) -> NSError? {
        do { try body() } catch { return error as NSError }
        return nil
    }

    // MARK: Insertions

    @Test(arguments: Kind.allCases) func dictionariesAreInserted(_ kind: Kind) throws {
        let stack = try Stack(kind)
        let born = Date(timeIntervalSinceReferenceDate: 1234.5)
        try stack.use { context in
            let request = NSBatchInsertRequest(
                entityName: "Dog",
                objects: [
                    [
                        "name": "Rex", "age": 3, "weight": NSDecimalNumber(string: "12.345678901234567890"),
                        "born": born,
                    ],
                    ["name": "بندق", "unknown": 7], ["name": "旺财🐶", "age": NSNull()],
                ])
            request.resultType = .objectIDs
            let result = try #require(try context.execute(request) as? NSBatchInsertResult)
            let ids = try #require(result.result as? [NSManagedObjectID])
            #expect(ids.count == 3 && ids.allSatisfy { !$0.isTemporaryID })
            let rex = try context.existingObject(with: ids[0])
            #expect(rex.value(forKey: "age") as? Int == 3)
            #expect(rex.value(forKey: "weight") as? NSDecimalNumber == NSDecimalNumber(string: "12.345678901234567890"))
            #expect(rex.value(forKey: "born") as? Date == born)
            #expect(try context.existingObject(with: ids[1]).value(forKey: "age") as? Int == 1, "the default")
            #expect(try context.existingObject(with: ids[2]).value(forKey: "age") == nil)
        }
        #expect(try stack.names().sorted() == ["Rex", "بندق", "旺财🐶"].sorted())
    }

    @Test func handlersFillRowsUntilTheySayTrue() throws {
        let stack = try Stack()
        var number = 0
        let byDictionary = NSBatchInsertRequest(entityName: "Dog") { (dictionary: NSMutableDictionary) -> Bool in
            #expect(dictionary.count == 0)
            guard number < 2500 else { return true }
            dictionary["name"] = "Dog \(number)"
            dictionary["age"] = number
            number += 1
            return false
        }
        byDictionary.resultType = .count
        try stack.use { context in
            let result = try #require(try context.execute(byDictionary) as? NSBatchInsertResult)
            #expect(result.result as? Int == 2500)
            #expect(!context.hasChanges && context.registeredObjects.isEmpty)
            var left = 3
            let byObject = NSBatchInsertRequest(entity: byDictionary.entity!) { (object: NSManagedObject) -> Bool in
                guard left > 0 else { return true }
                object.setValue("Object \(left)", forKey: "name")
                left -= 1
                return false
            }
            let status = try #require(try context.execute(byObject) as? NSBatchInsertResult)
            #expect(status.result as? Bool == true && status.resultType == .statusOnly)
        }
        #expect(try stack.names("name BEGINSWITH 'Object' AND age == 1").count == 3)
        #expect(try stack.names("age >= 2000 AND age < 2003") == ["Dog 2000", "Dog 2001", "Dog 2002"])
    }

    @Test func aMissingRequiredValueInsertsNothing() throws {
        let stack = try Stack()
        try stack.use { context in
            let rows: [[String: Any]] = (0..<1500).map { $0 == 1400 ? ["age": 2] : ["name": "\($0)"] }
            let error = error { try context.execute(NSBatchInsertRequest(entityName: "Dog", objects: rows)) }
            #expect(error?.code == NSValidationMissingMandatoryPropertyError)
            #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "name")
            #expect(error?.localizedDescription.contains("row 1401") == true)
        }
        #expect(try stack.names().isEmpty)
    }

    @Test func bigValuesGoToFilesAndRowsMayPointAtSavedObjects() throws {
        let stack = try Stack()
        let picture = Data(repeating: 7, count: 300_000)
        try stack.use { context in
            let vet = NSEntityDescription.insertNewObject(forEntityName: "Vet", into: context)
            vet.setValue("Dr. Li", forKey: "name")
            try context.save()
            let rows: [[String: Any]] = [
                ["name": "Rex", "picture": picture, "vet": vet], ["name": "Bo", "vet": vet.objectID],
            ]
            try context.execute(NSBatchInsertRequest(entityName: "Dog", objects: rows))
            context.refresh(vet, mergeChanges: false)
            #expect((vet.value(forKey: "patients") as? Set<NSManagedObject>)?.count == 2)
            #expect(vet.value(forKey: "patientCount") as? Int == 2, "derived attributes are kept")
            let request = NSFetchRequest<NSManagedObject>(entityName: "Dog")
            request.predicate = NSPredicate(format: "name == 'Rex'")
            #expect(try context.fetch(request).first?.value(forKey: "picture") as? Data == picture)
            let wrong = error {
                try context.execute(
                    NSBatchInsertRequest(entityName: "Dog", objects: [["name": "X", "toys": Set<NSManagedObject>()]]))
            }
            #expect(wrong?.localizedDescription.contains("Dog.toys of row 1") == true)
        }
    }

    @Test(arguments: [
        (NSMergePolicyType.errorMergePolicyType, ["Rex 3"]),
        (.mergeByPropertyStoreTrumpMergePolicyType, ["New 1", "Rex 3"]),
        (.rollbackMergePolicyType, ["New 1", "Rex 3"]),
        (.mergeByPropertyObjectTrumpMergePolicyType, ["Max 3", "New 9"]),
        (.overwriteMergePolicyType, ["Max 1", "New 9"]),
    ])
    func theMergePolicyDecidesOnUniqueValues(_ type: NSMergePolicyType, _ expected: [String]) throws {
        let stack = try Stack()
        try stack.use { context in
            try context.execute(
                NSBatchInsertRequest(entityName: "Dog", objects: [["name": "Rex", "age": 3, "chip": "α1"]]))
            context.mergePolicy = NSMergePolicy(merge: type)
            let request = NSBatchInsertRequest(
                entityName: "Dog",
                objects: [
                    ["name": "Max", "chip": "α1"], ["name": "New", "chip": "β"],
                    ["name": "New", "age": 9, "chip": "β"],
                ])
            let error = error { try context.execute(request) }
            #expect(error?.code == (type == .errorMergePolicyType ? NSManagedObjectConstraintMergeError : nil))
            let all = NSFetchRequest<NSManagedObject>(entityName: "Dog")
            let found = try context.fetch(all).map { dog in
                "\(dog.value(forKey: "name") as? String ?? "") \(dog.value(forKey: "age") as? Int ?? -1)"
            }
            #expect(found.sorted() == expected)
        }
    }

    // MARK: Updates

    @Test(arguments: Kind.allCases) func rowsAreUpdatedWithConstantsAndExpressions(_ kind: Kind) throws {
        let stack = try Stack(kind)
        try stack.use { context in
            let rows: [[String: Any]] = (0..<2100).map { ["name": "Dog \($0)", "age": $0] }
            try context.execute(NSBatchInsertRequest(entityName: "Dog", objects: rows))
            try context.execute(NSBatchInsertRequest(entityName: "Puppy", objects: [["name": "Puppy", "age": 2000]]))
            let request = NSBatchUpdateRequest(entityName: "Dog")
            request.predicate = NSPredicate(format: "age >= 1000")
            request.propertiesToUpdate = [
                "age": NSExpression(format: "age * 2 + 1"), "chip": NSExpression(format: "name"),
                "born": Date(timeIntervalSinceReferenceDate: 5),
            ]
            request.resultType = .updatedObjectsCountResultType
            let result = try #require(try context.execute(request) as? NSBatchUpdateResult)
            #expect(result.result as? Int == 1101)
            #expect(request.entity.name == "Dog")
        }
        #expect(try stack.names("age == 4001") == ["Dog 2000", "Puppy"])
        #expect(try stack.names("chip == name AND born != nil").count == 1101)
        #expect(try stack.names("age == 999 AND chip == nil") == ["Dog 999"])
    }

    @Test func subentitiesMayBeExcludedAndWrongValuesAreRefused() throws {
        let stack = try Stack()
        try stack.use { context in
            try context.execute(NSBatchInsertRequest(entityName: "Dog", objects: [["name": "Rex"]]))
            try context.execute(NSBatchInsertRequest(entityName: "Puppy", objects: [["name": "Pup"]]))
            let request = NSBatchUpdateRequest(entity: NSEntityDescription.entity(forEntityName: "Dog", in: context)!)
            request.includesSubentities = false
            request.propertiesToUpdate = ["age": 8]
            request.resultType = .updatedObjectIDsResultType
            let ids = (try context.execute(request) as? NSBatchUpdateResult)?.result as? [NSManagedObjectID]
            #expect(ids?.count == 1 && ids?.first?.entity.name == "Dog")
            for (key, value) in [("age", "old" as Any), ("nmae", "x"), ("toys", NSNull()), ("kennel", NSNull())] {
                request.propertiesToUpdate = [key: value]
                let error = error { try context.execute(request) }
                #expect(error?.localizedDescription.contains(key) == true, "\(key)")
            }
            let description = try #require(request.entity.attributesByName["age"])
            request.propertiesToUpdate = [description: 11]
            try context.execute(request)
        }
        #expect(try stack.names("age == 11") == ["Rex"])
        #expect(try stack.names("age == 1") == ["Pup"])
    }

    @Test func savingAnObjectReadBeforeABatchConflicts() throws {
        let stack = try Stack()
        try stack.use { context in
            try context.execute(NSBatchInsertRequest(entityName: "Dog", objects: [["name": "Rex"]]))
            let rex = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Dog")).first)
            #expect(rex.value(forKey: "age") as? Int == 1)
            let update = NSBatchUpdateRequest(entityName: "Dog")
            update.propertiesToUpdate = ["age": 5]
            update.resultType = .updatedObjectIDsResultType
            let ids = try #require(
                (try context.execute(update) as? NSBatchUpdateResult)?.result as? [NSManagedObjectID])
            #expect(rex.value(forKey: "age") as? Int == 1, "objects hear nothing of it")
            rex.setValue("Max", forKey: "name")
            #expect(error { try context.save() }?.code == NSManagedObjectMergeError)
            context.rollback()
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSUpdatedObjectsKey: ids], into: [context])
            #expect(rex.value(forKey: "age") as? Int == 5)
        }
    }

    // MARK: Deletions

    @Test(arguments: Kind.allCases) func rowsAreDeletedByRequestWithTheirCascades(_ kind: Kind) throws {
        let stack = try Stack(kind)
        try stack.use { context in
            for number in 0..<5 {
                let dog = NSEntityDescription.insertNewObject(forEntityName: "Dog", into: context)
                dog.setValue("Dog \(number)", forKey: "name")
                dog.setValue(number, forKey: "age")
                for _ in 0..<3 {
                    let toy = NSEntityDescription.insertNewObject(forEntityName: "Toy", into: context)
                    toy.setValue("Toy of \(number)", forKey: "name")
                    toy.setValue(dog, forKey: "dog")
                }
                let kennel = NSEntityDescription.insertNewObject(forEntityName: "Kennel", into: context)
                kennel.setValue("Kennel of \(number)", forKey: "name")
                kennel.setValue(dog, forKey: "dog")
                let friend = NSEntityDescription.insertNewObject(forEntityName: "Friend", into: context)
                friend.setValue("Friend of \(number)", forKey: "name")
                friend.setValue(Set([dog]), forKey: "dogs")
            }
            try context.save()
            let fetch = NSFetchRequest<NSFetchRequestResult>(entityName: "Dog")
            fetch.predicate = NSPredicate(format: "age < 4")
            fetch.sortDescriptors = [NSSortDescriptor(key: "age", ascending: false)]
            fetch.fetchLimit = 2
            fetch.fetchOffset = 1
            let request = NSBatchDeleteRequest(fetchRequest: fetch)
            request.resultType = .resultTypeObjectIDs
            let result = try #require(try context.execute(request) as? NSBatchDeleteResult)
            let ids = try #require(result.result as? [NSManagedObjectID])
            #expect(ids.filter { $0.entity.name == "Dog" }.count == 2)
            #expect(ids.filter { $0.entity.name == "Toy" }.count == 6)
            #expect(ids.count == 8)
        }
        #expect(try stack.names() == ["Dog 0", "Dog 3", "Dog 4"])
        #expect(try stack.names("TRUEPREDICATE", "Toy").count == 9)
        #expect(try stack.names("dog == nil", "Kennel") == ["Kennel of 1", "Kennel of 2"])
        #expect(try stack.names("dogs.@count == 0", "Friend") == ["Friend of 1", "Friend of 2"])
    }

    @Test func denyRulesForbidAndNothingIsDeleted() throws {
        let stack = try Stack()
        try stack.use { context in
            let vet = NSEntityDescription.insertNewObject(forEntityName: "Vet", into: context)
            let dog = NSEntityDescription.insertNewObject(forEntityName: "Dog", into: context)
            dog.setValue("Rex", forKey: "name")
            dog.setValue(vet, forKey: "vet")
            try context.save()
            let request = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSFetchRequestResult>(entityName: "Vet"))
            #expect(error { try context.execute(request) }?.code == NSValidationRelationshipDeniedDeleteError)
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Vet")) == 1)
            let dogs = NSBatchDeleteRequest(objectIDs: [dog.objectID])
            dogs.resultType = .resultTypeCount
            #expect((try context.execute(dogs) as? NSBatchDeleteResult)?.result as? Int == 1)
            context.refresh(vet, mergeChanges: false)
            #expect(vet.value(forKey: "patientCount") as? Int == 0)
            try context.execute(request)
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Vet")) == 0)
            let mixed = NSBatchDeleteRequest(objectIDs: [dog.objectID, vet.objectID])
            #expect(
                error { try context.execute(mixed) }?.localizedDescription.contains("must be of one entity") == true)
        }
    }

    @Test func aBatchIgnoresPendingChanges() throws {
        let stack = try Stack()
        try stack.use { context in
            try context.execute(NSBatchInsertRequest(entityName: "Dog", objects: [["name": "Rex"], ["name": "Bo"]]))
            let pending = NSEntityDescription.insertNewObject(forEntityName: "Dog", into: context)
            pending.setValue("Pending", forKey: "name")
            let request = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSFetchRequestResult>(entityName: "Dog"))
            request.resultType = .resultTypeCount
            #expect((try context.execute(request) as? NSBatchDeleteResult)?.result as? Int == 2)
            try context.save()
        }
        #expect(try stack.names() == ["Pending"])
    }

    // MARK: Notifications and merging

    @Test func theHistoryHasOneTransactionForEachBatch() throws {
        let stack = try Stack(history: true)
        try stack.use { context in
            context.name = "importer"
            context.transactionAuthor = "sync"
            let rows: [[String: Any]] = (0..<1200).map { ["name": "Dog \($0)", "age": $0] }
            try context.execute(NSBatchInsertRequest(entityName: "Dog", objects: rows))
            let update = NSBatchUpdateRequest(entityName: "Dog")
            update.predicate = NSPredicate(format: "age < 1100")
            update.propertiesToUpdate = ["age": 0]
            try context.execute(update)
            let nothing = NSBatchUpdateRequest(entityName: "Dog")
            nothing.predicate = NSPredicate(format: "age == -5")
            nothing.propertiesToUpdate = ["age": 0]
            try context.execute(nothing)
            try context.execute(
                NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSFetchRequestResult>(entityName: "Dog")))
            let result = try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast))
            let history = try #require(
                (result as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction])
            #expect(history.map { $0.changes?.count ?? 0 } == [1200, 1100, 1200])
            #expect(history.allSatisfy { $0.author == "sync" && $0.contextName == "importer" })
            #expect(history[1].changes?.first?.updatedProperties?.map(\.name) == ["age"])
            #expect(history[2].changes?.allSatisfy { $0.changeType == .delete } == true)
        }
    }

    @Test func batchesArePostedAndControllersFollowAfterMerging() async throws {
        let stack = try Stack(history: true)
        let coordinator = stack.container.persistentStoreCoordinator
        try await confirmation { heard in
            let (stream, continuation) = AsyncStream<Void>.makeStream()
            let observer = NotificationCenter.default.addObserver(
                forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil
            ) { _ in continuation.yield() }
            defer { NotificationCenter.default.removeObserver(observer) }
            try stack.use { context in
                let request = NSFetchRequest<NSManagedObject>(entityName: "Dog")
                request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
                let controller = NSFetchedResultsController(
                    fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
                let listener = Listener()
                controller.delegate = listener
                try controller.performFetch()
                let insert = NSBatchInsertRequest(entityName: "Dog", objects: [["name": "Rex"], ["name": "Bo"]])
                insert.resultType = .objectIDs
                let result = try #require(try context.execute(insert) as? NSBatchInsertResult)
                #expect(controller.fetchedObjects?.isEmpty == true && listener.inserted == 0)
                let ids = try #require(result.result as? [NSManagedObjectID])
                NSManagedObjectContext.mergeChanges(
                    fromRemoteContextSave: [NSInsertedObjectsKey: ids], into: [context])
                context.processPendingChanges()
                #expect(controller.fetchedObjects?.map { $0.value(forKey: "name") as? String } == ["Bo", "Rex"])
                #expect(listener.inserted == 2)
            }
            for await _ in stream { break }
            heard()
        }
    }

    @Test func aReadOnlyStoreAndOneThatIsWrittenWholeRefuse() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Batch-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for (type, options, code) in [
            (NSBinaryStoreType, [:] as [AnyHashable: Any], 134091),
            (NSSQLiteStoreType, [NSReadOnlyPersistentStoreOption: true], 513),
        ] {
            let url = folder.appendingPathComponent(type)
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
            if !options.isEmpty {
                let store = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
                try coordinator.remove(store)
            }
            try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url, options: options)
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            context.performAndWait {
                let request = NSBatchInsertRequest(entityName: "Dog", objects: [["name": "Rex"]])
                #expect(error { try context.execute(request) }?.code == code)
            }
        }
    }
}
