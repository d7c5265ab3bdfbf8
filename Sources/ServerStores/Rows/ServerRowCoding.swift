import CoreData
import Foundation

/// The columns for writing rows of one entity, with their sources.
final class ServerRowWriting {
    /// One column of the table, and the slot that is its value's source.
    struct Column {
        let name: String
        let type: ServerType
        let slot: Int
        let content: ServerColumn.Content
    }

    let entity: NSEntityDescription
    let number: Int64
    let tableText: String
    /// The columns of the entity in the table's order, without those that triggers update.
    let columns: [Column]
    /// True if rows have positions in ordered lists of other objects.
    let hasPositions: Bool

    init(_ entity: NSEntityDescription, layout: ServerLayout) {
        self.entity = entity
        number = layout.number(of: entity)
        tableText = layout.tableText(of: entity)
        let places = entity.layout
        columns = layout.serverTable(of: entity).columns.compactMap { column in
            guard entity.isKindOf(entity: column.entity) else { return nil }
            var content = column.content
            if case .attribute(let attribute) = content, let derivation = layout.derivations[attribute] {
                guard let (text, functions) = derivation.written else { return nil }
                content = .text(text, functions)
            }
            let property: NSPropertyDescription =
                switch content {
                case .attribute(let attribute), .text(let attribute, _): attribute
                case .element(let composite, _): composite
                case .toOne(let toOne), .destinationEntity(let toOne), .position(let toOne): toOne
                }
            switch places.place(of: property.name) {
            case .attribute(let slot), .toOne(let slot):
                return Column(name: column.name, type: column.type, slot: slot, content: content)
            default: return nil
            }
        }
        hasPositions = columns.contains { if case .position = $0.content { true } else { false } }
    }
}

/// Conversion between values of slots and of columns.
struct ServerValueCoding {
    let layout: ServerLayout
    let store: EngineStore

    /// Returns the value of a column; null for a position, which is not a value of the row.
    ///
    /// - Throws: 134030 for a value that cannot be stored.
    func value(_ column: ServerRowWriting.Column, of row: RowSnapshot) throws -> SQLValue {
        let value = row.value(column.slot)
        switch column.content {
        case .attribute(let attribute): return try Self.encoded(value, attribute)
        case .text(let text, let functions): return functions.applied(to: try Self.encoded(value, text))
        case .element(let composite, let leaf):
            guard let part = CompositeRow.value(of: value, at: leaf) else {
                throw Self.refusal(composite, "the value of \(leaf.path.joined(separator: ".")) has the wrong type")
            }
            return try Self.encoded(part, leaf.attribute)
        case .toOne:
            guard case .reference(let id) = value else { return .null }
            return .integer(id.savedKey)
        case .destinationEntity:
            guard case .reference(let id) = value else { return .null }
            return .integer(layout.number(of: id.entity))
        case .position: return .null
        }
    }

    static func encoded(_ value: SlotValue, _ attribute: NSAttributeDescription) throws -> SQLValue {
        switch value {
        case .null: return .null
        case .integer(let number): return .integer(number)
        // NaN has no order. It is stored as NULL, as in a file store.
        case .real(let number): return number.isNaN ? .null : .real(number)
        case .text(let text):
            guard !text.utf8.contains(0) else {
                throw refusal(attribute, "PostgreSQL cannot store a text with a zero character")
            }
            return .text(text)
        case .data(let data): return .blob(data)
        case .uuid(let uuid): return .uuid(uuid)
        case .decimal(let number):
            let decimal = number.decimalValue
            return decimal.isNaN ? .null : .decimal(decimal)
        case .object(let object):
            return try TransformableCoding.data(from: object, attribute: attribute).map { .blob($0) } ?? .null
        case .reference: return .null
        }
    }

    private static func refusal(_ property: NSPropertyDescription, _ reason: String) -> NSError {
        CoreDataError.make(
            134030, "Cannot save \(property.owningEntity?.name ?? "").\(property.name) to the server: \(reason).",
            userInfo: [NSValidationKeyErrorKey: property.name])
    }

