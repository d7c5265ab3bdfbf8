import Foundation
import Testing

@testable import CoreData

/// The moment at which a pinned context's state begins.
@Suite struct QueryGenerationMomentTests {
    @Test func aStoreWithoutAWriteAheadLogShowsTheNewestState() throws {
        let world = try GenerationWorld(options: [NSSQLitePragmasOption: ["journal_mode": "delete"]])
        try world.pinned().use { context in
            #expect(try world.names(context) == ["Ghana"])
            try world.write("Togo")
            #expect(try world.names(context) == ["Ghana", "Togo"])
        }
    }

    @Test func registeredObjectsAreNotRefreshedByAnotherState() throws {
        let world = try GenerationWorld()
        try world.pinned().use { context in
            let ghana = try context.existingObject(with: world.id)
            #expect(ghana.value(forKey: "wins") as? Int == 1)
            try world.write("Togo")
            try context.setQueryGenerationFrom(.current)
            #expect(try context.names(League.request("Venue")) == ["Accra"])
            #expect(ghana.value(forKey: "wins") as? Int == 1)
            context.refreshAllObjects()
            #expect(ghana.value(forKey: "wins") as? Int == 2)
        }
    }

    @Test func theStateIsThatOfTheNextReading() throws {
        let world = try GenerationWorld()
        try world.pinned().use { context in
            try world.write("Togo")
            #expect(try world.names(context) == ["Ghana", "Togo"])
            try world.write("Mali")
            #expect(try world.names(context) == ["Ghana", "Togo"])
        }
    }
}
