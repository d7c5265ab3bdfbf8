import CoreData
import Foundation
import Testing

/// A deletion wins the conflict with objects that another context added to the deleted one: the delete rules apply to
/// them, and their results are validated.
@MainActor @Suite struct DeletionConflictTests {
    private let desk: MigrationDesk
    private let container: NSPersistentContainer
    private let other: NSManagedObjectContext

    init() throws {
        desk = try MigrationDesk()
        let team = MigrationDesk.entity("Team", [MigrationDesk.attribute("name")])
        let player = MigrationDesk.entity("Player", [MigrationDesk.attribute("name")])
        let award = MigrationDesk.entity("Award", [MigrationDesk.attribute("name")])
        let fan = MigrationDesk.entity("Fan", [MigrationDesk.attribute("name")])
        let coach = MigrationDesk.entity("Coach", [MigrationDesk.attribute("name")])
        MigrationDesk.relate(team, "players", many: true, player, "team")
        MigrationDesk.relate(player, "awards", many: true, award, "player")
        MigrationDesk.relate(team, "fans", many: true, fan, "team")
        MigrationDesk.relate(team, "coach", coach, "team")
        team.relationshipsByName["players"]?.deleteRule = .cascadeDeleteRule
        team.relationshipsByName["fans"]?.deleteRule = .nullifyDeleteRule
        team.relationshipsByName["coach"]?.deleteRule = .nullifyDeleteRule
        player.relationshipsByName["awards"]?.deleteRule = .denyDeleteRule
        fan.relationshipsByName["team"]?.isOptional = false
        container = try desk.open(MigrationDesk.model([team, player, award, fan, coach]))
        other = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        other.persistentStoreCoordinator = container.persistentStoreCoordinator
        container.viewContext.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    }

    /// Reads a team with its relationships, lets `add` add an object to it elsewhere, and deletes the team.
    private func deleteTeam(_ add: (_ team: NSManagedObject) throws -> Void) throws -> [CocoaError.Code] {
        let context = container.viewContext
        let team = desk.insert("Team", ["name": "A"], context)
        try context.save()
        for name in ["players", "fans"] { #expect((team.value(forKey: name) as? NSSet)?.count == 0) }
        #expect(team.value(forKey: "coach") == nil)
        try add(try other.existingObject(with: team.objectID))
        try other.save()
        team.setValue("changed", forKey: "name")
        context.delete(team)
        do {
            try context.save()
            return []
        } catch let error as CocoaError {
            let details = error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? [error as NSError]
            context.rollback()
            return details.map { CocoaError.Code(rawValue: $0.code) }
        }
    }

    private func check() throws {
        let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
        #expect(try container.persistentStoreCoordinator.findings(in: store) == [])
    }

    @Test func cascadeAndNullifyApplyToAddedObjects() throws {
        let codes = try deleteTeam { team in
            desk.insert("Player", ["name": "late", "team": team], other)
            desk.insert("Coach", ["name": "late", "team": team], other)
        }
        #expect(codes == [])
        other.reset()
        #expect(try desk.all("Team", other, by: "name").isEmpty && desk.all("Player", other, by: "name").isEmpty)
        #expect(try desk.all("Coach", other, by: "name").map { $0.value(forKey: "team") == nil } == [true])
        try check()
    }

    @Test func aDenyRuleAppliesToAddedObjects() throws {
        let codes = try deleteTeam { team in
            let player = desk.insert("Player", ["name": "late", "team": team], other)
            desk.insert("Award", ["name": "cup", "player": player], other)
        }
        #expect(codes == [.validationRelationshipDeniedDelete])
        #expect(try desk.all("Player", other, by: "name").count == 1)
        try check()
    }

    @Test func anAddedObjectThatRequiresTheDeletedOneKeepsIt() throws {
        let codes = try deleteTeam { team in desk.insert("Fan", ["name": "late", "team": team], other) }
        #expect(codes == [.validationMissingMandatoryProperty])
        #expect(try desk.all("Team", other, by: "name").count == 1)
        try check()
    }
}
