import Foundation

extension NSBatchInsertRequest: ContextExecutable {
    func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        let run = try BatchRun(in: context, self)
        let entity = try run.entity(named: entityName)
        resolve(entity)
        guard !entity.isAbstract else {
            throw CoreDataError.make(
                134060, "Cannot insert rows of \(entityName): the entity is abstract. Name one of its subentities.")
        }
        var source = try BatchRows(self, entity, context)
        var outcome = BatchOutcome(keepsIDs: resultType == .objectIDs)
        try run.write(to: [try run.store(for: entity, of: self)]) { store, steps in
            let meeting = ConstraintMeeting(entity: entity, store: store, answer: .init(context.mergePolicy))
            let sets = meeting.isNeeded ? nil : steps as? any BatchSetSteps
            while true {
                let rows = try source.next(BatchRun.stepSize)
                if rows.count == 0 { break }
                if let written = try sets?.insert(rows, of: entity, keepsIDs: outcome.keepsIDs) {
                    outcome.add(written)
                } else {
                    outcome.add(try meeting.write(rows.all, through: steps))
                }
            }
        }
        switch resultType {
        case .statusOnly: return NSBatchInsertResult(true, type: resultType)
        case .objectIDs: return NSBatchInsertResult(outcome.ids, type: resultType)
        case .count: return NSBatchInsertResult(outcome.count, type: resultType)
        }
    }
}

extension BatchRun {
    /// The store that receives new rows.
    ///
    /// - Throws: 134060 if none of the stores that the request names holds the entity.
    func store(for entity: NSEntityDescription, of request: NSPersistentStoreRequest) throws -> any RowStore {
        guard let affected = request.affectedStores else { return try coordinator.store(for: entity) }
        let holding = coordinator.stores(holding: entity)
        for named in affected {
            if let store = holding.first(where: { $0 === named }) { return store }
        }
        throw CoreDataError.make(
            134060, "Cannot insert rows of \(entity.name ?? ""): none of the request's affectedStores has this entity."
        )
    }
}

/// A row that a batch inserts.
struct NewRow {
    /// The values of the row, one for each slot of the entity's layout.
    var values: [SlotValue]
    /// The slots for which the program gave a value.
    var given: Set<Int> = []
}

extension NewRows {
    /// The rows, one by one.
    var all: [NewRow] {
        (0..<count).map { number in
            let start = number * width
            return NewRow(values: Array(values[start..<start + width]), given: given.isEmpty ? [] : given[number])
        }
    }
}

/// The rows of a batch insertion, as the program provides them.
struct BatchRows {
    private let entity: NSEntityDescription
    private let context: NSManagedObjectContext
    private let start: [SlotValue]
    private let properties: [String: Place]
    private let required: [Int]
    /// True if the values that the program gave must be recorded, because an existing row may receive them.
    private let notesGiven: Bool
    /// Returns the next row; `nil` after the last.
    private let give: () -> Given?
    /// The places of the keys of a ``RowDictionary``, and the arrangement of keys that they are for.
    private var places: (arrangement: Int, places: [Place]) = (-1, [])
    private var number = 0
    private var isOver = false

    private enum Place {
        case slot(Int, BatchProperty)
        /// A property that the program does not set, or that is not stored.
        case ignored
        /// A property that cannot be set, with the reason.
        case refused(String)
    }

    private enum Given {
        case values([String: Any])
        case dictionary(RowDictionary)
        case object(NSManagedObject)
    }

    /// - Throws: 134060 if the request has nothing to insert.
    init(_ request: NSBatchInsertRequest, _ entity: NSEntityDescription, _ context: NSManagedObjectContext) throws {
        self.entity = entity
        self.context = context
        start = entity.layout.traits.startingRow.array
        let layout = entity.layout
        var properties: [String: Place] = [:]
        for (name, property) in entity.propertiesByName {
            properties[name] = try Self.place(of: property, name, entity)
        }
        self.properties = properties
        required = (0..<layout.attributeCount).filter { slot in
            let property = layout.slots[slot]
            return !property.isOptional && !property.isTransient && !(property is NSDerivedAttributeDescription)
        }
        notesGiven = !UniqueConstraint.all(of: entity).isEmpty
        give = try Self.giver(request, entity, context)
    }

