import Foundation
import Testing

@testable import CoreData

/// The documented order of events in `save()`. Serialized, because all objects write to one record.
@Suite(.serialized) struct SaveOrderTests {
    @Test func theOrderOfEventsInASave() throws {
        let stack = try ClubStack()
        let entity = try #require(Club.model.entitiesByName["Team"])
        func team(_ name: String, _ context: NSManagedObjectContext) -> SaveOrderTeam {
            let team = SaveOrderTeam(entity: entity, insertInto: context)
            team.setValue(name, forKey: "name")
            return team
        }
        defer { (SaveOrderTeam.record, SaveOrderTeam.beforeSave) = (nil, nil) }
        try stack.contextKeepingStack().use { context in
            let old = team("Old", context)
            let gone = team("Gone", context)
            try context.save()
            let record = SaveRecord(context)
            SaveOrderTeam.record = record
            old.setValue(3, forKey: "wins")
            context.delete(gone)
            _ = team("New", context)
            // The first willSave of the changed team changes it again.
            SaveOrderTeam.beforeSave = { team in
                guard team === old, team.value(forKey: "wins") as? Int == 3 else { return }
                team.setValue(4, forKey: "wins")
            }
            try context.save()
            #expect(
                record.take() == [
                    "prepareForDeletion Gone",
                    "objects-did-change",
                    "willSave New temporary", "willSave Old", "willSave Gone",
                    "objects-did-change",
                    "willSave New temporary", "willSave Old", "willSave Gone",
                    "will-save",
                    "validateForInsert New temporary", "validateForUpdate Old", "validateForDelete Gone",
                    "didSave New", "didSave Old", "didSave Gone",
                    "did-save", "did-save-object-IDs",
                ])
            try context.save()
            #expect(record.take() == ["will-save", "did-save", "did-save-object-IDs"], "a save without changes")
        }
    }

    @Test func theOrderOfEventsInAChildsSave() throws {
        let stack = try ClubStack()
        let root = stack.contextKeepingStack()
        let child = root.child()
        let entity = try #require(Club.model.entitiesByName["Team"])
        defer { SaveOrderTeam.record = nil }
        let record = SaveRecord(child)
        let observers = [
            (NSNotification.Name.NSManagedObjectContextObjectsDidChange, "objects-did-change"),
            (.NSManagedObjectContextWillSave, "will-save"), (.NSManagedObjectContextDidSave, "did-save"),
            (.NSManagedObjectContextDidSaveObjectIDs, "did-save-object-IDs"),
        ].map { name, text in Observer(root, name) { _ in record.note("parent's \(text)") } }
        defer { for observer in observers { observer.stop() } }
        try child.use { child in
            let team = SaveOrderTeam(entity: entity, insertInto: child)
            team.setValue("New", forKey: "name")
            SaveOrderTeam.record = record
            try child.save()
            #expect(
                record.take() == [
                    "objects-did-change",
                    "willSave New temporary",
                    "will-save",
                    "validateForInsert New temporary",
                    "parent's objects-did-change",
                    "didSave New temporary",
                    "did-save", "did-save-object-IDs",
                ])
            SaveOrderTeam.record = nil
            try root.use { try $0.save() }
            #expect(
                record.take() == ["parent's will-save", "parent's did-save", "parent's did-save-object-IDs"],
                "and the child hears nothing of it until it merges")
        }
    }
}

/// Records events of objects and notifications in order.
final class SaveRecord: @unchecked Sendable {
    private(set) var events: [String] = []
    private var tokens: [any NSObjectProtocol] = []

    init(_ context: NSManagedObjectContext) {
        for (name, text) in [
            (NSNotification.Name.NSManagedObjectContextObjectsDidChange, "objects-did-change"),
            (.NSManagedObjectContextWillSave, "will-save"), (.NSManagedObjectContextDidSave, "did-save"),
            (.NSManagedObjectContextDidSaveObjectIDs, "did-save-object-IDs"),
        ] {
            tokens.append(
                NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) {
                    [weak self] _ in
                    self?.note(text)
                })
        }
    }

    deinit { for token in tokens { NotificationCenter.default.removeObserver(token) } }

    func note(_ event: String) { events.append(event) }

    func take() -> [String] {
        defer { events = [] }
        return events
    }
}

/// A team that records calls of its hooks and if its ID is permanent.
final class SaveOrderTeam: NSManagedObject {
    nonisolated(unsafe) static var record: SaveRecord?
    nonisolated(unsafe) static var beforeSave: ((SaveOrderTeam) -> Void)?
    private func note(_ call: String) {
        Self.record?.note(
            "\(call) \(primitiveValue(forKey: "name") ?? "-")\(objectID.isTemporaryID ? " temporary" : "")")
    }
    override func prepareForDeletion() { note("prepareForDeletion") }
    override func willSave() {
        note("willSave")
        Self.beforeSave?(self)
    }
    override func validateForInsert() throws {
        note("validateForInsert")
        try super.validateForInsert()
    }
    override func validateForUpdate() throws {
        note("validateForUpdate")
        try super.validateForUpdate()
    }
    override func validateForDelete() throws {
        note("validateForDelete")
        try super.validateForDelete()
    }
    override func didSave() { note("didSave\(hasChanges ? " with changes" : "")") }
}

/// Save requests created by a program.
@Suite struct SaveRequestTests {
    @Test func aRequestTakesItsObjectsToTheStores() throws {
        let stack = try ClubStack()
        try stack.contextKeepingStack().use { context in
            let (first, second) = (context.team("First"), context.team("Second"))
            let request = NSSaveChangesRequest(inserted: [first], updated: nil, deleted: nil, locked: nil)
            #expect(request.requestType == .saveRequestType && request.updatedObjects == nil)
            #expect((request.copy() as? NSSaveChangesRequest)?.insertedObjects == [first])
            let answer = try stack.coordinator.execute(request, with: context)
            #expect((answer as? [Any])?.isEmpty == true)
            #expect(context.insertedObjects == [second] && !first.objectID.isTemporaryID)
            #expect(throws: CocoaError.self) { try context.execute(request) }
            context.detectConflicts(for: first)
            try context.save()
        }
    }

    @Test func aRequestAsksOnlyTheStoresItNames() throws {
        let stack = try ClubStack()
        let other = try stack.coordinator.addPersistentStore(
            type: .sqlite, at: stack.folder.appendingPathComponent("other.sqlite"))
        try stack.contextKeepingStack().use { context in
            _ = context.team("First")
            context.assign(context.team("Second"), to: other)
            try context.save()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
            #expect(try context.fetch(request).count == 2)
            request.affectedStores = [other]
            #expect(try context.fetch(request).map { $0.value(forKey: "name") as? String } == ["Second"])
        }
    }

    @Test func theDefaultDirectoryHasTwoSpellings() {
        final class Elsewhere: NSPersistentContainer, @unchecked Sendable {
            override class func defaultDirectoryURL() -> URL { URL(fileURLWithPath: "/elsewhere") }
        }
        let url = Elsewhere.defaultDirectoryURL
        #expect(url.path == "/elsewhere" && url == Elsewhere.defaultDirectoryURL())
    }
}
