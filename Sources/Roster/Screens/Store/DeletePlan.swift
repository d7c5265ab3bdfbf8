import CoreData
import Foundation
import RosterCommands
import TerminalKit
import Translation

/// The effects of deleting records according to the model's delete rules.
struct DeletePlan {
    /// Numbers of other records that are deleted too, by entity, with the names of the first ones.
    private var cascaded: [String: (count: Int, names: [String])] = [:]
    /// The records that lose references to deleted ones, by relationship.
    private(set) var nullified: [Loss] = []
    /// Reasons why the delete rules forbid the deletion.
    private(set) var denied: [String] = []

    /// The effect on records with a relationship to deleted ones.
    struct Loss {
        let relationship: NSRelationshipDescription
        /// Number of deleted records that each of them loses.
        var counts: [ObjectIdentifier: Int]

        /// `1 Team loses its Home venue`, `3 Venues lose one of their Teams`.
        var text: String {
            let who = CountedNoun.text(counts.count, relationship.entity.name ?? "record")
            let isOne = counts.count == 1
            let title = PropertyTitle.title(relationship.name)
            guard relationship.isToMany else {
                return isOne ? sentence("\(who) loses its \(title)") : sentence("\(who) lose their \(title)")
            }
            let most = counts.values.max() ?? 1
            guard isOne else {
                return most == 1
                    ? sentence("\(who) lose one of their \(title)") : sentence("\(who) lose some of their \(title)")
            }
            return most == 1
                ? sentence("\(who) loses one of its \(title)") : sentence("\(who) loses \(most) of its \(title)")
        }
    }

    let objects: [NSManagedObject]
    /// All records to delete. Each is first followed for cascades, then examined for effects on others.
    private var doomed: [NSManagedObject]
    private var known: Set<ObjectIdentifier> = []
    private var registered = 0
    private var followed = 0
    private var examined = 0
    private var relationships: [ObjectIdentifier: [NSRelationshipDescription]] = [:]

    /// Creates an empty plan, which `advance(until:)` completes.
    ///
    /// - Parameter objects: records of one entity; at least one.
    init(deleting objects: [NSManagedObject]) { (self.objects, doomed) = (objects, objects) }

    /// The completed fraction, from 0 to 1.
    var share: Double { Double(registered + followed + examined) / Double(max(1, objects.count + 2 * doomed.count)) }

    /// Continues until the deadline. Returns true if the plan is complete.
    mutating func advance(until deadline: ContinuousClock.Instant) -> Bool {
        var steps = 0
        while examined < doomed.count {
            steps += 1
            if steps.isMultiple(of: 16), ContinuousClock.now >= deadline { return false }
            if registered < objects.count {
                known.insert(ObjectIdentifier(objects[registered]))
                registered += 1
            } else if followed < doomed.count {
                follow(doomed[followed])
                followed += 1
            } else {
                examine(doomed[examined])
                examined += 1
            }
        }
        return true
    }

    private mutating func relationships(of object: NSManagedObject) -> [NSRelationshipDescription] {
        if let known = relationships[ObjectIdentifier(object.entity)] { return known }
        let found = object.entity.relationshipsByName.values.sorted { $0.name < $1.name }
        relationships[ObjectIdentifier(object.entity)] = found
        return found
    }

    /// True if the record was not deleted by others.
    private func isThere(_ object: NSManagedObject) -> Bool {
        !object.isDeleted && object.managedObjectContext != nil
    }

    /// Adds the records that a record's cascades delete.
    private mutating func follow(_ current: NSManagedObject) {
        guard isThere(current) else { return }
        for relationship in relationships(of: current) where relationship.deleteRule == .cascadeDeleteRule {
            for other in ValueDisplay.destinations(current.value(forKey: relationship.name))
            where known.insert(ObjectIdentifier(other)).inserted {
                doomed.append(other)
                var taken = cascaded[other.entity.name ?? "record"] ?? (0, [])
                taken.count += 1
                if taken.names.count < 3 { taken.names.append(RecordName.short(other)) }
                cascaded[other.entity.name ?? "record"] = taken
            }
        }
    }

    private mutating func examine(_ current: NSManagedObject) {
        guard isThere(current) else { return }
        for relationship in relationships(of: current) {
            let others = ValueDisplay.destinations(current.value(forKey: relationship.name))
                .filter { !known.contains(ObjectIdentifier($0)) }
            guard !others.isEmpty else { continue }
            switch relationship.deleteRule {
            case .denyDeleteRule where denied.count < Self.mostReasons:
                let count = CountedNoun.text(others.count, relationship.destinationEntity?.name ?? "record")
                denied.append(
                    sentence(
                        "\(RecordName.short(current)) still has \(count) in \(PropertyTitle.title(relationship.name))"))
            case .nullifyDeleteRule:
                guard let inverse = relationship.inverseRelationship else { continue }
                addLosses(of: others, inverse: inverse)
            default: break
            }
        }
    }

    /// Maximum number of reasons in a question.
    private static let mostReasons = 20

    private mutating func addLosses(of others: [NSManagedObject], inverse: NSRelationshipDescription) {
        let index =
            nullified.firstIndex { $0.relationship === inverse }
            ?? {
                nullified.append(Loss(relationship: inverse, counts: [:]))
                return nullified.count - 1
            }()
        for other in others { nullified[index].counts[ObjectIdentifier(other), default: 0] += 1 }
    }

    /// Names of the first records.
    var names: String {
        let names = objects.prefix(3).map { "“\(RecordName.short($0))”" }.joined(separator: ", ")
        return objects.count > 3 ? names + ", …" : names
    }

    /// The lines of the question.
    var lines: [TextPane.Line] {
        let entity = objects.first?.entity.name ?? "record"
        var lines = [
            TextPane.Line(
                objects.count == 1 ? "\(entity) \(names)" : "\(CountedNoun.text(objects.count, entity)): \(names)")
        ]
        for reason in denied {
            lines.append(TextPane.Line(sentence("\(reason); its delete rule is Deny."), role: .error))
        }
        guard denied.isEmpty else { return lines }
        for (entity, group) in cascaded.sorted(by: { $0.key < $1.key }) {
            let names = group.names.joined(separator: ", ")
            let more = group.count > group.names.count ? ", …" : ""
            lines.append(
                TextPane.Line(
                    sentence("Also deletes \(CountedNoun.text(group.count, entity)): \(names)\(more)"), role: .warning))
        }
        lines += nullified.map { TextPane.Line($0.text, role: .warning) }
        return lines
    }
}
