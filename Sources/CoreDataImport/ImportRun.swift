import CoreData

/// One call of an importer: looks up the objects to which the records refer, then sets attributes, then relationships.
struct ImportRun {
    let importer: RecordImporter
    var lookUp: ImportLookUp
    /// The objects whose attributes were set, with their records, for the hook.
    private var taken: [(object: NSManagedObject, record: ImportValue)] = []
    /// The rejected nested records, by key.
    var refused: Set<Named> = []

    struct Named: Hashable {
        let key: Int
        let identity: ImportIdentity
    }

    private static let deepestNesting = 256

    init(_ importer: RecordImporter) {
        self.importer = importer
        lookUp = ImportLookUp(importer.keys)
    }

    var context: NSManagedObjectContext { importer.context }

    // MARK: Calls

    mutating func take(_ records: [ImportValue], plan: ImportPlan) throws -> ImportResult {
        var result = ImportResult()
        result.objects.reserveCapacity(records.count)
        result.outcomes.reserveCapacity(records.count)
        for (index, record) in records.enumerated() {
            try Self.at(index) { try wantAll(in: Self.fields(of: record), plan, depth: 0) }
        }
        try lookUp.fetch(from: context)
        var inserted: Set<ObjectIdentifier> = []
        for (index, record) in records.enumerated() {
            try Self.at(index) {
                let (object, isNew, isChanged) = try admit(record, plan)
                result.objects.append(object)
                guard let object else { return result.outcomes.append(.skipped) }
                if isNew { inserted.insert(ObjectIdentifier(object)) }
                // A duplicate record is inserted the first time and updated the second.
                let isUpdate = isChanged || inserted.contains(ObjectIdentifier(object))
                result.outcomes.append(isNew ? .inserted : isUpdate ? .updated : .unchanged)
            }
        }
        for (index, record) in records.enumerated() {
            guard let object = result.objects[index] else { continue }
            let isChanged = try Self.at(index) { try relate(object, Self.fields(of: record), plan) }
            if isChanged, result.outcomes[index] == .unchanged { result.outcomes[index] = .updated }
        }
        try tell()
        return result
    }

    mutating func update(_ object: NSManagedObject, from record: ImportValue, plan: ImportPlan) throws -> Bool {
        try Self.at(0) {
            let fields = try Self.fields(of: record)
            try wantAll(in: fields, plan, depth: 0)
            try lookUp.fetch(from: context)
            try check(fields, plan)
            let isChanged = try setAttributes(of: object, fields, plan)
            try admitNested(in: fields, plan)
            let isRelated = try relate(object, fields, plan)
            remember(object, record)
            try tell()
            return isChanged || isRelated
        }
    }

    private func tell() throws {
        guard let didImport = importer.didImport else { return }
        for (object, record) in taken { try didImport(object, record) }
    }

    private static func at<Result>(_ record: Int, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let problem as ImportProblem {
            throw problem.error(record: record)
        }
    }

    private static func fields(of record: ImportValue) throws -> ImportFields {
        guard case .object(let fields) = record else {
            throw ImportProblem(
                value: record, reason: "is not a record: a record is an object { … }", isMalformed: true)
        }
        return fields
    }

    // MARK: Wanted objects

    private mutating func wantAll(in fields: ImportFields, _ plan: ImportPlan, depth: Int) throws {
        if depth > Self.deepestNesting {
            throw ImportProblem(reason: "is nested deeper than \(Self.deepestNesting) levels", isMalformed: true)
        }
        let shape = plan.shape(of: fields)
        if let key = plan.key, let identity = plan.identity(of: fields, shape, by: key) { lookUp.want(identity, key) }
        for index in plan.relationships {
            guard let value = shape.value(of: index, in: fields) else { continue }
            try want(value, plan.rules[index], depth: depth)
        }
    }

    private mutating func want(_ value: ImportValue, _ rule: ImportPlan.Rule, depth: Int) throws {
        switch value {
        case .null: break
        case .array(let values):
            for value in values {
                if case .array = value { continue }
                try want(value, rule, depth: depth)
            }
        case .object(let fields):
            guard let entity = rule.destination else { return }
            let plan = importer.plan(of: entity)
            try wantAll(in: fields, plan, depth: depth + 1)
            if let (key, identity) = nestedIdentity(fields, plan, rule) { lookUp.want(identity, key) }
        case .bool, .number, .string:
            guard let key = rule.related, key.attributes.count == 1,
                let slot = try? AttributeReading.slotValue(value, for: key.attributes[0]), !slot.isNull
            else { return }
            lookUp.want(.one(slot), key)
        }
    }

