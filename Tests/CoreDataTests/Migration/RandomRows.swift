import CoreData
import Foundation
import Testing

/// Contents of a store in terms that a migration keeps: tags of objects, numbers of attributes and relationships.
@MainActor
struct StoreContents {
    struct Row: Equatable {
        var entity: Int
        /// Values as text, by the attribute's number.
        var values: [Int: String] = [:]
        /// Tags of the destinations, by the relationship's number and the end's index.
        var links: [Int: [Int]] = [:]
    }

    var rows: [Int: Row] = [:]
    /// The first derived value that does not match its source.
    private(set) var wrongDerivation: String?

    static func text(_ value: Any?) -> String? {
        switch value {
        case nil, is NSNull: nil
        case let number as NSNumber: "\(number.doubleValue)"
        case let data as Data: data.base64EncodedString()
        case let date as Date: "\(date.timeIntervalSinceReferenceDate)"
        case let elements as [String: Any]:
            elements.sorted { $0.key < $1.key }.map { "\($0.key) \(text($0.value) ?? "-")" }.joined(separator: ", ")
        case let other?: "\(other)"
        }
    }

    private static func link(_ relationship: Int, _ place: Int) -> Int { relationship * 2 + place }

    init() {}

    /// Reads everything.
    init(_ context: NSManagedObjectContext, _ spec: ModelSpec) throws {
        for entity in spec.entities where !entity.isAbstract {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity.name)
            request.includesSubentities = false
            for object in try context.fetch(request) {
                guard let tag = object.value(forKey: "tag") as? Int else { continue }
                var row = Row(entity: entity.id)
                for attribute in spec.attributes(of: entity.id) {
                    row.values[attribute.id] = Self.text(object.value(forKey: attribute.name))
                }
                for (relationship, place, end) in spec.ends(of: entity.id) {
                    row.links[Self.link(relationship, place)] = Self.tags(object.value(forKey: end.name), end)
                }
                rows[tag] = row
                for (derivation, from) in spec.derivations(of: entity.id) {
                    let found = Self.text(object.value(forKey: derivation.name))
                    let expected = Self.derived(derivation, object.value(forKey: from))
                    if found != expected {
                        wrongDerivation =
                            "object \(tag) of \(entity.name) has \(found ?? "nil") in \(derivation.name), "
                            + "derived from \(from): \(expected ?? "nil")"
                    }
                }
            }
        }
    }

    private static func derived(_ derivation: ModelSpec.Derivation, _ value: Any?) -> String? {
        switch derivation.source {
        case .upper: (value as? String)?.uppercased()
        case .count: "\(Double((value as? NSOrderedSet)?.count ?? (value as? Set<NSManagedObject>)?.count ?? 0))"
        }
    }

    private static func tags(_ value: Any?, _ end: ModelSpec.End) -> [Int] {
        func tag(_ object: NSManagedObject) -> Int { object.value(forKey: "tag") as? Int ?? -1 }
        switch value {
        case let object as NSManagedObject: return [tag(object)]
        case let list as NSOrderedSet: return list.compactMap { ($0 as? NSManagedObject).map(tag) }
        case let set as Set<NSManagedObject>: return set.map(tag).sorted()
        default: return []
        }
    }

    /// The contents expected after a lightweight migration.
    func migrated(from old: ModelSpec, to new: ModelSpec) -> StoreContents {
        let staying = rows.filter { new[$0.value.entity] != nil }
        var result = StoreContents()
        for (tag, row) in staying {
            var made = Row(entity: row.entity)
            let known = Set(old.attributes(of: row.entity).map(\.id))
            for attribute in new.attributes(of: row.entity) {
                let initial =
                    attribute.hasDefault ? Self.text(ModelSpec.defaultValue(attribute.type)) : nil
                let kept = row.values[attribute.id]
                made.values[attribute.id] = known.contains(attribute.id) ? kept : initial
                if kept == nil, !attribute.isOptional { made.values[attribute.id] = initial }
            }
            for (relationship, place, _) in new.ends(of: row.entity) {
                let link = Self.link(relationship, place)
                made.links[link] = (row.links[link] ?? []).filter { staying[$0] != nil }
            }
            result.rows[tag] = made
        }
        return result
    }

    /// The first difference between two contents; `nil` if there is none. Lists are compared with their order only if
    /// both versions are ordered.
    func difference(to expected: StoreContents, from old: ModelSpec, to new: ModelSpec) -> String? {
        if let wrongDerivation { return wrongDerivation }
        if Set(rows.keys) != Set(expected.rows.keys) {
            return "objects \(rows.keys.sorted()), expected \(expected.rows.keys.sorted())"
        }
        for (tag, row) in rows.sorted(by: { $0.key < $1.key }) {
            guard let wanted = expected.rows[tag] else { continue }
            let name = new[row.entity]?.name ?? ""
            if row.entity != wanted.entity { return "object \(tag) is of \(name)" }
            if row.values != wanted.values {
                return "object \(tag) of \(name) has \(row.values), expected \(wanted.values)"
            }
            for (relationship, place, end) in new.ends(of: row.entity) {
                let link = Self.link(relationship, place)
                let before = old.relationships.first { $0.id == relationship }?.ends[place]
                let hasOrder = end.isMany && end.isOrdered && (before.map { $0.isMany && $0.isOrdered } ?? false)
                let (now, then) = (row.links[link] ?? [], wanted.links[link] ?? [])
                if hasOrder ? now != then : now.sorted() != then.sorted() {
                    return "object \(tag) of \(name) has \(now) in \(end.name), expected \(then)"
                }
            }
        }
        return nil
    }
}