    private static func place(
        of property: NSPropertyDescription, _ name: String, _ entity: NSEntityDescription
    ) throws -> Place {
        if property.isTransient || property is NSDerivedAttributeDescription || property is NSFetchedPropertyDescription
        {
            return .ignored
        }
        if let reason = BatchProperty.obstacle(property) { return .refused(reason) }
        switch entity.layout.place(of: name) {
        case .attribute(let slot)?, .toOne(let slot)?: return .slot(slot, try BatchProperty(name, of: entity))
        default: return .ignored
        }
    }

    private static func giver(
        _ request: NSBatchInsertRequest, _ entity: NSEntityDescription, _ context: NSManagedObjectContext
    ) throws -> () -> Given? {
        if let handler = request.dictionaryHandler {
            let dictionary = RowDictionary()
            return {
                dictionary.removeAllObjects()
                return handler(dictionary) ? nil : .dictionary(dictionary)
            }
        }
        if let handler = request.managedObjectHandler {
            let type = context.objectClass(of: entity)
            return {
                let object = type.init(entity: entity, insertInto: nil)
                return handler(object) ? nil : .object(object)
            }
        }
        guard let dictionaries = request.objectsToInsert else {
            throw CoreDataError.make(
                134060,
                "The batch insertion of \(entity.name ?? "") has neither objectsToInsert nor a handler. Set one of them."
            )
        }
        var rest = dictionaries[...]
        return { rest.popFirst().map(Given.values) }
    }

    /// Returns the next rows, at most `count`.
    ///
    /// - Throws: 134060 for a value of a wrong type, 1570 if a required one is missing.
    mutating func next(_ count: Int) throws -> NewRows {
        var rows = NewRows(width: start.count, capacity: count)
        while !isOver, rows.count < count {
            guard let given = give() else {
                isOver = true
                break
            }
            number += 1
            try take(given, &rows)
        }
        return rows
    }

    private mutating func take(_ given: Given, _ rows: inout NewRows) throws {
        let first = rows.append(start)
        if notesGiven { rows.given.append([]) }
        switch given {
        case .values(let values):
            for (name, value) in values { if let place = properties[name] { try set(place, name, value, &rows) } }
        case .dictionary(let values):
            let places = places(of: values)
            for (index, place) in places.enumerated() {
                try set(place, values.name(at: index), values.value(at: index), &rows)
            }
        case .object(let object):
            for slot in 0..<entity.layout.attributeCount {
                guard case .slot(_, let property)? = properties[entity.layout.slots[slot].name] else { continue }
                let value = try property.checked(object.slotValue(slot))
                if notesGiven, value != start[slot] { rows.given[rows.count - 1].insert(slot) }
                rows.values[first + slot] = value
            }
        }
        if let missing = required.first(where: { rows.values[first + $0].isNull }) {
            let name = entity.layout.slots[missing].name
            throw CoreDataError.make(
                1570,
                "Cannot insert row \(number) of \(entity.name ?? ""): it has no value for \(name), which is required.",
                userInfo: [NSValidationKeyErrorKey: name])
        }
    }

    /// The places of a dictionary's values. A handler usually sets the same keys for each row.
    private mutating func places(of values: RowDictionary) -> ArraySlice<Place> {
        if places.arrangement != values.arrangement {
            let found = values.arrangedNames.map { name in name.flatMap { properties[$0] } ?? .ignored }
            places = (values.arrangement, found)
        }
        return places.places.prefix(values.count)
    }

    @inline(__always)
    private func set(_ place: Place, _ name: @autoclosure () -> String, _ value: Any, _ rows: inout NewRows) throws {
        switch place {
        case .slot(let slot, let property):
            rows.values[rows.values.count - rows.width + slot] = try property.slotValue(value, in: context)
            if notesGiven { rows.given[rows.count - 1].insert(slot) }
        case .refused(let reason):
            throw CoreDataError.make(
                134060, "Cannot set \(entity.name ?? "").\(name()) of row \(number) in a batch: \(reason).")
        case .ignored: break
        }
    }
}
