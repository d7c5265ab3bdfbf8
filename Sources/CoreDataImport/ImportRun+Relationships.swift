import CoreData

/// The last step of an import: relationships are set when all objects exist.
extension ImportRun {
    /// Sets the relationships of an object from its record.
    ///
    /// - Returns: `true` if the object, or a part of it, was changed.
    mutating func relate(_ object: NSManagedObject, _ fields: ImportFields, _ plan: ImportPlan) throws -> Bool {
        let shape = plan.shape(of: fields)
        var isChanged = false
        for index in plan.relationships {
            let rule = plan.rules[index]
            guard let value = shape.value(of: index, in: fields) else { continue }
            do {
                switch rule.kind {
                case .toOne(_, let slot):
                    if try setToOne(value, of: object, slot, rule) { isChanged = true }
                case .toMany(let relationship, let number):
                    if try setToMany(value, of: object, number, relationship, rule) { isChanged = true }
                case .attribute: break
                }
            } catch let problem as ImportProblem {
                throw problem.below(rule.name, value: value)
            }
        }
        return isChanged
    }

    private mutating func setToOne(
        _ value: ImportValue, of object: NSManagedObject, _ slot: Int, _ rule: ImportPlan.Rule
    ) throws -> Bool {
        let old = object.toOneTarget(slot)
        guard value != .null else {
            guard let old else { return false }
            InverseUpkeep.set(nil, of: object, slot: slot)
            // The old destination is a part that only this object owned, so it is deleted.
            if rule.isOwner, rule.related == nil { context.delete(old) }
            return true
        }
        guard let (new, isPartChanged) = try destination(value, rule, present: old) else { return false }
        if new !== old { InverseUpkeep.set(new, of: object, slot: slot) }
        return new !== old || isPartChanged
    }

    private mutating func setToMany(
        _ value: ImportValue, of object: NSManagedObject, _ number: Int, _ relationship: NSRelationshipDescription,
        _ rule: ImportPlan.Rule
    ) throws -> Bool {
        let values: [ImportValue]
        switch value {
        case .null: values = []
        case .array(let members): values = members
        default:
            throw ImportProblem(
                reason: #"is not a list: a to-many relationship needs ["…","…"]"#, isMalformed: true)
        }
        let old = object.toManyTargets(number)
        var seen: Set<ObjectIdentifier> = []
        var new: [NSManagedObject] = []
        var isPartChanged = false
        for value in values {
            guard let (member, isChanged) = try destination(value, rule, present: nil) else { continue }
            if isChanged { isPartChanged = true }
            if seen.insert(ObjectIdentifier(member)).inserted { new.append(member) }
        }
        let isSame =
            relationship.isOrdered
            ? old.elementsEqual(new) { $0 === $1 }
            : old.count == new.count && old.allSatisfy { seen.contains(ObjectIdentifier($0)) }
        guard !isSame else { return isPartChanged }
        InverseUpkeep.replace(new, of: object, number: number)
        if rule.isOwner, rule.related == nil {
            // Parts that are no longer in the list had no other owner, so they are deleted.
            for part in old where !seen.contains(ObjectIdentifier(part)) { context.delete(part) }
        }
        return true
    }

    /// The destination for a relationship's value; `nil` if the value is ignored.
    private mutating func destination(
        _ value: ImportValue, _ rule: ImportPlan.Rule, present: NSManagedObject?
    ) throws -> (object: NSManagedObject, isPartChanged: Bool)? {
        guard let entity = rule.destination else {
            throw ImportProblem(reason: "cannot be set: the relationship has no destination in the model")
        }
        switch value {
        case .object(let fields): return try nested(value, fields, entity, rule, present: present)
        case .null, .array:
            throw ImportProblem(value: value, reason: "is not a \(entity.name ?? "record")")
        case .bool, .number, .string: return try named(value, entity, rule).map { ($0, false) }
        }
    }

    private mutating func nested(
        _ record: ImportValue, _ fields: ImportFields, _ entity: NSEntityDescription, _ rule: ImportPlan.Rule,
        present: NSManagedObject?
    ) throws -> (object: NSManagedObject, isPartChanged: Bool)? {
        let plan = importer.plan(of: entity)
        if let (key, identity) = nestedIdentity(fields, plan, rule) {
            // The object exists since attributes were set, unless the record was rejected.
            guard let object = lookUp.object(identity, key, of: entity) else { return nil }
            if refused.contains(Named(key: key.number, identity: identity)) { return (object, false) }
            _ = try relate(object, fields, plan)
            return (object, false)
        }
        try check(fields, plan)
        let part = rule.isOwner ? present : nil
        if let shouldImport = importer.shouldImport, try !shouldImport(record, part) { return nil }
        let object = try part ?? make(entity)
        let isChanged = try setAttributes(of: object, fields, plan)
        try admitNested(in: fields, plan)
        let isRelated = try relate(object, fields, plan)
        remember(object, record)
        return (object, isChanged || isRelated || part == nil)
    }

    private mutating func named(
        _ value: ImportValue, _ entity: NSEntityDescription, _ rule: ImportPlan.Rule
    ) throws -> NSManagedObject? {
        if let find = importer.findDestination, let object = try find(value, entity) {
            if object.entity.isKindOf(entity: entity) { return object }
            throw ImportProblem(reason: "is a \(object.entity.name ?? "?"), not a \(entity.name ?? "?")")
        }
        guard let key = rule.related, key.attributes.count == 1 else {
            let why = rule.related == nil ? "has no unique key" : "has a unique key of several attributes"
            throw ImportProblem(reason: "cannot be found: \(entity.name ?? "record") \(why)", isMalformed: true)
        }
        let attribute = key.attributes[0]
        let slot = try AttributeReading.slotValue(value, for: attribute)
        let identity = ImportIdentity.one(slot)
        if let object = lookUp.object(identity, key, of: entity) { return object }
        switch importer.missingDestinations {
        case .ignored: return nil
        case .refused:
            throw ImportProblem(
                reason: "not found: no \(entity.name ?? "record") has this \(attribute.name)")
        case .created:
            let object = try make(entity)
            if case .attribute(let place) = object.layout.place(of: attribute.name) {
                object.setAttribute(slot, slot: place)
            }
            lookUp.register(object, as: identity, key)
            return object
        }
    }
}

extension ImportPlan.Rule {
    var destination: NSEntityDescription? {
        switch kind {
        case .attribute: nil
        case .toOne(let relationship, _), .toMany(let relationship, _): relationship.destinationEntity
        }
    }

    /// True if the destinations are parts of the object, which are deleted with it.
    var isOwner: Bool {
        switch kind {
        case .attribute: false
        case .toOne(let relationship, _), .toMany(let relationship, _): relationship.deleteRule == .cascadeDeleteRule
        }
    }
}
