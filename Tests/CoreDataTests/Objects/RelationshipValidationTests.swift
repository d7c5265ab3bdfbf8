import Foundation
import Testing

@testable import CoreData

/// Validation of relationships in overridden methods, with errors of the program.
@Suite struct RelationshipValidationTests {
    private final class Choosy: NSManagedObject {
        var keys: Set<String> = []

        override func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
            keys.insert(key)
            try super.validateValue(value, forKey: key)
            if key == "best" { value.pointee = nil }
            if key == "parts", let parts = value.pointee as? NSSet, parts.count > 1 {
                value.pointee = NSSet(object: try #require(parts.anyObject()))
            }
        }
    }

    private static func model(maximum: Int = 0) -> NSManagedObjectModel {
        let part = Club.entity("Part", [Club.attribute("name", .stringAttributeType)])
        let owner = Club.entity(
            "Owner", [Club.attribute("name", .stringAttributeType)],
            className: maximum == 0 ? String(reflecting: Choosy.self) : "NSManagedObject")
        let parts = Club.relate(owner, "parts", many: true, .nullifyDeleteRule, part, "whole", many: false)
        parts.maxCount = maximum
        owner.properties.append(Club.relationship("best", many: false, .nullifyDeleteRule, part))
        let model = NSManagedObjectModel()
        model.entities = [owner, part]
        if maximum == 0 { ManagedObjectClasses.register(Choosy.self, for: owner) }
        return model
    }

    @Test func eachPropertyIsValidatedAndMayBeReplaced() throws {
        let stack = try ClubStack(model: Self.model())
        try stack.context().use { context in
            let parts = ["a", "b"].map { context.make("Part", ["name": $0]) }
            let made = context.make("Owner", ["parts": Set(parts), "best": parts[0]])
            let owner = try #require(made as? Choosy)
            try context.save()
            #expect(owner.keys == ["name", "parts", "best"])
            #expect(owner.object("best") == nil && owner.objects("parts").count == 1)
            owner.keys = []
            owner.setValue("new", forKey: "name")
            try context.save()
            #expect(!owner.keys.contains("parts"), "a list that nobody changed is not read for this")
        }
    }

    @Test func aMaximumCountErrorContainsTheMembers() throws {
        let stack = try ClubStack(model: Self.model(maximum: 2))
        try stack.context().use { context in
            let parts = (0..<3).map { context.make("Part", ["name": "\($0)"]) }
            _ = context.make("Owner", ["parts": Set(parts)])
            let error = try #require(throws: CocoaError.self) { try context.save() }
            #expect(error.code.rawValue == 1590 && (error.validationValue as? NSSet)?.count == 3)
        }
    }

    @Test func errorsOfTheProgramAreThrownUnchanged() throws {
        struct Mine: Error, Equatable { let number: Int }
        let stack = try ClubStack()
        try stack.context().use { context in
            let team = context.team()
            team.onValidate = { _ in throw Mine(number: 3) }
            #expect(throws: Mine(number: 3)) { try context.save() }
            let other = context.team()
            other.onValidate = { _ in throw Mine(number: 4) }
            let error = try #require(throws: CocoaError.self) { try context.save() }
            #expect(error.code.rawValue == 1560)
            #expect((error.userInfo[NSDetailedErrorsKey] as? [any Error])?.count == 2)
        }
    }
}
