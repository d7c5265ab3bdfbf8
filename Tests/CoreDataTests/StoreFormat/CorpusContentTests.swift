import Foundation
import SQLiteAccess
import TestSupport
import Testing

@testable import CoreData

/// Compares every value and relationship of stores written by Apple's framework with the file's contents.
@Suite(.needs(.campaign), .enabled(if: ModelCorpus.isPresent, "set ROSTER_CORPUS to the folder with Apple's stores"))
struct CorpusContentTests {
    @Test(arguments: CorpusCopy.all) func namesAndCountsAreTheManifests(_ stored: CorpusCopy.Source) throws {
        let copy = try CorpusCopy(stored)
        let expected = try #require(CorpusCopy.manifest[stored.name], "the manifest names every store")
        let model = copy.open.coordinator.managedObjectModel
        var total = 0
        for entity in model.entities {
            var query = StoreQuery(entity: entity)
            query.includesSubentities = false
            let count = try copy.open.store.fetch(query).rows.count
            #expect(count == expected[entity.name ?? ""] ?? 0, "\(stored.name): \(entity.name ?? "")")
            total += count
        }
        let own: Set = ["CHANGE", "TRANSACTION", "TRANSACTIONSTRING"]
        let missing = Set(expected.keys).subtracting(model.entitiesByName.keys).subtracting(own)
        #expect(missing.isEmpty)
        let version = copy.open.store.metadata["NSPersistenceFrameworkVersion"] ?? "?"
        print("corpus: \(stored.name): \(model.entities.count) entities, \(total) objects, framework \(version)")
    }

    @Test(arguments: CorpusCopy.all) func everyValueDecodes(_ stored: CorpusCopy.Source) throws {
        let copy = try CorpusCopy(stored)
        let session = try #require(copy.open.store.openSession)
        for entity in session.layout.entities {
            var query = StoreQuery(entity: entity)
            query.includesSubentities = false
            let found = try copy.open.store.fetch(query)
            let rows = Dictionary(uniqueKeysWithValues: zip(found.keys.map(\.reference), found.rows))
            for (slot, property) in entity.layout.slots.enumerated() {
                guard let attribute = property as? NSAttributeDescription else { continue }
                for (attribute, column, part) in Self.columns(of: attribute, entity, session.layout) {
                    let text =
                        "SELECT Z_PK, \(SQLName.quoted(column)) FROM "
                        + "\(SQLName.quoted(session.layout.table(of: entity))) "
                        + "WHERE Z_ENT = \(session.layout.number(of: entity))"
                    for raw in try session.connection.rows(text) {
                        guard case .integer(let key) = raw[0], let whole = rows[key]?.values[slot] else {
                            Issue.record("\(entity.name ?? "").\(attribute.name): a row is missing")
                            continue
                        }
                        // An expectation for each value would take longer than the reading.
                        if let value = part(whole), Self.says(raw[1], value, attribute) { continue }
                        Issue.record("\(entity.name ?? "").\(attribute.name): \(raw[1]) → \(whole)")
                    }
                }
            }
        }
    }

    private typealias Column = (
        attribute: NSAttributeDescription, name: String, part: (SlotValue) -> SlotValue?
    )

    /// The columns of an attribute with their parts of the value: a composite attribute has one for each element.
    private static func columns(
        of attribute: NSAttributeDescription, _ entity: NSEntityDescription, _ layout: TableLayout
    ) -> [Column] {
        guard let composite = attribute as? NSCompositeAttributeDescription else {
            return layout.column(of: attribute, in: entity).map { [(attribute, $0, { $0 })] } ?? []
        }
        return composite.leaves.compactMap { leaf in
            layout.column(of: composite, at: leaf.path).map { name in
                (leaf.attribute, name, { CompositeRow.value(of: $0, at: leaf) })
            }
        }
    }

