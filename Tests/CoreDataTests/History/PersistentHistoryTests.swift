import Foundation
import Testing

@testable import CoreData

@Suite struct PersistentHistoryTests {
    private let places = Places()

    /// Keeps the places of a test until its end.
    private final class Places { var all: [League.Place] = [] }

    private func filled(_ kind: League.StoreKind) throws -> NSManagedObjectContext {
        let place = try League.Place(kind)
        places.all.append(place)
        let context = League.context(try place.coordinator([NSPersistentHistoryTrackingKey: true]))
        context.name = "desk"
        context.transactionAuthor = "anna"
        try context.performAndWait { () throws in
            context.addTeam("Ghana")
            context.addTeam("Mali")
            try context.save()
            try #require(try context.fetch(League.request("Team", by: "name")).first).setValue(3, forKey: "wins")
            try context.save()
            try context.fetch(League.request("Team", by: "name")).last.map(context.delete)
            try context.save()
        }
        return context
    }

    private func history(
        _ request: NSPersistentHistoryChangeRequest, in context: NSManagedObjectContext
    ) throws -> Any? {
        try #require(try context.execute(request) as? NSPersistentHistoryResult).result
    }

    @Test(arguments: League.StoreKind.allCases) func transactionsComeOldestFirstWithTheirChanges(
        on kind: League.StoreKind
    ) throws {
        let context = try filled(kind)
        try context.performAndWait { () throws in
            let all = try #require(
                try history(.fetchHistory(after: nil as NSPersistentHistoryToken?), in: context)
                    as? [NSPersistentHistoryTransaction])
            #expect(all.map(\.transactionNumber) == [1, 2, 3])
            #expect(all.map { $0.changes?.map(\.changeType) } == [[.insert, .insert], [.update], [.delete]])
            #expect(all[1].changes?.first?.updatedProperties?.map(\.name) == ["wins"])
            #expect(all.allSatisfy { $0.author == "anna" && $0.contextName == "desk" })
            #expect(all[0].changes?.first?.transaction === all[0])

            let later = try #require(
                try history(.fetchHistory(after: all[0].token), in: context) as? [NSPersistentHistoryTransaction])
            #expect(later.map(\.transactionNumber) == [2, 3])
            let last = try #require(
                try history(.fetchHistory(after: all[1]), in: context) as? [NSPersistentHistoryTransaction])
            #expect(last.map(\.transactionNumber) == [3])
            let fromNow = try history(.fetchHistory(after: Date(timeIntervalSinceNow: 60)), in: context)
            #expect((fromNow as? [NSPersistentHistoryTransaction])?.isEmpty == true)
        }
    }

    @Test(arguments: League.StoreKind.allCases) func resultTypesDetermineTheResult(on kind: League.StoreKind) throws {
        let context = try filled(kind)
        try context.performAndWait { () throws in
            func result(_ type: NSPersistentHistoryResultType) throws -> Any? {
                let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
                request.resultType = type
                return try history(request, in: context)
            }
            #expect(try result(.statusOnly) as? Bool == true)
            #expect(try result(.count) as? Int == 3)
            #expect((try result(.objectIDs) as? [NSManagedObjectID])?.count == 2)
            let changes = try #require(try result(.changesOnly) as? [NSPersistentHistoryChange])
            #expect(changes.map { $0.transaction?.transactionNumber } == [1, 1, 2, 3])
            #expect(
                (try result(.transactionsOnly) as? [NSPersistentHistoryTransaction])?.allSatisfy { $0.changes == nil }
                    == true)
        }
    }

    @Test(arguments: League.StoreKind.allCases) func theCurrentTokenIsTheLastTransactions(on kind: League.StoreKind)
        throws
    {
        let context = try filled(kind)
        let coordinator = try #require(context.persistentStoreCoordinator)
        let token = try #require(coordinator.currentPersistentHistoryToken(fromStores: nil))
        #expect(token.number(ofStore: coordinator.persistentStores[0].identifier) == 3)
        let data = try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
        let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: data)
        #expect(read == token)
    }

    @Test(arguments: League.StoreKind.allCases) func aTransactionCanBeMerged(on kind: League.StoreKind) throws {
        let context = try filled(kind)
        let reader = League.context(try #require(context.persistentStoreCoordinator))
        try reader.performAndWait { () throws in
            let ghana = try #require(try reader.fetch(League.request("Team")).first)
            _ = ghana.value(forKey: "wins")
            try context.performAndWait { () throws in
                try #require(try context.fetch(League.request("Team")).first).setValue(9, forKey: "wins")
                try context.save()
            }
            let transactions =
                try history(
                    .fetchHistory(after: nil as NSPersistentHistoryToken?), in: reader)
                as? [NSPersistentHistoryTransaction]
            let notification = try #require(transactions?.last?.objectIDNotification())
            reader.mergeChanges(fromContextDidSave: notification)
            #expect(ghana.value(forKey: "wins") as? Int == 9)
        }
    }

    @Test func aStoreWithoutHistorySaysSo() throws {
        let (coordinator, _) = try League.memoryStack(options: [NSPersistentHistoryTrackingKey: false])
        let context = League.context(coordinator)
        try context.performAndWait { () throws in
            let error = try #require(
                throws: NSError.self,
                performing: {
                    try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: Date()))
                })
            #expect(error.code == 134091)
        }
        #expect(coordinator.currentPersistentHistoryToken(fromStores: nil) == nil)
    }

    @Test func changesOfOneRowAreSummedUp() throws {
        let (coordinator, store) = try League.memoryStack()
        defer { withExtendedLifetime(coordinator) {} }
        func transaction(_ number: Int64, _ changes: [(Int64, StoreTransaction.Kind, [String])]) -> StoreTransaction {
            StoreTransaction(
                number: number, timestamp: Date(), author: nil, contextName: nil, bundleID: nil, processID: nil,
                isOwn: false,
                changes: changes.map { reference, kind, names in
                    StoreTransaction.Change(
                        number: 0, key: RowKey(entity: 1, reference: reference), kind: kind, changedProperties: names,
                        tombstone: [:])
                })
        }
        let summed = HistoryChanges.coalesced(
            [
                transaction(1, [(1, .insert, []), (2, .insert, []), (3, .update, ["wins"]), (4, .update, ["wins"])]),
                transaction(2, [(1, .update, ["name"]), (2, .delete, []), (3, .delete, []), (4, .update, ["name"])]),
            ], of: store)
        func references(_ ids: [NSManagedObjectID]) -> [Int64] { ids.compactMap(\.rowKey?.reference) }
        #expect(references(summed.inserted) == [1])
        #expect(references(summed.updated) == [4])
        #expect(references(summed.deleted) == [2, 3])
    }

    /// A process keeps its own transaction numbers as ranges and removes them with the history, so memory does not
    /// grow.
    @Test func ownTransactionsAreKeptAsRanges() {
        var own = TransactionNumbers()
        for number in Int64(1)...100_000 where number != 500 { own.insert(number) }
        own.insert(.max)
        #expect(own.contains(499) && !own.contains(500) && own.contains(501) && !own.contains(.max))
        #expect(own.rangeCount == 2)
        own.removeAll(through: 70_000)
        #expect(!own.contains(70_000) && own.contains(70_001) && own.rangeCount == 1)
        own.removeAll(through: 100_000)
        #expect(own.rangeCount == 0)
    }
}
