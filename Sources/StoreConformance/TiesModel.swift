import CoreData
import Foundation

// The part of the model with relationships of every form, delete rules and validation.
extension StoreConformance {
    /// A relationship without an inverse; ``pair(_:_:)`` makes two of them inverses of each other.
    private static func way(
        _ from: NSEntityDescription, _ name: String, _ to: NSEntityDescription, many: Bool = true,
        ordered: Bool = false, rule: NSDeleteRule = .nullifyDeleteRule
    ) -> NSRelationshipDescription {
        let way = NSRelationshipDescription()
        way.name = name
        way.destinationEntity = to
        way.maxCount = many ? 0 : 1
        way.isOptional = true
        way.isOrdered = ordered
        way.deleteRule = rule
        from.properties.append(way)
        return way
    }

    private static func pair(_ one: NSRelationshipDescription, _ other: NSRelationshipDescription) {
        one.inverseRelationship = other
        other.inverseRelationship = one
    }

    /// `Person` with relationships to its own entity, `Playlist` and `Song` with ordered ones, `Folder` with a
    /// destination for each delete rule, `Form` and `Part` with conditions, and `Attachment`, whose bytes may be stored
    /// outside of the store.
    static func ties() -> [NSEntityDescription] {
        people() + folders() + forms() + [
            {
                let bytes = attribute("bytes", .binaryDataAttributeType)
                bytes.allowsExternalBinaryDataStorage = true
                return entity("Attachment", [attribute("name", .stringAttributeType), bytes])
            }()
        ]
    }

    private static func people() -> [NSEntityDescription] {
        let person = entity("Person", [attribute("name", .stringAttributeType)])
        let playlist = entity("Playlist", [attribute("name", .stringAttributeType)])
        let song = entity(
            "Song", [attribute("name", .stringAttributeType), attribute("number", .integer32AttributeType)])
        pair(way(person, "parent", person, many: false), way(person, "children", person))
        for own in [way(person, "friends", person), way(person, "partner", person, many: false)] { pair(own, own) }
        _ = way(person, "mentor", person, many: false)
        _ = way(person, "likes", person)
        _ = way(person, "queue", song, ordered: true)
        pair(way(playlist, "songs", song, ordered: true), way(song, "playlists", playlist))
        pair(way(playlist, "guests", song, ordered: true), way(song, "visits", playlist, ordered: true))
        return [person, playlist, song]
    }

    private static func folders() -> [NSEntityDescription] {
        let named = ["Folder", "Page", "Remark", "Lock", "Label", "Shortcut"].map {
            entity($0, [attribute("name", .stringAttributeType)])
        }
        let (folder, page, remark, lock, label, shortcut) = (named[0], named[1], named[2], named[3], named[4], named[5])
        pair(way(folder, "pages", page, rule: .cascadeDeleteRule), way(page, "folder", folder, many: false))
        pair(way(page, "remarks", remark, rule: .cascadeDeleteRule), way(remark, "page", page, many: false))
        pair(way(folder, "locks", lock, rule: .denyDeleteRule), way(lock, "folder", folder, many: false))
        pair(way(folder, "labels", label), way(label, "folders", folder))
        pair(
            way(folder, "shortcuts", shortcut, rule: .noActionDeleteRule), way(shortcut, "target", folder, many: false))
        return named
    }

    private static func forms() -> [NSEntityDescription] {
        func condition(_ format: String, _ code: Int) -> (NSPredicate, String) {
            (NSPredicate(format: format), "\(code)")
        }
        func limit(_ attribute: NSAttributeDescription, _ conditions: (NSPredicate, String)...)
            -> NSAttributeDescription
        {
            attribute.setValidationPredicates(conditions.map(\.0), withValidationWarnings: conditions.map(\.1))
            return attribute
        }
        let title = attribute("title", .stringAttributeType)
        title.isOptional = false
        let code = limit(
            attribute("code", .stringAttributeType), condition("length >= 2", 1670), condition("length <= 4", 1660),
            condition("SELF MATCHES '[A-Z]+'", 1680))
        let amount = limit(
            attribute("amount", .integer32AttributeType), condition("SELF >= 1", 1620), condition("SELF <= 100", 1610))
        let due = attribute("due", .dateAttributeType)
        due.setValidationPredicates(
            [
                NSPredicate(format: "SELF >= %@", Date(timeIntervalSinceReferenceDate: 0) as NSDate),
                NSPredicate(format: "SELF <= %@", Date(timeIntervalSinceReferenceDate: 1e9) as NSDate),
            ], withValidationWarnings: ["1640", "1630"])
        let form = entity("Form", [title, code, amount, due])
        let part = entity("Part", [attribute("name", .stringAttributeType)])
        let (parts, owner) = (way(form, "parts", part), way(part, "form", form, many: false))
        (parts.minCount, parts.maxCount, parts.isOptional, owner.isOptional) = (1, 3, false, false)
        pair(parts, owner)
        return [form, part]
    }
}