    /// True if a slot contains the column's value.
    private static func says(_ raw: SQLiteValue, _ value: SlotValue, _ attribute: NSAttributeDescription) -> Bool {
        switch (raw, value) {
        case (.null, .null): return true
        case (.integer(let raw), .integer(let value)): return raw == value
        case (.integer(let raw), .real(let value)): return Double(raw) == value
        case (.real(let raw), .real(let value)): return raw.bitPattern == value.bitPattern
        case (.integer(let raw), .decimal(let value)): return value.int64Value == raw
        case (.real(let raw), .decimal(let value)): return Double(value.stringValue) == raw
        case (.text(let raw), .text(let value)): return raw == value
        case (.blob(let raw), .uuid(let value)): return raw == withUnsafeBytes(of: value.uuid) { Data($0) }
        case (.blob(let raw), .data(let value)):
            return attribute.allowsExternalBinaryDataStorage ? raw.dropFirst() == value || raw.first == 2 : raw == value
        case (.blob, .object): return attribute.attributeType == .transformableAttributeType
        // A value of the app's transformer, or an archive of its classes.
        case (.blob, .null): return attribute.attributeType == .transformableAttributeType
        default: return false
        }
    }

    @Test(arguments: CorpusCopy.all) func relationshipsResolveBothWays(_ stored: CorpusCopy.Source) throws {
        let copy = try CorpusCopy(stored)
        let store = copy.open.store
        for entity in copy.open.coordinator.managedObjectModel.entities {
            var query = StoreQuery(entity: entity)
            query.includesSubentities = false
            let found = try store.fetch(query)
            let owners = found.keys.map { store.objectID(for: $0) }
            guard !owners.isEmpty else { continue }
            for relationship in entity.relationshipsByName.values where !relationship.isTransient {
                let forth = try Self.destinations(of: relationship, owners, Array(found.rows), store)
                let wanted = Set(forth.values.joined())
                let present = Set(try store.rows(for: Array(wanted)).keys)
                // A dangling reference in the file is an ID without a row; a to-many relationship contains none.
                if relationship.isToMany { #expect(present == wanted, "\(entity.name ?? "").\(relationship.name)") }
                guard let inverse = relationship.inverseRelationship else { continue }
                try Self.checkBack(relationship, inverse, forth, present, store)
            }
        }
    }

    /// The destinations of each owner, for any kind of relationship.
    private static func destinations(
        of relationship: NSRelationshipDescription, _ owners: [NSManagedObjectID], _ rows: [RowSnapshot],
        _ store: SQLiteStore
    ) throws -> [NSManagedObjectID: [NSManagedObjectID]] {
        if relationship.isToMany {
            let found = try store.destinations(of: relationship, from: owners)
            try compareWithRows(found, of: relationship, owners, store)
            return found
        }
        var result: [NSManagedObjectID: [NSManagedObjectID]] = [:]
        for (owner, row) in zip(owners, rows) {
            guard case .toOne(let slot) = owner.entity.layout.place(of: relationship.name),
                case .reference(let id) = row.values[slot]
            else { continue }
            result[owner] = [id]
        }
        return result
    }

    /// Reading destinations with their rows returns the same destinations and rows.
    private static func compareWithRows(
        _ found: [NSManagedObjectID: [NSManagedObjectID]], of relationship: NSRelationshipDescription,
        _ owners: [NSManagedObjectID], _ store: SQLiteStore
    ) throws {
        let read = try #require(
            try store.destinationRows(of: relationship, inOrderOf: owners, limit: .max, most: .max))
        let rows = try store.rows(for: Array(Set(found.values.joined())))
        for (owner, range) in zip(owners, read.ranges) {
            if read.keys[range].map(store.objectID(for:)) != found[owner] ?? [] {
                Issue.record("\(owner).\(relationship.name): other destinations")
            }
        }
        for (key, row) in zip(read.keys, read.rows) {
            let alone = rows[store.objectID(for: key)]
            if row.array != alone?.array || row.version != alone?.version { Issue.record("\(key): another row") }
        }
        #expect(read.rows.count == read.keys.count && read.ranges.count == owners.count)
    }

    private static func checkBack(
        _ relationship: NSRelationshipDescription, _ inverse: NSRelationshipDescription,
        _ forth: [NSManagedObjectID: [NSManagedObjectID]], _ present: Set<NSManagedObjectID>, _ store: SQLiteStore
    ) throws {
        let rows = try store.rows(for: Array(present))
        let ids = Array(rows.keys)
        let back = try destinations(of: inverse, ids, ids.compactMap { rows[$0] }, store).mapValues(Set.init)
        for (owner, destinations) in forth {
            for destination in destinations
            where present.contains(destination) && back[destination]?.contains(owner) != true {
                // The two ends of a one-to-one relationship are two columns, which may disagree in a file.
                if !relationship.isToMany && !inverse.isToMany { continue }
                Issue.record("\(owner) —\(relationship.name)→ \(destination) has no way back")
            }
        }
    }
}
