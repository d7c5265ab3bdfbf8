import Foundation
import Testing

@testable import CoreData

@Suite struct RefreshTests {
    /// A saved team in two contexts.
    private struct Pair {
        let stack: ClubStack
        let mine: NSManagedObjectContext
        let other: NSManagedObjectContext
        let team: ClubTeam
        let twin: ClubTeam

        init() throws {
            stack = try ClubStack()
            mine = stack.context()
            other = stack.context()
            let (mine, other) = (mine, other)
            (team, twin) = try mine.use { context in
                let team = context.team()
                _ = context.make("Player", ["name": "Ada", "team": team])
                try context.save()
                return (team, try other.use { try $0.twin(of: team) })
            }
        }

        func changeElsewhere() throws {
            try other.use { context in
                twin.wins = 9
                twin.rating = 9
                _ = context.make("Player", ["name": "Bob", "team": twin])
                try context.save()
            }
        }
    }

    @Test func mergingKeepsLocalEdits() throws {
        let pair = try Pair()
        try pair.mine.use { context in
            let local = context.make("Player", ["name": "Cy", "team": pair.team])
            pair.team.wins = 1
            #expect(pair.team.names("players") == ["Ada", "Cy"])
            try pair.changeElsewhere()
            pair.team.log = []
            let notices = Notices(context)
            context.refresh(pair.team, mergeChanges: true)
            context.processPendingChanges()
            #expect(pair.team.log == ["awake 32"])
            #expect(pair.team.wins == 1 && pair.team.rating == 9 && pair.team.isUpdated)
            #expect(pair.team.changedValues().keys.sorted() == ["players", "wins"])
            #expect(pair.team.names("players") == ["Ada", "Bob", "Cy"])
            #expect(notices.take().last?.objects(NSRefreshedObjectsKey) == [pair.team])
            try context.save()
            #expect(local.object("team") === pair.team)
        }
    }

    @Test func aRefreshWithoutMergingMakesAFault() throws {
        let pair = try Pair()
        try pair.mine.use { context in
            pair.team.wins = 1
            pair.team.scratch = 3
            try pair.changeElsewhere()
            context.refresh(pair.team, mergeChanges: false)
            #expect(pair.team.isFault && !context.hasChanges)
            #expect(pair.team.wins == 9 && pair.team.scratch == 42)
            #expect(pair.team.names("players") == ["Ada", "Bob"])
        }
    }

    @Test func farEndsFollowAnObjectThatLosesItsChanges() throws {
        let pair = try Pair()
        try pair.mine.use { context in
            let player = try #require(pair.team.players.first)
            let united = context.team("United")
            player.setValue(united, forKey: "team")
            player.setValue(NSSet(array: [context.make("Skill", ["name": "pace"])]), forKey: "skills")
            context.refresh(player, mergeChanges: false)
            #expect(player.object("team") === pair.team && pair.team.players == [player] && united.players.isEmpty)
            #expect(player.objects("skills").isEmpty)
            try context.save()
            #expect(player.object("team") === pair.team)
        }
    }

    @Test func allObjectsAreReadAgainWhenTheyAreUsed() throws {
        let pair = try Pair()
        try pair.mine.use { context in
            let player = try #require(pair.team.players.first)
            #expect(player.value(forKey: "name") as? String == "Ada")
            try pair.changeElsewhere()
            try pair.other.use { context in
                if let ada = pair.twin.players.first(where: { $0.value(forKey: "name") as? String == "Ada" }) {
                    context.delete(ada)
                }
                try context.save()
            }
            context.refreshAllObjects()
            context.processPendingChanges()
            #expect(pair.team.wins == 9 && pair.team.names("players") == ["Bob"])
            #expect(player.isFault && !player.isDeleted, "an object without changes becomes a fault")
            #expect(player.value(forKey: "name") == nil && player.isDeleted, "its row is gone")
        }
    }

    @Test func aRefreshReadsTheStoreWhateverTheStalenessInterval() throws {
        let stack = try ClubStack()
        let second = NSPersistentStoreCoordinator(managedObjectModel: Club.model)
        try second.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: stack.storeURL)
        let elsewhere = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        elsewhere.persistentStoreCoordinator = second
        try stack.context().use { context in
            context.stalenessInterval = 3600
            let team = context.team()
            try context.save()
            for (wins, mergeChanges) in [(3, true), (4, false)] as [(Int16, Bool)] {
                try elsewhere.use { other in
                    let twin = try #require(try other.fetch(NSFetchRequest<ClubTeam>(entityName: "Team")).first)
                    twin.wins = wins
                    try other.save()
                }
                context.refresh(team, mergeChanges: mergeChanges)
                #expect(team.wins == wins)
            }
        }
    }

    @Test func aRefusalByOneStoreRollsBackAll() throws {
        let stack = try ClubStack()
        NSPersistentStoreCoordinator.registerStoreClass(RefusingStore.self, forStoreType: "Refusing")
        let refusing = try stack.coordinator.addPersistentStore(
            ofType: "Refusing", configurationName: nil, at: stack.folder.appendingPathComponent("none"))
        try stack.context().use { context in
            let team = context.team()
            let fan = context.make("Fan", ["name": "Dot"])
            context.assign(fan, to: refusing)
            let error = try #require(throws: CocoaError.self) { try context.save() }
            #expect(error.code == .persistentStoreSave, "the store's own error")
            #expect(context.insertedObjects == [team, fan])
        }
    }
}

/// A store that refuses every save.
final class RefusingStore: NSPersistentStore, RowStore, @unchecked Sendable {
    private lazy var answers = Answers(store: self)
    override var type: String { "Refusing" }
    var operations: any StoreOperations { answers }

    override func loadMetadata() throws {
        identifier = "REFUSING"
        metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: "REFUSING"]
    }

    private final class Answers: StoreOperations {
        unowned let store: RefusingStore
        init(store: RefusingStore) { self.store = store }

        func fetch(_ query: StoreQuery) throws -> StoreQueryResult {
            StoreQueryResult(keys: [], rows: [], unsupported: [])
        }
        func count(_ query: StoreQuery) throws -> Int? { 0 }
        func rows(inOrderOf ids: [NSManagedObjectID]) throws -> [RowSnapshot?] { ids.map { _ in nil } }
        func destinations(
            of relationship: NSRelationshipDescription, inOrderOf ids: [NSManagedObjectID]
        ) throws -> [[NSManagedObjectID]] { ids.map { _ in [] } }
        func obtainPermanentIDs(for runs: [EntityRun]) throws -> [NSManagedObjectID] {
            runs.flatMap { repeatElement($0.entity, count: $0.count) }.enumerated().map {
                NSManagedObjectID(entity: $1, reference: Int64($0 + 1), store: store)
            }
        }
        func save(_ changes: StoreChangeSet) throws { throw CoreDataError.make(134030, "This store refuses.") }
        func objectID(for key: RowKey) -> NSManagedObjectID {
            let entities = store.persistentStoreCoordinator?.managedObjectModel.entitiesInLayoutOrder ?? []
            return NSManagedObjectID(entity: entities[Int(key.entity)], reference: key.reference, store: store)
        }
        func dataVersion() throws -> Int64 { 0 }
        func changeToken() throws -> String { "" }
        func lastHistoryNumber() throws -> Int64? { nil }
        func history(after number: Int64) throws -> [StoreTransaction] { [] }
        func close() throws {}
    }
}
