import Foundation
import Testing

@testable import CoreData

/// Saves of others, as read by a context that merges nothing.
@Suite struct FreshnessTests {
    private func stack() throws -> (writer: NSManagedObjectContext, reader: NSManagedObjectContext) {
        let (coordinator, _) = try League.memoryStack()
        let writer = League.context(coordinator)
        try writer.performAndWait {
            writer.addTeam("Ghana", wins: 1).setValue(writer.addVenue("Accra", city: "old"), forKey: "venue")
            try writer.save()
        }
        return (writer, League.context(coordinator))
    }

    private func set(_ value: Any, _ keyPath: String, by writer: NSManagedObjectContext) throws {
        try writer.performAndWait {
            try writer.fetch(League.request("Team")).first?.setValue(value, forKeyPath: keyPath)
            try writer.save()
        }
    }

    @Test func anUnheldObjectIsReadAgain() throws {
        let (writer, reader) = try stack()
        let id = try reader.performAndWait {
            let team = try reader.fetch(League.request("Team"))[0]
            _ = team.value(forKeyPath: "venue.city")
            return team.objectID
        }
        try set(2, "wins", by: writer)
        try reader.performAndWait { () throws in
            #expect(try reader.existingObject(with: id).value(forKey: "wins") as? Int == 2)
        }
        try set("new", "venue.city", by: writer)
        try reader.performAndWait { () throws in
            #expect(try reader.fetch(League.request("Team"))[0].value(forKeyPath: "venue.city") as? String == "new")
        }
    }

    @Test(arguments: League.StoreKind.allCases)
    func anUnheldObjectIsReadAgainAfterAnotherProcess(on kind: League.StoreKind) throws {
        let place = try League.Place(kind)
        let writer = League.context(try place.coordinator())
        let reader = League.context(try place.coordinator())
        try writer.performAndWait {
            writer.addTeam("Ghana", wins: 1)
            try writer.save()
        }
        for wins in 2..<5 {
            try reader.performAndWait { () throws in
                _ = try reader.fetch(League.request("Team"))[0].value(forKey: "wins")
            }
            try set(wins, "wins", by: writer)
            try reader.performAndWait { () throws in
                #expect(try reader.fetch(League.request("Team"))[0].value(forKey: "wins") as? Int == wins)
            }
        }
    }

    @Test func anObjectWithValuesKeepsThemAndAFaultTakesTheNewRow() throws {
        let (writer, reader) = try stack()
        try reader.performAndWait { () throws in
            let fault = try reader.fetch(League.request("Team"))[0]
            try set(2, "wins", by: writer)
            let again = try reader.fetch(League.request("Team"))[0]
            #expect(again === fault)
            #expect(fault.value(forKey: "wins") as? Int == 2)
            try set(3, "wins", by: writer)
            #expect(try reader.fetch(League.request("Team"))[0].value(forKey: "wins") as? Int == 2)
            let refreshing = League.request("Team")
            refreshing.shouldRefreshRefetchedObjects = true
            #expect(try reader.fetch(refreshing)[0].value(forKey: "wins") as? Int == 3)
            try set(4, "wins", by: writer)
            reader.refresh(fault, mergeChanges: true)
            #expect(fault.value(forKey: "wins") as? Int == 4)
        }
    }
}
