import CoreData
import Foundation
import Testing

/// History requests, as made by a program written for Apple's framework.
@Suite struct HistoryRequestTests {
    /// A folder with a store that keeps history.
    final class Desk {
        let folder: URL
        let model: NSManagedObjectModel

        init() throws {
            folder = FileManager.default.temporaryDirectory.appendingPathComponent("history-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let name = NSAttributeDescription()
            name.name = "name"
            name.attributeType = .stringAttributeType
            name.preservesValueInHistoryOnDeletion = true
            let wins = NSAttributeDescription()
            wins.name = "wins"
            wins.attributeType = .integer64AttributeType
            wins.defaultValue = 0
            let team = NSEntityDescription()
            team.name = "Team"
            team.properties = [name, wins]
            let city = NSEntityDescription()
            city.name = "City"
            city.properties = [name.copy() as! NSAttributeDescription]
            model = NSManagedObjectModel()
            model.entities = [team, city]
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        func container(_ files: [String] = ["a.sqlite"]) throws -> NSPersistentContainer {
            let container = NSPersistentContainer(name: "Desk", managedObjectModel: model)
            container.persistentStoreDescriptions = files.map { file in
                let description = NSPersistentStoreDescription(url: folder.appendingPathComponent(file))
                description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
                description.setOption(
                    true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
                return description
            }
            var failure: (any Error)?
            container.loadPersistentStores { _, error in failure = failure ?? error }
            if let failure { throw failure }
            return container
        }
    }

    static func save(
        _ container: NSPersistentContainer, author: String? = nil, name: String? = nil,
        _ change: (NSManagedObjectContext) throws -> Void
    ) throws {
        let context = container.newBackgroundContext()
        try context.performAndWait { () throws in
            context.transactionAuthor = author
            context.name = name
            try change(context)
            try context.save()
        }
    }

    static func insert(_ name: String, entity: String = "Team", _ context: NSManagedObjectContext) {
        NSEntityDescription.insertNewObject(forEntityName: entity, into: context).setValue(name, forKey: "name")
    }

    static func run(_ request: NSPersistentHistoryChangeRequest, _ container: NSPersistentContainer) throws -> Any? {
        let context = container.newBackgroundContext()
        return try context.performAndWait { () throws in
            try #require(try context.execute(request) as? NSPersistentHistoryResult).result
        }
    }

    static func transactions(
        _ request: NSPersistentHistoryChangeRequest, _ container: NSPersistentContainer
    ) throws -> [NSPersistentHistoryTransaction] {
        try #require(try run(request, container) as? [NSPersistentHistoryTransaction])
    }

    static func all(_ container: NSPersistentContainer) throws -> [NSPersistentHistoryTransaction] {
        try transactions(.fetchHistory(after: nil as NSPersistentHistoryToken?), container)
    }

    /// Saves by two authors: four insertions, an update, a deletion.
    private func filled(_ desk: Desk) throws -> NSPersistentContainer {
        let container = try desk.container()
        try Self.save(container, author: "app", name: "desk") { Self.insert("Ghana", $0) }
        try Self.save(container, author: "sync") { Self.insert("Mali", $0) }
        try Self.save(container, author: "app") {
            Self.insert("加纳", $0)
            Self.insert("Accra", entity: "City", $0)
        }
        try Self.save(container, author: "sync") { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
            request.predicate = NSPredicate(format: "name == %@", "Mali")
            try #require(try context.fetch(request).first).setValue(3, forKey: "wins")
        }
        try Self.save(container) { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
            request.predicate = NSPredicate(format: "name == %@", "加纳")
            context.delete(try #require(try context.fetch(request).first))
        }
        return container
    }

    // MARK: Fetching with a request

    @Test func transactionsAreChosenByPredicate() throws {
        let desk = try Desk()
        let container = try filled(desk)
        let context = container.newBackgroundContext()
        func numbers(_ predicate: NSPredicate, after token: NSPersistentHistoryToken? = nil) throws -> [Int64] {
            let fetch = NSFetchRequest<NSFetchRequestResult>()
            fetch.entity = NSPersistentHistoryTransaction.entityDescription(with: context)
            fetch.predicate = predicate
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
            request.fetchRequest = fetch
            return try Self.transactions(request, container).map(\.transactionNumber)
        }
        let all = try Self.all(container)
        #expect(try numbers(NSPredicate(format: "author == %@", "app")) == [1, 3])
        #expect(try numbers(NSPredicate(format: "author != %@", "app")) == [2, 4, 5])
        #expect(try numbers(NSPredicate(format: "author == NULL")) == [5])
        #expect(try numbers(NSPredicate(format: "contextName == %@", "desk")) == [1])
        #expect(try numbers(NSPredicate(format: "author IN %@", ["sync", "other"]), after: all[1].token) == [4])
        #expect(try numbers(NSPredicate(format: "bundleID == %@", all[0].bundleID)) == [1, 2, 3, 4, 5])
        #expect(try numbers(NSPredicate(format: "processID == %@", "nobody")) == [])
        #expect(try numbers(NSPredicate(format: "timestamp > %@", all[2].timestamp as NSDate)) == [4, 5])
        #expect(try numbers(NSPredicate(format: "transactionNumber BETWEEN {2, 3}")) == [2, 3])
        #expect(try numbers(NSPredicate(format: "token == %@", all[3].token)) == [4])
        let mali = try #require(all[1].changes?.first?.changedObjectID)
        #expect(try numbers(NSPredicate(format: "ANY changes.changedObjectID == %@", mali)) == [2, 4])

        let error = try #require(throws: NSError.self) { try numbers(NSPredicate(format: "autor == 'app'")) }
        #expect(error.code == 134060 && error.localizedDescription.contains("autor"))
    }

    @Test func changesAreChosenByPredicateOrderAndLimit() throws {
        let desk = try Desk()
        let container = try filled(desk)
        let context = container.newBackgroundContext()
        let all = try Self.all(container)
        let mali = try #require(all[1].changes?.first?.changedObjectID)
        func changes(_ predicate: NSPredicate, _ change: (NSFetchRequest<NSFetchRequestResult>) -> Void = { _ in })
            throws -> [NSPersistentHistoryChange]
        {
            let fetch = try #require(NSPersistentHistoryChange.fetchRequest)
            #expect(fetch.entity === NSPersistentHistoryChange.entityDescription(with: context))
            fetch.predicate = predicate
            change(fetch)
            let request = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: fetch)
            request.resultType = .changesOnly
            return try #require(try Self.run(request, container) as? [NSPersistentHistoryChange])
        }
        func kinds(_ predicate: NSPredicate) throws -> [NSPersistentHistoryChangeType] {
            try changes(predicate).map(\.changeType)
        }
        #expect(try kinds(NSPredicate(format: "changedObjectID == %@", mali)) == [.insert, .update])
        #expect(
            try kinds(NSPredicate(format: "changeType == %d", NSPersistentHistoryChangeType.delete.rawValue))
                == [.delete])
        #expect(try kinds(NSPredicate(format: "changedEntity.name == %@", "City")) == [.insert])
        let city = try #require(container.managedObjectModel.entitiesByName["City"])
        #expect(try kinds(NSPredicate(format: "changedEntity == %@", city)) == [.insert])
        #expect(try kinds(NSPredicate(format: "transaction.author == 'sync'")) == [.insert, .update])
        let last = try changes(NSPredicate(value: true)) { fetch in
            fetch.sortDescriptors = [NSSortDescriptor(key: "changeID", ascending: false)]
            fetch.fetchLimit = 2
            fetch.fetchOffset = 1
        }
        #expect(last.map { $0.transaction?.transactionNumber } == [4, 3])
        #expect(last[0].updatedProperties?.map(\.name) == ["wins"])
        let tombstone = try changes(NSPredicate(format: "changeType == 2")).first?.tombstone
        #expect(tombstone?["name"] as? String == "加纳")
    }

    @Test func theResultTypesFollowTheRequest() throws {
        let desk = try Desk()
        let container = try filled(desk)
        func result(_ type: NSPersistentHistoryResultType, changes: Bool) throws -> Any? {
            let fetch = try #require(
                changes ? NSPersistentHistoryChange.fetchRequest : NSPersistentHistoryTransaction.fetchRequest)
            fetch.predicate = NSPredicate(format: changes ? "changeType == 0" : "author == 'app'")
            let request = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: fetch)
            request.resultType = type
            return try Self.run(request, container)
        }
        for changes in [true, false] { #expect(try result(.statusOnly, changes: changes) as? Bool == true) }
        #expect(try result(.count, changes: true) as? Int == 4)
        #expect(try result(.count, changes: false) as? Int == 2)
        #expect((try result(.objectIDs, changes: true) as? [NSManagedObjectID])?.count == 4)
        #expect((try result(.objectIDs, changes: false) as? [NSManagedObjectID])?.count == 3)
        let only = try #require(try result(.transactionsOnly, changes: true) as? [NSPersistentHistoryTransaction])
        #expect(only.map(\.transactionNumber) == [1, 2, 3] && only.allSatisfy { $0.changes == nil })
        let both = try #require(
            try result(.transactionsAndChanges, changes: true) as? [NSPersistentHistoryTransaction])
        #expect(both.map { $0.changes?.count } == [1, 1, 2])
    }

