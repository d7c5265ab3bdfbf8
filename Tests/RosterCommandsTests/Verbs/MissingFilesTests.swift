import CoreData
import Foundation
import Testing

@testable import RosterCommands

/// Values whose files are missing are reported, and backups have the permissions of their store.
@Suite struct MissingFilesTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A store with three pictures with large data.
    private func store() throws -> StoreLocation {
        let (name, data) = (NSAttributeDescription(), NSAttributeDescription())
        name.name = "name"
        name.attributeType = .stringAttributeType
        data.name = "data"
        data.attributeType = .binaryDataAttributeType
        data.isOptional = true
        data.allowsExternalBinaryDataStorage = true
        let entity = NSEntityDescription()
        entity.name = "Picture"
        entity.properties = [name, data]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let url = URL(fileURLWithPath: folder.path("Pictures.sqlite"))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for number in 1...3 {
                let picture = NSEntityDescription.insertNewObject(forEntityName: "Picture", into: context)
                picture.setValue("p\(number)", forKey: "name")
                picture.setValue(Data(repeating: UInt8(number), count: 200_000), forKey: "data")
            }
            let empty = NSEntityDescription.insertNewObject(forEntityName: "Picture", into: context)
            empty.setValue("empty", forKey: "name")
            try context.save()
        }
        try coordinator.remove(store)
        return StoreLocation(store: url.path)
    }

    private var values: URL { URL(fileURLWithPath: folder.path(".Pictures_SUPPORT/_EXTERNAL_DATA")) }

    private func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: values.path) }

    private func export(_ store: StoreLocation, _ query: RecordQuery = RecordQuery(), columns: [String]? = nil) throws
        -> ExportCommand.Outcome
    {
        try ExportCommand(
            store: store, entity: "Picture", file: folder.path("out.json"), query: query, columns: columns
        ).run(in: TestSurroundings().surroundings())
    }

    @Test func exportsNameMissingData() throws {
        let store = try store()
        #expect(try export(store).missing == nil)
        let files = try names().map(values.appendingPathComponent)
        try FileManager.default.removeItem(at: files[0])
        let one = try export(store)
        let line = try #require(one.missing)
        #expect(
            one.count == 4 && line.hasPrefix("1 value is missing") && line.contains("“data” of Picture/p"), "\(line)")
        #expect(try folder.contents("out.json").contains("empty"), "the file is whole all the same")
        unlink(files[1].path)
        try FileManager.default.createSymbolicLink(at: files[1], withDestinationURL: files[2])
        #expect(try #require(try export(store).missing).hasPrefix("2 values are missing"))
        // Missing values that are not exported are not counted.
        #expect(try export(store, columns: ["name"]).missing == nil)
        #expect(try export(store, RecordQuery(predicate: "name == \"empty\"")).missing == nil)
    }

    @Test(arguments: ["copy.xml", "copy.sqlite"]) func copiesNameMissingData(name: String) throws {
        let store = try store()
        let surroundings = TestSurroundings()
        try CopyCommand(source: store, destination: folder.path("whole-" + name)).run(in: surroundings.surroundings())
        let file = values.appendingPathComponent(try names()[0])
        unlink(file.path)
        #expect(mkfifo(file.path, 0o600) == 0)
        let error = #expect(throws: CommandError.self) {
            try CopyCommand(source: store, destination: folder.path(name)).run(in: surroundings.surroundings())
        }
        let message = try #require(error).message
        #expect(message.hasPrefix("made the copy, but 1 value is missing") && error?.kind == .failure, "\(message)")
        #expect(surroundings.lines.last == "copied \(store.store) to \(folder.path(name))")
        #expect(FileManager.default.fileExists(atPath: folder.path(name)))
    }

    @Test(arguments: ["Pictures.sqlite", "Pictures.xml"]) func backupsAreAsPrivateAsTheirStore(name: String) throws {
        let store = try store()
        let path = folder.path(name)
        if path != store.store {
            try CopyCommand(source: store, destination: path).run(in: TestSurroundings().surroundings())
        }
        for permissions in [0o600, 0o640] {
            chmod(path, mode_t(permissions))
            let copy = try StoreCopies.keepCopy(of: URL(fileURLWithPath: path), suffix: "before-repair")
            let attributes = try FileManager.default.attributesOfItem(atPath: copy.path)
            #expect(attributes[.posixPermissions] as? Int == permissions)
        }
    }

    /// A deleted backup may leave its external values, which are hidden files.
    @Test func aDeletedBackupDoesNotPreventAnother() throws {
        let url = URL(fileURLWithPath: try store().store)
        let first = try StoreCopies.keepCopy(of: url, suffix: "before-repair")
        try FileManager.default.removeItem(at: first)
        let second = try StoreCopies.keepCopy(of: url, suffix: "before-repair")
        #expect(second.lastPathComponent == "Pictures.before-repair-2.sqlite")
        #expect(
            try FileManager.default.contentsOfDirectory(
                atPath: folder.path(".Pictures.before-repair-2_SUPPORT/_EXTERNAL_DATA")
            ).count == 3)
    }
}
