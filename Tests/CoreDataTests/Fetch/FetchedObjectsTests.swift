import CoreData
import Foundation
import Testing

/// Loops over large fetches: `for try await`.
@MainActor @Suite struct FetchedObjectsTests {
    private func container(_ count: Int) throws -> NSPersistentContainer {
        let container = try NSPersistentContainer.open(
            "Loops", model: SwiftPredicateTests.model(), at: URL(fileURLWithPath: "/dev/null"))
        var number = 0
        let insert = NSBatchInsertRequest(
            entityName: "BandMember",
            dictionaryHandler: { (row: NSMutableDictionary) in
                if number == count { return true }
                row["age"] = number * 7_919 % count
                row["name"] = "Member \(number)"
                number += 1
                return false
            })
        try container.viewContext.execute(insert)
        return container
    }

    @Test func visitsAllInOrder() async throws {
        let context = try container(2_345).viewContext
        var ages: [Int64] = []
        for try await member in try context.objects(BandMember.self, sort: [SortDescriptor(\.age)], batchSize: 100) {
            #expect(!member.isFault)
            ages.append(member.age)
        }
        #expect(ages == Array(0..<2_345))
        var count = 0
        for try await member in try context.objects(BandMember.self, where: #Predicate { $0.age < 1_000 }) {
            count += member.age < 1_000 ? 1 : -1_000_000
        }
        #expect(count == 1_000)
        let request = NSFetchRequest<BandMember>(entityName: "BandMember")
        request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: false)]
        (request.fetchLimit, request.fetchOffset) = (25, 5)
        ages = []
        for try await member in context.objects(for: request, batchSize: 10) { ages.append(member.age) }
        #expect(ages == (2_315...2_339).reversed())
    }

    @Test func omitsUnsavedObjectsIfTheRequestExcludesThem() async throws {
        let context = try container(3).viewContext
        BandMember(context: context).age = 100
        let request = NSFetchRequest<BandMember>(entityName: "BandMember")
        var count = 0
        for try await _ in context.objects(for: request) { count += 1 }
        #expect(count == 4)
        request.includesPendingChanges = false
        count = 0
        for try await _ in context.objects(for: request) { count += 1 }
        #expect(count == 3)
    }

    @Test func keepsOnlyABatchInMemory() async throws {
        let context = try container(5_000).viewContext
        var most = 0
        var seen = 0
        for try await _ in try context.objects(BandMember.self, sort: [SortDescriptor(\.age)], batchSize: 50) {
            most = max(most, context.registeredObjects.count)
            seen += 1
        }
        #expect(seen == 5_000)
        #expect(most <= 150, "\(most) objects at once")
    }

    @Test func omitsRecordsDeletedDuringTheRun() async throws {
        let context = try container(300).viewContext
        var seen = 0
        for try await member in try context.objects(BandMember.self, sort: [SortDescriptor(\.age)], batchSize: 100) {
            seen += 1
            if member.age == 0 {
                let last = NSFetchRequest<NSFetchRequestResult>(entityName: "BandMember")
                last.predicate = NSPredicate(format: "age >= 250")
                try context.execute(NSBatchDeleteRequest(fetchRequest: last))
            }
        }
        #expect(seen == 250)
    }

    @Test func aCancelledTaskEndsTheLoop() async throws {
        let context = try container(1_000).viewContext
        let task = Task { @MainActor in
            var seen = 0
            for try await _ in try context.objects(BandMember.self, batchSize: 100) {
                seen += 1
                if seen == 150 { withUnsafeCurrentTask { $0?.cancel() } }
            }
            return seen
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
