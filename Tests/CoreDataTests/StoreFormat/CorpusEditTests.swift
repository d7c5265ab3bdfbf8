import Foundation
import SQLiteAccess
import TestSupport
import Testing

@testable import CoreData

/// On a copy of each store written by Apple's framework: inserts, changes and deletes one object of every entity.
/// Everything else is unchanged, byte for byte.
@Suite(.needs(.campaign), .enabled(if: ModelCorpus.isPresent, "set ROSTER_CORPUS to the folder with Apple's stores"))
struct CorpusEditTests {
    typealias Contents = [String: [SQLiteValue: [SQLiteValue]]]

    @Test(arguments: CorpusCopy.all) func editsTouchNothingElse(_ stored: CorpusCopy.Source) throws {
        let copy = try CorpusCopy(stored)
        let schema = try copy.harness.sql("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY rowid")
        let metadata = try copy.harness.sql("SELECT * FROM Z_METADATA")
        let before = try copy.contents()

        let made = try insert(copy)
        let inserted = try copy.contents()
        for (table, rows) in before {
            for (key, row) in rows where inserted[table]?[key] != row {
                Issue.record("\(table) \(key) after the inserts")
            }
        }
        try check(made, copy)
        try change(made, copy)
        try check(made, copy)
        try delete(made, copy)
        // Nothing is left of the objects, and nothing else was changed.
        let after = try copy.contents()
        for table in Set(before.keys).union(after.keys) {
            #expect(before[table] == after[table], "\(table) at the end")
        }

        try changeOneOfEach(copy)
        #expect(try copy.harness.sql("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY rowid") == schema)
        #expect(try copy.harness.sql("SELECT * FROM Z_METADATA") == metadata)
        #expect(try copy.harness.sql("PRAGMA integrity_check") == [[.text("ok")]])
    }

    /// A created object, with the values by attribute that a fresh context must find.
    private final class Made {
        let id: NSManagedObjectID
        var values: [String: NSObject]
        let seed: Int
        init(id: NSManagedObjectID, values: [String: NSObject], seed: Int) {
            (self.id, self.values, self.seed) = (id, values, seed)
        }
    }

    // MARK: Edits

    private func insert(_ copy: CorpusCopy) throws -> [Made] {
        let context = copy.context()
        return try context.performAndWait {
            let entities = copy.open.coordinator.managedObjectModel.entities.filter { !$0.isAbstract }
                .sorted { ($0.name ?? "") < ($1.name ?? "") }
            var objects: [NSManagedObject] = []
            func make(_ entity: NSEntityDescription) -> NSManagedObject {
                let object = NSManagedObject(entity: entity, insertInto: context)
                CorpusValues.set(object, round: 0, seed: objects.count)
                objects.append(object)
                return object
            }
            for entity in entities { _ = make(entity) }
            // Required relationships create further objects until none is missing.
            var place = 0
            while place < objects.count, objects.count < 1000 {
                for relationship in CorpusValues.mandatoryRelationships(of: objects[place].entity) {
                    try lead(objects[place], relationship, make)
                }
                place += 1
            }
            do { try context.save() } catch {
                Issue.record(
                    "\((error as NSError).localizedDescription) \((error as NSError).userInfo["NSDetailedErrors"] ?? "")"
                )
                throw error
            }
            return objects.enumerated().map { Made(id: $1.objectID, values: CorpusValues.read($1), seed: $0) }
        }
    }

    private func lead(
        _ object: NSManagedObject, _ relationship: NSRelationshipDescription,
        _ make: (NSEntityDescription) -> NSManagedObject
    ) throws {
        let name = relationship.name
        guard let entity = relationship.destinationEntity?.family.first(where: { !$0.isAbstract }) else { return }
        if !relationship.isToMany {
            if object.value(forKey: name) == nil { object.setValue(make(entity), forKey: name) }
        } else if relationship.isOrdered {
            let members = object.mutableOrderedSetValue(forKey: name)
            if members.count == 0 { members.add(make(entity)) }
        } else {
            let members = object.mutableSetValue(forKey: name)
            if members.count == 0 { members.add(make(entity)) }
        }
    }

    private func change(_ made: [Made], _ copy: CorpusCopy) throws {
        let context = copy.context()
        try context.performAndWait {
            for made in made {
                let object = try context.existingObject(with: made.id)
                CorpusValues.set(object, round: 1, seed: made.seed)
                made.values = CorpusValues.read(object)
            }
            try context.save()
        }
    }

