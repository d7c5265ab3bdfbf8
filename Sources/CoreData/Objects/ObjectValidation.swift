import Foundation

/// The checks before a save: each property against its rule, deletions against deny rules.
enum ObjectValidation {
    /// - Throws: the one error there is, or 1560 with all of them.
    static func validateProperties(of object: NSManagedObject) throws {
        guard !object.flags.contains(.inaccessible) else { return }
        object.fireIfNeeded()
        try throwAll(ValidationOverride.exists(in: type(of: object)) ? errors(object) : quickErrors(object))
    }

    /// Without calling `validateValue(_:forKey:)`, which is not overridden.
    // SAFETY: the traits hold the rules in `rules`, and the object's layout holds the traits.
    private static func quickErrors(_ object: NSManagedObject) -> [any Error] {
        var errors: [any Error] = []
        object.withTraits { traits in
            for rule in traits.demandingRules {
                if let failure = rule._withUnsafeGuaranteedRef({ failure($0, object) }) { errors.append(failure) }
            }
        }
        return errors
    }

    private static func failure(_ rule: PropertyRule, _ object: NSManagedObject) -> NSError? {
        switch rule.place {
        case .attribute(let slot), .toOne(let slot): rule.failure(of: object.currentValue(slot), in: object)
        case .toMany(let number): countFailure(rule, number, object)
        case .fetched: nil
        }
    }

    private static func errors(_ object: NSManagedObject) -> [any Error] {
        var errors: [any Error] = []
        for rule in object.layout.traits.rules {
            do {
                switch rule.place {
                case .attribute(let slot): try validateAttribute(rule, slot, object)
                case .toOne(let slot):
                    let before = object.toOneTarget(slot)
                    var target: AnyObject? = before
                    try object.validateValue(&target, forKey: rule.property.name)
                    if target !== before { object.setValue(target, forKey: rule.property.name) }
                case .toMany(let number): try validateMembers(rule, number, object)
                case .fetched: break
                }
            } catch {
                errors += details(of: error)
            }
        }
        return errors
    }

    private static func validateAttribute(_ rule: PropertyRule, _ slot: Int, _ object: NSManagedObject) throws {
        let key = rule.property.name
        let type = object.layout.attribute(at: slot)?.attributeType ?? .undefinedAttributeType
        let before = AttributeCoercion.object(object.currentValue(slot), type: type)
        var value = before
        object.managedObjectContext?.valueInValidation = ValueInValidation(
            object: ObjectIdentifier(object), slot: slot, key: key, value: before)
        defer { object.managedObjectContext?.valueInValidation = nil }
        try object.validateValue(&value, forKey: key)
        if value !== before { object.setValue(value, forKey: key) }
    }

    /// The value that `validateValue(_:forKey:)` was just called with: when the call arrives here unchanged, the slot is
    /// checked without taking the value apart again.
    struct ValueInValidation {
        let object: ObjectIdentifier
        let slot: Int
        let key: String
        let value: AnyObject?
    }

    private static func validateMembers(_ rule: PropertyRule, _ number: Int, _ object: NSManagedObject) throws {
        guard mayHaveChanged(number, object) else { return }
        let before = KeyValueAccess.collection(of: object, number: number)
        var members: AnyObject? = before
        try object.validateValue(&members, forKey: rule.property.name)
        if members !== before { object.setValue(members, forKey: rule.property.name) }
    }

    /// A relationship that was not touched was valid when it was saved, and is not read for this.
    private static func mayHaveChanged(_ number: Int, _ object: NSManagedObject) -> Bool {
        !object.flags.contains(.stored) || object.knownToManyState(number)?.hasChanges == true
    }

    private static func countFailure(_ rule: PropertyRule, _ number: Int, _ object: NSManagedObject) -> NSError? {
        guard mayHaveChanged(number, object) else { return nil }
        return rule.failure(ofCount: object.loadedToManyState(number).count, number, in: object)
    }

    // MARK: One value

