import CoreData
import Foundation
import TerminalKit
import Translation

/// What deleting a record takes along by the model's delete rules.
struct DeletePlan {
    /// Other records that are deleted with it.
    private(set) var cascaded: [NSManagedObject] = []
    /// The records that lose what refers to a deleted one, by the relationship in which they have it.
    private(set) var nullified: [Loss] = []
    /// Why the delete rules forbid it.
    private(set) var denied: [String] = []

    /// What becomes of the records behind one relationship.
    struct Loss {
        let relationship: NSRelationshipDescription
        /// How many deleted records each of them loses.
        var counts: [ObjectIdentifier: Int]

        /// `1 Team loses its Home venue`, `3 Venues lose one of their Teams`.
        var text: String {
            let who = DeletePlan.counted(counts.count, relationship.entity.name ?? "record")
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

    /// - Parameter objects: records of one entity; at least one.
    init(deleting objects: [NSManagedObject]) {
        self.objects = objects
        var doomed = objects
        var known = Set(objects.map { ObjectIdentifier($0) })
        var next = 0
        while next < doomed.count {
            let current = doomed[next]
            next += 1
            for relationship in current.entity.relationshipsByName.values.sorted(by: { $0.name < $1.name })
            where relationship.deleteRule == .cascadeDeleteRule {
                for other in ValueDisplay.destinations(current.value(forKey: relationship.name))
                where known.insert(ObjectIdentifier(other)).inserted { doomed.append(other) }
            }
        }
        cascaded = Array(doomed.dropFirst(objects.count))
        for current in doomed { examine(current, doomed: known) }
    }

    private mutating func examine(_ current: NSManagedObject, doomed: Set<ObjectIdentifier>) {
        for relationship in current.entity.relationshipsByName.values.sorted(by: { $0.name < $1.name }) {
            let others = ValueDisplay.destinations(current.value(forKey: relationship.name))
                .filter { !doomed.contains(ObjectIdentifier($0)) }
            guard !others.isEmpty else { continue }
            switch relationship.deleteRule {
            case .denyDeleteRule:
                let count = Self.counted(others.count, relationship.destinationEntity?.name ?? "record")
                denied.append(
                    sentence(
                        "\(RecordName.text(current)) still has \(count) in \(PropertyTitle.title(relationship.name))"))
            case .nullifyDeleteRule:
                guard let inverse = relationship.inverseRelationship else { continue }
                addLosses(of: others, inverse: inverse)
            default: break
            }
        }
    }

    private mutating func addLosses(of others: [NSManagedObject], inverse: NSRelationshipDescription) {
        let index =
            nullified.firstIndex { $0.relationship === inverse }
            ?? {
                nullified.append(Loss(relationship: inverse, counts: [:]))
                return nullified.count - 1
            }()
        for other in others { nullified[index].counts[ObjectIdentifier(other), default: 0] += 1 }
    }

    /// What the records are called, as many as a line holds.
    var names: String {
        let names = objects.prefix(3).map { "“\(RecordName.text($0))”" }.joined(separator: ", ")
        return objects.count > 3 ? names + ", …" : names
    }

    /// The question's lines.
    var lines: [TextPane.Line] {
        let entity = objects.first?.entity.name ?? "record"
        var lines = [
            TextPane.Line(
                objects.count == 1 ? "\(entity) \(names)" : "\(Self.counted(objects.count, entity)): \(names)")
        ]
        for reason in denied { lines.append(TextPane.Line(sentence("\(reason), which forbids it."), role: .error)) }
        guard denied.isEmpty else { return lines }
        for (entity, group) in Dictionary(grouping: cascaded, by: { $0.entity.name ?? "record" }).sorted(by: {
            $0.key < $1.key
        }) {
            let names = group.prefix(3).map { RecordName.text($0) }.joined(separator: ", ")
            let more = group.count > 3 ? ", …" : ""
            lines.append(
                TextPane.Line(
                    sentence("Takes along \(Self.counted(group.count, entity)): \(names)\(more)"), role: .warning))
        }
        lines += nullified.map { TextPane.Line($0.text, role: .warning) }
        return lines
    }

    /// `1 Team`, `3 Teams`, `2,000 Countries`.
    static func counted(_ count: Int, _ noun: String) -> String {
        let many = englishPlural(noun)
        let number = GroupedNumber.text(count)
        // Words of the program have a sentence of their own in the catalogue; entities, whose names stay, share one.
        if Translation.text("%s " + many) != "%s " + many { return tr("%s " + many, number) }
        return tr("%1$s %3$s", number, noun, count == 1 ? noun : many)
    }

    /// `Teams`; the name itself in languages that have no plural.
    static func plural(_ noun: String) -> String { tr("%2$s", noun, englishPlural(noun)) }

    private static func englishPlural(_ noun: String) -> String {
        if noun.hasSuffix("y"), let before = noun.dropLast().last, !"aeiou".contains(before) {
            return noun.dropLast() + "ies"
        }
        let endings = ["ss", "us", "is", "x", "ch", "sh"]
        if endings.contains(where: noun.hasSuffix) { return noun + "es" }
        // Entities are often named in the plural: Attributes, Settings.
        return noun.hasSuffix("s") ? noun : noun + "s"
    }
}
