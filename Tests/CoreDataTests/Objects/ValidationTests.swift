import Foundation
import Testing

@testable import CoreData

@Suite struct ValidationTests {
    /// A key, a value that its rule refuses, and the error code.
    nonisolated(unsafe) private static let refusals: [(String, Any, Int)] = [
        ("wins", -1, 1620), ("wins", 101, 1610), ("name", "x", 1670),
        ("name", String(repeating: "x", count: 21), 1660), ("code", "AbC", 1680), ("code", "ABCD", 1680),
        ("founded", Date(timeIntervalSinceReferenceDate: -1), 1640),
        ("founded", Date(timeIntervalSinceReferenceDate: 1001), 1630), ("name", NSNull(), 1570),
    ]

    @Test(arguments: refusals.indices)
    func eachRuleHasItsCode(index: Int) throws {
        let (key, value, code) = Self.refusals[index]
        try ClubStack().contextKeepingStack().use { context in
            let team = context.team()
            team.setValue(value, forKey: key)
            let error = try #require(throws: CocoaError.self) { try context.save() }
            #expect(error.code.rawValue == code && error.validationKey == key)
            #expect(error.validationObject as? NSManagedObject === team)
            #expect(error.localizedDescription.hasPrefix(key))
            #expect(context.insertedObjects == [team] && team.objectID.isTemporaryID, "nothing was saved")
        }
    }

    @Test func severalErrorsAreCombined() throws {
        try ClubStack().contextKeepingStack().use { context in
            let team = context.team("x")
            team.setValue(500, forKey: "wins")
            let player = context.make("Player")
            let error = try #require(throws: CocoaError.self) { try context.save() }
            #expect(error.code == .validationMultipleErrors)
            let details = try #require(error.userInfo[NSDetailedErrorsKey] as? [NSError])
            #expect(details.map(\.code).sorted() == [1570, 1610, 1670])
            let owners = details.compactMap { $0.userInfo[NSValidationObjectErrorKey] as? NSManagedObject }
            #expect(Set(owners) == [team, player])
        }
    }

    @Test func anIntegerMustFitItsType() throws {
        try ClubStack().contextKeepingStack().use { context in
            let venue = context.make("Venue", ["capacity": Int64(Int32.max) + 1])
            let error = try #require(throws: CocoaError.self) { try context.save() }
            #expect(error.code == .validationNumberTooLarge && error.validationKey == "capacity")
            venue.setValue(Int32.max, forKey: "capacity")
            try context.save()
        }
    }

    @Test func relationshipCountsAreChecked() throws {
        let owner = Club.entity("Owner", [])
        let part = Club.entity("Part", [])
        func relationship(_ name: String, _ destination: NSEntityDescription, _ counts: ClosedRange<Int>)
            -> NSRelationshipDescription
        {
            let made = NSRelationshipDescription()
            made.name = name
            made.destinationEntity = destination
            made.minCount = counts.lowerBound
            made.maxCount = counts.upperBound
            return made
        }
        let parts = relationship("parts", part, 2...3)
        let whole = relationship("whole", owner, 0...1)
        parts.inverseRelationship = whole
        whole.inverseRelationship = parts
        whole.isOptional = false
        owner.properties = [parts]
        part.properties = [whole]
        let model = NSManagedObjectModel()
        model.entities = [owner, part]
        let stack = try ClubStack(model: model)
        try stack.context().use { context in
            let object = context.make("Owner")
            try context.save()
            for expected in [1580, 0, 0, 1590] {
                _ = context.make("Part", ["whole": object])
                if expected == 0 {
                    try context.save()
                } else {
                    let error = try #require(throws: CocoaError.self) { try context.save() }
                    #expect(error.code.rawValue == expected && error.validationKey == "parts")
                }
            }
            if let last = object.objects("parts").first { context.delete(last) }
            try context.save()
            _ = context.make("Part")
            let error = try #require(throws: CocoaError.self) { try context.save() }
            #expect(error.code == .validationMissingMandatoryProperty && error.validationKey == "whole")
        }
    }

    @Test func validationMayChangeTheObject() throws {
        try ClubStack().contextKeepingStack().use { context in
            let team = context.team("Rovers")
            team.onValidate = { if $0.wins == 0 { $0.wins = 1 } }
            try context.save()
            #expect(team.wins == 1 && !context.hasChanges)
        }
    }

    @Test func aValueIsValidatedByKey() throws {
        try ClubStack().contextKeepingStack().use { context in
            let team = context.team()
            var value: AnyObject? = NSNumber(value: 7)
            try team.validateValue(&value, forKey: "wins")
            value = NSNumber(value: 700)
            let large = #expect(throws: CocoaError.self) { try team.validateValue(&value, forKey: "wins") }
            #expect(large?.code == .validationNumberTooLarge)
            value = "seven" as AnyObject
            let wrong = #expect(throws: CocoaError.self) { try team.validateValue(&value, forKey: "wins") }
            #expect(wrong?.code == .managedObjectValidation)
            #expect(wrong?.localizedDescription.contains("desired type = NSNumber") == true)
            #expect(team.wins == 0)
        }
    }

    @Test func defaultsAreThereFromTheStart() throws {
        try ClubStack().contextKeepingStack().use { context in
            let team = context.make("Team")
            #expect(team.value(forKey: "wins") as? Int == 0 && team.value(forKey: "favorite") as? Bool == false)
            #expect(team.value(forKey: "name") == nil)
            #expect(Set(team.changedValues().keys) == ["rating"], "which awakeFromInsert sets")
        }
    }
}
