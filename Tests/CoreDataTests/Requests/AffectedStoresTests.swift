import CoreData
import Foundation
import Testing

/// `affectedStores` of every request, with two stores that contain the same entity.
@Suite struct AffectedStoresTests {
    /// Two stores with a team "a" and "b" each; the first also has "only first".
    private final class Desk: @unchecked Sendable {
        let container: NSPersistentContainer
        private let desk: HistoryRequestTests.Desk
        var first: NSPersistentStore { container.persistentStoreCoordinator.persistentStores[0] }
        var second: NSPersistentStore { container.persistentStoreCoordinator.persistentStores[1] }

        init() throws {
            desk = try HistoryRequestTests.Desk()
            container = try desk.container(["a.sqlite", "b.sqlite"])
            for (store, names) in [(first, ["a", "b", "only first"]), (second, ["a", "b"])] {
                try HistoryRequestTests.save(container) { context in
                    for name in names {
                        let team = NSEntityDescription.insertNewObject(forEntityName: "Team", into: context)
                        team.setValue(name, forKey: "name")
                        context.assign(team, to: store)
                    }
                }
            }
        }

        func use<Result>(_ body: (NSManagedObjectContext) throws -> Result) throws -> Result {
            let context = container.newBackgroundContext()
            return try context.performAndWait { try body(context) }
        }

        /// The names in one store, filtered from a fetch of all stores.
        func names(in store: NSPersistentStore) throws -> [String] {
            try use { context in
                try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Team"))
                    .filter { $0.objectID.persistentStore === store }.compactMap { $0.value(forKey: "name") as? String }
                    .sorted()
            }
        }

        func request(_ stores: [NSPersistentStore]?, _ format: String? = nil) -> NSFetchRequest<NSFetchRequestResult> {
            let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Team")
            request.affectedStores = stores
            request.predicate = format.map { NSPredicate(format: $0) }
            return request
        }
    }

    @Test func fetchesAndCounts() throws {
        let desk = try Desk()
        try desk.use { context in
            for (stores, count) in [(nil, 5), ([desk.first], 3), ([desk.second], 2), ([], 0)]
                as [([NSPersistentStore]?, Int)]
            {
                let request = desk.request(stores)
                #expect(try context.count(for: request) == count)
                for type in [
                    NSFetchRequestResultType.managedObjectResultType, .managedObjectIDResultType, .dictionaryResultType,
                ] {
                    request.resultType = type
                    #expect(try context.fetch(request).count == count)
                }
                request.resultType = .countResultType
                let found = try context.fetch(request).first as? NSNumber
                #expect(found == count as NSNumber)
            }
            // Unsaved changes of the other store are ignored, too.
            for team in try context.fetch(desk.request([desk.first])) {
                (team as? NSManagedObject)?.setValue("z", forKey: "name")
            }
            #expect(try context.count(for: desk.request([desk.second], "name == 'z'")) == 0)
            #expect(try context.count(for: desk.request([desk.second])) == 2)
            #expect(try context.count(for: desk.request([desk.first], "name == 'z'")) == 3)
            let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            child.parent = context
            let count = try child.performAndWait { try child.count(for: desk.request([desk.second])) }
            #expect(count == 2)
        }
    }

    @Test func asynchronousFetches() async throws {
        let desk = try Desk()
        let context = desk.container.newBackgroundContext()
        let counts = await withCheckedContinuation { (continuation: CheckedContinuation<[Int?], Never>) in
            context.perform {
                let request = NSAsynchronousFetchRequest(fetchRequest: desk.request([desk.first])) { result in
                    let own = result.finalResult?.count
                    let other = NSAsynchronousFetchRequest(fetchRequest: desk.request(nil)) { result in
                        continuation.resume(returning: [own, result.finalResult?.count])
                    }
                    other.affectedStores = [desk.second]
                    _ = try? context.execute(other)
                }
                _ = try? context.execute(request)
            }
        }
        #expect(counts == [3, 2])
    }

    @Test func batchInsertions() throws {
        let desk = try Desk()
        let request = NSBatchInsertRequest(entityName: "Team", objects: [["name": "new"]])
        request.affectedStores = [desk.second]
        _ = try desk.use { try $0.execute(request) }
        #expect(try desk.names(in: desk.first) == ["a", "b", "only first"])
        #expect(try desk.names(in: desk.second) == ["a", "b", "new"])
    }

    @Test func batchUpdates() throws {
        let desk = try Desk()
        let request = NSBatchUpdateRequest(entityName: "Team")
        request.propertiesToUpdate = ["name": "c"]
        request.predicate = NSPredicate(format: "name == 'a'")
        request.affectedStores = [desk.second]
        _ = try desk.use { try $0.execute(request) }
        #expect(try desk.names(in: desk.first) == ["a", "b", "only first"])
        #expect(try desk.names(in: desk.second) == ["b", "c"])
    }

    @Test func batchDeletions() throws {
        let desk = try Desk()
        func delete(_ request: NSBatchDeleteRequest) throws -> Int? {
            request.resultType = .resultTypeCount
            return try desk.use { try ($0.execute(request) as? NSBatchDeleteResult)?.result as? Int }
        }
        let own = NSBatchDeleteRequest(fetchRequest: desk.request(nil, "name == 'a'"))
        own.affectedStores = [desk.first]
        #expect(try delete(own) == 1)
        #expect(try desk.names(in: desk.second) == ["a", "b"])
        #expect(try delete(NSBatchDeleteRequest(fetchRequest: desk.request([desk.second], "name == 'b'"))) == 1)
        #expect(try desk.names(in: desk.first) == ["b", "only first"])
        // The last value set counts, even if it means all stores.
        let limited = NSBatchDeleteRequest(fetchRequest: desk.request([desk.first], "name == 'a'"))
        limited.affectedStores = nil
        #expect(try delete(limited) == 1)
        let ids = try desk.use { try $0.fetch(desk.request(nil)).compactMap { ($0 as? NSManagedObject)?.objectID } }
        let byID = NSBatchDeleteRequest(objectIDs: ids)
        byID.affectedStores = [desk.second]
        #expect(try delete(byID) == 0)
        #expect(try desk.names(in: desk.first) == ["b", "only first"])
    }

    @Test func histories() throws {
        let desk = try Desk()
        func stores(_ request: NSPersistentHistoryChangeRequest) throws -> [String] {
            request.affectedStores = [desk.second]
            return try HistoryRequestTests.transactions(request, desk.container).map(\.storeID)
        }
        let none = nil as NSPersistentHistoryToken?
        let second = try #require(desk.second.identifier)
        #expect(try stores(.fetchHistory(after: none)) == [second])
        #expect(try stores(.fetchHistory(after: Date.distantPast)) == [second])
        let fetch = try #require(NSPersistentHistoryTransaction.fetchRequest)
        #expect(try stores(.fetchHistory(withFetch: fetch)) == [second])
        let removal = NSPersistentHistoryChangeRequest.deleteHistory(before: Date.distantFuture)
        removal.affectedStores = [desk.second]
        _ = try HistoryRequestTests.run(removal, desk.container)
        let left = try HistoryRequestTests.transactions(.fetchHistory(after: Date.distantPast), desk.container)
        #expect(left.map(\.storeID) == [desk.first.identifier])
    }
}
