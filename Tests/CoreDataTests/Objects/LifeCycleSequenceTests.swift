import Foundation
import Testing

@testable import CoreData

/// The hooks of an object over its lifetime, in the order of their calls.
@Suite struct LifeCycleSequenceTests {
    private func withUndo(_ body: (NSManagedObjectContext) throws -> Void) throws {
        try ClubStack().contextKeepingStack().use { context in
            context.undoManager = UndoManager()
            try body(context)
        }
    }

    /// A team that recorded the hooks of its insertion.
    private func newTeam(_ context: NSManagedObjectContext) -> ClubTeam {
        let team = ClubTeam(entity: ClubTeam.entity(in: context), insertInto: nil)
        team.log = []
        context.insert(team)
        team.name = "Rovers"
        return team
    }

    @Test func aWholeLifeCallByCall() throws {
        try withUndo { context in
            let team = newTeam(context)
            var steps: [(String, () throws -> Void)] = []
            func step(_ name: String, _ act: @escaping () throws -> Void) { steps.append((name, act)) }
            step("save") { try context.save() }
            step("change, save") {
                team.wins = 1
                try context.save()
            }
            step("undo") { context.undo() }
            step("redo") { context.redo() }
            step("save again") { try context.save() }
            step("refresh unchanged") { context.refresh(team, mergeChanges: true) }
            step("read") { _ = team.wins }
            step("refresh changed") {
                team.wins = 5
                context.refresh(team, mergeChanges: true)
            }
            step("rollback") { context.rollback() }
            step("drop") { context.refresh(team, mergeChanges: false) }
            step("read again") { _ = team.name }
            step("delete") {
                context.delete(team)
                context.processPendingChanges()
            }
            step("undelete") { context.undo() }
            step("delete, save") {
                context.delete(team)
                try context.save()
            }
            var diary = ["insert: \(take(team))"]
            for (name, act) in steps {
                try act()
                diary.append("\(name): \(take(team))")
            }
            #expect(
                diary == [
                    "insert: awakeFromInsert",
                    "save: willSave, validateForInsert, didSave",
                    "change, save: willSave, validateForUpdate, didSave",
                    "undo: awake 8",
                    "redo: awake 8",
                    "save again: willSave, validateForUpdate, didSave",
                    "refresh unchanged: willTurnIntoFault, didTurnIntoFault",
                    "read: awakeFromFetch",
                    "refresh changed: awake 32",
                    "rollback: awake 16",
                    "drop: willTurnIntoFault, didTurnIntoFault",
                    "read again: awakeFromFetch",
                    "delete: prepareForDeletion",
                    "undelete: awake 4",
                    "delete, save: prepareForDeletion, willSave, validateForDelete, didSave",
                ])
        }
    }

    private func take(_ team: ClubTeam) -> String {
        defer { team.log = [] }
        return (team.log ?? []).joined(separator: ", ")
    }

    @Test func aClassIsMadeByInsertNewObject() throws {
        try withUndo { context in
            let made = NSEntityDescription.insertNewObject(forEntityName: "Team", into: context)
            #expect(made is ClubTeam && made.value(forKey: "rating") as? Double == 0.5, "awakeFromInsert ran")
            let asked = NSManagedObject(entity: ClubTeam.entity(in: context), insertInto: context)
            #expect(type(of: asked) == NSManagedObject.self, "a divergence: an initialiser makes its own class")
        }
    }

    @Test func awakeFromInsertRunsOnceInALife() throws {
        try withUndo { context in
            let team = newTeam(context)
            #expect(take(team) == "awakeFromInsert")
            context.processPendingChanges()
            context.undo()
            context.redo()
            context.delete(team)
            context.processPendingChanges()
            context.undo()
            try context.save()
            #expect(!take(team).contains("awakeFromInsert"))
        }
    }

    @Test func awakingFromAFetchTracksNoChangeAndKeepsNoInverse() throws {
        let entity = Club.entity("Reader", [Club.attribute("name", .stringAttributeType)], className: "AwakingReader")
        let book = Club.entity("Book", [])
        let reads = NSRelationshipDescription()
        (reads.name, reads.maxCount, reads.destinationEntity) = ("reads", 1, book)
        let readers = NSRelationshipDescription()
        (readers.name, readers.destinationEntity) = ("readers", entity)
        (reads.inverseRelationship, readers.inverseRelationship) = (readers, reads)
        entity.properties += [reads]
        book.properties += [readers]
        let model = NSManagedObjectModel()
        model.entities = [entity, book]
        let stack = try ClubStack(model: model)
        let id = try stack.context().use { context in
            let reader = AwakingReader(context: context)
            try context.save()
            return reader.objectID
        }
        try stack.context().use { context in
            let book = context.make("Book")
            try context.save()
            let reader = try #require(context.object(with: id) as? AwakingReader)
            reader.onAwake = { reader in
                reader.name = "set while awaking"
                reader.setValue(book, forKey: "reads")
            }
            #expect(reader.name == "set while awaking" && reader.object("reads") === book)
            #expect(!reader.hasChanges && !context.hasChanges && reader.changedValues().isEmpty)
            #expect(book.objects("readers").isEmpty && !book.hasChanges)
            context.refresh(reader, mergeChanges: false)
            reader.onAwake = { $0.name = "again" }
            #expect(reader.name == "again", "each time a fault becomes real")
        }
    }

    @Test func relationshipsAreIntactInPrepareForDeletion() throws {
        try withUndo { context in
            let team = context.team()
            _ = context.make("Player", ["name": "Ada", "team": team])
            team.setValue(context.make("Venue"), forKey: "venue")
            try context.save()
            var seen: [Int] = []
            team.onPrepareForDeletion = { team in
                seen.append(team.players.count)
                seen.append(team.object("venue")?.objects("teams").count ?? 0)
            }
            context.delete(team)
            context.delete(team)
            context.processPendingChanges()
            #expect(seen == [1, 1, 1, 1], "at each call, before anything propagates")
        }
    }

    @Test func willSaveIsCalledOfEveryChangedObject() throws {
        try withUndo { context in
            let (updated, deleted, clean) = (context.team("Updated"), context.team("Deleted"), context.team("Clean"))
            try context.save()
            let inserted = context.team("Inserted")
            updated.wins = 1
            context.delete(deleted)
            for team in [updated, deleted, clean, inserted] { team.log = [] }
            deleted.log = []
            try context.save()
            #expect(take(inserted) == "willSave, validateForInsert, didSave")
            #expect(take(updated) == "willSave, validateForUpdate, didSave")
            #expect(take(deleted) == "willSave, validateForDelete, didSave")
            #expect(take(clean) == "")
        }
    }

    @Test func willSaveIsCalledAgainForSettersNotForPrimitiveValues() throws {
        try withUndo { context in
            let team = newTeam(context)
            try context.save()
            team.wins = 1
            _ = take(team)
            team.onWillSave = { $0.setPrimitiveValue(7, forKey: "wins") }
            try context.save()
            #expect(take(team) == "willSave, validateForUpdate, didSave" && team.wins == 7)
            team.onWillSave = { if $0.wins < 9 { $0.wins = 9 } }
            team.rating = 3
            try context.save()
            #expect(take(team) == "willSave, willSave, validateForUpdate, didSave")
            context.refresh(team, mergeChanges: false)
            #expect(team.wins == 9, "what was set in willSave is saved")
        }
    }

    @Test func settersInDidSaveBeginTheNextChange() throws {
        try withUndo { context in
            let team = newTeam(context)
            team.onDidSave = { $0.wins = 3 }
            try context.save()
            #expect(team.isUpdated && context.hasChanges)
            team.onDidSave = nil
            context.refresh(team, mergeChanges: false)
            #expect(team.wins == 0, "not what was saved")
        }
    }

    @Test func valuesCanBeReadInWillTurnIntoFault() throws {
        try withUndo { context in
            let team = newTeam(context)
            team.wins = 3
            try context.save()
            _ = take(team)
            var seen: [Int] = []
            // The hook is also called after the values were removed; reading them then would fire the fault.
            team.onTurnIntoFault = { team in
                guard !team.isFault else { return }
                seen += [Int(team.wins), team.value(forKey: "wins") as? Int ?? -1]
            }
            context.refresh(team, mergeChanges: false)
            #expect(seen == [3, 3] && team.isFault)
            #expect(take(team) == "willTurnIntoFault, didTurnIntoFault")
        }
    }

    @Test func didSaveComesAfterTheStoresCommit() throws {
        let stack = try ClubStack()
        let other = stack.context()
        try stack.contextKeepingStack().use { context in
            let team = newTeam(context)
            var counts: [Int?] = []
            let count = {
                counts.append(try? other.use { try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: "Team")) })
            }
            team.onWillSave = { _ in count() }
            team.onDidSave = { _ in count() }
            try context.save()
            #expect(counts == [0, 1])
        }
    }

    @Test func valuesGoBetweenTheTwoHooksOfAFault() throws {
        try withUndo { context in
            let team = newTeam(context)
            team.scratch = 5
            try context.save()
            var seen: [Int32] = []
            var wins: [Int16] = []
            team.onTurnIntoFault = { team in
                seen.append(team.primitiveValue(forKey: "scratch") as? Int32 ?? -1)
                wins.append(team.primitiveValue(forKey: "wins") as? Int16 ?? -1)
            }
            context.refresh(team, mergeChanges: false)
            #expect(seen == [5, -1] && wins == [0, -1], "still there before, gone after")
            #expect(team.isFault)
        }
    }
}

final class AwakingReader: NSManagedObject {
    @Managed var name: String?
    var onAwake: ((AwakingReader) -> Void)?

    override func awakeFromFetch() {
        super.awakeFromFetch()
        onAwake?(self)
    }
}
