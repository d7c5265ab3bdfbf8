import Foundation

/// Validation before a save: properties by their rules, deletions by deny rules.
enum ObjectValidation {
    /// Validates the properties of an object against the model.
    ///
    /// - Throws: The only error, or 1560 with all of them.
    static func validateProperties(of object: NSManagedObject) throws {
        guard !object.flags.contains(.inaccessible) else { return }
        object.fireIfNeeded()
        let context = object.managedObjectContext
        // The objects of a save use one in turn; a nested validation creates its own.
        let value = context?.validatedValue.take() ?? ValidatedValue()
        value.begin(object)
        defer {
            value.begin(nil)
            context?.validatedValue = value
        }
        try throwAll(errors(object, value))
    }

    // SAFETY: the object's layout, which does not change, retains the traits, and these retain their rules. The pointer
    // retains `value`, which owns the memory.
    private static func errors(_ object: NSManagedObject, _ value: ValidatedValue) -> [any Error] {
        var errors: [any Error] = []
        let pointer = AutoreleasingUnsafeMutablePointer(value)
        object.withTraits { traits in
            for (number, rule) in traits.heldRules.enumerated() {
                rule.with { rule in
                    if case .toMany(let list) = rule.place, !mayHaveChanged(list, object) { return }
                    value.begin(number)
                    do {
                        try object.validateValue(pointer, forKey: rule.key)
                        if !value.isUnchanged { object.setValue(value.memory.pointee, forKey: rule.key) }
                    } catch {
                        errors += details(of: error)
                    }
                }
            }
        }
        value.begin(0)
        return errors
    }

    private static func failure(_ rule: PropertyRule, _ object: NSManagedObject) -> NSError? {
        switch rule.place {
        case .attribute(let slot), .toOne(let slot): rule.failure(of: object.currentValue(slot), in: object)
        case .toMany(let number): countFailure(rule, number, object)
        case .fetched: nil
        }
    }

    /// False for an untouched relationship: it was valid when it was saved, and is not read for validation.
    private static func mayHaveChanged(_ number: Int, _ object: NSManagedObject) -> Bool {
        !object.flags.contains(.stored) || object.knownToManyState(number)?.hasChanges == true
    }

    private static func countFailure(_ rule: PropertyRule, _ number: Int, _ object: NSManagedObject) -> NSError? {
        guard mayHaveChanged(number, object) else { return nil }
        return rule.failure(ofCount: object.loadedToManyState(number).count, number, in: object)
    }

    // MARK: One value

    /// Validates a value. Cheap for the one that a save passes, unless an override replaced it.
    // SAFETY: see `errors`.
    static func validate(
        _ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, of object: NSManagedObject, for key: String
    ) throws {
        if let known = value.value, known.object === object, known.isUnchanged {
            let isDone = try object.withTraits { traits in
                try traits.heldRules[known.number].with { rule in
                    guard rule.key == key else { return false }
                    if rule.demandsAnything, let failure = failure(rule, object) { throw failure }
                    return true
                }
            }
            if isDone { return }
        }
        guard let place = object.layout.place(of: key) else { return }
        let rules = object.layout.traits.rules
        switch place {
        case .attribute(let slot):
            guard let attribute = object.layout.attribute(at: slot) else { return }
            let given = value.pointee
            guard let coerced = AttributeCoercion.unvalidatedSlotValue(given, type: attribute.attributeType) else {
                throw unacceptable(given, attribute, object)
            }
            if let failure = rules[slot].failure(of: coerced, in: object) { throw failure }
        case .toOne(let slot):
            let target = value.pointee as? NSManagedObject
            let reference: SlotValue = target.map { .reference($0.objectID) } ?? .null
            if let failure = rules[slot].failure(of: reference, in: object) { throw failure }
        case .toMany(let number):
            let members = value.pointee
            let count = (members as? NSSet)?.count ?? (members as? NSOrderedSet)?.count ?? 0
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

    /// The errors in a 1560, or the error itself, of any type.
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
