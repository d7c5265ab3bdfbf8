import CoreData
import Foundation
import Testing

/// Stores and coordinators as programs written for Apple's framework expect them.
@MainActor @Suite final class PortedStackTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("ported-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func url(_ name: String) -> URL { folder.appendingPathComponent(name) }

    private static func model(
        className: String = "NSManagedObject", transformer: String? = nil, isExtraOptional: Bool = true
    ) -> NSManagedObjectModel {
        let extra = MigrationDesk.attribute("extra", .transformableAttributeType)
        extra.valueTransformerName = transformer
        extra.isOptional = isExtraOptional
        let crate = MigrationDesk.entity("Crate", [MigrationDesk.attribute("label"), extra])
        crate.managedObjectClassName = className
        let shelf = MigrationDesk.entity("Shelf", [MigrationDesk.attribute("label")])
        MigrationDesk.relate(shelf, "crates", many: true, crate, "shelf")
        return MigrationDesk.model([crate, shelf])
    }

    private func stack(
        _ url: URL? = nil, _ model: NSManagedObjectModel = model(), type: String = NSSQLiteStoreType,
        options: [AnyHashable: Any]? = nil
    ) throws -> (NSPersistentStoreCoordinator, NSManagedObjectContext) {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: type, configurationName: nil, at: url ?? self.url("a.sqlite"), options: options)
        return (coordinator, context(coordinator))
    }

    private func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    @discardableResult
    private func add(
        _ label: String, _ context: NSManagedObjectContext, entity: String = "Crate"
    ) throws -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValue(label, forKey: "label")
        try context.save()
        return object
    }

    private func labels(_ context: NSManagedObjectContext, _ entity: String = "Crate") throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.sortDescriptors = [NSSortDescriptor(key: "label", ascending: true)]
        return try context.fetch(request).map { $0.value(forKey: "label") as? String ?? "" }
    }

    // MARK: Stores that other coordinators have open

    @Test func aStoreOfAnotherCoordinatorIsDestroyed() throws {
        let (_, holder) = try stack()
        let held = try add("held", holder)
        try NSPersistentStoreCoordinator(managedObjectModel: Self.model()).destroyPersistentStore(
            at: url("a.sqlite"), type: .sqlite)
        let (_, fresh) = try stack()
        #expect(try labels(fresh) == [])
        try add("new", fresh)
        #expect(try labels(fresh) == ["new"])
        holder.refresh(held, mergeChanges: false)
        #expect(held.value(forKey: "label") as? String == "held", "it goes on with the file that it has open")
        held.setValue("changed", forKey: "label")
        #expect(throws: CocoaError.self) { try holder.save() }
        #expect(try labels(fresh) == ["new"])
    }

    @Test func aStoreOfAnotherCoordinatorIsReplaced() throws {
        let (_, holder) = try stack()
        try add("held", holder)
        let (_, source) = try stack(url("b.sqlite"))
        try add("backup", source)
        try NSPersistentStoreCoordinator(managedObjectModel: Self.model()).replacePersistentStore(
            at: url("a.sqlite"), withPersistentStoreFrom: url("b.sqlite"), type: .sqlite)
        let (_, fresh) = try stack()
        #expect(try labels(fresh) == ["backup"])
        try add("new", fresh)
        #expect(try labels(holder) == ["held"] && labels(fresh) == ["backup", "new"] && labels(source) == ["backup"])
    }

    @Test func anOpenStoreIsReplacedInItsCoordinator() throws {
        let (coordinator, context) = try stack()
        let old = try add("old", context)
        let (_, source) = try stack(url("b.sqlite"))
        try add("backup", source)
        try coordinator.replacePersistentStore(
            at: url("a.sqlite"), withPersistentStoreFrom: url("b.sqlite"), type: .sqlite)
        #expect(coordinator.persistentStores.map(\.url) == [url("a.sqlite")])
        let fresh = self.context(coordinator)
        #expect(try labels(fresh) == ["backup"])
        #expect(throws: CocoaError.self) {
            try coordinator.replacePersistentStore(
                at: url("a.sqlite"), withPersistentStoreFrom: url("none.sqlite"), type: .sqlite)
        }
        #expect(try labels(self.context(coordinator)) == ["backup"], "the same store again")
        _ = old
    }

    @Test func destroyingAMissingStoreLeavesAnEmptyOne() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        try coordinator.destroyPersistentStore(at: url("a.sqlite"), type: .sqlite)
        #expect(FileManager.default.fileExists(atPath: url("a.sqlite").path))
        try coordinator.destroyPersistentStore(at: url("none/a.sqlite"), type: .sqlite)
        let (_, context) = try stack()
        #expect(try labels(context) == [])
        // A log is not removed after its store was moved.
        try Data("log".utf8).write(to: url("moved.sqlite-wal"))
        try coordinator.destroyPersistentStore(at: url("moved.sqlite"), type: .sqlite)
        #expect(!FileManager.default.fileExists(atPath: url("moved.sqlite").path))
    }

    // MARK: Saving as another store

    /// Migrates to a copy of the file, whose rows keep their keys, and to a store of another type, whose rows get new
    /// ones.
    @Test(arguments: [[NSSQLiteStoreType, NSSQLiteStoreType], [NSInMemoryStoreType, NSSQLiteStoreType]])
    func heldObjectsLiveOnAfterAMigration(types: [String]) throws {
        let (coordinator, context) = try stack(type: types[0])
        let (shelf, crate) = (try add("shelf", context, entity: "Shelf"), try add("crate", context))
        let fault = try add("fault", context)
        fault.setValue(shelf, forKey: "shelf")
        try context.save()
        let gone = try add("gone", context)
        context.refreshAllObjects()
        let child = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        child.parent = context
        let inChild = child.object(with: crate.objectID)
        #expect(inChild.value(forKey: "label") as? String == "crate")
        // Unsaved changes: a value, a relationship, an insertion, a deletion.
        crate.setValue("edited", forKey: "label")
        crate.setValue(shelf, forKey: "shelf")
        let new = NSEntityDescription.insertNewObject(forEntityName: "Crate", into: context)
        new.setValue("new", forKey: "label")
        new.setValue(shelf, forKey: "shelf")
        context.assign(new, to: coordinator.persistentStores[0])
        context.delete(gone)
        let made = try coordinator.migratePersistentStore(
            coordinator.persistentStores[0], to: url("made.sqlite"), options: nil, withType: types[1])
        #expect(fault.managedObjectContext === context && fault.objectID.persistentStore === made)
        #expect(fault.value(forKey: "label") as? String == "fault")
        #expect((fault.value(forKey: "shelf") as? NSManagedObject) === shelf)
        #expect(crate.value(forKey: "label") as? String == "edited" && crate.hasChanges)
        try context.save()
        inChild.setValue("of the child", forKey: "label")
        try child.save()
        try context.save()
        let (_, fresh) = try stack(url("made.sqlite"), type: types[1])
        #expect(try labels(fresh) == ["fault", "new", "of the child"])
        let shelves = try fresh.fetch(NSFetchRequest<NSManagedObject>(entityName: "Shelf"))
        #expect((shelves.first?.value(forKey: "crates") as? Set<NSManagedObject>)?.count == 3 && shelves.count == 1)
        #expect(try context.existingObject(with: shelf.objectID) === shelf)
    }

    // MARK: Query generations

    @Test func aPinnedGenerationEndsWithItsStore() throws {
        let (coordinator, context) = try stack()
        try add("first", context)
        try context.setQueryGenerationFrom(.current)
        #expect(try labels(context) == ["first"])
        let token = try #require(context.queryGenerationToken)
        try coordinator.remove(coordinator.persistentStores[0])
        try coordinator.addPersistentStore(type: .sqlite, at: url("b.sqlite"))
        try add("second", self.context(coordinator))
        #expect(try labels(context) == ["second"], "stores that came later are seen again")
        #expect(throws: CocoaError.self) { try context.setQueryGenerationFrom(token) }
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }
        #expect(!open.contains { $0.hasPrefix(self.url("a.sqlite").path) }, "nothing keeps the file open")
    }

    // MARK: Configurations

    @Test func aConfigurationMayLackASubentity() throws {
        let item = MigrationDesk.entity("Item", [MigrationDesk.attribute("label")])
        let rareItem = MigrationDesk.entity("RareItem", [MigrationDesk.attribute("origin")])
        item.subentities = [rareItem]
        let box = MigrationDesk.entity("Box", [MigrationDesk.attribute("label")])
        MigrationDesk.relate(box, "items", many: true, item, "box")
        let model = MigrationDesk.model([item, rareItem, box])
        model.setEntities([item, box], forConfigurationName: "Plain")
        for type in [NSSQLiteStoreType, NSBinaryStoreType, NSInMemoryStoreType] {
            for _ in 0..<2 {
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
                try coordinator.addPersistentStore(
                    ofType: type, configurationName: "Plain", at: url("c.\(type)"), options: nil)
                let context = context(coordinator)
                let made = try add("plain", context, entity: "Item")
                let holder = try add("box", context, entity: "Box")
                made.setValue(holder, forKey: "box")
                try context.save()
                context.reset()
                #expect(try labels(context, "Item").last == "plain")
                let request = NSFetchRequest<NSManagedObject>(entityName: "Box")
                request.predicate = NSPredicate(format: "ANY items.label == 'plain'")
                let boxes = try context.fetch(request)
                #expect((boxes.last?.value(forKey: "items") as? Set<NSManagedObject>)?.count == 1)
                let rare = NSEntityDescription.insertNewObject(forEntityName: "RareItem", into: context)
                #expect(throws: CocoaError.self) { try context.save() }
                context.delete(rare)
            }
        }
    }

    // MARK: Values and classes

    @Test func aMissingTransformerDoesNotMatterInMemory() throws {
        let (_, context) = try stack(nil, Self.model(transformer: "NobodysTransformer"), type: NSInMemoryStoreType)
        let crate = try add("a", context)
        crate.setValue(["red", "blue"] as NSArray, forKey: "extra")
        try context.save()
        context.refresh(crate, mergeChanges: false)
        #expect(crate.value(forKey: "extra") as? [String] == ["red", "blue"])
        let (_, file) = try stack(url("t.sqlite"), Self.model(transformer: "NobodysTransformer"))
        let other = try add("a", file)
        other.setValue(["red"] as NSArray, forKey: "extra")
        #expect(throws: CocoaError.self, "a file needs it") { try file.save() }
    }

    /// The value stays in its row; only a change of the object needs a valid value.
    @Test func aRequiredValueWithoutItsTransformerIsSet() throws {
        let (coordinator, writer) = try stack(nil, Self.model(isExtraOptional: false))
        let made = NSEntityDescription.insertNewObject(forEntityName: "Crate", into: writer)
        made.setValue("a", forKey: "label")
        made.setValue(["red"] as NSArray, forKey: "extra")
        try writer.save()
        try coordinator.remove(coordinator.persistentStores[0])
        let (other, context) = try stack(nil, Self.model(transformer: "NobodysTransformer", isExtraOptional: false))
        let crate = try #require(context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Crate")).first)
        crate.setValue("b", forKey: "label")
        try context.save()
        let new = NSEntityDescription.insertNewObject(forEntityName: "Crate", into: context)
        #expect(throws: CocoaError.self) { try new.validateForInsert() }
        context.delete(new)
        try other.remove(other.persistentStores[0])
        let (_, reader) = try stack(nil, Self.model(isExtraOptional: false))
        let read = try #require(reader.fetch(NSFetchRequest<NSManagedObject>(entityName: "Crate")).first)
        #expect(read.value(forKey: "label") as? String == "b")
        #expect(read.value(forKey: "extra") as? [String] == ["red"])
    }

    @Test func batchesThroughAChildHaveTheAuthorOfTheRoot() throws {
        let (_, root) = try stack(options: [NSPersistentHistoryTrackingKey: true as NSNumber])
        try add("a", root)
        (root.name, root.transactionAuthor) = ("main", "Ada")
        let child = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        child.parent = root
        (child.name, child.transactionAuthor) = ("form", "Bob")
        let update = NSBatchUpdateRequest(entityName: "Crate")
        update.propertiesToUpdate = ["label": "b"]
        try child.execute(update)
        let result = try root.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast))
        let all = (result as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction]
        #expect(all?.last?.author == "Ada" && all?.last?.contextName == "main")
    }

    @Test func emptyObjectsCanBeMade() {
        #expect(NSPersistentStoreCoordinator().managedObjectModel.entities.isEmpty)
        #expect(NSConstraintConflict().conflictingObjects.isEmpty)
    }

    @Test func oldSpellingsCompile() throws {
        let (coordinator, _) = try stack()
        let old = NSManagedObjectContext(concurrencyType: Confined.type)
        old.persistentStoreCoordinator = coordinator
        let crate = try add("a", old)
        #expect(try labels(old) == ["a"])
        #expect(Set<NSManagedObject>(NSSet(array: [crate])) == [crate])
    }

    @Test func aClassOfTheTestsIsFoundByItsBareName() throws {
        let (_, context) = try stack(nil, Self.model(className: "PortedBox"))
        try add("a", context)
        context.reset()
        #expect(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Crate")).first is PortedBox)
    }

    // MARK: Notifications

    @Test func didSaveCarriesTheChangeToken() throws {
        let (coordinator, context) = try stack(options: [NSPersistentHistoryTrackingKey: true as NSNumber])
        try add("first", context)
        let heard = HeardInfo(.NSManagedObjectContextDidSave, context)
        try add("second", context)
        let token = try #require(heard.last?["newChangeToken"] as? NSPersistentHistoryToken)
        #expect(token == coordinator.currentPersistentHistoryToken(fromStores: nil))
        try add("third", context)
        let result = try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: token))
        let news = (result as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction]
        #expect(news?.count == 1)
        let (_, without) = try stack(url("b.sqlite"))
        let silent = HeardInfo(.NSManagedObjectContextDidSave, without)
        try add("a", without)
        #expect(silent.last != nil && silent.last?["newChangeToken"] == nil)
    }

    @Test func mergesReportTheirChanges() throws {
        let (coordinator, reader) = try stack()
        let crate = try add("first", reader)
        let writer = context(coordinator)
        let saved = HeardInfo(.NSManagedObjectContextDidSave, writer)
        let changed = HeardInfo(.NSManagedObjectContextObjectsDidChange, reader)
        writer.object(with: crate.objectID).setValue("other", forKey: "label")
        try writer.save()
        reader.mergeChanges(
            fromContextDidSave: Notification(
                name: .NSManagedObjectContextDidSave, object: writer, userInfo: saved.last))
        let info = try #require(changed.last)
        #expect(info["NSObjectsChangedByMergeChangesKey"] as? Set<NSManagedObject> == [crate])
        #expect(info[NSRefreshedObjectsKey] as? Set<NSManagedObject> == [crate])
        crate.setValue("own", forKey: "label")
        reader.processPendingChanges()
        #expect(changed.last?["NSObjectsChangedByMergeChangesKey"] == nil, "it was no merge")
    }
}

/// Source code with the deprecated type.
private protocol OldSource { static var typeOfOldSource: NSManagedObjectContextConcurrencyType { get } }
private enum Confined: OldSource {
    @available(*, deprecated)
    static var typeOfOldSource: NSManagedObjectContextConcurrencyType { .confinementConcurrencyType }
}
extension OldSource {
    static var type: NSManagedObjectContextConcurrencyType { typeOfOldSource }
}

/// A class that the model names without its module.
final class PortedBox: NSManagedObject {}

/// The user info of received notifications.
@MainActor private final class HeardInfo {
    private(set) var last: [AnyHashable: Any]?
    private var token: (any NSObjectProtocol)?

    init(_ name: Notification.Name, _ object: AnyObject) {
        token = NotificationCenter.default.addObserver(forName: name, object: object, queue: nil) { [weak self] note in
            nonisolated(unsafe) let info = note.userInfo
            MainActor.assumeIsolated { self?.last = info ?? [:] }
        }
    }

    isolated deinit { if let token { NotificationCenter.default.removeObserver(token) } }
}