    private func delete(_ made: [Made], _ copy: CorpusCopy) throws {
        let context = copy.context()
        try context.performAndWait {
            for made in made {
                let object = try context.existingObject(with: made.id)
                if !object.isDeleted { context.delete(object) }
            }
            // Deny rules check if the destinations are deleted, too.
            try context.save()
        }
    }

    /// Compares with the values that another coordinator reads.
    private func check(_ made: [Made], _ copy: CorpusCopy) throws {
        let other = try copy.harness.open([NSReadOnlyPersistentStoreOption: true])
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = other.coordinator
        try context.performAndWait {
            for made in made {
                let id = try #require(
                    other.coordinator.managedObjectID(forURIRepresentation: made.id.uriRepresentation()))
                let object = try context.existingObject(with: id)
                let found = CorpusValues.read(object)
                for (name, value) in made.values
                where !(object.entity.attributesByName[name] is NSDerivedAttributeDescription) {
                    #expect(found[name] == value, "\(object.entity.name ?? "").\(name)")
                }
            }
        }
        try other.close()
    }

    /// Removes one value of one object of each entity. Only its row and rows maintained by triggers change.
    private func changeOneOfEach(_ copy: CorpusCopy) throws {
        let before = try copy.contents()
        let session = try #require(copy.open.store.openSession)
        var touched: [String: Set<SQLiteValue>] = [:]
        let context = copy.context()
        try context.performAndWait {
            for entity in session.layout.entities where !entity.isAbstract {
                let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
                request.includesSubentities = false
                request.fetchLimit = 1
                guard let object = try context.fetch(request).first,
                    let name = CorpusValues.harmlessAttribute(of: entity)
                else { continue }
                object.setValue((object.value(forKey: name) as? NSNumber)?.boolValue == true ? 0 : 1, forKey: name)
                touched[session.layout.table(of: entity), default: []].insert(
                    .integer(object.objectID.rowKey?.reference ?? 0))
            }
            try context.save()
        }
        let kept = try copy.harness.sql("SELECT sql FROM sqlite_master WHERE type = 'trigger'").map { "\($0)" }
        for (table, rows) in try copy.contents() where !kept.contains(where: { $0.contains("UPDATE \(table) SET") }) {
            for (key, row) in rows where touched[table]?.contains(key) != true && before[table]?[key] != row {
                Issue.record("\(table) \(key)")
            }
            for key in touched[table] ?? [] {
                let pairs = zip(before[table]?[key] ?? [], rows[key] ?? [])
                #expect(pairs.count { $0 != $1 } == 2, "\(table) \(key): the value and Z_OPT")
            }
        }
    }

    // MARK: Constraints of a model

    @Test(arguments: CorpusCopy.all) func valuesThatTheModelForbidsGiveAClearError(_ stored: CorpusCopy.Source) throws {
        let copy = try CorpusCopy(stored)
        let before = try copy.contents()
        let context = copy.context()
        context.performAndWait {
            for entity in copy.open.coordinator.managedObjectModel.entities where !entity.isAbstract {
                let isMandatory = entity.attributesByName.values.contains {
                    !$0.isOptional && !$0.isTransient && $0.defaultValue == nil
                        && !($0 is NSDerivedAttributeDescription)
                }
                guard isMandatory else { continue }
                _ = NSManagedObject(entity: entity, insertInto: context)
                let error = #expect(throws: NSError.self, "\(entity.name ?? "")") { try context.save() }
                #expect(
                    [1570, 1560].contains(error?.code ?? 0),
                    "\(entity.name ?? ""): \(error?.localizedDescription ?? "")")
                context.rollback()
            }
            for entity in copy.open.coordinator.managedObjectModel.entities where !entity.isAbstract {
                let names = entity.uniquenessConstraintNames.first ?? []
                guard !names.isEmpty, CorpusValues.mandatoryRelationships(of: entity).isEmpty else { continue }
                for _ in 0..<2 {
                    CorpusValues.set(NSManagedObject(entity: entity, insertInto: context), round: 0, seed: 0)
                }
                let error = #expect(throws: NSError.self, "\(entity.name ?? "")") { try context.save() }
                #expect(
                    [133021, 1551].contains(error?.code ?? 0),
                    "\(entity.name ?? ""): \(error?.localizedDescription ?? "")")
                context.rollback()
            }
        }
        #expect(try copy.contents() == before)
    }
}

