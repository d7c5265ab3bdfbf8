import CoreData
import Foundation
import Testing

/// Tokens in predicates, and tokens of other stores.
@Suite struct HistoryTokenTests {
    private typealias History = HistoryRequestTests

    private func numbers(
        _ predicate: NSPredicate, _ container: NSPersistentContainer, ofChanges: Bool = false
    ) throws -> [Int64] {
        let fetch = try #require(
            ofChanges ? NSPersistentHistoryChange.fetchRequest : NSPersistentHistoryTransaction.fetchRequest)
        fetch.predicate = predicate
        return try History.transactions(.fetchHistory(withFetch: fetch), container).map(\.transactionNumber)
    }

    @Test func predicatesOrderTransactionsByToken() throws {
        let desk = try History.Desk()
        let container = try desk.container()
        for number in 1...4 { try History.save(container) { History.insert("\(number)", $0) } }
        let token = try History.all(container)[1].token
        for (format, expected) in [
            ("token > %@", [3, 4]), ("token >= %@", [2, 3, 4]), ("token < %@", [1]), ("token <= %@", [1, 2]),
            ("%@ < token", [3, 4]), ("token == %@", [2]), ("token != %@", [1, 3, 4]), ("NOT token > %@", [1, 2]),
            ("token > %@ AND transactionNumber < 4", [3]),
        ] as [(String, [Int64])] {
            #expect(try numbers(NSPredicate(format: format, token), container) == expected, "\(format)")
        }
        #expect(try numbers(NSPredicate(format: "token BETWEEN {%@, %@}", token, token), container) == [2])
        #expect(
            try numbers(NSPredicate(format: "transaction.token > %@", token), container, ofChanges: true) == [3, 4])
    }

    @Test func eachStoreIsComparedByItsOwnPlace() throws {
        let desk = try History.Desk()
        let container = try desk.container(["a.sqlite", "b.sqlite"])
        let stores = container.persistentStoreCoordinator.persistentStores
        func save(_ name: String, in store: NSPersistentStore) throws {
            try History.save(container) { context in
                let team = NSEntityDescription.insertNewObject(forEntityName: "Team", into: context)
                team.setValue(name, forKey: "name")
                context.assign(team, to: store)
            }
        }
        for name in ["a", "b", "c"] { try save(name, in: stores[0]) }
        let early = try #require(
            container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: [stores[0]]))
        try save("d", in: stores[1])
        let all = try #require(container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil))
        #expect(try numbers(NSPredicate(format: "token > %@", early), container) == [1])
        #expect(try numbers(NSPredicate(format: "token > %@", all), container) == [])
        #expect(try numbers(NSPredicate(format: "token <= %@", all), container).count == 4)
    }

    @Test func tokensOfOtherStoresAreAnError() throws {
        let desk = try History.Desk()
        let container = try desk.container()
        let other = try desk.container(["other.sqlite"])
        try History.save(container) { History.insert("a", $0) }
        try History.save(other) { History.insert("b", $0) }
        let last = try #require(try History.all(other).last)
        for request in [
            NSPersistentHistoryChangeRequest.fetchHistory(after: last.token), .fetchHistory(after: last),
            .deleteHistory(before: last.token), .deleteHistory(before: last),
        ] {
            let error = try #require(throws: CocoaError.self) { try History.run(request, container) }
            #expect(error.errorCode == 134501)
        }
        let error = try #require(throws: CocoaError.self) {
            try numbers(NSPredicate(format: "token > %@", last.token), container)
        }
        #expect(error.errorCode == 134501)
        #expect(try numbers(NSPredicate(format: "token == %@", last.token), container) == [])
    }

    @Test func tokensOfAReplacedStoreAreAnError() throws {
        let desk = try History.Desk()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: desk.model)
        let options = [NSPersistentHistoryTrackingKey: true as NSNumber]
        let url = desk.folder.appendingPathComponent("a.sqlite")
        let token: NSPersistentHistoryToken
        do {
            let container = try desk.container()
            try History.save(container) { History.insert("a", $0) }
            token = try #require(try History.all(container).last).token
            for store in container.persistentStoreCoordinator.persistentStores {
                try container.persistentStoreCoordinator.remove(store)
            }
        }
        try coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType)
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { () throws in
            let error = try #require(throws: CocoaError.self) {
                try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: token))
            }
            #expect(error.errorCode == 134501)
        }
    }
}
