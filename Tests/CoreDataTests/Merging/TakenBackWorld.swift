import Foundation
import Testing

@testable import CoreData

/// A team in a venue, with a player who has a skill, all saved and read in two contexts: siblings, or child and parent.
final class TakenBackWorld {
    let stack: ClubStack
    let mine: NSManagedObjectContext
    let other: NSManagedObjectContext
    private(set) var ids: [String: NSManagedObjectID] = [:]
    private var held: [NSManagedObject] = []

    init(nested: Bool) throws {
        stack = try ClubStack()
        let (root, second) = (stack.context(), stack.context())
        mine = nested ? root.child() : second
        other = root
        ids = try root.use { context in
            let venue = context.make("Venue", ["name": "Park"])
            let (team, rival) = (context.team("Albion"), context.team("Borough"))
            team.setValue(venue, forKey: "venue")
            let skill = context.make("Skill", ["name": "pace"])
            let ada = context.make("Player", ["name": "Ada", "team": team, "skills": NSSet(array: [skill])])
            team.captain = ada
            try context.save()
            return [
                "Park": venue.objectID, "Albion": team.objectID, "Borough": rival.objectID, "pace": skill.objectID,
                "Ada": ada.objectID,
            ]
        }
        for context in [mine, other] {
            try context.use { context in
                context.undoManager = UndoManager()
                for id in ids.values { held.append(try context.existingObject(with: id)) }
                for object in context.registeredObjects { _ = object.value(forKey: "name") }
            }
        }
    }

    func object(_ name: String, _ context: NSManagedObjectContext) throws -> NSManagedObject {
        try context.existingObject(with: try #require(ids[name]))
    }

    /// Saves an edit of the other context and updates `mine`: by a merge or by a refresh.
    func editElsewhere(merging: Bool = true, _ edit: (NSManagedObjectContext) throws -> Void) throws {
        let notices = Notices(other, [.NSManagedObjectContextDidSave])
        try other.use { context in
            try edit(context)
            try context.save()
        }
        let saved = try #require(notices.take().first)
        guard merging else { return }
        try mine.use { mine.parent == nil ? $0.mergeChanges(fromContextDidSave: saved) : $0.refreshAllObjects() }
    }
}