    // SAFETY: the caller holds the variable during the call.
    static func validate(
        _ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, of object: NSManagedObject, for key: String
    ) throws {
        if let known = object.managedObjectContext?.valueInValidation, known.object == ObjectIdentifier(object),
            known.value === value.pointee, known.key == key
        {
            let rule = object.layout.traits.rules[known.slot]
            if let failure = rule.failure(of: object.currentValue(known.slot), in: object) { throw failure }
            return
        }
        guard let place = object.layout.place(of: key) else { return }
        let rules = object.layout.traits.rules
        switch place {
        case .attribute(let slot):
            guard let attribute = object.layout.attribute(at: slot) else { return }
            guard let coerced = AttributeCoercion.slotValue(value.pointee, for: attribute) else {
                throw unacceptable(value.pointee, attribute, object)
            }
            if let failure = rules[slot].failure(of: coerced, in: object) { throw failure }
        case .toOne(let slot):
            let target = value.pointee as? NSManagedObject
            let reference: SlotValue = target.map { .reference($0.objectID) } ?? .null
            if let failure = rules[slot].failure(of: reference, in: object) { throw failure }
        case .toMany(let number):
            let count = (value.pointee as? NSSet)?.count ?? (value.pointee as? NSOrderedSet)?.count ?? 0
            let rule = rules[object.layout.slots.count + number]
            if let failure = rule.failure(ofCount: count, number, in: object) { throw failure }
        case .fetched: return
        }
    }

    private static func unacceptable(
        _ value: AnyObject?, _ attribute: NSAttributeDescription, _ object: NSManagedObject
    ) -> NSError {
        var info: [String: Any] = [NSValidationObjectErrorKey: object, NSValidationKeyErrorKey: attribute.name]
        info[NSValidationValueErrorKey] = value
        return CoreDataError.make(1550, KeyValueAccess.unacceptableMessage(attribute, value), userInfo: info)
    }

    // MARK: Deletion

    static func validateDeletion(of object: NSManagedObject) throws {
        guard !object.flags.contains(.inaccessible) else { return }
        var errors: [any Error] = []
        for (slot, property) in object.layout.slots.enumerated().dropFirst(object.layout.attributeCount) {
            guard let relationship = property as? NSRelationshipDescription, relationship.deleteRule == .denyDeleteRule,
                let target = object.toOneTarget(slot), !target.isDeleted
            else { continue }
            errors.append(denied(relationship, object, target))
        }
        for (number, relationship) in object.layout.toManyRelationships.enumerated()
        where relationship.deleteRule == .denyDeleteRule {
            guard object.toManyTargets(number).contains(where: { !$0.isDeleted }) else { continue }
            errors.append(denied(relationship, object, KeyValueAccess.collection(of: object, number: number)))
        }
        try throwAll(errors)
    }

    private static func denied(
        _ relationship: NSRelationshipDescription, _ object: NSManagedObject, _ value: Any
    ) -> NSError {
        CoreDataError.make(
            1600, "Items cannot be deleted from \(relationship.name).",
            userInfo: [
                NSValidationObjectErrorKey: object, NSValidationKeyErrorKey: relationship.name,
                NSValidationValueErrorKey: value,
            ])
    }

    // MARK: Several errors

    /// The errors that an error stands for: those in a 1560, else itself, of whatever type it is.
    static func details(of error: any Error) -> [any Error] {
        let known = error as NSError
        guard known.domain == NSCocoaErrorDomain, known.code == 1560,
            let details = known.userInfo[NSDetailedErrorsKey] as? [NSError]
        else { return [error] }
        return details
    }

    static func throwAll(_ errors: [any Error]) throws {
        guard let first = errors.first else { return }
        if errors.count == 1 { throw first }
        let texts = errors.prefix(3).map(\.localizedDescription).joined(separator: " ")
        throw CoreDataError.make(
            1560, "Multiple validation errors occurred.",
            userInfo: [
                NSDetailedErrorsKey: errors.map { $0 as NSError },
                "reason": "\(errors.count) values are not valid: \(texts)",
            ])
    }
}
