import Foundation
import Testing

@testable import CoreData

/// Relationships of every shape: effects of a change on the inverse, and of a deletion.
@Suite struct RelationshipRuleTests {
    private func withContext(_ body: (NSManagedObjectContext) throws -> Void) throws {
        try ShapeModel.stack().context().use(body)
    }

    @Test func aRelationshipMayBeItsOwnInverse() throws {
        try withContext { context in
            let (ada, bob, cy) = (context.make("Person"), context.make("Person"), context.make("Person"))
            ada.setValue(Set([bob, cy]), forKey: "friends")
            #expect(bob.objects("friends") == [ada] && cy.objects("friends") == [ada])
            bob.mutableSetValue(forKey: "friends").remove(ada)
            #expect(ada.objects("friends") == [cy])
            ada.setValue(bob, forKey: "partner")
            #expect(bob.object("partner") === ada)
            cy.setValue(bob, forKey: "partner")
            #expect(ada.object("partner") == nil && bob.object("partner") === cy)
            cy.setValue(cy, forKey: "partner")
            #expect(cy.object("partner") === cy && bob.object("partner") == nil, "with itself")
            try context.save()
            context.refreshAllObjects()
            #expect(cy.object("partner") === cy && ada.objects("friends") == [cy])
        }
    }

    @Test func aOneWayRelationshipChangesNothingElse() throws {
        try withContext { context in
            let (person, tag) = (context.make("Person"), context.make("Tag"))
            try context.save()
            person.setValue(tag, forKey: "mark")
            #expect(!tag.hasChanges && person.isUpdated)
            try context.save()
            context.delete(tag)
            try context.save()
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person")) == 1)
        }
    }

    @Test func primitiveValuesLeaveTheOtherSideAlone() throws {
        try withContext { context in
            let (guild, other) = (context.make("Guild"), context.make("Guild"))
            let (ada, bob) = (context.make("Person"), context.make("Person"))
            try context.save()
            ada.setPrimitiveValue(guild, forKey: "guild")
            #expect(ada.object("guild") === guild && guild.objects("members").isEmpty)
            other.setPrimitiveValue(Set([bob]), forKey: "members")
            #expect(other.objects("members") == [bob] && bob.object("guild") == nil)
            for object in [guild, other, ada, bob] { #expect(!object.hasChanges) }
            #expect(!context.hasChanges)
        }
    }

    @Test func noActionLeavesADanglingReference() throws {
        let stack = try ShapeModel.stack()
        try stack.context().use { context in
            let (person, badge) = (context.make("Person"), context.make("Badge"))
            person.setValue(badge, forKey: "badge")
            try context.save()
            context.delete(badge)
            try context.save()
            context.reset()
            let found = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).first)
            let dangling = try #require(found.object("badge"))
            #expect(dangling.isFault && dangling.value(forKey: "name") == nil && dangling.isDeleted)
        }
    }

    @Test func rulesAreInheritedAndSubclassesAddTheirs() throws {
        try withContext { context in
            let boss = context.make("Manager", ["name": "Ada"])
            let child = context.make("Person", ["name": "Bob", "parent": boss])
            let grandchild = context.make("Manager", ["name": "Cy", "parent": child])
            let report = context.make("Report", ["name": "R", "manager": grandchild])
            try context.save()
            #expect(grandchild.objects("reports") == [report])
            context.delete(boss)
            try context.save()
            for entity in ["Person", "Report"] {
                #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: entity)) == 0, "\(entity)")
            }
        }
    }

    @Test func denyConsidersTheRelationshipAtTheSave() throws {
        try withContext { context in
            let team = context.make("Guild", ["name": "Guild"])
            let member = context.make("Person", ["guild": team])
            try context.save()
            context.delete(team)
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code == .validationRelationshipDeniedDelete && error?.validationKey == "members")
            member.setValue(nil, forKey: "guild")
            try context.save()
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Guild")) == 0)
        }
    }

    @Test func addingByTheInverseAppends() throws {
        try withContext { context in
            let list = context.make("List")
            let songs = (0..<4).map { context.make("Song", ["name": "\($0)"]) }
            list.mutableOrderedSetValue(forKey: "songs").addObjects(from: [songs[2], songs[0]])
            songs[3].mutableSetValue(forKey: "lists").add(list)
            songs[1].setValue(Set([list]), forKey: "lists")
            #expect(list.names("songs") == ["2", "0", "3", "1"])
            try context.save()
            context.refreshAllObjects()
            #expect(list.names("songs") == ["2", "0", "3", "1"])
        }
    }

    @Test func aSetOnATwoSidedToOneMovesTheOldPartner() throws {
        try withContext { context in
            let (guild, other) = (context.make("Guild"), context.make("Guild"))
            let people = (0..<3).map { context.make("Person", ["name": "\($0)", "guild": guild]) }
            try context.save()
            other.setValue(Set(people[0...1]), forKey: "members")
            #expect(guild.objects("members") == [people[2]] && people[0].object("guild") === other)
            #expect(guild.isUpdated && other.isUpdated && people[1].isUpdated && !people[2].isUpdated)
        }
    }
}

/// A model with shapes of relationships that ``Club`` does not have.
///
/// `Person` (friends ⇄ friends, partner ⇄ partner, parent ⇄ children: cascade, guild ⇄ members: deny, mark → Tag,
/// badge → Badge: no action) ← `Manager` (reports: cascade ⇄ manager); `List` (songs, ordered ⇄ lists) and `Song`.
enum ShapeModel {
    static let model: NSManagedObjectModel = {
        func named(_ name: String) -> NSEntityDescription {
            Club.entity(name, [Club.attribute("name", .stringAttributeType)])
        }
        let person = named("Person")
        let manager = Club.entity("Manager", [])
        let (report, guild, tag, badge) = (named("Report"), named("Guild"), named("Tag"), named("Badge"))
        let (list, song) = (named("List"), named("Song"))
        func relationship(
            _ owner: NSEntityDescription, _ name: String, _ target: NSEntityDescription, many: Bool,
            _ rule: NSDeleteRule = .nullifyDeleteRule, inverse: NSRelationshipDescription? = nil
        ) -> NSRelationshipDescription {
            let made = NSRelationshipDescription()
            (made.name, made.destinationEntity, made.maxCount, made.deleteRule) = (name, target, many ? 0 : 1, rule)
            owner.properties += [made]
            if let inverse { (made.inverseRelationship, inverse.inverseRelationship) = (inverse, made) }
            return made
        }
        let friends = relationship(person, "friends", person, many: true)
        friends.inverseRelationship = friends
        let partner = relationship(person, "partner", person, many: false)
        partner.inverseRelationship = partner
        let children = relationship(person, "children", person, many: true, .cascadeDeleteRule)
        _ = relationship(person, "parent", person, many: false, inverse: children)
        let members = relationship(guild, "members", person, many: true, .denyDeleteRule)
        _ = relationship(person, "guild", guild, many: false, inverse: members)
        _ = relationship(person, "mark", tag, many: false)
        _ = relationship(person, "badge", badge, many: false, .noActionDeleteRule)
        let reports = relationship(manager, "reports", report, many: true, .cascadeDeleteRule)
        _ = relationship(report, "manager", manager, many: false, inverse: reports)
        let songs = relationship(list, "songs", song, many: true)
        songs.isOrdered = true
        _ = relationship(song, "lists", list, many: true, inverse: songs)
        person.subentities = [manager]
        let model = NSManagedObjectModel()
        model.entities = [person, manager, report, guild, tag, badge, list, song]
        return model
    }()

    static func stack() throws -> ClubStack { try ClubStack(model: model) }
}
