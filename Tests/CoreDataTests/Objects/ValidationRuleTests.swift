import Foundation
import Testing

@testable import CoreData

/// Statements of Apple's documentation about validation.
@Suite struct ValidationRuleTests {
    private func withContext(_ body: (NSManagedObjectContext) throws -> Void) throws {
        let number = Club.attribute("number", .integer16AttributeType)
        number.validation = PropertyValidation(rules: [.maximum(.integer(10), code: 1610)])
        let name = Club.attribute("name", .stringAttributeType, optional: false)
        let scratch = Club.attribute("scratch", .integer32AttributeType)
        scratch.isTransient = true
        scratch.validation = PropertyValidation(rules: [.maximum(.integer(5), code: 1610)])
        let entity = Club.entity("Checked", [number, name, scratch], className: "CheckedObject")
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let stack = try ClubStack(model: model)
        try stack.context().use(body)
    }

    private func make(_ context: NSManagedObjectContext) -> CheckedObject {
        let object = CheckedObject(context: context)
        object.setValue("Ada", forKey: "name")
        return object
    }

    @Test func theModelsRulesAreCheckedBeforeTheProgramsOwn() throws {
        try withContext { context in
            let object = make(context)
            object.checksNumber = true
            object.setValue(7, forKey: "number")
            let own = try #require(throws: CocoaError.self) { try context.save() }
            #expect(own.code == .managedObjectValidation && own.validationKey == "number")
            object.setValue(11, forKey: "number")
            let models = try #require(throws: CocoaError.self) { try context.save() }
            #expect(models.code == .validationNumberTooLarge)
            object.setValue(8, forKey: "number")
            try context.save()
        }
    }

    @Test func theProgramsCheckIsSkippedIfTheModelsFails() throws {
        try withContext { context in
            let object = make(context)
            object.checksNumber = true
            object.setValue(14, forKey: "number")
            let models = try #require(throws: CocoaError.self) { try context.save() }
            #expect(models.code == .validationNumberTooLarge && object.ownChecks == 0)
            object.setValue(7, forKey: "number")
            let own = try #require(throws: CocoaError.self) { try context.save() }
            #expect(own.code == .managedObjectValidation && object.ownChecks == 1)
        }
    }

    @Test func validationMayReplaceTheValue() throws {
        try withContext { context in
            let object = make(context)
            object.trimsName = true
            object.setValue("  Ada ", forKey: "name")
            try context.save()
            #expect(object.value(forKey: "name") as? String == "Ada" && !object.hasChanges)
            context.refresh(object, mergeChanges: false)
            #expect(object.value(forKey: "name") as? String == "Ada", "and that is saved")
        }
    }

    @Test func onesOwnErrorsJoinTheOthers() throws {
        try withContext { context in
            let object = make(context)
            object.checksNumber = true
            object.setValue(7, forKey: "number")
            object.setValue(nil, forKey: "name")
            let error = try #require(throws: CocoaError.self) { try context.save() }
            #expect(error.code == .validationMultipleErrors)
            let details = try #require(error.userInfo[NSDetailedErrorsKey] as? [NSError])
            #expect(Set(details.map(\.code)) == [1550, 1570])
        }
    }

    @Test func transientValuesAreValidatedToo() throws {
        try withContext { context in
            let object = make(context)
            object.setValue(6, forKey: "scratch")
            let error = try #require(throws: CocoaError.self) { try context.save() }
            #expect(error.validationKey == "scratch")
            object.setValue(5, forKey: "scratch")
            try context.save()
        }
    }

    /// A transient required attribute of a fetched object has its default value.
    @Test func transientValuesStartAgainAtTheirDefaults() throws {
        let state = Club.attribute("state", .integer16AttributeType, optional: false)
        state.isTransient = true
        state.defaultValue = 3
        let entity = Club.entity("Checked", [state, Club.attribute("name", .stringAttributeType)])
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let stack = try ClubStack(model: model)
        try stack.context().use { context in
            let object = NSManagedObject(entity: entity, insertInto: context)
            object.setValue(4, forKey: "state")
            try context.save()
            #expect(object.value(forKey: "state") as? Int == 4)
        }
        try stack.context().use { context in
            let object = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Checked")).first)
            #expect(object.value(forKey: "state") as? Int == 3)
            object.setValue("Ada", forKey: "name")
            #expect(object.changedValues().count == 1)
            try context.save()
            #expect(object.value(forKey: "state") as? Int == 3)
            object.setValue(5, forKey: "state")
            context.refresh(object, mergeChanges: true)
            #expect(object.value(forKey: "state") as? Int == 5)
            context.refresh(object, mergeChanges: false)
            #expect(object.value(forKey: "state") as? Int == 3 && !object.hasChanges)
        }
    }

    @Test func updatesAreValidatedAsInsertionsAre() throws {
        try withContext { context in
            let object = make(context)
            try context.save()
            object.setValue(nil, forKey: "name")
            let error = try #require(throws: CocoaError.self) { try context.save() }
            #expect(
                error.code == .validationMissingMandatoryProperty
                    && error.validationObject as? NSManagedObject === object)
            context.delete(object)
            try context.save()
        }
    }
}

final class CheckedObject: NSManagedObject {
    /// Refuses multiples of seven.
    var checksNumber = false
    var ownChecks = 0
    var trimsName = false

    /// Replaces `validateNumber(_:)` and `validateName(_:)` of Apple's framework.
    override func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
        try super.validateValue(value, forKey: key)
        switch key {
        case "name" where trimsName:
            let text = value.pointee as? String ?? ""
            let trimmed = text.trimmingCharacters(in: .whitespaces)
            if trimmed != text { value.pointee = NSString(string: trimmed) }
        case "number" where checksNumber:
            ownChecks += 1
            guard let number = (value.pointee as? NSNumber)?.intValue, number % 7 == 0 else { return }
            throw CocoaError(
                .managedObjectValidation,
                userInfo: [NSValidationObjectErrorKey: self, NSValidationKeyErrorKey: key])
        default: break
        }
    }
}
