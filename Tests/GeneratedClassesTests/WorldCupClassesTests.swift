import CoreData
import Testing

/// The sample's classes, as the plugin generates them for this module.
@MainActor @Suite struct WorldCupClassesTests {
    @Test func teamsAreInsertedAndFetchedWithTypedProperties() throws {
        let stack = try Stack("WorldCup")
        let japan = Team(context: stack.context)
        japan.teamName = "Japan"
        japan.qualifyingZone = "AFC"
        japan.wins = 7
        japan.wins += 1
        japan.favorite = true
        japan.firstAppearance = Date(timeIntervalSinceReferenceDate: 1_000)
        let venue = Venue(context: stack.context)
        venue.name = "Saitama Stadium"
        venue.opened = 2001
        japan.homeVenue = venue
        let location = Location(context: stack.context)
        location.latitude = 35.9
        venue.location = location
        try stack.reopened { context in
            let request = Team.fetchRequest()
            request.predicate = NSPredicate(format: "wins > %d", 7)
            request.sortDescriptors = [NSSortDescriptor(keyPath: \Team.wins, ascending: false)]
            let team = try #require(try context.fetch(request).first)
            #expect(team.teamName == "Japan" && team.wins == 8 && team.favorite && team.draws == 0)
            #expect(team.firstAppearance == Date(timeIntervalSinceReferenceDate: 1_000) && team.localName == nil)
            #expect(team.homeVenue?.opened == 2001 && team.homeVenue?.location?.latitude == 35.9)
            #expect(team.homeVenue?.location?.venue?.teams == NSSet(array: [team]))
            #expect(team.id == ObjectIdentifier(team))
        }
    }

    /// No code has to mention a class for its entity's objects to have it.
    @Test func objectsHaveTheGeneratedClass() throws {
        let stack = try Stack("WorldCup")
        let team = NSEntityDescription.insertNewObject(forEntityName: "Team", into: stack.context)
        #expect(type(of: team) == Team.self)
        #expect(Team.entity().name == "Team")
    }

    @Test func theCompiledModelIsInTheBundle() throws {
        let url = try #require(Bundle.module.url(forResource: "WorldCup", withExtension: "momd"))
        let model = try #require(NSManagedObjectModel(contentsOf: url))
        #expect(model.entitiesByName.keys.sorted() == ["Location", "Team", "Venue"])
        #expect(model.entitiesByName["Team"]?.managedObjectClassName == "Team")
        let merged = try #require(NSManagedObjectModel.mergedModel(from: [.module]))
        #expect(merged.entitiesByName["Team"] != nil && merged.entitiesByName["Book"] != nil)
        // Without bundles, those of the program count; several of its models have a venue, and the hashes say which is meant.
        let metadata: [String: Any] = [NSStoreModelVersionHashesKey: model.entityVersionHashesByName]
        let found = NSManagedObjectModel.mergedModel(from: nil, forStoreMetadata: metadata)
        #expect(found?.entitiesByName["Venue"]?.versionHash == model.entitiesByName["Venue"]?.versionHash)
    }
}
