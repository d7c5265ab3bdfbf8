import CoreData
import Foundation

/// Checksum of a store for each entity. It does not depend on primary keys or the order of records.
///
/// It includes a record's values and those of related records; ordered relationships with their order. Derived dates
/// and real numbers are left out: a date is the time of the save, and a sum of reals depends on the order of keys.
struct ContentChecksum {
    struct Entity: Equatable {
        let name: String
        let count: Int
        let checksum: UInt64
    }

    private let context: NSManagedObjectContext
    /// Unreadable values of the counted records.
    private var missing: UnreadableValues?
    private var uncoded: [NSManagedObjectID: [String: Data]] = [:]
    private static let batchSize = 500

    init(_ context: NSManagedObjectContext) {
        self.context = context
        missing = context.persistentStoreCoordinator.map { UnreadableValues($0, countingUncoded: false) }
    }

    /// One line about unreadable values of the counted records; `nil` if there are none.
    mutating func missingLine() throws -> String? { try missing?.line() }

    /// All concrete entities by name. Reads the whole store. Call on the context's queue.
    mutating func entities() throws -> [Entity] {
        let model = context.persistentStoreCoordinator?.managedObjectModel
        let all = (model?.entities ?? []).filter { !$0.isAbstract }.sorted { ($0.name ?? "") < ($1.name ?? "") }
        var counted: [Entity] = []
        for entity in all { counted.append(try self.entity(entity)) }
        return counted
    }

    private mutating func entity(_ entity: NSEntityDescription) throws -> Entity {
        let request = NSFetchRequest<NSManagedObjectID>(entityName: entity.name ?? "")
        request.includesSubentities = false
        request.resultType = .managedObjectIDResultType
        let ids = try context.fetch(request)
        var sum: UInt64 = 0
        for start in stride(from: 0, to: ids.count, by: Self.batchSize) {
            let batch = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
            batch.includesSubentities = false
            batch.predicate = NSPredicate(
                format: "SELF IN %@", ids[start..<min(start + Self.batchSize, ids.count)].map(\.self))
            batch.returnsObjectsAsFaults = false
            batch.relationshipKeyPathsForPrefetching = entity.storedRelationships.map(\.name)
            let objects = try context.fetch(batch)
            uncoded = try uncodedValues(of: objects, entity)
            for object in objects {
                sum &+= checksum(of: object)
                try missing?.look(at: object)
            }
            // Frees the memory of the batch.
            context.reset()
        }
        return Entity(name: entity.name ?? "", count: ids.count, checksum: sum)
    }

    /// The stored bytes of values of the batch that cannot be decoded. Copies keep them, so they count.
    private func uncodedValues(
        of objects: [NSManagedObject], _ entity: NSEntityDescription
    ) throws -> [NSManagedObjectID: [String: Data]] {
        let holders = objects.filter { object in
            object.entity.attributesByName.values.contains { $0.mayBeUncoded(in: object) }
        }.map(\.objectID)
        return try holders.isEmpty
            ? [:] : context.persistentStoreCoordinator?.uncodedValues(of: entity, among: holders) ?? [:]
    }

    private func checksum(of object: NSManagedObject) -> UInt64 {
        var digest = ownDigest(of: object)
        for (name, data) in (uncoded[object.objectID] ?? [:]).sorted(by: { $0.key < $1.key }) {
            digest.add(name)
            data.forEach { digest.add(byte: $0) }
        }
        for (name, relationship) in object.entity.relationshipsByName.sorted(by: { $0.key < $1.key })
        where !relationship.isTransient {
            digest.add(name)
            if !relationship.isToMany {
                digest.add((object.value(forKey: name) as? NSManagedObject).map { ownDigest(of: $0).value } ?? 0)
            } else if relationship.isOrdered {
                for case let member as NSManagedObject in object.mutableOrderedSetValue(forKey: name).array {
                    digest.add(ownDigest(of: member).value)
                }
            } else {
                let members = object.mutableSetValue(forKey: name).allObjects.compactMap { $0 as? NSManagedObject }
                digest.add(members.reduce(0) { $0 &+ ownDigest(of: $1).value })
            }
        }
        return digest.value
    }

    private static func isOfTheMoment(_ attribute: NSAttributeDescription) -> Bool {
        let types: [NSAttributeType] = [.dateAttributeType, .doubleAttributeType, .floatAttributeType]
        return attribute is NSDerivedAttributeDescription && types.contains(attribute.attributeType)
    }

    private func ownDigest(of object: NSManagedObject) -> Digest {
        var digest = Digest()
        digest.add(object.entity.name ?? "")
        for (name, attribute) in object.entity.attributesByName.sorted(by: { $0.key < $1.key })
        where !attribute.isTransient && !Self.isOfTheMoment(attribute) {
            guard let value = object.value(forKey: name) else { continue }
            digest.add(name)
            switch value {
            case let date as Date: digest.add(date.timeIntervalSinceReferenceDate.bitPattern)
            case let data as Data: data.forEach { digest.add(byte: $0) }
            case let decimal as NSDecimalNumber: digest.add("\(decimal)")
            case let number as NSNumber:
                digest.add(number.doubleValue.bitPattern)
                digest.add(UInt64(bitPattern: number.int64Value))
            default: digest.add(ValueText.stable(value))
            }
        }
        return digest
    }

    /// The hash FNV-1a.
    private struct Digest {
        private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

        mutating func add(byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }

        mutating func add(_ number: UInt64) {
            for shift in stride(from: UInt64(0), to: 64, by: 8) {
                add(byte: UInt8(truncatingIfNeeded: number >> shift))
            }
        }

        mutating func add(_ text: String) {
            for byte in text.utf8 { add(byte: byte) }
            add(byte: 0xFF)
        }
    }
}