    @Test func aRequestForAnotherEntityIsRefused() throws {
        let desk = try Desk()
        let container = try filled(desk)
        let fetch = NSFetchRequest<NSFetchRequestResult>(entityName: "Team")
        let error = try #require(throws: NSError.self) {
            try Self.run(NSPersistentHistoryChangeRequest.fetchHistory(withFetch: fetch), container)
        }
        #expect(error.code == 134060 && error.localizedDescription.contains("Team"))
    }

    // MARK: Removing

    @Test func historyBeforeATokenIsRemovedAndOlderTokensExpire() throws {
        let desk = try Desk()
        let container = try filled(desk)
        let all = try Self.all(container)
        let deleted = NSPersistentHistoryChangeRequest.deleteHistory(before: all[3].token)
        #expect(try Self.run(deleted, container) as? Bool == true)
        #expect(try Self.all(container).map(\.transactionNumber) == [4, 5])

        // The tokens from the last removed transaction on are still valid.
        let after = try Self.transactions(.fetchHistory(after: all[2].token), container)
        #expect(after.map(\.transactionNumber) == [4, 5])
        #expect(try Self.transactions(.fetchHistory(after: all[3]), container).map(\.transactionNumber) == [5])
        let error = try #require(throws: CocoaError.self) {
            try Self.transactions(.fetchHistory(after: all[1].token), container)
        }
        #expect(error.code.rawValue == NSPersistentHistoryTokenExpiredError)

        // Numbers continue even after all transactions were removed and the store was opened again.
        #expect(try Self.run(.deleteHistory(before: Date(timeIntervalSinceNow: 60)), container) as? Bool == true)
        #expect(try Self.all(container).isEmpty)
        let reopened = try desk.container()
        let token = try #require(reopened.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil))
        try Self.save(reopened) { Self.insert("Togo", $0) }
        #expect(try Self.transactions(.fetchHistory(after: token), reopened).map(\.transactionNumber) == [6])
        #expect(throws: CocoaError.self) { try Self.transactions(.fetchHistory(after: all[3].token), reopened) }
    }

    @Test func historyBeforeADateOrTransactionIsRemoved() throws {
        let desk = try Desk()
        let container = try filled(desk)
        let all = try Self.all(container)
        let byDate = NSPersistentHistoryChangeRequest.deleteHistory(before: all[1].timestamp)
        byDate.resultType = .count
        #expect(try Self.run(byDate, container) as? Int == 1)
        #expect(try Self.run(byDate, container) as? Int == 0)
        let byTransaction = NSPersistentHistoryChangeRequest.deleteHistory(before: all[2])
        byTransaction.resultType = .count
        #expect(try Self.run(byTransaction, container) as? Int == 1)
        #expect(try Self.all(container).map(\.transactionNumber) == [3, 4, 5])
        let none = NSPersistentHistoryChangeRequest.deleteHistory(before: nil as NSPersistentHistoryToken?)
        none.resultType = .count
        #expect(try Self.run(none, container) as? Int == 0)
        #expect(try Self.all(container).count == 3)
    }

    @Test func tokensOverSeveralStoresRemoveInEach() throws {
        let desk = try Desk()
        let container = try desk.container(["a.sqlite", "b.sqlite"])
        let coordinator = container.persistentStoreCoordinator
        for round in 0..<3 {
            try Self.save(container) { context in
                for store in coordinator.persistentStores {
                    let team = NSEntityDescription.insertNewObject(forEntityName: "Team", into: context)
                    team.setValue("\(round)", forKey: "name")
                    context.assign(team, to: store)
                }
            }
        }
        let all = try Self.all(container)
        #expect(all.count == 6 && Set(all.map(\.storeID)).count == 2)
        let token = try #require(coordinator.currentPersistentHistoryToken(fromStores: nil))
        #expect(try Self.transactions(.fetchHistory(after: token), container).isEmpty)
        let request = NSPersistentHistoryChangeRequest.deleteHistory(before: token)
        request.resultType = .count
        #expect(try Self.run(request, container) as? Int == 4)
        let first = try #require(
            coordinator.currentPersistentHistoryToken(fromStores: [coordinator.persistentStores[0]]))
        let onlyFirst = NSPersistentHistoryChangeRequest.fetchHistory(after: first)
        onlyFirst.affectedStores = [coordinator.persistentStores[0]]
        #expect(try Self.transactions(onlyFirst, container).isEmpty)
        // The token does not include the other store, so all of its transactions are new.
        #expect(try Self.transactions(.fetchHistory(after: first), container).count == 1)
    }

    @Test func aTokenOfALaterStateIsExpiredInAStoreThatWasPutBack() throws {
        let desk = try Desk()
        let first = try filled(desk)
        let store = try #require(first.persistentStoreCoordinator.persistentStores.first)
        let url = try #require(store.url)
        let copy = desk.folder.appendingPathComponent("copy.sqlite")
        try first.persistentStoreCoordinator.replacePersistentStore(
            at: copy, withPersistentStoreFrom: url, type: .sqlite)
        try Self.save(first) { Self.insert("Togo", $0) }
        let token = try #require(first.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil))
        let second = try desk.container(["copy.sqlite"])
        let error = try #require(throws: CocoaError.self) {
            try Self.transactions(.fetchHistory(after: token), second)
        }
        #expect(error.code.rawValue == NSPersistentHistoryTokenExpiredError)
    }
}
