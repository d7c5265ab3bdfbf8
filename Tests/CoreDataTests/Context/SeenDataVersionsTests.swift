import Foundation
import Testing

@testable import CoreData

/// Data versions that a context remembers for each store it fetched from.
@Suite struct SeenDataVersionsTests {
    private func store() -> NSPersistentStore {
        NSPersistentStore(persistentStoreCoordinator: nil, configurationName: nil, at: .memoryPlace)
    }

    @Test func anotherVersionOfTheSameStoreIsNoted() {
        var seen = SeenDataVersions()
        let (one, other) = (store(), store())
        let looks: [(Int64, NSPersistentStore)] = [
            (1, one), (2, other), (1, one), (2, other), (3, one), (3, one), (2, other),
        ]
        let isNews = looks.map { seen.note($0, of: $1) }
        #expect(isNews == [false, false, false, false, true, false, false], "the first look at a store says nothing")
        #expect(seen.count == 2)
    }

    /// A store at the address of a released one is not compared with the released one's version. The address
    /// sanitizer's allocator does not reuse addresses.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["ROSTER_SANITIZER"] == nil))
    func aMissingStoreIsForgotten() {
        var seen = SeenDataVersions()
        var (addresses, news) = (Set<ObjectIdentifier>(), 0)
        for version in 0..<1000 {
            let store = store()
            addresses.insert(ObjectIdentifier(store))
            if seen.note(Int64(version), of: store) { news += 1 }
            #expect(seen.count == 1)
        }
        #expect(news == 0)
        #expect(addresses.count < 1000, "addresses are used again")
    }

    @Test func aContextForgetsStoresThatWereRemoved() throws {
        let stack = try ClubStack()
        let context = stack.context()
        for number in 0..<5 {
            let url = stack.folder.appendingPathComponent("\(number).sqlite")
            let store = try stack.coordinator.addPersistentStore(type: .sqlite, at: url)
            _ = try context.use { try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: "Team")) }
            _ = try context.use { try $0.fetch(NSFetchRequest<NSManagedObject>(entityName: "Team")) }
            try stack.coordinator.remove(store)
        }
        let source = try #require(context.source as? CoordinatorSource)
        #expect(source.seen.count <= 2, "the club's store, and at most the last one")
    }
}
