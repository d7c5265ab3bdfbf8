import Foundation
import PredicateSyntax

extension NSBatchUpdateRequest: ContextExecutable {
    func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        let run = try BatchRun(in: context, self)
        let entity = try run.entity(named: entityName)
        resolve(entity)
        let fetch = NSFetchRequest<NSFetchRequestResult>(entityName: entityName)
        fetch.predicate = predicate
        fetch.includesSubentities = includesSubentities
        fetch.affectedStores = affectedStores
        let plan = try FetchPlan(fetch, coordinator: run.coordinator)
        let values = try NewValues(propertiesToUpdate ?? [:], of: entity, in: context)
        var outcome = BatchOutcome(keepsIDs: resultType == .updatedObjectIDsResultType)
        try run.write(to: plan.stores) { store, steps in
            let plan = plan.limited(to: [store])
            var query = plan.query
            query.wantsRows = false
            let sets = steps as? any BatchSetSteps
            if !outcome.keepsIDs, let count = try sets?.update(query, with: values.ofAll) {
                outcome.add(count)
                return
            }
            let ids = try StoreFetch(plan: plan).run(query).ids
            if outcome.keepsIDs, try sets?.update(query, with: values.ofAll) != nil {
                outcome.add(ids)
                return
            }
            for step in BatchRun.steps(of: ids) {
                var changes = StoreChangeSet()
                changes.updated = try values.changes(of: Array(step), in: store)
                try steps.write(changes)
                outcome.add(changes.updated.map(\.id))
            }
        }
        switch resultType {
        case .statusOnlyResultType: return NSBatchUpdateResult(true, type: resultType)
        case .updatedObjectIDsResultType: return NSBatchUpdateResult(outcome.ids, type: resultType)
        case .updatedObjectsCountResultType: return NSBatchUpdateResult(outcome.count, type: resultType)
        }
    }
}

/// The values that a batch update sets in rows.
struct NewValues {
    private let entity: NSEntityDescription
    private let entries: [(name: String, value: Value)]

    private enum Value {
        case constant(SlotValue)
        case expression(CompiledExpression, ExpressionTree, of: NSAttributeDescription)
    }

    /// The new values, for a store that sets them in all rows with one statement.
    var ofAll: [BatchSetValue] {
        entries.compactMap { name, value in
            entity.propertiesByName[name].map { property in
                switch value {
                case .constant(let constant): BatchSetValue(property: property, value: .constant(constant))
                case .expression(_, let tree, _): BatchSetValue(property: property, value: .expression(tree))
                }
            }
        }
    }

    /// - Throws: 134060 for a property that does not exist or cannot be updated, and for a value of a wrong type.
    init(_ properties: [AnyHashable: Any], of entity: NSEntityDescription, in context: NSManagedObjectContext) throws {
        self.entity = entity
        guard !properties.isEmpty else {
            throw CoreDataError.make(
                134060, "The batch update of \(entity.name ?? "") has no propertiesToUpdate. Set them.")
        }
        entries = try properties.map { key, value in
            let name = (key.base as? NSPropertyDescription)?.name ?? "\(key.base)"
            return (name, try Self.value(value, of: name, entity, context))
        }.sorted { $0.name < $1.name }
    }

    private static func value(
        _ value: Any, of name: String, _ entity: NSEntityDescription, _ context: NSManagedObjectContext
    ) throws -> Value {
        let property = try BatchProperty(name, of: entity)
        guard let expression = value as? NSExpression else {
            return .constant(try property.slotValue(value, in: context))
        }
        if case .constant(let constant) = expression.tree {
            return .constant(try property.slotValue(constant, in: context))
        }
        guard let attribute = property.attribute else {
            throw CoreDataError.make(
                134060,
                "Cannot set \(property.title) to an expression in a batch update: it is a relationship. Give an ID."
            )
        }
        var compiler = PredicateCompiler(entity: entity)
        return .expression(try compiler.expression(expression.tree), expression.tree, of: attribute)
    }

    /// The changes of the rows of `ids`, whose entities are the entity or its subentities. Excludes rows that no longer
    /// exist.
    func changes(of ids: [NSManagedObjectID], in store: any RowStore) throws -> [StoreRowChange] {
        let rows = zip(ids, try store.operations.rows(inOrderOf: ids)).compactMap { id, row in
            row.map { (id: id, snapshot: $0) }
        }
        let set = RowSet(rows, in: store)
        var known: [ObjectIdentifier: [Int]] = [:]
        let result = try withExtendedLifetime(set) {
            try set.rows.map { row in
                let slots = known[ObjectIdentifier(row.rowLayout)] ?? slots(in: row.rowLayout)
                known[ObjectIdentifier(row.rowLayout)] = slots
                return try change(of: row, slots)
            }
        }
        if let failure = set.failure { throw failure }
        return result
    }

