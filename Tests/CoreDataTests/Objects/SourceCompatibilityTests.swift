import Foundation
import Testing

@testable import CoreData

// A class as Xcode generates it for a model, with @Managed instead of @NSManaged.

public class Squad: NSManagedObject {}

extension Squad {
    @nonobjc public class func fetchRequest() -> NSFetchRequest<Squad> { NSFetchRequest<Squad>(entityName: "Squad") }
}

extension Squad: Identifiable {}

public class Member: NSManagedObject {
    @Managed public var name: String?
    @Managed public var number: Int16
    @Managed public var weight: Double
    @Managed public var share: Float
    @Managed public var isActive: Bool
    @Managed public var joined: Date?
    @Managed public var photo: Data?
    @Managed public var token: UUID?
    @Managed public var page: URL?
    @Managed public var wage: NSDecimalNumber?
    @Managed public var bonus: Decimal?
    @Managed public var rank: NSNumber?
    @Managed public var score: Int?
    @Managed public var tags: NSObject?
    @Managed public var squad: MemberSquad?
}

public final class MemberSquad: NSManagedObject {
    @Managed public var title: String?
    @Managed public var members: NSSet?

    public func addToMembers(_ value: Member) { mutableSetValue(forKey: "members").add(value) }
    public func removeFromMembers(_ values: NSSet) {
        for value in values { mutableSetValue(forKey: "members").remove(value) }
    }
}

@Suite struct SourceCompatibilityTests {
    private static let model: NSManagedObjectModel = {
        let types: [(String, NSAttributeType)] = [
            ("name", .stringAttributeType), ("number", .integer16AttributeType), ("weight", .doubleAttributeType),
            ("share", .floatAttributeType), ("isActive", .booleanAttributeType), ("joined", .dateAttributeType),
            ("photo", .binaryDataAttributeType), ("token", .UUIDAttributeType), ("page", .URIAttributeType),
            ("wage", .decimalAttributeType), ("bonus", .decimalAttributeType), ("rank", .integer64AttributeType),
            ("score", .integer32AttributeType), ("tags", .transformableAttributeType),
        ]
        let member = Club.entity("Member", types.map { Club.attribute($0, $1) }, className: ".Member")
        let squad = Club.entity(
            "MemberSquad", [Club.attribute("title", .stringAttributeType)], className: "CoreDataTests.MemberSquad")
        let plain = Club.entity("Squad", [], className: "Squad")
        let there = NSRelationshipDescription()
        there.name = "squad"
        there.maxCount = 1
        there.destinationEntity = squad
        let back = NSRelationshipDescription()
        back.name = "members"
        back.destinationEntity = member
        there.inverseRelationship = back
        back.inverseRelationship = there
        member.properties += [there]
        squad.properties += [back]
        let model = NSManagedObjectModel()
        model.entities = [member, squad, plain]
        return model
    }()

    @Test func typedPropertiesOfEveryKind() throws {
        let stack = try ClubStack(model: Self.model)
        let id = try stack.context().use { context in
            let member = Member(context: context)
            #expect(member.name == nil && member.number == 0 && !member.isActive && member.score == nil)
            #expect(member.rank == nil && member.squad == nil && member.wage == nil)
            member.name = "Ada"
            member.number = -7
            member.weight = 61.5
            member.share = 0.25
            member.isActive = true
            member.joined = Date(timeIntervalSinceReferenceDate: 5)
            member.photo = Data([9])
            member.token = UUID(uuidString: "00000000-0000-0000-0000-00000000000A")
            member.page = URL(string: "https://example.org")
            member.wage = NSDecimalNumber(string: "1.25")
            member.bonus = Decimal(string: "0.5")
            member.rank = 12
            member.score = 3
            let squad = MemberSquad(context: context)
            squad.title = "First"
            squad.addToMembers(member)
            #expect(member.squad === squad)
            try context.save()
            return member.objectID
        }
        try stack.context().use { context in
            let member = try #require(try context.existingObject(with: id) as? Member)
            #expect(member.name == "Ada" && member.number == -7 && member.weight == 61.5 && member.share == 0.25)
            #expect(member.isActive && member.joined == Date(timeIntervalSinceReferenceDate: 5))
            #expect(member.photo == Data([9]) && member.page?.host == "example.org")
            #expect(member.token?.uuidString.hasSuffix("A") == true)
            #expect(member.wage == NSDecimalNumber(string: "1.25") && member.bonus == Decimal(string: "0.5"))
            #expect(member.rank == 12 && member.score == 3)
            let squad = try #require(member.squad)
            #expect(squad.title == "First" && squad.members as? Set<Member> == [member])
            squad.removeFromMembers(NSSet(array: [member]))
            #expect(member.squad == nil)
            member.score = nil
            member.joined = nil
            #expect(member.value(forKey: "score") == nil && member.value(forKey: "joined") == nil)
        }
    }

    @Test func requestsOfClasses() throws {
        let stack = try ClubStack(model: Self.model)
        try stack.context().use { context in
            let squad = Squad(context: context)
            let typed: [Squad] = try context.fetch(Squad.fetchRequest())
            #expect(typed == [squad] && typed[0].id == ObjectIdentifier(squad))
            #expect(Squad.entity().name == "Squad")
            let erased: NSFetchRequest<NSFetchRequestResult> = MemberSquad.fetchRequest()
            #expect(erased.entityName == "MemberSquad")
        }
    }
}
