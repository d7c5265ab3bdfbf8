import Foundation
import Testing

@testable import CoreData

/// Two contexts change the same row; each policy handles the second save.
@Suite struct MergePolicyTests {
    private struct Pair {
        let stack: ClubStack
        let mine: NSManagedObjectContext
        let other: NSManagedObjectContext
        let team: ClubTeam
        let twin: ClubTeam

        init(_ policy: NSMergePolicy) throws {
            stack = try ClubStack()
            mine = stack.context()
            other = stack.context()
            mine.mergePolicy = policy
            let (mine, other) = (mine, other)
            (team, twin) = try mine.use { context in
                let team = context.team()
                team.rating = 1
                try context.save()
                return (team, try other.use { try $0.twin(of: team) })
            }
        }

        /// The row as a new context reads it.
        func saved() throws -> [String: Any]? {
            try stack.context().use { context in
                guard let team = try? context.existingObject(with: team.objectID) else { return nil }
                return team.committedValues(forKeys: nil)
            }
        }
    }

    private func change(_ pair: Pair) throws {
        try pair.other.use { context in
            pair.twin.wins = 5
            pair.twin.rating = 5
            try context.save()
        }
        try pair.mine.use { _ in
            pair.team.wins = 3
            pair.team.name = "Mine"
        }
    }

    /// After a team was deleted here, with all its known related objects, another context adds a player, a fan and a
    /// coach to it.
    @Test(arguments: [NSMergePolicy.mergeByPropertyObjectTrump, .overwrite], [false, true])
    func deleteRulesApplyToObjectsAddedByOthers(policy: NSMergePolicy, addsCoach: Bool) throws {
        let pair = try Pair(policy)
        try pair.mine.use { context in
            _ = context.make("Player", ["name": "known", "team": pair.team])
            try context.save()
            #expect(pair.team.players.count == 1 && pair.team.fans?.count == 0)
        }
        try pair.other.use { context in
            context.refresh(pair.twin, mergeChanges: false)
            _ = context.make("Player", ["name": "late", "team": pair.twin])
            _ = context.make("Fan", ["name": "late", "team": pair.twin])
            if addsCoach { pair.twin.setValue(context.make("Coach", ["name": "late"]), forKey: "coach") }
            try context.save()
        }
        try pair.mine.use { context in
            context.delete(pair.team)
            guard addsCoach else { return try context.save() }
            let error = try #require(throws: CocoaError.self) { try context.save() }
            #expect(error.code == .validationRelationshipDeniedDelete)
        }
        try pair.stack.context().use { context in
            func all(_ name: String) throws -> [NSManagedObject] {
                try context.fetch(NSFetchRequest<NSManagedObject>(entityName: name))
            }
            let (teams, players, fans) = try (all("Team"), all("Player"), all("Fan"))
            #expect(teams.count == (addsCoach ? 1 : 0))
            #expect(players.count == (addsCoach ? 2 : 0), "cascade")
            #expect(fans.map { $0.value(forKey: "team") == nil } == [!addsCoach], "nullify")
        }
    }

    @Test func theErrorPolicyThrowsAndKeepsTheChanges() throws {
        let pair = try Pair(.error)
        try change(pair)
        try pair.mine.use { context in
            let error = try #require(throws: CocoaError.self) { try context.save() }
            #expect(error.code == .managedObjectMerge)
            let conflict = try #require(error.persistentStoreSaveConflicts?.first)
            #expect(conflict.sourceObject === pair.team)
            #expect(conflict.oldVersionNumber == 1 && conflict.newVersionNumber == 2)
            #expect(conflict.objectSnapshot?["wins"] as? Int == 0)
            #expect(conflict.persistedSnapshot?["wins"] as? Int == 5)
            let (cached, base) = (try #require(conflict.cachedSnapshot), try #require(conflict.objectSnapshot))
            #expect(NSDictionary(dictionary: cached) == NSDictionary(dictionary: base))
            #expect(context.updatedObjects == [pair.team] && pair.team.wins == 3)
            context.refresh(pair.team, mergeChanges: true)
            #expect(pair.team.wins == 3 && pair.team.rating == 5 && pair.team.name == "Mine")
            try context.save()
        }
        #expect(try pair.saved()?["rating"] as? Double == 5)
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt])
    func aChangedRow(policy: UInt) throws {
        let type = try #require(NSMergePolicyType(rawValue: policy))
        let pair = try Pair(NSMergePolicy(merge: type))
        try change(pair)
        try pair.mine.use { context in
            pair.team.log = []
            try context.save()
            #expect(!context.hasChanges && pair.team.log?.contains("awake 64") == true)
        }
        let row = try #require(try pair.saved())
        let expected: (wins: Int, rating: Double, name: String) =
            switch type {
            case .mergeByPropertyStoreTrumpMergePolicyType: (5, 5, "Mine")
            case .mergeByPropertyObjectTrumpMergePolicyType: (3, 5, "Mine")
            case .overwriteMergePolicyType: (3, 1, "Mine")
            default: (5, 5, "Rovers")
            }
        #expect(row["wins"] as? Int == expected.wins)
        #expect(row["rating"] as? Double == expected.rating)
        #expect(row["name"] as? String == expected.name)
        try pair.mine.use { _ in
            #expect(Int(pair.team.wins) == expected.wins && pair.team.rating == expected.rating)
        }
    }

