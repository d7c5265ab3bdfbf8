import Foundation
import Testing

@testable import CoreData

/// Each merge policy with objects whose unique values another object or row has already.
@Suite struct ConstraintConflictTests {
    /// Person (email unique; name and city unique together; points; club → Club) with subentities Player and Coach
    /// (badge unique, and the email again); Club (name unique; members ← Person).
    private final class Register {
        let harness: StoreHarness
        let open: StoreHarness.Open

        init(_ options: [AnyHashable: Any]? = nil) throws {
            let club = StoreModels.relationship("club")
            let members = StoreModels.relationship("members", toMany: true)
            let player = StoreModels.entity("Player", [StoreModels.attribute("shirt", .integer16AttributeType)])
            let coach = StoreModels.entity(
                "Coach", [StoreModels.attribute("badge", .stringAttributeType)], unique: [["badge"], ["email"]])
            let points = StoreModels.attribute("points", .integer32AttributeType)
            points.defaultValue = 0
            let person = StoreModels.entity(
                "Person",
                ["email", "name", "city"].map { StoreModels.attribute($0, .stringAttributeType) } + [points, club],
                subentities: [player, coach], unique: [["email"], ["name", "city"]])
            let clubEntity = StoreModels.entity(
                "Club", [StoreModels.attribute("name", .stringAttributeType), members], unique: [["name"]])
            StoreModels.connect(club, to: clubEntity, inverse: members)
            StoreModels.connect(members, to: person, inverse: club)
            members.deleteRule = .cascadeDeleteRule
            harness = try StoreHarness(StoreModels.model([person, player, coach, clubEntity]))
            open = try harness.open(options)
        }

        func context(_ policy: NSMergePolicy = .error) -> NSManagedObjectContext {
            let context = League.context(open.coordinator)
            context.mergePolicy = policy
            context.userInfo["register"] = self
            return context
        }

        /// Saves objects in a new context.
        func save(_ entity: String, _ rows: [[String: Any]]) throws -> [NSManagedObjectID] {
            try context().use { context in
                let objects = rows.map { context.make(entity, $0) }
                try context.save()
                return objects.map(\.objectID)
            }
        }

        /// Saved values of `keys`, sorted by the first key.
        func saved(_ entity: String = "Person", _ keys: String...) throws -> [String] {
            try context().use { context in
                let request = NSFetchRequest<NSManagedObject>(entityName: entity)
                request.sortDescriptors = [NSSortDescriptor(key: keys[0], ascending: true)]
                return try context.fetch(request).map { object in
                    keys.map { "\(object.value(forKey: $0) ?? "-")" }.joined(separator: " ")
                }
            }
        }
    }

    // MARK: Conflicts

    @Test(arguments: [(2, "(and 1 more conflict)"), (3, "(and 2 more conflicts)")])
    func furtherConflictsAreCounted(_ count: Int, _ text: String) throws {
        let register = try Register()
        try register.context().use { context in
            for number in 0..<count {
                for _ in 0..<2 { _ = context.make("Person", ["email": "\(number)@x"]) }
            }
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect(error.localizedDescription.contains(text), "\(error.localizedDescription)")
        }
    }

