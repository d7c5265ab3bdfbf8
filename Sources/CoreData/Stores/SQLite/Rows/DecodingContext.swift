import Foundation
import SQLiteAccess

/// The parts of a store that decoding its rows needs.
final class DecodingContext {
    let layout: TableLayout
    let externalData: ExternalData
    private let ids: ObjectIDCache
    private var knownLeaves: [ObjectIdentifier: [NSCompositeAttributeDescription.Leaf]] = [:]
    var storeIdentifier: String? { ids.storeIdentifier }

    /// Returns the ID of a row of exactly that entity.
    func id(of entity: NSEntityDescription, reference: Int64) -> NSManagedObjectID {
        ids.id(entity: entity, reference: reference)
    }

    init(layout: TableLayout, externalData: ExternalData, ids: ObjectIDCache) {
        self.layout = layout
        self.externalData = externalData
        self.ids = ids
    }

    /// Returns a reference to row `number` of the entity with that `Z_ENT`; null if the model has no such entity.
    func reference(to number: Int64, entity: Int64) -> SlotValue {
        guard let id = ids.id(ofEntityNumbered: entity, in: layout, reference: number) else { return .null }
        return .reference(id)
    }

    /// Decodes values without a fast path. Null, with a note, if the cell's type is not the column's.
    func rareValue(
        _ coding: ValueCoding, at column: Int, of statement: Statement, _ kind: ColumnKind,
        attribute: NSAttributeDescription?
    ) -> SlotValue {
        guard let attribute else { return .null }
        guard coding.holds(kind) else { return mistyped(attribute, kind) }
        switch coding {
        case .integer: return .integer(statement.integer(at: column))
        case .real, .date: return .real(statement.real(at: column))
        case .text: return .text(statement.text(at: column))
        case .data: return .data(statement.data(at: column))
        case .uuid: return statement.uuid(at: column).map(SlotValue.uuid) ?? mistyped(attribute, kind)
        case .decimal:
            return DecimalCoding.decimal(at: column, of: statement, kind).map(SlotValue.decimal)
                ?? mistyped(attribute, kind)
        case .externalData: return externalData.value(of: statement.data(at: column)).map(SlotValue.data) ?? .null
        case .transformable:
            let data = statement.data(at: column)
            let object = TransformableCoding.object(
                from: data, attribute: attribute, archivesWithoutTransformer: layout.archivesWithoutTransformer)
            if let object { return .object(object) }
            if keepsUncoded { return .object(UncodedValue(data)) }
            noteUnreadable(attribute, TransformableCoding.obstacle(data, attribute))
            return .null
        default: return .null
        }
    }

    // MARK: Unreadable values

    /// See ``StoreQuery/keepsUncoded``.
    var keepsUncoded = false

    /// A note for each property with a value that could not be read.
    private(set) var unreadable: [ObjectIdentifier: ReadingNote] = [:]

    /// Returns null for a cell whose type is not the property's, and adds a note.
    func mistyped(_ property: NSPropertyDescription, _ kind: ColumnKind) -> SlotValue {
        let wanted = (property as? NSAttributeDescription)?.attributeType.editorName ?? "the number of a row"
        noteUnreadable(property, "a cell contains \(kind.title) instead of \(wanted)")
        return .null
    }

    private func noteUnreadable(_ property: NSPropertyDescription, _ obstacle: @autoclosure () -> String) {
        guard unreadable[ObjectIdentifier(property)] == nil else { return }
        unreadable[ObjectIdentifier(property)] = ReadingNote(
            property, "\(obstacle()); such values read as nil and are unchanged in the store")
    }

    private func leaves(
        of composite: NSCompositeAttributeDescription
    ) -> [NSCompositeAttributeDescription.Leaf] {
        if let known = knownLeaves[ObjectIdentifier(composite)] { return known }
        let leaves = composite.leaves
        knownLeaves[ObjectIdentifier(composite)] = leaves
        return leaves
    }