    @Test(arguments: [0, 1, 2, 3, 4] as [UInt])
    func aDeletedRow(policy: UInt) throws {
        let pair = try Pair(NSMergePolicy(merge: try #require(NSMergePolicyType(rawValue: policy))))
        try pair.other.use { context in
            context.delete(pair.twin)
            try context.save()
        }
        try pair.mine.use { context in
            pair.team.wins = 3
            guard policy != 0 else {
                let error = try #require(throws: CocoaError.self) { try context.save() }
                #expect(error.persistentStoreSaveConflicts?.first?.newVersionNumber == 0)
                #expect(error.persistentStoreSaveConflicts?.first?.persistedSnapshot == nil)
                return
            }
            try context.save()
            #expect(!context.hasChanges)
        }
        let comesBack = policy == 2 || policy == 3
        #expect(try pair.saved()?["wins"] as? Int == (comesBack ? 3 : nil))
        #expect((pair.team.managedObjectContext == nil) == (policy == 1 || policy == 4))
    }

    @Test(arguments: [0, 1, 2, 3, 4] as [UInt])
    func aRowDeletedHereAndChangedThere(policy: UInt) throws {
        let pair = try Pair(NSMergePolicy(merge: try #require(NSMergePolicyType(rawValue: policy))))
        try pair.other.use { context in
            pair.twin.wins = 5
            try context.save()
        }
        try pair.mine.use { context in
            context.delete(pair.team)
            guard policy != 0 else {
                #expect(throws: CocoaError.self) { try context.save() }
                #expect(context.deletedObjects == [pair.team])
                return
            }
            try context.save()
            #expect(!context.hasChanges)
        }
        let stays = policy == 0 || policy == 1 || policy == 4
        #expect(try (pair.saved() != nil) == stays)
        if policy == 1 || policy == 4 {
            try pair.mine.use { _ in #expect(pair.team.wins == 5 && !pair.team.isDeleted) }
        }
    }

    @Test func bothDeletedIt() throws {
        let pair = try Pair(.mergeByPropertyObjectTrump)
        try pair.other.use { context in
            context.delete(pair.twin)
            try context.save()
        }
        try pair.mine.use { context in
            context.delete(pair.team)
            try context.save()
            #expect(!context.hasChanges)
        }
        #expect(try pair.saved() == nil)
    }

    @Test func aLockedObjectMustBeAsItWasRead() throws {
        let pair = try Pair(.error)
        try pair.other.use { context in
            pair.twin.wins = 5
            try context.save()
        }
        try pair.mine.use { context in
            context.detectConflicts(for: pair.team)
            _ = context.make("Fan", ["name": "Dot"])
            let error = try #require(throws: CocoaError.self) { try context.save() }
            #expect(error.persistentStoreSaveConflicts?.first?.sourceObject === pair.team)
            context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
            try context.save()
            #expect(pair.team.wins == 5 && !context.hasChanges)
        }
    }

    @Test func aCustomPolicyDecides() throws {
        final class HigherWins: NSMergePolicy, @unchecked Sendable {
            override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
                let mine = list.map { $0.sourceObject.value(forKey: "wins") as? Int ?? 0 }
                try super.resolve(optimisticLockingConflicts: list)
                for (conflict, wins) in zip(list, mine) {
                    let theirs = conflict.persistedSnapshot?["wins"] as? Int ?? 0
                    conflict.sourceObject.setValue(max(wins, theirs) + 1, forKey: "wins")
                }
            }
        }
        let pair = try Pair(HigherWins(merge: .mergeByPropertyStoreTrumpMergePolicyType))
        try change(pair)
        try pair.mine.use { try $0.save() }
        #expect(try pair.saved()?["wins"] as? Int == 6)
    }

    @Test func aCustomPolicyLeavesListsToSuper() throws {
        final class Counting: NSMergePolicy, @unchecked Sendable {
            var conflicts = 0

            override func resolve(mergeConflicts list: [Any]) throws {
                conflicts += list.count
                try super.resolve(mergeConflicts: list)
            }
        }
        let policy = Counting(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        let pair = try Pair(policy)
        try pair.mine.use { context in
            pair.team.wins = 3
            _ = context.make("Player", ["name": "Mine", "team": pair.team])
        }
        try pair.other.use { context in
            pair.twin.wins = 5
            _ = context.make("Player", ["name": "Other", "team": pair.twin])
            try context.save()
        }
        try pair.mine.use { try $0.save() }
        #expect(policy.conflicts == 1)
        try pair.stack.context().use { context in
            let team = try context.twin(of: pair.team)
            #expect(team.names("players") == ["Mine", "Other"] && team.wins == 3)
        }
    }
}
