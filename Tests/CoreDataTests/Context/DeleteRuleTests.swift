import Foundation
import Testing

@testable import CoreData

@Suite struct DeleteRuleTests {
    /// A saved team with players, a captain, a venue, a coach and fans, and the IDs of all.
    private func build(_ context: NSManagedObjectContext, coach: Bool = false) throws -> ClubTeam {
        let team = context.team()
        for name in ["Ada", "Bob"] {
            let player = context.make("Player", ["name": name, "team": team])
            player.setValue(NSSet(array: [context.make("Skill", ["name": "of \(name)"])]), forKey: "skills")
            team.captain = player
        }
        team.setValue(context.make("Venue", ["name": "Park"]), forKey: "venue")
        if coach { team.setValue(context.make("Coach", ["name": "Cy"]), forKey: "coach") }
        _ = context.make("Fan", ["name": "Dot", "team": team])
        _ = context.make("Note", ["text": "n", "about": team])
        try context.save()
        return team
    }

    private func count(_ entity: String, _ stack: ClubStack) throws -> Int {
        try stack.context().use { context in
            try context.count(for: NSFetchRequest<NSManagedObject>(entityName: entity))
        }
    }

    @Test(arguments: [false, true])
    func rulesReachEverythingTheyShould(readsAnew: Bool) throws {
        let stack = try ClubStack()
        let context = stack.context()
        try context.use { context in
            var team = try build(context)
            let venue = try #require(team.object("venue"))
            let fan = try #require((team.fans?.firstObject) as? NSManagedObject)
            if readsAnew {
                let id = team.objectID
                context.reset()
                team = try #require(context.object(with: id) as? ClubTeam)
            }
            let watched = readsAnew ? try #require(team.object("venue")) : venue
            let watchedFan = readsAnew ? try #require(team.fans?.firstObject as? NSManagedObject) : fan
            let notices = Notices(context)
            context.delete(team)
            #expect(watched.objects("teams") == [team], "rules act at the end of the event")
            context.processPendingChanges()
            let notice = try #require(notices.take().first)
            #expect(notice.objects(NSDeletedObjectsKey).count == 3, "the team and its players")
            #expect(notice.objects(NSUpdatedObjectsKey).contains(watched))
            #expect(watched.objects("teams").isEmpty && watchedFan.object("team") == nil)
            try context.save()
        }
        #expect(try count("Team", stack) == 0)
        #expect(try count("Player", stack) == 0, "cascade")
        #expect(try count("Skill", stack) == 2, "nullify, many to many")
        #expect(try count("Venue", stack) == 1 && count("Fan", stack) == 1 && count("Note", stack) == 1)
    }

    @Test func denyIsCheckedInTheSave() throws {
        let stack = try ClubStack()
        try stack.context().use { context in
            let team = try build(context, coach: true)
            context.delete(team)
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code == .validationRelationshipDeniedDelete && error?.validationKey == "coach")
            #expect(error?.validationObject as? NSManagedObject === team)
            #expect(team.isDeleted, "the deletion is still there to be saved")
            if let coach = team.object("coach") { context.delete(coach) }
            try context.save()
        }
        #expect(try count("Coach", stack) == 0 && count("Team", stack) == 0)
    }

    @Test func propagationCanWaitForTheSave() throws {
        let stack = try ClubStack()
        try stack.context().use { context in
            context.propagatesDeletesAtEndOfEvent = false
            let team = try build(context)
            context.delete(team)
            context.processPendingChanges()
            #expect(context.deletedObjects == [team])
            try context.save()
        }
        #expect(try count("Player", stack) == 0)
    }

    @Test func cascadesRunThroughCycles() throws {
        let ring = Club.entity("Ring", [Club.attribute("name", .stringAttributeType)])
        let next = NSRelationshipDescription()
        next.name = "next"
        next.maxCount = 1
        next.deleteRule = .cascadeDeleteRule
        next.destinationEntity = ring
        let previous = NSRelationshipDescription()
        previous.name = "previous"
        previous.maxCount = 1
        previous.deleteRule = .cascadeDeleteRule
        previous.destinationEntity = ring
        next.inverseRelationship = previous
        previous.inverseRelationship = next
        ring.properties += [next, previous]
        let model = NSManagedObjectModel()
        model.entities = [ring]
        let stack = try ClubStack(model: model)
        try stack.context().use { context in
            let rings = (0..<50).map { context.make("Ring", ["name": "\($0)"]) }
            for (index, ring) in rings.enumerated() { ring.setValue(rings[(index + 1) % 50], forKey: "next") }
            try context.save()
            context.delete(rings[17])
            try context.save()
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Ring")) == 0)
        }
    }
}