    /// Returns the value of a composite attribute whose columns begin at `column`.
    func compositeValue(
        _ composite: NSCompositeAttributeDescription, from column: Int, of statement: Statement
    ) -> SlotValue {
        let leaves = leaves(of: composite)
        let values = leaves.enumerated().map { place, leaf in
            value(of: leaf.attribute, at: column + place, of: statement)
        }
        return CompositeRow.composed(values, composite)
    }

    /// Returns a single value of `attribute` in a column of a statement that does not select whole rows.
    func value(of attribute: NSAttributeDescription, at column: Int, of statement: Statement) -> SlotValue {
        let kind = statement.kind(at: column)
        guard kind != .null, let coding = ValueCoding(attribute) else { return .null }
        return rareValue(coding, at: column, of: statement, kind, attribute: attribute)
    }
}

/// Recently created object IDs, so that rows that refer to one object share its ID.
///
/// A fixed number of entries. A new ID replaces the previous one in its entry.
final class ObjectIDCache {
    private struct Place {
        var key = RowKey(entity: .max, reference: 0)
        var id: NSManagedObjectID?
    }

    // Used for each decoded reference, under the store's lock. It has its own memory without exclusivity checks,
    // because an array would be retained each time.
    // SAFETY: all `size` places are initialised, places are masked to it, and `deinit` alone frees them.
    private let places: UnsafeMutablePointer<Place>
    private unowned let store: NSPersistentStore
    /// The ID family of the last row, kept because rows of one entity are usually consecutive.
    // SAFETY: one reader decodes at a time, and reads and sets both as a whole: no accesses overlap.
    @exclusivity(unchecked)
    private var lastFamily: IDFamily?
    @exclusivity(unchecked)
    private var lastNumber: Int64 = 0
    var storeIdentifier: String? { store.identifier }
    private static let size = 1 << 13

    init(store: NSPersistentStore) {
        self.store = store
        places = .allocate(capacity: Self.size)
        places.initialize(repeating: Place(), count: Self.size)
    }

    deinit {
        places.deinitialize(count: Self.size)
        places.deallocate()
    }

    func id(entity: NSEntityDescription, reference: Int64) -> NSManagedObjectID {
        id(store.idFamily(of: entity), reference: reference)
    }

    /// Returns the ID of a row of the entity with that `Z_ENT`; `nil` if the model has none.
    func id(ofEntityNumbered number: Int64, in layout: TableLayout, reference: Int64) -> NSManagedObjectID? {
        family(ofEntityNumbered: number, in: layout).map { id($0, reference: reference) }
    }

    /// Returns a new ID that is not cached, for a row to which no other row read along refers.
    func newID(ofEntityNumbered number: Int64, in layout: TableLayout, reference: Int64) -> NSManagedObjectID? {
        family(ofEntityNumbered: number, in: layout).map { NSManagedObjectID($0, reference: reference) }
    }

    private func family(ofEntityNumbered number: Int64, in layout: TableLayout) -> IDFamily? {
        if lastNumber == number, let lastFamily { return lastFamily }
        guard let entity = layout.entity(numbered: number) else { return nil }
        let family = store.idFamily(of: entity)
        (lastNumber, lastFamily) = (number, family)
        return family
    }

    private func id(_ family: IDFamily, reference: Int64) -> NSManagedObjectID {
        let key = RowKey(entity: family.entityIndex, reference: reference)
        let place = Int(truncatingIfNeeded: reference &+ Int64(key.entity) &* 0x9E5) & (Self.size - 1)
        if places[place].key == key, let known = places[place].id { return known }
        let made = NSManagedObjectID(family, reference: reference)
        places[place] = Place(key: key, id: made)
        return made
    }

    /// Returns the IDs of new rows. They are not cached, because nothing refers to them yet.
    func newIDs(entity: NSEntityDescription, from first: Int64, count: Int) -> some Sequence<NSManagedObjectID> {
        let family = store.idFamily(of: entity)
        return (first..<first + Int64(count)).lazy.map { NSManagedObjectID(family, reference: $0) }
    }
}