/// Converts a list of texts to one text.
private final class StandInTransformer: ValueTransformer, @unchecked Sendable {
    override func transformedValue(_ value: Any?) -> Any? {
        (value as? [String]).map { Data($0.joined(separator: "\n").utf8) }
    }

    override func reverseTransformedValue(_ value: Any?) -> Any? {
        (value as? Data).map { String(decoding: $0, as: UTF8.self).split(separator: "\n").map(String.init) as NSArray }
    }
}

/// Values for the attributes of any model.
enum CorpusValues {
    /// Sets every attribute to a value that its model allows, a different one in each round.
    static func set(_ object: NSManagedObject, round: Int, seed: Int) {
        for attribute in object.entity.attributesByName.values
        where !attribute.isTransient && !(attribute is NSDerivedAttributeDescription) {
            if let value = value(for: attribute, round: round, seed: seed) {
                object.setValue(value, forKey: attribute.name)
            }
        }
    }

    private static func value(for attribute: NSAttributeDescription, round: Int, seed: Int) -> Any? {
        switch attribute.attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            if case .integer(let least)? = attribute.bounds.minimum { return least + Int64(round) }
            if case .integer(let most)? = attribute.bounds.maximum {
                return min(most, Int64(7 + 2 * seed)) - Int64(round)
            }
            return 7 + round + 2 * seed
        case .booleanAttributeType: return round == 0
        case .decimalAttributeType: return NSDecimalNumber(string: "9.9\(round)")
        case .doubleAttributeType, .floatAttributeType:
            if case .real(let least)? = attribute.bounds.minimum { return least + Double(round) / 4 }
            return 0.25 + Double(round)
        case .dateAttributeType: return Date(timeIntervalSinceReferenceDate: 600_000_000.125 + Double(round))
        case .stringAttributeType:
            let text = "corpus \(attribute.name) \(round) \(seed)"
            return attribute.lengthBounds.maximum.map { String(text.suffix($0)) } ?? text
        case .URIAttributeType: return URL(string: "https://example.org/\(attribute.name)/\(round)/\(seed)")
        case .UUIDAttributeType: return UUID(uuidString: "00112233-4455-6677-\(1000 + seed)-AABBCCDDEE0\(round)")
        case .binaryDataAttributeType: return Data([1, 2, UInt8(round)])
        case .transformableAttributeType:
            // The transformers of the apps do not exist here, so this one replaces them.
            let name = NSValueTransformerName(attribute.valueTransformerName ?? "")
            if !name.rawValue.isEmpty, ValueTransformer(forName: name) == nil {
                ValueTransformer.setValueTransformer(StandInTransformer(), forName: name)
            }
            return ["a", "\(round)"] as NSArray
        case .compositeAttributeType:
            let elements = (attribute as? NSCompositeAttributeDescription)?.elements ?? []
            return Dictionary(
                uniqueKeysWithValues: elements.compactMap { element in
                    value(for: element, round: round, seed: seed).map { (element.name, $0) }
                })
        default: return nil
        }
    }

    static func read(_ object: NSManagedObject) -> [String: NSObject] {
        var values: [String: NSObject] = [:]
        for attribute in object.entity.attributesByName.values where !attribute.isTransient {
            if let value = object.value(forKey: attribute.name) as? NSObject { values[attribute.name] = value }
        }
        return values
    }

    /// An integer attribute that no constraint, index condition or trigger uses.
    static func harmlessAttribute(of entity: NSEntityDescription) -> String? {
        let unique = Set(entity.uniquenessConstraintNames.joined())
        return entity.attributesByName.values.filter { attribute in
            attribute.attributeType == .booleanAttributeType && !attribute.isTransient
                && !unique.contains(attribute.name)
                && !(attribute is NSDerivedAttributeDescription) && attribute.bounds.isEmpty
        }.map(\.name).min()
    }

    /// The minimum count is ignored for an empty optional relationship.
    static func mandatoryRelationships(of entity: NSEntityDescription) -> [NSRelationshipDescription] {
        entity.relationshipsByName.values.filter { !$0.isOptional }
    }
}
