import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite struct FetchedPropertyTests {
    /// `City` (name, district) with `clubs`, the clubs of its district, sorted by name; `Club` (name, district, wins).
    private static let model = makeModel()

    private static func makeModel() -> NSManagedObjectModel {
        let city = Club.entity(
            "City", [Club.attribute("name", .stringAttributeType), Club.attribute("district", .stringAttributeType)],
            className: "FetchingCity")
        let club = Club.entity(
            "Club",
            [
                Club.attribute("name", .stringAttributeType), Club.attribute("district", .stringAttributeType),
                Club.attribute("wins", .integer32AttributeType, 0),
            ])
        let clubs = NSFetchedPropertyDescription()
        clubs.name = "clubs"
        clubs.userInfo = ["least": 2]
        let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Club")
        request.predicate = NSPredicate(
            format: "district == $FETCH_SOURCE.district AND wins >= $FETCHED_PROPERTY.userInfo.least")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        clubs.fetchRequest = request
        city.properties += [clubs]
        let model = NSManagedObjectModel()
        model.entities = [city, club]
        return model
    }

    private func withCity(_ body: (NSManagedObjectContext, FetchingCity) throws -> Void) throws {
        let stack = try ClubStack(model: Self.model)
        try stack.context().use { context in
            let city = FetchingCity(context: context)
            city.setValue("east", forKey: "district")
            for (name, district, wins) in [
                ("Rovers", "east", 3), ("City", "east", 2), ("Weak", "east", 1), ("United", "west", 9),
            ] {
                _ = context.make("Club", ["name": name, "district": district, "wins": wins])
            }
            try context.save()
            try body(context, city)
        }
    }

    @Test func predicateVariablesForTheSourceAndTheProperty() throws {
        try withCity { context, city in
            #expect(city.clubs.compactMap { $0.value(forKey: "name") as? String } == ["City", "Rovers"])
            let found = try #require(city.value(forKey: "clubs") as? [NSManagedObject])
            #expect(found == city.clubs)
            #expect(city.value(forKeyPath: "clubs.@sum.wins") as? Int == 5)
            #expect(city.value(forKeyPath: "clubs.name") as? [String] == ["City", "Rovers"])
            #expect(!city.hasChanges && city.changedValues().isEmpty)
        }
    }

    @Test func aChangedUserInfoIsRead() throws {
        for isOfObject in [true, false] {
            let model = Self.makeModel()
            let stack = try ClubStack(model: model)
            try stack.context().use { context in
                let city = NSEntityDescription.insertNewObject(forEntityName: "City", into: context)
                city.setValue("east", forKey: "district")
                for wins in 1...3 { _ = context.make("Club", ["name": "\(wins)", "district": "east", "wins": wins]) }
                try context.save()
                func found() -> [String?]? {
                    (city.value(forKey: "clubs") as? [NSManagedObject])?.map { $0.value(forKey: "name") as? String }
                }
                #expect(found() == ["2", "3"])
                let entity = isOfObject ? city.entity : try #require(model.entitiesByName["City"])
                let property = try #require(entity.propertiesByName["clubs"])
                property.userInfo?["least"] = 3
                context.refresh(city, mergeChanges: true)
                #expect(found() == ["3"], "\(isOfObject)")
                property.userInfo = ["least": 1]
                context.refresh(city, mergeChanges: true)
                #expect(found() == ["1", "2", "3"], "\(isOfObject)")
            }
        }
    }

    @Test func fetchesCannotLookAtFetchedProperties() throws {
        try withCity { context, city in
            func expectRefusal(_ change: (NSFetchRequest<NSManagedObject>) -> Void) {
                let request = NSFetchRequest<NSManagedObject>(entityName: "City")
                change(request)
                #expect {
                    try context.fetch(request)
                } throws: {
                    ($0 as NSError).code == 134060
                        && $0.localizedDescription.contains(
                            "keypath clubs not found in entity City: fetches cannot compare")
                }
            }
            expectRefusal { $0.predicate = NSPredicate(format: "clubs.@count == 2") }
            expectRefusal { $0.predicate = NSPredicate(format: "name == nil AND ANY clubs.wins > 2") }
            expectRefusal { $0.sortDescriptors = [NSSortDescriptor(key: "clubs.@count", ascending: true)] }
            // The predicate can be evaluated with an object in memory.
            #expect(NSPredicate(format: "clubs.@count == 2").evaluate(with: city))
        }
    }

    @Test func theResultStaysUntilTheObjectIsRefreshed() throws {
        try withCity { context, city in
            #expect(city.clubs.count == 2)
            _ = context.make("Club", ["name": "Athletic", "district": "east", "wins": 5])
            try context.save()
            #expect(city.clubs.count == 2, "evaluated once")
            context.refresh(city, mergeChanges: true)
            #expect(city.clubs.map { $0.value(forKey: "name") as? String } == ["Athletic", "City", "Rovers"])
            city.setValue("west", forKey: "district")
            #expect(city.clubs.count == 3)
            context.refresh(city, mergeChanges: true)
            #expect(city.clubs.map { $0.value(forKey: "name") as? String } == ["United"], "by the unsaved value")
            context.refresh(city, mergeChanges: false)
            #expect(city.clubs.count == 3)
        }
    }

    @Test func theResultIsFetchedAtItsFirstUse() throws {
        try withCity { context, city in
            context.refresh(city, mergeChanges: false)
            let found = try #require(try context.fetch(NSFetchRequest<FetchingCity>(entityName: "City")).first)
            #expect(found.value(forKey: "district") as? String == "east")
            let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            other.persistentStoreCoordinator = context.persistentStoreCoordinator
            try other.use { other in
                _ = other.make("Club", ["name": "Athletic", "district": "east", "wins": 5])
                try other.save()
            }
            #expect(found.clubs.map { $0.value(forKey: "name") as? String } == ["Athletic", "City", "Rovers"])
        }
    }

    @Test(.needs(.process)) func aFetchedPropertyIsNotAColumnAndCannotBeSet() async throws {
        try withCity { context, city in
            #expect(city.committedValues(forKeys: nil).keys.sorted() == ["district", "name"])
        }
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let thing = NSFetchedPropertyDescription()
            thing.name = "all"
            let entity = Club.entity("Thing", [thing])
            let model = NSManagedObjectModel()
            model.entities = [entity]
            NSManagedObject(entity: entity, insertInto: nil).setValue([], forKey: "all")
        }
        let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(output.contains("The fetched property 'all' of 'Thing' cannot be set."))
    }

    @Test(.needs(.process)) func aFetchedPropertyIsNotMutableByProxies() async {
        let set = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let thing = NSFetchedPropertyDescription()
            thing.name = "all"
            let entity = Club.entity("Thing", [thing])
            let model = NSManagedObjectModel()
            model.entities = [entity]
            _ = NSManagedObject(entity: entity, insertInto: nil).mutableSetValue(forKey: "all")
        }
        #expect(set.text.contains("'Thing' has no unordered to-many relationship named 'all'."))
        let ordered = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let thing = NSFetchedPropertyDescription()
            thing.name = "all"
            let entity = Club.entity("Thing", [thing])
            let model = NSManagedObjectModel()
            model.entities = [entity]
            _ = NSManagedObject(entity: entity, insertInto: nil).mutableOrderedSetValue(forKey: "all")
        }
        #expect(ordered.text.contains("'Thing' has no ordered relationship named 'all'."))
    }
}

final class FetchingCity: NSManagedObject {
    @Managed var clubs: [NSManagedObject]
}
