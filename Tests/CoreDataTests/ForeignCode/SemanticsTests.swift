import CoreData
import Testing

/// What programs written for Apple's framework rely on, each by its number in the list of what met Roster from outside. Only
/// the public interface.
@MainActor @Suite struct SemanticsTests {
    private let desk: MigrationDesk

    init() throws { desk = try MigrationDesk() }

    private static func model(ordered: Bool = false) -> NSManagedObjectModel {
        let album = MigrationDesk.entity("Album", [MigrationDesk.attribute("title")])
        let song = MigrationDesk.entity("Song", [MigrationDesk.attribute("title")])
        MigrationDesk.relate(album, "songs", many: true, ordered: ordered, song, "album")
        return MigrationDesk.model([album, song])
    }

    @Test(arguments: [false, true]) func p10_aRequiredToManyWithoutAMinimumMayBeEmpty(ordered: Bool) throws {
        let model = Self.model(ordered: ordered)
        model.entitiesByName["Album"]?.relationshipsByName["songs"]?.isOptional = false
        let container = try desk.open(model)
        desk.insert("Album", ["title": "空"], container.viewContext)
        try container.viewContext.save()
        #expect(try container.viewContext.count(for: NSFetchRequest<NSManagedObject>(entityName: "Album")) == 1)
        try desk.close(container)
    }

    @Test func p10_aMinimumStillHolds() throws {
        let model = Self.model()
        let songs = try #require(model.entitiesByName["Album"]?.relationshipsByName["songs"])
        songs.isOptional = false
        songs.minCount = 1
        let container = try desk.open(model)
        desk.insert("Album", [:], container.viewContext)
        let error = try #require(throws: CocoaError.self) { try container.viewContext.save() }
        #expect(error.code.rawValue == NSValidationRelationshipLacksMinimumCountError)
        container.viewContext.rollback()
        try desk.close(container)
    }

    @Test func p12_aSaveWithoutChangesIsAnnounced() throws {
        let container = try desk.open(Self.model())
        let context = container.viewContext
        nonisolated(unsafe) var seen: [String] = []
        let names: [Notification.Name] = [
            .NSManagedObjectContextWillSave, .NSManagedObjectContextDidSave,
            NSManagedObjectContext.didSaveObjectIDsNotification,
        ]
        let observers = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { note in
                let sets = note.userInfo?.values.compactMap { $0 as? NSSet } ?? []
                seen.append("\(name.rawValue) \(sets.map(\.count))")
            }
        }
        try context.save()
        for observer in observers { NotificationCenter.default.removeObserver(observer) }
        #expect(seen.count == 3)
        #expect(seen.dropFirst().allSatisfy { !$0.contains("1") })
        #expect(seen.first?.contains("WillSave") == true)
        try desk.close(container)
    }

    @Test func p12_theNewsOfAMergeTellsWhatWasRefreshed() throws {
        let container = try desk.open(Self.model())
        let context = container.viewContext
        let album = desk.insert("Album", ["title": "one"], context)
        try context.save()
        nonisolated(unsafe) var refreshed: Set<NSManagedObjectID>?
        let observer = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.didMergeChangesObjectIDsNotification, object: context, queue: nil
        ) { refreshed = $0.userInfo?[NSManagedObjectContext.NotificationKey.refreshedObjectIDs.rawValue] as? Set }
        defer { NotificationCenter.default.removeObserver(observer) }
        let other = container.newBackgroundContext()
        let id = album.objectID
        nonisolated(unsafe) var news: Notification?
        let saves = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: other, queue: nil
        ) { news = $0 }
        defer { NotificationCenter.default.removeObserver(saves) }
        try other.performAndWait {
            other.object(with: id).setValue("two", forKey: "title")
            try other.save()
        }
        context.mergeChanges(fromContextDidSave: try #require(news))
        #expect(refreshed == [id])
        #expect(album.value(forKey: "title") as? String == "two")
        try desk.close(container)
    }

    @Test func p19_anInsertIntoAReadOnlyStoreIsNoPermission() throws {
        try desk.make(Self.model()) { desk.insert("Album", ["title": "one"], $0) }
        let container = try desk.open(Self.model(), options: [NSReadOnlyPersistentStoreOption: true as NSNumber])
        desk.insert("Album", ["title": "two"], container.viewContext)
        let error = try #require(throws: CocoaError.self) { try container.viewContext.save() }
        #expect(error.code == .fileWriteNoPermission)
        container.viewContext.rollback()
        try desk.close(container)
    }

    @Test func p19_userInfoOfADescriptionInUseCanBeSet() throws {
        let container = try desk.open(Self.model())
        let album = try #require(container.managedObjectModel.entitiesByName["Album"])
        album.userInfo = ["seen": true]
        album.attributesByName["title"]?.userInfo = ["seen": 1]
        #expect(album.userInfo?["seen"] as? Bool == true)
        #expect(album.attributesByName["title"]?.userInfo?["seen"] as? Int == 1)
        try desk.close(container)
    }
}