    /// - Parameter keepsUncoded: see ``StoreQuery/keepsUncoded``.
    static func decoded(
        _ value: SQLValue, _ attribute: NSAttributeDescription, keepsUncoded: Bool = false
    ) -> SlotValue {
        switch (value, attribute.attributeType) {
        case (.null, _), (.list, _): return .null
        case (.blob(let data), .transformableAttributeType):
            if let object = TransformableCoding.object(from: data, attribute: attribute) { return .object(object) }
            return keepsUncoded ? .object(UncodedValue(data)) : .null
        case (.integer(let number), _): return .integer(number)
        case (.real(let number), _): return .real(number)
        case (.text(let text), _): return .text(text)
        case (.blob(let data), _): return .data(data)
        case (.uuid(let uuid), _): return .uuid(uuid)
        case (.decimal(let decimal), _): return .decimal(NSDecimalNumber(decimal: decimal))
        }
    }
}

/// Decodes results with the columns of ``RowColumns`` to snapshots.
final class ServerRowReading {
    private struct Plan {
        let layout: EntityLayout
        let columns: RowColumns.EntityColumns
        let absent: [SlotValue]
        let leaves: [Int: (composite: NSCompositeAttributeDescription, leaves: [NSCompositeAttributeDescription.Leaf])]
    }

    private let plans: [Int64: Plan]
    private let layout: ServerLayout
    private let store: EngineStore
    private let keepsUncoded: Bool
    /// A cache, because many rows refer to the same few objects.
    private var known: [RowKey: NSManagedObjectID] = [:]
    private static let mostKnown = 10_000

    init(_ columns: RowColumns, layout: ServerLayout, store: EngineStore, keepsUncoded: Bool = false) {
        self.keepsUncoded = keepsUncoded
        self.layout = layout
        self.store = store
        plans = columns.entities.mapValues { entity in
            let layout = entity.entity.layout
            var leaves: [Int: (NSCompositeAttributeDescription, [NSCompositeAttributeDescription.Leaf])] = [:]
            for (slot, property) in layout.slots.enumerated() {
                if let composite = property as? NSCompositeAttributeDescription {
                    leaves[slot] = (composite, composite.leaves)
                }
            }
            return Plan(
                layout: layout, columns: entity, absent: layout.traits.transientStart,
                leaves: leaves.mapValues { (composite: $0.0, leaves: $0.1) })
        }
    }

    /// Returns `nil` for a row of an entity that is not in the query.
    func row(_ row: Int, of result: any ServerResult) -> (key: RowKey, snapshot: RowSnapshot)? {
        guard case .integer(let number) = result.value(row, RowColumns.entityColumn), let plan = plans[number],
            case .integer(let key) = result.value(row, RowColumns.primaryKeyColumn),
            case .integer(let version) = result.value(row, RowColumns.versionColumn)
        else { return nil }
        let snapshot = RowSnapshot.make(version: version, count: plan.columns.slots.count) { writer in
            for slot in plan.columns.slots.indices { writer.append(value(slot, plan, row, result)) }
        }
        return (RowKey(entity: UInt32(plan.layout.index), reference: key), snapshot)
    }

    private func value(_ slot: Int, _ plan: Plan, _ row: Int, _ result: any ServerResult) -> SlotValue {
        let place = plan.columns.slots[slot]
        guard place.value >= 0 else { return plan.absent[slot] }
        if let (composite, leaves) = plan.leaves[slot] {
            let values = leaves.enumerated().map { index, leaf in
                ServerValueCoding.decoded(
                    result.value(row, place.value + index), leaf.attribute, keepsUncoded: keepsUncoded)
            }
            return CompositeRow.composed(values, composite)
        }
        let value = result.value(row, place.value)
        if let attribute = plan.layout.attribute(at: slot) {
            return ServerValueCoding.decoded(value, attribute, keepsUncoded: keepsUncoded)
        }
        guard case .integer(let key) = value,
            let relationship = plan.layout.slots[slot] as? NSRelationshipDescription
        else { return .null }
        var entity = relationship.destinationEntity
        if place.entity >= 0, case .integer(let number) = result.value(row, place.entity) {
            entity = layout.entity(numbered: number)
        }
        return entity.map { .reference(id(of: $0, key)) } ?? .null
    }

    private func id(of entity: NSEntityDescription, _ reference: Int64) -> NSManagedObjectID {
        let family = store.idFamily(of: entity)
        let key = RowKey(entity: family.entityIndex, reference: reference)
        if let id = known[key] { return id }
        let made = NSManagedObjectID(family, reference: reference)
        if known.count < Self.mostKnown { known[key] = made }
        return made
    }
}
