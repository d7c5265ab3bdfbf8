import Foundation
import Testing

@testable import CoreData

/// `validateValue(_:forKey:)` is called for every property of every object. Its value is created when an override reads
/// it.
@Suite struct ValidatedValueTests {
    private class Strict: NSManagedObject {
        var keys: [String] = []
        var onValue: ((AutoreleasingUnsafeMutablePointer<AnyObject?>, String) throws -> Void)?

        override func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
            keys.append(key)
            try onValue?(value, key)
            try super.validateValue(value, forKey: key)
        }
    }

    private final class Heir: Strict {}

    private static func model(_ type: NSManagedObject.Type) -> NSManagedObjectModel {
        let part = Club.entity("Part", [Club.attribute("name", .stringAttributeType)])
        let name = Club.attribute("name", .stringAttributeType)
        name.validation = PropertyValidation(rules: [.maximumLength(5)])
        let owner = Club.entity(
            "Owner", [name, Club.attribute("size", .integer16AttributeType)], className: String(reflecting: type))
        Club.relate(owner, "parts", many: true, .nullifyDeleteRule, part, "whole", many: false)
        owner.properties.append(Club.relationship("best", many: false, .nullifyDeleteRule, part))
        let model = NSManagedObjectModel()
        model.entities = [owner, part]
        ManagedObjectClasses.register(type, for: owner)
        return model
    }

    private func withOwner(
        _ type: NSManagedObject.Type = Strict.self, _ body: (NSManagedObjectContext, Strict) throws -> Void
    ) throws {
        let stack = try ClubStack(model: Self.model(type))
        try stack.context().use { context in
            let part = context.make("Part", ["name": "a"])
            let owner = try #require(
                context.make("Owner", ["name": "one", "size": 1, "parts": Set([part]), "best": part]) as? Strict)
            try body(context, owner)
        }
    }

    @Test(arguments: [false, true]) func itIsCalledForEachProperty(inherits: Bool) throws {
        try withOwner(inherits ? Heir.self : Strict.self) { context, owner in
            try context.save()
            #expect(owner.keys.sorted() == ["best", "name", "parts", "size"])
            owner.keys = []
            owner.setValue(2, forKey: "size")
            try context.save()
            #expect(owner.keys.sorted() == ["best", "name", "size"], "a list that did not change is not read for it")
        }
    }

    @Test func theValueIsTheObjects() throws {
        try withOwner { context, owner in
            var seen: [String: AnyObject] = [:]
            owner.onValue = { value, key in seen[key] = value.pointee }
            try context.save()
            #expect(seen["name"] as? String == "one" && seen["size"] as? Int == 1)
            #expect(seen["best"] as? NSManagedObject === owner.object("best"))
            #expect((seen["parts"] as? NSSet)?.count == 1)
        }
    }

    /// If no override reads the value, it is not created: the destination of a relationship stays unknown to the
    /// context.
    @Test func aValueThatNoOverrideReadsIsNotCreated() throws {
        try withOwner { context, owner in
            try context.save()
            let id = owner.objectID
            context.reset()
            let again = try #require(try context.existingObject(with: id) as? Strict)
            again.setValue(3, forKey: "size")
            try context.save()
            #expect(again.keys.contains("best") && context.registeredObjects == [again])
            again.onValue = { value, key in if key == "best" { _ = value.pointee } }
            again.setValue(4, forKey: "size")
            try context.save()
            #expect(context.registeredObjects.count == 2)
        }
    }

    @Test func aReplacedValueIsCheckedAndSet() throws {
        try withOwner { context, owner in
            func replace(_ text: String) {
                owner.onValue = { value, key in
                    if key == "name", value.pointee as? String != text { value.pointee = NSString(string: text) }
                }
            }
            replace("other")
            try context.save()
            #expect(owner.value(forKey: "name") as? String == "other")
            replace("too long")
            owner.setValue(9, forKey: "size")
            let error = try #require(throws: CocoaError.self) { try context.save() }
            #expect(error.code.rawValue == 1660 && owner.value(forKey: "name") as? String == "other")
        }
    }

    /// An override can validate another object or the same one again: each call has its own value.
    @Test func validationsMayBeNested() throws {
        try withOwner { context, owner in
            let other = try #require(context.make("Owner", ["name": "two", "size": 2]) as? Strict)
            var seen: [String] = []
            other.onValue = { value, key in if key == "name" { seen.append(value.pointee as? String ?? "") } }
            owner.onValue = { value, key in
                guard key == "name" else { return }
                try other.validateForInsert()
                seen.append(value.pointee as? String ?? "")
                var size: AnyObject? = NSNumber(value: 100_000)
                #expect(throws: CocoaError.self) { try other.validateValue(&size, forKey: "size") }
            }
            try owner.validateForInsert()
            #expect(seen == ["two", "one"])
        }
    }

    /// The pointer can be kept, but its value is not valid any more.
    @Test func aKeptPointerIsHarmless() throws {
        try withOwner { context, owner in
            var kept: AutoreleasingUnsafeMutablePointer<AnyObject?>?
            owner.onValue = { value, _ in kept = value }
            try context.save()
            #expect(kept?.pointee == nil)
            kept?.pointee = NSString(string: "late")
            owner.setValue(5, forKey: "size")
            try context.save()
            #expect(owner.value(forKey: "name") as? String == "one" && owner.value(forKey: "size") as? Int == 5)
        }
    }

    @Test func anObjectOutsideOfContextsIsValidated() throws {
        let entity = try #require(Self.model(Strict.self).entitiesByName["Owner"])
        let owner = Strict(entity: entity, insertInto: nil)
        owner.setValue("too long", forKey: "name")
        #expect(throws: CocoaError.self) { try owner.validateForInsert() }
        #expect(owner.keys.contains("name"))
    }
}
