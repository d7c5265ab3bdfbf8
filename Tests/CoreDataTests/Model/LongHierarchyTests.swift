import Foundation
import Synchronization
import Testing

@testable import CoreData

/// A model in which each entity is the parent of the next: the cost of an inherited property does not depend on the
/// depth.
@Suite struct LongHierarchyTests {
    private final class Steps: Sendable {
        let count = Atomic(0)
    }

    /// Counts the steps along the hierarchy.
    private final class SteppedEntity: NSEntityDescription, @unchecked Sendable {
        var steps: Steps?

        override var superentity: NSEntityDescription? {
            get {
                steps?.count.add(1, ordering: .relaxed)
                return super.superentity
            }
            set { super.superentity = newValue }
        }
    }

    /// The steps of creating and opening a store for a chain of `count` entities.
    private func steps(forChainOf count: Int) throws -> Int {
        let steps = Steps()
        let entities = (0..<count).map { number in
            let entity = SteppedEntity()
            entity.name = "E\(number)"
            let attribute = NSAttributeDescription()
            attribute.name = "a\(number)"
            attribute.attributeType = .stringAttributeType
            entity.properties = [attribute]
            return entity
        }
        for (parent, child) in zip(entities, entities.dropFirst()) { parent.subentities = [child] }
        let model = NSManagedObjectModel()
        model.entities = entities
        for entity in entities { entity.steps = steps }
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).sqlite")
        defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + suffix) } }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            type: .sqlite, configuration: nil, at: url, options: [NSPersistentHistoryTrackingKey: true])
        try coordinator.remove(store)
        return steps.count.load(ordering: .relaxed)
    }

    /// A chain twice as long has four times as many inherited properties.
    @Test func stepsFollowTheNumberOfInheritedProperties() throws {
        let (short, long) = (try steps(forChainOf: 50), try steps(forChainOf: 100))
        #expect(short > 0 && long < 5 * short, "\(short) steps for 50 entities, \(long) for 100")
    }

    @Test func inheritedPropertiesComeBeforeOwnOnes() throws {
        func entity(_ name: String, _ attributes: [String], _ toOne: String) -> NSEntityDescription {
            let entity = NSEntityDescription()
            entity.name = name
            let relationship = NSRelationshipDescription()
            relationship.name = toOne
            relationship.destinationEntity = entity
            relationship.maxCount = 1
            entity.properties =
                attributes.map { name in
                    let attribute = NSAttributeDescription()
                    attribute.name = name
                    attribute.attributeType = .stringAttributeType
                    return attribute
                } + [relationship]
            return entity
        }
        let parent = entity("Parent", ["z", "m"], "y")
        let child = entity("Child", ["b", "a"], "c")
        parent.subentities = [child]
        let model = NSManagedObjectModel()
        model.entities = [parent]
        #expect(child.layout.slots.map(\.name) == ["m", "z", "a", "b", "y", "c"])
        #expect(child.layout.place(of: "c") == .toOne(5) && parent.layout.place(of: "y") == .toOne(2))
        parent.properties.append(NSAttributeDescription())
        parent.properties.last?.name = "n"
        #expect(child.layout.slots.map(\.name) == ["m", "n", "z", "a", "b", "y", "c"])
    }
}