extension ModelSpec {
    static func value(of type: NSAttributeType, _ random: inout SeededGenerator) -> Any {
        let number = Int.random(in: -100...100, using: &random)
        return switch type {
        case .stringAttributeType: "text \(number) é"
        case .booleanAttributeType: number > 0
        case .dateAttributeType: Date(timeIntervalSinceReferenceDate: Double(number) * 1_000)
        case .binaryDataAttributeType:
            // Some are large enough for an external file.
            Data(repeating: UInt8(truncatingIfNeeded: number), count: number > 80 ? 120_000 : 1 + abs(number))
        case .decimalAttributeType: NSDecimalNumber(value: number)
        case .compositeAttributeType: ["x": Double(number) / 4, "word": "word \(number)"] as [String: Any]
        case .doubleAttributeType, .floatAttributeType: Double(number) / 4
        default: number
        }
    }

    /// Fills a new store with rows of all entities, related at random.
    func fill(_ context: NSManagedObjectContext, _ random: inout SeededGenerator) throws {
        var made: [(entity: Int, object: NSManagedObject)] = []
        for entity in entities where !entity.isAbstract {
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                let object = NSEntityDescription.insertNewObject(forEntityName: entity.name, into: context)
                object.setValue(made.count + 1, forKey: "tag")
                for attribute in attributes(of: entity.id) {
                    let isSet = !attribute.isOptional || Int.random(in: 0..<4, using: &random) > 0
                    let value = Self.value(of: attribute.type, &random)
                    object.setValue(isSet ? value : nil, forKey: attribute.name)
                }
                made.append((entity.id, object))
            }
        }
        for relationship in relationships {
            let (near, far) = (relationship.ends[0], relationship.ends[1])
            let targets = made.filter { isKind($0.entity, of: far.entity) }.map(\.object)
            for owner in made where isKind(owner.entity, of: near.entity) {
                let chosen = Array(
                    targets.shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random)))
                if !near.isMany {
                    owner.object.setValue(chosen.first, forKey: near.name)
                } else if near.isOrdered {
                    owner.object.setValue(NSOrderedSet(array: chosen), forKey: near.name)
                } else {
                    owner.object.setValue(Set(chosen), forKey: near.name)
                }
            }
        }
        try context.save()
    }
}