    @Test func objectsOfOneContextConflict() throws {
        let register = try Register()
        try register.context().use { context in
            let first = context.make("Person", ["email": "a@x", "points": 1])
            let second = context.make("Person", ["email": "a@x", "points": 2])
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect(error.code == NSManagedObjectConstraintMergeError)
            #expect(error.localizedDescription.contains("another Person already has the same email (a@x)"))
            let conflicts = try #require(
                error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict])
            let conflict = try #require(conflicts.first)
            #expect(conflicts.count == 1 && conflict.constraint == ["email"])
            #expect(conflict.constraintValues as? [String: String] == ["email": "a@x"])
            #expect(conflict.databaseObject == nil && conflict.databaseSnapshot == nil)
            #expect(conflict.conflictingObjects == [first, second])
            #expect(conflict.conflictingSnapshots.map(\.count) == [0, 0], "new objects have no saved values")
            #expect(context.insertedObjects == [first, second])
        }
        #expect(try register.saved("Person", "email").isEmpty)
    }

    @Test func anObjectConflictsWithARow() throws {
        let register = try Register()
        let id = try register.save("Person", [["email": "a@x", "points": 5], ["email": "b@x", "points": 6]])
        try register.context().use { context in
            let other = try context.existingObject(with: id[1])
            other.setValue("a@x", forKey: "email")
            let error = try #require(throws: NSError.self) { try context.save() }
            let conflict = try #require(
                (error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict])?.first)
            #expect(conflict.databaseObject?.objectID == id[0])
            #expect(conflict.databaseSnapshot?["points"] as? Int == 5)
            #expect(conflict.conflictingObjects == [other])
            #expect(conflict.conflictingSnapshots.first?["email"] as? String == "b@x")
            #expect(error.userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObject] == [other])
        }
    }

    @Test func valuesThatAreNotSetDoNotConflict() throws {
        let register = try Register()
        _ = try register.save("Person", [["name": "Ada"], ["name": "Ada"], ["points": 1], ["points": 1]])
        #expect(try register.saved("Person", "name").count == 4)
    }

    @Test func compoundConstraintsConflictAsAWhole() throws {
        let register = try Register()
        _ = try register.save("Person", [["name": "Ada", "city": "Kiel"], ["name": "Ada", "city": "Bonn"]])
        try register.context().use { context in
            _ = context.make("Person", ["name": "Ada", "city": "Bonn"])
            let error = try #require(throws: NSError.self) { try context.save() }
            let conflicts = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict]
            #expect(conflicts?.first?.constraint == ["name", "city"])
            #expect(conflicts?.first?.databaseSnapshot?["city"] as? String == "Bonn")
        }
    }

    @Test func aConstraintHoldsForAllDescendantsAndIsReportedOnce() throws {
        let register = try Register()
        let id = try register.save("Player", [["email": "a@x"]])
        try register.context().use { context in
            _ = context.make("Coach", ["email": "a@x", "badge": "1"])
            _ = context.make("Coach", ["badge": "1"])
            let error = try #require(throws: NSError.self) { try context.save() }
            let conflicts = try #require(
                error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict])
            let constraints: [[String]] = conflicts.map(\.constraint)
            #expect(constraints.map { $0.joined() }.sorted() == ["badge", "email"])
            #expect(conflicts.first { $0.constraint == ["email"] }?.databaseObject?.objectID == id[0])
        }
    }

    @Test func valuesMayBePassedOnAndSwapped() throws {
        let register = try Register(StoreHarness.history)
        let ids = try register.save("Person", [["email": "a@x"], ["email": "b@x"], ["email": "c@x"]])
        try register.context().use { context in
            let (a, b, c) = (
                try context.existingObject(with: ids[0]), try context.existingObject(with: ids[1]),
                try context.existingObject(with: ids[2])
            )
            a.setValue("b@x", forKey: "email")
            b.setValue("a@x", forKey: "email")
            context.delete(c)
            _ = context.make("Person", ["email": "c@x", "points": 9])
            try context.save()
            b.setValue("d@x", forKey: "email")
            _ = context.make("Person", ["email": "a@x", "points": 7])
            try context.save()
            #expect(a.value(forKey: "email") as? String == "b@x")
        }
        #expect(try register.saved("Person", "email", "points") == ["a@x 7", "b@x 0", "c@x 9", "d@x 0"])
    }

    // MARK: Policies

    @Test(arguments: [1, 2, 3, 4] as [UInt])
    func aNewObjectConflictsWithARow(policy: UInt) throws {
        let type = try #require(NSMergePolicyType(rawValue: policy))
        let register = try Register()
        let id = try register.save("Person", [["email": "a@x", "name": "Row", "city": "Kiel", "points": 5]])[0]
        let club = try register.save("Club", [["name": "Rovers"]])[0]
        try register.context().use { context in
            let row = try context.existingObject(with: id)
            row.setValue(try context.existingObject(with: club), forKey: "club")
            try context.save()
        }
        try register.context(NSMergePolicy(merge: type)).use { context in
            let new = context.make("Person", ["email": "a@x", "name": "New", "points": 0])
            _ = context.make("Club", ["name": "Other"])
            try context.save()
            #expect(!context.hasChanges && new.managedObjectContext == nil)
        }
        let keeps = type == .mergeByPropertyStoreTrumpMergePolicyType || type == .rollbackMergePolicyType
        let expected = keeps ? "a@x Row Kiel 5" : "a@x New - 0"
        #expect(try register.saved("Person", "email", "name", "city", "points") == [expected])
        #expect(try register.saved("Club", "name") == ["Other", "Rovers"], "the rest is saved")
        try register.context().use { context in
            let row = try context.existingObject(with: id)
            #expect((row.object("club") == nil) == (type == .overwriteMergePolicyType))
        }
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt])
    func newObjectsMeetEachOther(policy: UInt) throws {
        let type = try #require(NSMergePolicyType(rawValue: policy))
        let register = try Register()
        try register.context(NSMergePolicy(merge: type)).use { context in
            for points in 1...3 { _ = context.make("Person", ["email": "a@x", "points": points]) }
            try context.save()
        }
        let last = type == .mergeByPropertyObjectTrumpMergePolicyType || type == .overwriteMergePolicyType
        #expect(try register.saved("Person", "email", "points") == ["a@x \(last ? 3 : 1)"])
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt])
    func aSavedObjectTakesTheValuesOfARow(policy: UInt) throws {
        let type = try #require(NSMergePolicyType(rawValue: policy))
        let register = try Register()
        let ids = try register.save("Person", [["email": "a@x", "points": 1], ["email": "b@x", "points": 2]])
        try register.context(NSMergePolicy(merge: type)).use { context in
            let object = try context.existingObject(with: ids[1])
            object.setValue("a@x", forKey: "email")
            object.setValue(20, forKey: "points")
            try context.save()
            #expect(!context.hasChanges)
        }
        let expected =
            switch type {
            case .mergeByPropertyStoreTrumpMergePolicyType: ["a@x 1", "b@x 20"]
            case .rollbackMergePolicyType: ["a@x 1", "b@x 2"]
            default: ["a@x 20"]
            }
        #expect(try register.saved("Person", "email", "points") == expected)
    }

    @Test func conflictsBetweenTwoSavedObjectsAreAnError() throws {
        let register = try Register()
        let ids = try register.save("Person", [["email": "a@x"], ["email": "b@x"]])
        try register.context(.mergeByPropertyObjectTrump).use { context in
            for id in ids { try context.existingObject(with: id).setValue("c@x", forKey: "email") }
            #expect { try context.save() } throws: { code($0) == 133021 }
            #expect(context.updatedObjects.count == 2)
        }
        #expect(try register.saved("Person", "email") == ["a@x", "b@x"])
    }

    @Test(arguments: [NSMergePolicy.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump])
    func referencesToADuplicateAreMovedToTheRow(policy: NSMergePolicy) throws {
        let register = try Register()
        let club = try register.save("Club", [["name": "Rovers"]])[0]
        try register.context(policy).use { context in
            let old = context.make("Person", ["email": "old@x"])
            old.setValue(try context.existingObject(with: club), forKey: "club")
            let twin = context.make("Club", ["name": "Rovers"])
            for number in 1...3 { _ = context.make("Person", ["email": "\(number)@x", "club": twin]) }
            try context.save()
            #expect(try context.existingObject(with: club).objects("members").count == 4)
        }
        #expect(try register.saved("Club", "name") == ["Rovers"])
        try register.context().use { context in
            let members = try context.existingObject(with: club).objects("members")
            #expect(members.count == 4)
        }
    }

    @Test func anImportUpdatesExistingRecords() throws {
        let register = try Register(StoreHarness.history)
        func file(_ season: Int) -> [[String: Any]] {
            (0..<300).map { ["email": "\($0 % 250)@x", "name": "P\($0 % 250)", "city": "C", "points": season + $0] }
        }
        var ids: Set<NSManagedObjectID> = []
        for season in [0, 1000] {
            try register.context(.mergeByPropertyObjectTrump).use { context in
                for row in file(season) { _ = context.make("Player", row) }
                try context.save()
                let request = NSFetchRequest<NSManagedObjectID>(entityName: "Player")
                request.resultType = .managedObjectIDResultType
                let found = Set(try context.fetch(request))
                #expect(found.count == 250 && (ids.isEmpty || ids == found), "the rows stay the same")
                ids = found
            }
        }
        let points = try register.saved("Person", "email", "points")
        #expect(points.contains("7@x 1257"), "the last of the file's rows counts")
        #expect(points.contains("99@x 1099"))
    }

    @Test func twoConflictsOfOneObjectAreResolvedTogether() throws {
        let register = try Register()
        _ = try register.save("Person", [["email": "a@x"], ["name": "Ada", "city": "Kiel", "points": 4]])
        try register.context(.mergeByPropertyObjectTrump).use { context in
            _ = context.make("Person", ["email": "a@x", "name": "Ada", "city": "Kiel", "points": 7])
            try context.save()
        }
        #expect(try register.saved("Person", "email", "name", "points") == ["a@x Ada 7"])
    }

    @Test func aRowThatOthersChangedTooIsMergedAsAWhole() throws {
        let register = try Register()
        let id = try register.save("Person", [["email": "a@x", "name": "Row", "points": 5]])[0]
        try register.context(.mergeByPropertyObjectTrump).use { context in
            _ = try context.existingObject(with: id)
            try register.context().use { other in
                try other.existingObject(with: id).setValue(6, forKey: "points")
                try other.save()
            }
            _ = context.make("Person", ["email": "a@x", "name": "New", "points": 7])
            try context.save()
        }
        #expect(try register.saved("Person", "email", "name", "points") == ["a@x New 7"])
    }

    @Test func aCustomPolicyKeepsValuesThatWereNotImported() throws {
        final class KeepsTheRest: NSMergePolicy, @unchecked Sendable {
            override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
                for conflict in list {
                    guard let row = conflict.databaseObject else { continue }
                    for object in conflict.conflictingObjects {
                        let changed = object.changedValues().keys
                        for key in row.entity.attributesByName.keys where !changed.contains(key) {
                            object.setValue(row.value(forKey: key), forKey: key)
                        }
                    }
                }
                try super.resolve(constraintConflicts: list)
            }
        }
        let register = try Register()
        _ = try register.save("Person", [["email": "a@x", "name": "Row", "points": 5]])
        try register.context(KeepsTheRest(merge: .mergeByPropertyObjectTrumpMergePolicyType)).use { context in
            _ = context.make("Person", ["email": "a@x", "name": "New"])
            try context.save()
        }
        #expect(try register.saved("Person", "email", "name", "points") == ["a@x New 5"])
    }

    /// In a save with both kinds of conflict, the policy resolves rows changed by others first, then repeated unique
    /// values.
    @Test func lockingConflictsAreResolvedBeforeConstraintConflicts() throws {
        final class Recorder: NSMergePolicy, @unchecked Sendable {
            nonisolated(unsafe) var asked: [String] = []
            override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
                asked += list.map { "lock \($0.sourceObject.committedValues(forKeys: ["email"])["email"] ?? "-")" }
                try super.resolve(optimisticLockingConflicts: list)
            }
            override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
                asked += list.map { "constraint \($0.constraintValues["email"] ?? "-")" }
                try super.resolve(constraintConflicts: list)
            }
        }
        let register = try Register()
        let id = try register.save("Person", [["email": "a@x", "points": 1], ["email": "b@x", "points": 2]])[0]
        let policy = Recorder(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        try register.context(policy).use { context in
            _ = context.make("Person", ["email": "b@x", "points": 20])
            try context.existingObject(with: id).setValue(10, forKey: "points")
            try register.context().use { other in
                try other.existingObject(with: id).setValue("Ada", forKey: "name")
                try other.save()
            }
            try context.save()
        }
        #expect(policy.asked == ["lock a@x", "constraint b@x"])
        #expect(try register.saved("Person", "email", "name", "points") == ["a@x Ada 10", "b@x - 20"])
    }

    @Test func aPolicyThatResolvesNothingIsGivenUp() throws {
        final class Idle: NSMergePolicy, @unchecked Sendable {
            override func resolve(mergeConflicts list: [Any]) throws {}
        }
        let register = try Register()
        _ = try register.save("Person", [["email": "a@x"]])
        try register.context(Idle(merge: .errorMergePolicyType)).use { context in
            _ = context.make("Person", ["email": "a@x"])
            let error = try #require(throws: CocoaError.self) { try context.save() }
            #expect(error.code == .persistentStoreSaveConflicts)
            #expect(error.userInfo[NSPersistentStoreSaveConflictsErrorKey] is [NSConstraintConflict])
        }
    }

    @Test func aConflictCanBeMade() throws {
        let register = try Register()
        try register.context().use { context in
            let person = context.make("Person", ["email": "a@x"])
            let conflict = NSConstraintConflict(
                constraint: ["email"], database: nil, databaseSnapshot: ["email": "a@x"], conflicting: [person],
                conflictingSnapshots: [NSNull()])
            #expect(conflict.constraint == ["email"] && conflict.constraintValues["email"] as? String == "a@x")
            #expect(conflict.databaseSnapshot?["email"] as? String == "a@x")
            #expect(conflict.conflictingSnapshots.count == 1 && conflict.conflictingSnapshots[0].isEmpty)
        }
    }
}
