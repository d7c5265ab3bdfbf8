import Foundation
import Testing

@testable import CoreData

/// Settings of a context can be set on any thread, even while the context works. `Scripts/sanitize` runs this under the
/// thread sanitizer.
@Suite struct ContextSettingsTests {
    @Test func settingsAreSetWhileTheContextWorks() async throws {
        let stack = try ClubStack()
        let context = stack.context()
        let other = stack.context()
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for number in 0..<200 {
                    context.name = "name \(number)"
                    context.transactionAuthor = number.isMultiple(of: 2) ? "author" : nil
                    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
                    context.automaticallyMergesChangesFromParent = number.isMultiple(of: 2)
                    context.stalenessInterval = Double(number)
                    context.retainsRegisteredObjects = number.isMultiple(of: 3)
                    context.propagatesDeletesAtEndOfEvent = number.isMultiple(of: 5)
                    context.shouldDeleteInaccessibleFaults = true
                    context.userInfo["number"] = number
                }
            }
            group.addTask {
                for number in 0..<20 {
                    await context.perform {
                        context.userInfo["work"] = number
                        let team = context.team("Team \(number)")
                        team.wins = 1
                        try? context.save()
                        context.delete(team)
                        try? context.save()
                    }
                    await other.perform {
                        _ = other.team()
                        try? other.save()
                    }
                }
            }
        }
        #expect(context.name == "name 199" && context.transactionAuthor == nil && context.stalenessInterval == 199)
        #expect((context.mergePolicy as? NSMergePolicy)?.mergeType == .mergeByPropertyObjectTrumpMergePolicyType)
        #expect(context.userInfo["number"] as? Int == 199 && context.userInfo["work"] as? Int == 19)
        #expect(!context.hasChanges)
    }

    @Test func thereAreNoConfinementContexts() {
        #expect(NSManagedObjectContextConcurrencyType(rawValue: 0) == nil)
    }

    @Test func theUserInfoIsADictionaryLikeAnyOther() {
        let info = NSManagedObjectContext(.privateQueue).userInfo
        info["one"] = 1
        info.setObject("two", forKey: "two" as NSString)
        info.addEntries(from: ["three": 3.5])
        #expect(info.count == 3 && info["one"] as? Int == 1 && info.object(forKey: "two") as? String == "two")
        #expect(Set(info.allKeys.compactMap { $0 as? String }) == ["one", "two", "three"])
        #expect((info.copy() as? NSDictionary)?.count == 3)
        var seen = 0
        for (key, _) in info {
            info.removeObject(forKey: key)
            seen += 1
        }
        #expect(seen == 3 && info.count == 0)
        info["one"] = nil
        info.setDictionary(["four": 4])
        #expect(info as NSDictionary == ["four": 4] as NSDictionary)
        info.removeAllObjects()
        #expect(info.allValues.isEmpty)
    }
}
