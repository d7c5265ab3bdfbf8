import Foundation
import Testing

@testable import CoreData

@Suite struct DictionaryFetchTests {
    private func filled() throws -> NSManagedObjectContext {
        let (coordinator, _) = try League.memoryStack()
        let context = League.context(coordinator)
        try context.performAndWait { () throws in
            let venue = context.addVenue("Azteca", city: "México")
            context.addTeam("Mexico", zone: "CONCACAF", wins: 17).setValue(venue, forKey: "venue")
            context.addTeam("Panama", zone: "CONCACAF", wins: 0)
            context.addTeam("Iran", zone: "AFC", wins: 3)
            try context.save()
        }
        return context
    }

    private func request(_ properties: [Any]?) -> NSFetchRequest<NSDictionary> {
        let request = NSFetchRequest<NSDictionary>(entityName: "Team")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = properties
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return request
    }

    @Test func chosenPropertiesAndPathsComeFromTheStore() throws {
        let context = try filled()
        try context.performAndWait { () throws in
            context.addTeam("Unsaved")
            let rows = try context.fetch(request(["name", "venue.city", "venue"]))
            #expect(rows.map { $0["name"] as? String } == ["Iran", "Mexico", "Panama"])
            #expect(rows.map { $0["venue.city"] as? String } == [nil, "México", nil])
            #expect(rows[1]["venue"] is NSManagedObjectID)
            #expect(rows[0].count == 1)
        }
    }

    @Test func withoutAChoiceAllAttributesCome() throws {
        let context = try filled()
        try context.performAndWait { () throws in
            let rows = try context.fetch(request(nil))
            #expect(Set(rows[1].allKeys.compactMap { $0 as? String }) == ["name", "zone", "wins", "venue"])
            #expect(rows[1]["wins"] as? Int == 17)
        }
    }

    @Test func equalDictionariesComeOnceOnRequest() throws {
        let context = try filled()
        try context.performAndWait { () throws in
            let zones = request(["zone"])
            zones.returnsDistinctResults = true
            zones.sortDescriptors = [NSSortDescriptor(key: "zone", ascending: true)]
            #expect(try context.fetch(zones).map { $0["zone"] as? String } == ["AFC", "CONCACAF"])
            zones.fetchOffset = 1
            #expect(try context.fetch(zones).map { $0["zone"] as? String } == ["CONCACAF"])
        }
    }

    @Test func unsavedChangesAreNeverSeen() throws {
        let context = try filled()
        try context.performAndWait { () throws in
            let teams = try context.fetch(League.request("Team", by: "name"))
            teams[0].setValue(50, forKey: "wins")
            context.delete(teams[2])
            let rows = try context.fetch(request(["name", "wins"]))
            #expect(rows.map { $0["name"] as? String } == ["Iran", "Mexico", "Panama"])
            #expect(rows.map { $0["wins"] as? Int } == [3, 17, 0])
            let many = request(["name"])
            many.predicate = NSPredicate(format: "wins > 40")
            #expect(try context.fetch(many).isEmpty, "the edit does not match either")
        }
    }

    @Test func unfetchablePropertiesAreReported() throws {
        let context = try filled()
        try context.performAndWait { () throws in
            for property in ["rivals", "nothing"] {
                let error = try #require(
                    throws: NSError.self, performing: { try context.fetch(request([property])) })
                #expect(error.localizedDescription.contains(property))
            }
            let grouped = request(["zone"])
            grouped.propertiesToGroupBy = ["zone"]
            #expect(throws: NSError.self) { try context.fetch(grouped) }
        }
    }
}
