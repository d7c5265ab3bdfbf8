import CoreData
import Foundation
import Testing

final class DraftNote: NSManagedObject {
    @Managed var title: String?
    @Managed var rank: Int64
    @Managed var scratch: String?
    @Managed var folder: DraftFolder?
    nonisolated(unsafe) static var setsPrimitives = false

    override func awakeFromInsert() {
        super.awakeFromInsert()
        if Self.setsPrimitives { setPrimitiveValue("born", forKey: "title") }
    }
}

final class DraftFolder: NSManagedObject {
    @Managed var name: String?
    @Managed var notes: Set<DraftNote>
}

/// Faults, transient values and change tracking (issue 18, points 11, 13 and 14). Uses only the public interface.
@MainActor @Suite(.serialized) struct RefreshSemanticsTests {
    static func model() -> NSManagedObjectModel {
        let scratch = MigrationDesk.attribute("scratch")
        scratch.isTransient = true
        let note = MigrationDesk.entity(
            "DraftNote",
            [MigrationDesk.attribute("title"), MigrationDesk.attribute("rank", .integer64AttributeType), scratch])
        let folder = MigrationDesk.entity("DraftFolder", [MigrationDesk.attribute("name")])
        MigrationDesk.relate(folder, "notes", many: true, ordered: false, note, "folder")
        let model = MigrationDesk.model([note, folder])
        for entity in model.entities { entity.managedObjectClassName = "CoreDataTests.\(entity.name ?? "")" }
        return model
    }

    private func open() throws -> NSManagedObjectContext {
        try NSPersistentContainer.open("Drafts", model: Self.model(), at: URL(fileURLWithPath: "/dev/null")).viewContext
    }

    @Test func refreshWithoutMergingTurnsInsertedObjectsIntoFaults() throws {
        let context = try open()
        let note = DraftNote(context: context)
        note.title = "a"
        context.refresh(note, mergeChanges: false)
        #expect(note.isFault)
        #expect(note.changedValues().isEmpty)
    }

    @Test func refreshWithoutMergingDropsChanges() throws {
        let context = try open()
        let note = DraftNote(context: context)
        note.title = "a"
        try context.save()
        note.title = "b"
        note.scratch = "s"
        context.refresh(note, mergeChanges: false)
        #expect(note.isFault && !note.hasChanges && !context.hasChanges)
        #expect(note.title == "a" && note.scratch == nil)
    }

    @Test func objectsHeldAcrossResetAreFaultsWithoutValues() throws {
        let context = try open()
        let note = DraftNote(context: context)
        note.title = "a"
        try context.save()
        context.reset()
        #expect(note.isFault)
        #expect(note.managedObjectContext == nil)
        #expect(note.title == nil)
    }

    @Test func transientValuesAcrossRefreshes() throws {
        let context = try open()
        let note = DraftNote(context: context)
        note.title = "a"
        try context.save()
        note.scratch = "kept"
        context.refresh(note, mergeChanges: true)
        #expect(note.scratch == "kept")
        context.refreshAllObjects()
        #expect(note.scratch == nil)
        #expect(note.title == "a")
    }

    @Test func aChildDoesNotReadItsParentsTransientValues() throws {
        let context = try open()
        let note = DraftNote(context: context)
        note.title = "a"
        note.scratch = "parent"
        try context.save()
        note.scratch = "parent"
        let child = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        child.parent = context
        let own = try #require(try child.existingObject(with: note.objectID) as? DraftNote)
        #expect(own.title == "a")
        #expect(own.scratch == nil)
    }

    @Test func changedValuesIncludePrimitiveValuesOfAwakening() throws {
        DraftNote.setsPrimitives = true
        defer { DraftNote.setsPrimitives = false }
        let context = try open()
        let note = DraftNote(context: context)
        #expect(note.changedValues()["title"] as? String == "born")
        #expect(note.committedValues(forKeys: nil).isEmpty)
        #expect(note.committedValues(forKeys: ["title"]).isEmpty)
        try context.save()
        #expect(note.changedValues().isEmpty)
        note.setPrimitiveValue("other", forKey: "title")
        #expect(!note.hasChanges)
        #expect(note.changedValues().isEmpty)
        #expect(note.committedValues(forKeys: ["title"])["title"] as? String == "born")
    }

    @Test func modelsEntitiesAndPropertiesCompareByValue() throws {
        let (one, other) = (Self.model(), Self.model())
        #expect(one == other)
        #expect(one.hash == other.hash)
        #expect(one.entitiesByName["DraftNote"] == other.entitiesByName["DraftNote"])
        let (a, b) = (one.entitiesByName["DraftNote"], other.entitiesByName["DraftNote"])
        #expect(a?.propertiesByName["title"] == b?.propertiesByName["title"])
        #expect(a?.propertiesByName["title"] != b?.propertiesByName["rank"])
        #expect(a?.propertiesByName["folder"] == b?.propertiesByName["folder"])
        #expect(one == one.copy() as? NSManagedObjectModel)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).mom")
        try one.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let loads = try (0..<2).map { _ in try #require(NSManagedObjectModel(contentsOf: file)) }
        #expect(loads[0] == loads[1] && loads[0].hash == loads[1].hash)
        #expect(loads[0].entitiesByName["DraftFolder"] == loads[1].entitiesByName["DraftFolder"])
        other.entitiesByName["DraftNote"]?.attributesByName["title"]?.isOptional = false
        #expect(one != other)
        #expect(a != b)
    }
}
