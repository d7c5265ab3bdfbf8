import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Derived values that depend on other objects, in contexts that did not make the change.
@Suite struct DerivedDependentsTests {
    /// A firm in a city with one person, read in a sibling of the context that saved it.
    private struct World {
        let stack: ClubStack
        let writer: NSManagedObjectContext
        let reader: NSManagedObjectContext
        let ids: [NSManagedObjectID]

        init(automatic: Bool) throws {
            stack = try ClubStack(model: DerivedAttributeTests.model())
            (writer, reader) = (stack.context(), stack.context())
            ids = try writer.use { writer in
                let city = writer.make("City", ["name": "Accra"])
                let firm = writer.make("Firm", ["name": "Old", "city": city])
                let person = writer.make("Person", ["name": "Ada", "firm": firm, "salary": 2.0])
                try writer.save()
                return [city, firm, person].map(\.objectID)
            }
            reader.automaticallyMergesChangesFromParent = automatic
        }

        /// Renames the city and the firm and adds a person, which changes the derived values of all of them.
        func change() throws -> Notification {
            let notices = Notices(writer, [.NSManagedObjectContextDidSave])
            try writer.use { writer in
                try writer.existingObject(with: ids[0]).setValue("Lagos", forKey: "name")
                let firm = try writer.existingObject(with: ids[1])
                firm.setValue("New", forKey: "name")
                _ = writer.make("Person", ["name": "Bob", "firm": firm, "salary": 3.0])
                try writer.save()
            }
            return try #require(notices.take().first)
        }
    }

    private func values(_ objects: [NSManagedObject]) -> [String] {
        let (firm, person) = (objects[1], objects[2])
        return [
            firm.value(forKey: "staffCount"), firm.value(forKey: "pay"), person.value(forKey: "firmName"),
            person.value(forKey: "cityName"), person.value(forKey: "colleagues"),
        ].map { "\($0 ?? "nil")" }
    }

    @Test(arguments: [false, true])
    func dependentsInOtherContextsFollow(automatic: Bool) throws {
        let world = try World(automatic: automatic)
        let objects = try world.reader.use { reader in
            let objects = try world.ids.map { try reader.existingObject(with: $0) }
            #expect(values(objects).map { $0.replacing(".0", with: "") } == ["1", "2", "Old", "Accra", "1"])
            return UncheckedSendable(objects)
        }
        let saved = try world.change()
        #expect(saved.objects(NSUpdatedObjectsKey).map(\.objectID).contains(world.ids[2]), "the person did not change")
        if !automatic { world.reader.mergeInPlace(saved) }
        try eventually("the reader follows") {
            try world.reader.use { _ in values(objects.value).map { $0.replacing(".0", with: "") } }
                == ["2", "5", "New", "Lagos", "2"]
        }
        try world.reader.use { reader in
            #expect(!reader.hasChanges)
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.predicate = NSPredicate(format: "firm.staffCount = 2 AND cityName = 'Lagos' AND name = 'Ada'")
            let count = try reader.count(for: request)
            #expect(count == 1)
        }
    }

    @Test func dependentsInAChildFollowItsParentsSave() throws {
        let world = try World(automatic: false)
        let child = world.writer.child()
        try child.use { child in
            let objects = try world.ids.map { try child.existingObject(with: $0) }
            #expect(values(objects)[2] == "Old")
            _ = try world.change()
            child.refreshAllObjects()
            #expect(values(objects).map { $0.replacing(".0", with: "") } == ["2", "5", "New", "Lagos", "2"])
        }
    }
}

extension NSManagedObjectContext {
    fileprivate func mergeInPlace(_ saved: Notification) {
        let saved = UncheckedSendable(saved)
        performAndWait { mergeChanges(fromContextDidSave: saved.value) }
    }
}
