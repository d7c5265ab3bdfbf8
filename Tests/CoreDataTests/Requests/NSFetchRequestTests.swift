import Foundation
import Testing

@testable import CoreData

@Suite struct NSFetchRequestTests {
    @Test func theErasedRequestIsTheRequestItself() {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
        request.fetchLimit = 7
        let erased = request.erased
        #expect(erased === request)
        #expect(erased.fetchLimit == 7)
        erased.fetchOffset = 3
        #expect(request.fetchOffset == 3)
        #expect(erased.entityName == "Team")
    }

    @Test func aRequestOfAnyResultTypeCompiles() {
        let request: NSFetchRequest<NSFetchRequestResult> = NSFetchRequest(entityName: "Team")
        let other: NSFetchRequest<any NSFetchRequestResult> = request
        #expect(other === request)
    }

    @Test func aCopyHasAllSettingsAndIsIndependent() throws {
        let entity = try #require(League.model().entitiesByName["Team"])
        let request = NSFetchRequest<NSDictionary>()
        request.entity = entity
        request.includesSubentities = false
        request.predicate = NSPredicate(format: "wins > 3")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
        request.fetchLimit = 1
        request.fetchOffset = 2
        request.fetchBatchSize = 3
        request.resultType = .dictionaryResultType
        request.includesPendingChanges = false
        request.includesPropertyValues = false
        request.returnsObjectsAsFaults = false
        request.shouldRefreshRefetchedObjects = true
        request.relationshipKeyPathsForPrefetching = ["venue"]
        request.propertiesToFetch = ["name"]
        request.returnsDistinctResults = true
        request.propertiesToGroupBy = ["zone"]
        request.havingPredicate = NSPredicate(format: "wins > 4")
        let copy = try #require(request.copy() as? NSFetchRequest<NSDictionary>)
        #expect(copy !== request)
        #expect(copy.entity === entity)
        #expect(copy.includesSubentities == false)
        #expect(copy.predicate === request.predicate)
        #expect(copy.sortDescriptors?.map(\.key) == ["name"])
        #expect(copy.fetchLimit == 1 && copy.fetchOffset == 2 && copy.fetchBatchSize == 3)
        #expect(copy.resultType == .dictionaryResultType)
        #expect(!copy.includesPendingChanges && !copy.includesPropertyValues && !copy.returnsObjectsAsFaults)
        #expect(copy.shouldRefreshRefetchedObjects && copy.returnsDistinctResults)
        #expect(copy.relationshipKeyPathsForPrefetching == ["venue"])
        #expect(copy.propertiesToFetch as? [String] == ["name"])
        #expect(copy.propertiesToGroupBy as? [String] == ["zone"])
        #expect(copy.havingPredicate === request.havingPredicate)
        copy.fetchLimit = 9
        #expect(request.fetchLimit == 1)
    }

    @Test func theEntityByNameIsKnownOnceAContextExecutedTheRequest() throws {
        let (coordinator, _) = try League.memoryStack()
        let context = League.context(coordinator)
        try context.performAndWait { () throws in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
            #expect(request.entity == nil)
            #expect(request.entityName == "Team")
            _ = try context.fetch(request)
            #expect(request.entity === coordinator.managedObjectModel.entitiesByName["Team"])
        }
    }

    @Test func aRequestExecutesItselfInTheBlockOfAContext() throws {
        let (coordinator, _) = try League.memoryStack()
        let context = League.context(coordinator)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
        #expect(throws: NSError.self) { try request.execute() }
        try context.performAndWait { () throws in
            context.addTeam("Ghana")
            #expect(try request.execute().count == 1)
            let other = League.context(coordinator)
            let others = try other.performAndWait { () throws in try request.execute().count }
            #expect(others == 0)
            #expect(try request.execute().count == 1)
        }
        #expect(throws: NSError.self) { try request.execute() }
    }

    @Test func rawValuesAreApples() {
        #expect(NSFetchRequestResultType.managedObjectResultType.rawValue == 0)
        #expect(NSFetchRequestResultType.managedObjectIDResultType.rawValue == 1)
        #expect(NSFetchRequestResultType.dictionaryResultType.rawValue == 2)
        #expect(NSFetchRequestResultType.countResultType.rawValue == 4)
        #expect(NSPersistentStoreRequestType.fetchRequestType.rawValue == 1)
        #expect(NSPersistentStoreRequestType.batchDeleteRequestType.rawValue == 7)
    }
}
