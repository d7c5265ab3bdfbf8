import CoreData
import Foundation
import Testing

/// Batches write while contexts are pinned to an older state of the store.
@MainActor @Suite struct BatchGenerationTests {
    @Test func aPinnedContextDoesNotSeeBatches() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("batches-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let container = try NSPersistentContainer.open(
            "Batches", model: SwiftPredicateTests.model(), at: folder.appendingPathComponent("b.sqlite"))
        let (pinned, writer) = (container.viewContext, container.newBackgroundContext())
        try SwiftPredicateTests.fill(pinned)
        pinned.reset()
        try pinned.setQueryGenerationFrom(.current)
        let before = try pinned.count(BandMember.self)
        let first = try #require(pinned.fetch(BandMember.self, sort: \.age).first)
        let age = first.age
        pinned.refreshAllObjects()
        try writer.performAndWait {
            let insert = NSBatchInsertRequest(
                entityName: "BandMember", objects: [["name": "New", "age": 1], ["name": "Newer", "age": 2]])
            try writer.execute(insert)
            let update = NSBatchUpdateRequest(entityName: "BandMember")
            update.propertiesToUpdate = ["age": 99]
            try writer.execute(update)
            let named = NSFetchRequest<NSFetchRequestResult>(entityName: "BandMember")
            named.predicate = NSPredicate(format: "name == 'Ada'")
            try writer.execute(NSBatchDeleteRequest(fetchRequest: named))
        }
        #expect(try pinned.count(BandMember.self) == before)
        #expect(first.age == age)
        #expect(try pinned.count(BandMember.self, where: #Predicate { $0.age == 99 }) == 0)
        #expect(try pinned.count(BandMember.self, where: #Predicate { $0.name == "Ada" }) == 4)
        #expect(try pinned.aggregate(.maximum, of: \BandMember.age) as? Int == 35)
        // The current generation contains the changes.
        try pinned.setQueryGenerationFrom(.current)
        pinned.refreshAllObjects()
        #expect(try pinned.count(BandMember.self) == before + 2 - 4)
        #expect(try pinned.count(BandMember.self, where: #Predicate { $0.age == 99 }) == before + 2 - 4)
        #expect(try pinned.count(BandMember.self, where: #Predicate { $0.name == "Ada" }) == 0)
    }
}
