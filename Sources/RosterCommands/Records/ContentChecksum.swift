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
        let walk = try RecordWalk(of: entity, in: context)
        var sum: UInt64 = 0
        while let part = try walk.nextBatch({ batch in
            var sum: UInt64 = 0
            for object in batch.objects {
                sum &+= checksum(of: object, batch.uncoded[object.objectID] ?? [:])
                try missing?.look(at: object)
            }
            return sum
        }) {
            sum &+= part
        }
        return Entity(name: entity.name ?? "", count: walk.count, checksum: sum)
    }

    /// - Parameter uncoded: the stored bytes of values that cannot be decoded. Copies keep them, so they count.
    private func checksum(of object: NSManagedObject, _ uncoded: [String: Data]) -> UInt64 {
        var digest = ownDigest(of: object)
        for (name, data) in uncoded.sorted(by: { $0.key < $1.key }) {
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

    private func ownDigest(of object: NSManagedObject) -> Digest {
        var digest = Digest()
        digest.add(object.entity.name ?? "")
        for (name, attribute) in object.entity.attributesByName.sorted(by: { $0.key < $1.key })
        where !attribute.isTransient && !attribute.isOfTheMoment {
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

extension NSAttributeDescription {
    /// True for derived dates and real numbers, which differ between stores with the same contents.
    var isOfTheMoment: Bool {
        let types: [NSAttributeType] = [.dateAttributeType, .doubleAttributeType, .floatAttributeType]
        return self is NSDerivedAttributeDescription && types.contains(attributeType)
    }
}
