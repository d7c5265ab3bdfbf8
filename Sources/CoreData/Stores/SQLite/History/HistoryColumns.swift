import Foundation

// `ACHANGE.ZCOLUMNS` has a bit for each column that an update changed, the first in the most significant bit of the
// first byte. The order of the columns was found from files: to-one columns by name; their positions and their
// destination entities; attributes by name; to-many relationships by name. The decoded names are hints: a bitmap of
// another length is ignored.

/// The meaning of the bits in an entity's changes.
struct HistoryColumns {
    /// The property of each bit.
    let properties: [NSPropertyDescription]
    /// The attributes whose values the history preserves of a deleted row, by name. They fill the columns
    /// `ZTOMBSTONE0`, `ZTOMBSTONE1` … in order.
    let preserved: [NSAttributeDescription]
    private let bitsOfProperty: [ObjectIdentifier: [Int]]

    init(entity: NSEntityDescription, layout: TableLayout) {
        let byName = entity.properties.filter { !$0.isTransient }.sorted { $0.name < $1.name }
        let relationships = byName.compactMap { $0 as? NSRelationshipDescription }
        let attributes = byName.compactMap { $0 as? NSAttributeDescription }.filter { ValueCoding($0) != nil }
        let toOnes = relationships.filter { !$0.isToMany }
        // A column that the store lacks still has a bit.
        let columns = layout.plannedColumns(of: entity)
        let companions = columns.reduce(into: (positions: Set<ObjectIdentifier>(), entities: Set<ObjectIdentifier>())) {
            switch $1.content {
            case .position(let toOne): $0.positions.insert(ObjectIdentifier(toOne))
            case .destinationEntity(let toOne): $0.entities.insert(ObjectIdentifier(toOne))
            default: break
            }
        }
        let positions = toOnes.filter { companions.positions.contains(ObjectIdentifier($0)) }
        let entities = toOnes.filter { companions.entities.contains(ObjectIdentifier($0)) }
        let owners = columns.compactMap { column -> NSRelationshipDescription? in
            switch column.content {
            case .owner(let relationship), .ownerPosition(let relationship):
                return entity.isKindOf(entity: column.entity) ? relationship : nil
            default: return nil
            }
        }
        var properties: [NSPropertyDescription] = toOnes
        properties += positions as [NSPropertyDescription]
        properties += entities as [NSPropertyDescription]
        properties += owners as [NSPropertyDescription]
        // A composite attribute has a bit for each of its columns.
        properties += attributes.flatMap { attribute -> [NSPropertyDescription] in
            guard let composite = attribute as? NSCompositeAttributeDescription else { return [attribute] }
            return Array(repeating: composite, count: composite.leaves.count)
        }
        properties += relationships.filter(\.isToMany) as [NSPropertyDescription]
        self.properties = properties
        self.preserved = attributes.filter(\.preservesValueInHistoryOnDeletion)
        var bits: [ObjectIdentifier: [Int]] = [:]
        for (bit, property) in properties.enumerated() { bits[ObjectIdentifier(property), default: []].append(bit) }
        self.bitsOfProperty = bits
    }

    /// Returns the number of values that the history preserves of a deleted row: the count of ``preserved``.
    static func preservedCount(of entity: NSEntityDescription) -> Int {
        entity.properties.count { property in
            guard let attribute = property as? NSAttributeDescription, attribute.preservesValueInHistoryOnDeletion
            else { return false }
            return !attribute.isTransient && ValueCoding(attribute) != nil
        }
    }

    private var byteCount: Int { (properties.count + 7) / 8 }

    /// Returns the bitmap of an update.
    func bitmap(of row: StoreRowChange, layout: EntityLayout) -> Data {
        let slots = (row.changedSlots + row.orderedPositions.keys).map { layout.slots[$0] }
        return bitmap(of: slots + row.changedToMany.map { layout.toManyRelationships[$0] })
    }

    /// Returns the bitmap of an update of `properties`.
    func bitmap(of properties: [NSPropertyDescription]) -> Data {
        var bytes = [UInt8](repeating: 0, count: byteCount)
        for property in properties {
            for bit in bitsOfProperty[ObjectIdentifier(property)] ?? [] { bytes[bit / 8] |= 0x80 >> UInt8(bit % 8) }
        }
        return Data(bytes)
    }

    /// Returns the names of the properties whose bits are set, each once; none if the bitmap has another length.
    // SAFETY: the caller owns the bytes, and their number is checked against the number of properties.
    func names(in bitmap: UnsafeRawBufferPointer, of entity: NSEntityDescription) -> [String] {
        guard bitmap.count == byteCount else { return [] }
        var names: [String] = []
        for (bit, property) in properties.enumerated() where bitmap[bit / 8] & (0x80 >> UInt8(bit % 8)) != 0 {
            if entity.propertiesByName[property.name] != nil && !names.contains(property.name) {
                names.append(property.name)
            }
        }
        return names
    }
}

/// The bits of each entity used so far.
final class HistoryColumnsCache {
    private let layout: TableLayout
    private var known: [ObjectIdentifier: HistoryColumns] = [:]

    init(layout: TableLayout) { self.layout = layout }

    subscript(entity: NSEntityDescription) -> HistoryColumns {
        if let columns = known[ObjectIdentifier(entity)] { return columns }
        let made = HistoryColumns(entity: entity, layout: layout)
        known[ObjectIdentifier(entity)] = made
        return made
    }
}
