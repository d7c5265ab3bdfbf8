import Foundation

@testable import CoreData

/// Models for tests of the SQLite store.
enum StoreModels {
    static func entity(
        _ name: String, _ properties: [NSPropertyDescription], subentities: [NSEntityDescription] = [],
        unique: [[String]] = []
    ) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.properties = properties
        entity.subentities = subentities
        entity.uniquenessConstraints = unique
        return entity
    }

    static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        TestModel.attribute(name, type)
    }

    static func relationship(_ name: String, toMany: Bool = false, ordered: Bool = false) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.maxCount = toMany ? 0 : 1
        relationship.isOrdered = ordered
        return relationship
    }

    /// Connects `relationship` to `destination`, with `inverse`.
    static func connect(
        _ relationship: NSRelationshipDescription, to destination: NSEntityDescription,
        inverse: NSRelationshipDescription? = nil
    ) {
        relationship.destinationEntity = destination
        relationship.inverseRelationship = inverse
    }

    static func model(_ entities: [NSEntityDescription]) -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        model.entities = entities
        return model
    }

    static let allTypes: [(String, NSAttributeType)] = [
        ("int16", .integer16AttributeType), ("int32", .integer32AttributeType), ("int64", .integer64AttributeType),
        ("decimal", .decimalAttributeType), ("double", .doubleAttributeType), ("float", .floatAttributeType),
        ("string", .stringAttributeType), ("boolean", .booleanAttributeType), ("date", .dateAttributeType),
        ("data", .binaryDataAttributeType), ("uuid", .UUIDAttributeType), ("uri", .URIAttributeType),
        ("transformable", .transformableAttributeType),
    ]

    /// Thing, with an attribute of every type, one for external data and a transient one.
    static func types() -> NSManagedObjectModel {
        var properties = allTypes.map { attribute($0.0, $0.1) }
        let external = attribute("external", .binaryDataAttributeType)
        external.allowsExternalBinaryDataStorage = true
        let transient = attribute("transient", .stringAttributeType)
        transient.isTransient = true
        properties += [external, transient]
        return model([entity("Thing", properties)])
    }

    /// Team (name unique, wins, home → Venue) and Venue (name, teams ← Team); both with an attribute that the history
    /// preserves.
    static func league() -> NSManagedObjectModel {
        let home = relationship("home")
        let teams = relationship("teams", toMany: true)
        let name = attribute("name", .stringAttributeType)
        name.preservesValueInHistoryOnDeletion = true
        let wins = attribute("wins", .integer32AttributeType)
        let team = entity("Team", [name, wins, home], unique: [["name"]])
        let venue = entity("Venue", [attribute("name", .stringAttributeType), teams])
        team.indexes = [
            NSFetchIndexDescription(
                name: "byWins", elements: [NSFetchIndexElementDescription(property: wins, collationType: .binary)])
        ]
        connect(home, to: venue, inverse: teams)
        connect(teams, to: team, inverse: home)
        return model([team, venue])
    }

    /// Folder ⇄ Note many-to-many, ordered from the folder; Folder → its ordered `parts` (Part.whole); Person ⇄
    /// `friends` with itself; Folder → `marks` without an inverse; Media with subentities Song and Film, and
    /// Part.medium → Media.
    static func web() -> NSManagedObjectModel {
        let notes = relationship("notes", toMany: true, ordered: true)
        let folders = relationship("folders", toMany: true)
        let parts = relationship("parts", toMany: true, ordered: true)
        let whole = relationship("whole")
        let friends = relationship("friends", toMany: true)
        let marks = relationship("marks", toMany: true)
        let medium = relationship("medium")
        let song = entity("Song", [attribute("text", .stringAttributeType)])
        let film = entity("Film", [attribute("text", .integer16AttributeType)])
        let media = entity("Media", [attribute("title", .stringAttributeType)], subentities: [song, film])
        let folder = entity("Folder", [attribute("name", .stringAttributeType), notes, parts, marks])
        let note = entity("Note", [attribute("name", .stringAttributeType), folders])
        let part = entity("Part", [attribute("name", .stringAttributeType), whole, medium])
        let person = entity("Person", [attribute("name", .stringAttributeType), friends])
        let mark = entity("Mark", [attribute("name", .stringAttributeType)])
        connect(notes, to: note, inverse: folders)
        connect(folders, to: folder, inverse: notes)
        connect(parts, to: part, inverse: whole)
        connect(whole, to: folder, inverse: parts)
        connect(friends, to: person, inverse: friends)
        connect(marks, to: mark)
        connect(medium, to: media)
        return model([folder, note, part, person, mark, media])
    }
}
