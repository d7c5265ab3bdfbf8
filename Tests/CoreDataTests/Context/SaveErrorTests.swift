import Foundation
import SQLiteAccess
import Testing

@testable import CoreData

/// Errors of saves, fetches and openings that no other suite tests: code and user info.
@Suite struct SaveErrorTests {
    // MARK: Validation

    @Test func aFailedConditionContainsItsPredicate() throws {
        let name = StoreModels.attribute("name", .stringAttributeType)
        let condition = NSPredicate(format: "SELF CONTAINS '@'")
        name.setValidationPredicates([condition], withValidationWarnings: ["is not an address."])
        let harness = try StoreHarness(StoreModels.model([StoreModels.entity("Team", [name])]))
        let open = try harness.open()
        try League.context(open.coordinator).use { context in
            let team = context.make("Team", ["name": "nobody"])
            let error = try #require(throws: CocoaError.self) { try context.save() }
            #expect(error.code == .managedObjectValidation && error.validationKey == "name")
            #expect(error.validationObject as? NSManagedObject === team)
            #expect(error.validationValue as? String == "nobody" && error.validationPredicate === condition)
            team.setValue("a@b", forKey: "name")
            try context.save()
        }
    }

    @Test func anInvalidDateIsRefused() throws {
        let harness = try StoreHarness(
            StoreModels.model([StoreModels.entity("Team", [StoreModels.attribute("founded", .dateAttributeType)])]))
        let open = try harness.open()
        try League.context(open.coordinator).use { context in
            for number in [Double.nan, .infinity] {
                let team = context.make("Team", ["founded": Date(timeIntervalSinceReferenceDate: number)])
                let error = try #require(throws: CocoaError.self) { try context.save() }
                #expect(error.code == .validationInvalidDate && error.validationKey == "founded")
                #expect("\(error)".contains("founded"), "it can be printed")
                context.delete(team)
            }
        }
    }

    @Test func aDeniedDeletionNamesTheDenyingRelationship() throws {
        let (home, teams) = (StoreModels.relationship("home"), StoreModels.relationship("teams", toMany: true))
        teams.deleteRule = .denyDeleteRule
        let (team, venue) = (StoreModels.entity("Team", [home]), StoreModels.entity("Venue", [teams]))
        StoreModels.connect(home, to: venue, inverse: teams)
        StoreModels.connect(teams, to: team, inverse: home)
        let harness = try StoreHarness(StoreModels.model([team, venue]))
        let open = try harness.open()
        try League.context(open.coordinator).use { context in
            let venue = context.make("Venue")
            let team = context.make("Team", ["home": venue])
            try context.save()
            context.delete(venue)
            let error = try #require(throws: CocoaError.self) { try context.save() }
            #expect(error.code == .validationRelationshipDeniedDelete && error.validationKey == "teams")
            #expect(error.validationObject as? NSManagedObject === venue)
            #expect(error.validationValue as? Set<NSManagedObject> == [team])
            #expect(context.deletedObjects == [venue])
            context.delete(team)
            try context.save()
        }
    }

    // MARK: Saves

    @Test func aContextWithoutCoordinatorCannotSave() throws {
        let harness = try StoreHarness(StoreModels.league())
        let open = try harness.open()
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        try context.use { context in
            context.insert(NSManagedObject(entity: try open.entity("Team"), insertInto: nil))
            #expect { try context.save() } throws: { code($0) == 134030 }
        }
    }

    @Test func aReadOnlyStoreTakesNothing() throws {
        let harness = try StoreHarness(StoreModels.league())
        let id = try harness.open().insert("Team", ["name": .text("Ghana")]).uriRepresentation()
        let open = try harness.open([NSReadOnlyPersistentStoreOption: true])
        try League.context(open.coordinator).use { context in
            _ = context.make("Team", ["name": "Togo"])
            let error = try #require(throws: CocoaError.self) { try context.save() }
            #expect(
                error.code == .fileWriteNoPermission && error.affectedStores as? [NSPersistentStore] == [open.store])
            context.rollback()
            let ghana = try context.existingObject(
                with: try #require(open.coordinator.managedObjectID(forURIRepresentation: id)))
            ghana.setValue(3, forKey: "wins")
            #expect { try context.save() } throws: { code($0) == 513 }
            #expect(context.updatedObjects == [ghana])
        }
    }

    @Test func tablesThatDoNotFitTheModelAreReported() throws {
        let harness = try StoreHarness(StoreModels.league())
        let open = try harness.open()
        try open.insert("Team", ["name": .text("Ghana")])
        _ = try harness.sql("DROP TABLE ZTEAM")
        try League.context(open.coordinator).use { context in
            #expect {
                try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Team"))
            } throws: { error in
                code(error) == 134020 && (error as NSError).userInfo["NSSQLiteErrorDomain"] as? Int == 1
                    && (error as NSError).userInfo[NSUnderlyingErrorKey] != nil
            }
            _ = context.make("Venue", ["name": "Accra"])
            try context.save()
        }
    }

    @Test func aStoreThatLostItsEntityHoldsNothingOfIt() throws {
        let (team, venue) = (StoreModels.entity("Team", []), StoreModels.entity("Venue", []))
        for entity in [team, venue] { entity.properties = [StoreModels.attribute("name", .stringAttributeType)] }
        let model = StoreModels.model([team, venue])
        model.setEntities([venue], forConfigurationName: "Venues")
        let harness = try StoreHarness(model)
        let open = try harness.open(configuration: "Venues")
        try League.context(open.coordinator).use { context in
            _ = context.make("Team", ["name": "Ghana"])
            #expect { try context.save() } throws: { code($0) == 134020 }
        }
    }

    // MARK: Reading

    @Test func existingObjectThrowsForADeletedRow() throws {
        let harness = try StoreHarness(StoreModels.league())
        let open = try harness.open()
        let id = try open.insert("Team", ["name": .text("Ghana")])
        _ = try harness.sql("DELETE FROM ZTEAM")
        try League.context(open.coordinator).use { context in
            let error = try #require(throws: CocoaError.self) { try context.existingObject(with: id) }
            #expect(error.code == .managedObjectReferentialIntegrity)
            #expect((error.affectedObjects?.first as? NSManagedObject)?.objectID == id)
        }
    }

    @Test func aClosedStoreRefusesToWork() throws {
        let harness = try StoreHarness(StoreModels.league())
        let open = try harness.open()
        let entity = try open.entity("Team")
        try open.close()
        #expect { try open.store.count(StoreQuery(entity: entity)) } throws: { code($0) == 134070 }
    }

    @Test func aStoreWithoutItsModelIsReported() throws {
        let harness = try StoreHarness(StoreModels.league())
        try harness.open().close()
        _ = try harness.sql("DELETE FROM Z_MODELCACHE")
        #expect {
            try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: harness.url)
        } throws: { code($0) == 134130 }
    }
}