    private func slots(in layout: EntityLayout) -> [Int] {
        entries.compactMap { entry in
            switch layout.place(of: entry.name) {
            case .attribute(let slot), .toOne(let slot): slot
            default: nil
            }
        }
    }

    private func change(of row: FetchedRow, _ slots: [Int]) throws -> StoreRowChange {
        var values = row.snapshot.array
        for (entry, slot) in zip(entries, slots) {
            switch entry.value {
            case .constant(let value): values[slot] = value
            case .expression(let expression, _, let attribute):
                let found = expression.evaluate(EvaluationFrame(subject: .object(row))).foundationValue
                guard let value = AttributeCoercion.slotValue(found, for: attribute), !value.isNotANumber else {
                    throw CoreDataError.make(
                        134060,
                        "Cannot set \(entry.name) of '\(row.objectID)' in a batch update: its expression gives "
                            + "\(found ?? "nil"), which does not have the attribute's type.")
                }
                values[slot] = value
            }
        }
        return StoreRowChange(
            id: row.objectID, row: .make(values, version: row.snapshot.version &+ 1), changedSlots: slots.sorted(),
            baseVersion: row.snapshot.version)
    }
}

/// A property that a batch request sets.
struct BatchProperty {
    private let property: NSPropertyDescription
    let attribute: NSAttributeDescription?

    var title: String { "\(property.owningEntity?.name ?? "").\(property.name)" }

    /// - Throws: 134060 if the entity has no such property, or it is not stored in the row.
    init(_ name: String, of entity: NSEntityDescription) throws {
        guard let property = entity.propertiesByName[name] else {
            let hint = NearestName.of(name, among: entity.propertiesByName.keys.sorted())
            throw CoreDataError.make(
                134060,
                "Cannot set \(name) in a batch: \(entity.name ?? "") has no such property"
                    + (hint.map { "; did you mean \($0)?" } ?? "."))
        }
        self.property = property
        attribute = property as? NSAttributeDescription
        if let reason = Self.obstacle(property) {
            throw CoreDataError.make(134060, "Cannot set \(entity.name ?? "").\(name) in a batch: \(reason).")
        }
    }

    /// The reason why a batch cannot set a property; `nil` if it can.
    static func obstacle(_ property: NSPropertyDescription) -> String? {
        if property is NSDerivedAttributeDescription { return "it is derived by the store" }
        if property.isTransient { return "it is transient, so the store does not have it" }
        if property is NSAttributeDescription { return nil }
        guard let relationship = property as? NSRelationshipDescription, !relationship.isToMany else {
            return "it is a to-many relationship or fetched property; change objects instead"
        }
        if relationship.inverseRelationship?.isToMany == false {
            return "it is a one-to-one relationship, whose other objects would change too; change objects instead"
        }
        return nil
    }

    /// The value in the form of a row.
    ///
    /// - Throws: 134060 if the property does not accept it.
    func slotValue(_ value: Any?, in context: NSManagedObjectContext) throws -> SlotValue {
        if let attribute {
            guard let slot = AttributeCoercion.unvalidatedSlotValue(value, type: attribute.attributeType) else {
                throw refused(value, "has another type")
            }
            return try checked(slot)
        }
        switch value {
        case nil, is NSNull: return .null
        case let object as NSManagedObject: return try reference(object.objectID, in: context)
        case let id as NSManagedObjectID: return try reference(id, in: context)
        default: throw refused(value, "is neither an object nor an ID")
        }
    }

    /// Checks a value of an object that was not validated.
    ///
    /// - Throws: 134060 for a number that a store cannot save as the attribute's type.
    func checked(_ slot: SlotValue) throws -> SlotValue {
        if slot.isNotANumber { throw refused("NaN", "is not a number") }
        if case .real(let number) = slot, let type = attribute?.attributeType, type.isNumber, !type.holds(number) {
            throw refused(number, "is out of range")
        }
        return slot
    }

    private func reference(_ id: NSManagedObjectID, in context: NSManagedObjectContext) throws -> SlotValue {
        guard !id.isTemporaryID else { throw refused(id, "is not saved yet") }
        let local = context.localID(id)
        let destination = (property as? NSRelationshipDescription)?.destinationEntity
        guard destination.map({ local.entity.isKindOf(entity: $0) }) ?? true else {
            throw refused(id, "does not have the destination entity")
        }
        return .reference(local)
    }

    private func refused(_ value: Any?, _ reason: String) -> NSError {
        let text = "\(value ?? "nil")"
        return CoreDataError.make(
            134060, "Cannot set \(title) in a batch to \(text.prefix(60)): the value \(reason).",
            userInfo: [NSValidationKeyErrorKey: property.name])
    }
}