    /// The key and identity of a nested record: by the relationship's key, or else by its entity's.
    func nestedIdentity(
        _ fields: ImportFields, _ plan: ImportPlan, _ rule: ImportPlan.Rule
    ) -> (key: ImportKey, identity: ImportIdentity)? {
        let shape = plan.shape(of: fields)
        for key in [rule.related, plan.key] {
            if let key, let identity = plan.identity(of: fields, shape, by: key) { return (key, identity) }
        }
        return nil
    }

    // MARK: Objects and their attributes

    /// Finds or creates the object of a record and sets its attributes. Does the same for nested records with keys.
    private mutating func admit(
        _ record: ImportValue, _ plan: ImportPlan, nestedBy rule: ImportPlan.Rule? = nil
    ) throws -> (object: NSManagedObject?, isNew: Bool, isChanged: Bool) {
        let fields = try Self.fields(of: record)
        try check(fields, plan)
        let shape = plan.shape(of: fields)
        let own = plan.key.flatMap { key in plan.identity(of: fields, shape, by: key).map { (key, $0) } }
        let named = rule.flatMap { nestedIdentity(fields, plan, $0) } ?? own
        let found = named.flatMap { lookUp.object($1, $0, of: plan.entity) }
        if let shouldImport = importer.shouldImport, try !shouldImport(record, found) {
            if let (key, identity) = named { refused.insert(Named(key: key.number, identity: identity)) }
            return (nil, false, false)
        }
        let object = try found ?? make(plan.entity)
        let isChanged = try setAttributes(of: object, fields, plan)
        if found == nil, let (key, identity) = own { lookUp.register(object, as: identity, key) }
        if found == nil || isChanged { registerOtherwise(object, besides: plan.key) }
        try admitNested(in: fields, plan)
        remember(object, record)
        return (object, found == nil, isChanged)
    }

    /// Registers the object by its other keys, by which records may refer to it.
    private mutating func registerOtherwise(_ object: NSManagedObject, besides own: ImportKey?) {
        for key in importer.keys.all where key !== own {
            guard object.entity.isKindOf(entity: key.entity), let identity = key.identity(of: object) else { continue }
            lookUp.register(object, as: identity, key)
        }
    }

    mutating func remember(_ object: NSManagedObject, _ record: ImportValue) {
        if importer.didImport != nil { taken.append((object, record)) }
    }

    func make(_ entity: NSEntityDescription) throws -> NSManagedObject {
        if entity.isAbstract {
            throw ImportProblem(reason: "cannot be imported: the entity \(entity.name ?? "?") is abstract")
        }
        return context.objectClass(of: entity).init(entity: entity, insertInto: context)
    }

    func check(_ fields: ImportFields, _ plan: ImportPlan) throws {
        guard importer.refusesUnknownKeys, let key = plan.shape(of: fields).unknownKey else { return }
        let entity = plan.entity
        let names = entity.propertiesByName.keys.sorted()
        let near = names.first { $0.lowercased() == key.lowercased() }
        let hint = near.map { "did you mean \($0)?" } ?? "its properties: \(names.joined(separator: ", "))"
        throw ImportProblem(
            keyPath: key, reason: "\(entity.name ?? "?") has no property “\(key)”; \(hint)", isMalformed: true)
    }

    func setAttributes(of object: NSManagedObject, _ fields: ImportFields, _ plan: ImportPlan) throws -> Bool {
        let shape = plan.shape(of: fields)
        var isChanged = false
        for index in plan.attributes {
            let rule = plan.rules[index]
            guard case .attribute(let attribute, let slot, let dates) = rule.kind else { continue }
            let value: SlotValue
            if let written = shape.value(of: index, in: fields) {
                do {
                    value = try AttributeReading.slotValue(written, for: attribute, dates: dates)
                } catch let problem as ImportProblem {
                    throw problem.below(rule.name, value: written)
                }
            } else if rule.usesDefault {
                value = AttributeCoercion.slotValue(attribute.defaultValue, for: attribute) ?? .null
            } else {
                continue
            }
            if object.slotValue(slot) != value {
                object.setAttribute(value, slot: slot)
                isChanged = true
            }
        }
        return isChanged
    }

    /// Creates objects for nested records with keys, so that other records can refer to them.
    mutating func admitNested(in fields: ImportFields, _ plan: ImportPlan) throws {
        let shape = plan.shape(of: fields)
        for index in plan.relationships {
            let rule = plan.rules[index]
            guard let value = shape.value(of: index, in: fields), let entity = rule.destination else { continue }
            let nested: [ImportValue]
            switch value {
            case .object: nested = [value]
            case .array(let values): nested = values
            default: continue
            }
            for record in nested {
                guard case .object(let members) = record else { continue }
                let plan = importer.plan(of: entity)
                guard nestedIdentity(members, plan, rule) != nil else { continue }
                do {
                    _ = try admit(record, plan, nestedBy: rule)
                } catch let problem as ImportProblem {
                    throw problem.below(rule.name, value: nil)
                }
            }
        }
    }
}
