import CoreData
import Testing

/// Semantics that programs written for Apple's framework rely on (issue 18, points 10, 12 and 19). Uses only the public
/// interface.
@MainActor @Suite struct SemanticsTests {
    private let desk: MigrationDesk

    init() throws { desk = try MigrationDesk() }

    private static func model(ordered: Bool = false) -> NSManagedObjectModel {
        let album = MigrationDesk.entity("Album", [MigrationDesk.attribute("title")])
        let song = MigrationDesk.entity("Song", [MigrationDesk.attribute("title")])
        MigrationDesk.relate(album, "songs", many: true, ordered: ordered, song, "album")
        return MigrationDesk.model([album, song])
    }

    @Test(arguments: [false, true]) func aRequiredToManyWithoutAMinimumMayBeEmpty(ordered: Bool) throws {
        let model = Self.model(ordered: ordered)
        model.entitiesByName["Album"]?.relationshipsByName["songs"]?.isOptional = false
        let container = try desk.open(model)
        desk.insert("Album", ["title": "空"], container.viewContext)
        try container.viewContext.save()
        #expect(try container.viewContext.count(for: NSFetchRequest<NSManagedObject>(entityName: "Album")) == 1)
        try desk.close(container)
    }

    @Test func aMinimumIsStillValidated() throws {
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

    @Test func aSaveWithoutChangesIsPosted() throws {
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

    @Test func aMergePostsRefreshedObjects() throws {
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

    @Test func anInsertIntoAReadOnlyStoreIsAPermissionError() throws {
        try desk.make(Self.model()) { desk.insert("Album", ["title": "one"], $0) }
        let container = try desk.open(Self.model(), options: [NSReadOnlyPersistentStoreOption: true as NSNumber])
        desk.insert("Album", ["title": "two"], container.viewContext)
        let error = try #require(throws: CocoaError.self) { try container.viewContext.save() }
        #expect(error.code == .fileWriteNoPermission)
        container.viewContext.rollback()
        try desk.close(container)
    }

    @Test func aTransformerThatReturnsNilStoresNothing() throws {
        let name = NSValueTransformerName("SemanticsTestsNothing")
        ValueTransformer.setValueTransformer(NothingTransformer(), forName: name)
        defer { ValueTransformer.setValueTransformer(nil, forName: name) }
        let model = Self.model()
        let cover = MigrationDesk.attribute("cover", .transformableAttributeType)
        cover.valueTransformerName = name.rawValue
        model.entitiesByName["Album"]?.properties.append(cover)
        let container = try desk.open(model)
        desk.insert("Album", ["title": "one", "cover": "picture"], container.viewContext)
        try container.viewContext.save()
        let other = container.newBackgroundContext()
        try other.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Album")
            request.predicate = NSPredicate(format: "cover == nil")
            let album = try #require(try other.fetch(request).first)
            #expect(album.value(forKey: "cover") == nil && album.value(forKey: "title") as? String == "one")
        }
        try desk.close(container)
    }

    @Test func theEntityOfAClassWithoutOneHasNoName() {
        #expect(ClassWithoutEntity.entity().name == nil)
        let request: NSFetchRequest<NSFetchRequestResult> = ClassWithoutEntity.fetchRequest()
        #expect(request.entity?.name == nil)
    }

    @Test func aClassIsFoundByItsNameWithoutModule() throws {
        let model = Self.model()
        model.entitiesByName["Album"]?.managedObjectClassName = "BareAlbum"
        let container = try desk.open(model)
        let context = container.viewContext
        let entity = try #require(model.entitiesByName["Album"])
        _ = Outer.BareAlbum(entity: entity, insertInto: context)
        let second = NSEntityDescription.insertNewObject(forEntityName: "Album", into: context)
        #expect(second is Outer.BareAlbum)
        try context.save()
        let other = container.newBackgroundContext()
        try other.performAndWait {
            let found = try other.fetch(NSFetchRequest<NSManagedObject>(entityName: "Album"))
            #expect(found.count == 2 && found.allSatisfy { $0 is Outer.BareAlbum })
        }
        try desk.close(container)
    }

    @Test func userInfoOfADescriptionInUseCanBeSet() throws {
        let container = try desk.open(Self.model())
        let album = try #require(container.managedObjectModel.entitiesByName["Album"])
        album.userInfo = ["seen": true]
        album.attributesByName["title"]?.userInfo = ["seen": 1]
        #expect(album.userInfo?["seen"] as? Bool == true)
        #expect(album.attributesByName["title"]?.userInfo?["seen"] as? Int == 1)
        try desk.close(container)
    }
}

private final class ClassWithoutEntity: NSManagedObject {}

/// The model has no name by which a nested class can be found.
private enum Outer {
    final class BareAlbum: NSManagedObject {}
}

private final class NothingTransformer: ValueTransformer, @unchecked Sendable {
    override func transformedValue(_ value: Any?) -> Any? { nil }
    override func reverseTransformedValue(_ value: Any?) -> Any? { "unexpected" }
}
