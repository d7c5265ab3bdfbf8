import CoreData
import Foundation
import SQLiteAccess
import Testing

@testable import RosterCommands

/// Transformable values that cannot be decoded: copies keep their bytes, and exports report them as missing.
@Suite struct UncodedValuesTests {
    private let folder: TemporaryFolder
    private static let bytes: [UInt8] = [1, 2, 3, 250]

    private let modelPath: String

    init() throws {
        folder = try TemporaryFolder()
        modelPath = folder.path("Things.xcdatamodel")
        try FileManager.default.createDirectory(atPath: modelPath, withIntermediateDirectories: true)
        try Data(
            """
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                <entity name="Thing">
                    <attribute name="name" optional="YES" attributeType="String"/>
                    <attribute name="own" optional="YES" attributeType="Transformable" \
            valueTransformerName="TransformerOfAnApp"/>
                    <attribute name="plain" optional="YES" attributeType="Transformable"/>
                </entity>
            </model>
            """.utf8
        ).write(to: URL(fileURLWithPath: modelPath + "/contents"))
    }

    private func save(_ place: StorePlace, _ body: (NSManagedObjectContext) throws -> Void) throws {
        let coordinator = try NSPersistentStoreCoordinator(managedObjectModel: StoreModel.model(atPath: modelPath))
        let store = try coordinator.addPersistentStore(type: place.type, at: place.url)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            try body(context)
            try context.save()
        }
        try coordinator.remove(store)
    }

    /// Three things: two with undecodable values, one without.
    private func store() throws -> StoreLocation {
        let place = try StorePlace(folder.path("things.sqlite"))
        try save(place) { context in
            for name in ["a", "b", "c"] {
                NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
                    .setValue(name, forKey: "name")
            }
        }
        let connection = try Connection(path: place.url.path, access: .readWrite)
        try connection.execute("UPDATE ZTHING SET ZOWN = x'010203FA', ZPLAIN = x'09' WHERE ZNAME = 'a'")
        try connection.execute("UPDATE ZTHING SET ZOWN = x'010203FA' WHERE ZNAME = 'b'")
        return StoreLocation(store: place.url.path)
    }

    private func values(_ path: String) throws -> [[SQLiteValue]] {
        // No program has the store open, so it can be read as immutable.
        try Connection(path: path, access: .immutable).rows("SELECT ZNAME, ZOWN, ZPLAIN FROM ZTHING ORDER BY ZNAME")
    }

    /// Number of findings of a read-only coordinator.
    private func count(_ path: String) throws -> Int {
        let coordinator = try NSPersistentStoreCoordinator(managedObjectModel: StoreModel.model(atPath: modelPath))
        let store = try coordinator.addPersistentStore(
            type: .sqlite, at: URL(fileURLWithPath: path), options: [NSReadOnlyPersistentStoreOption: true])
        defer { try? coordinator.remove(store) }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait {
            try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Thing"))
        }
    }

    private func copy(_ source: StoreLocation, to name: String) throws -> StoreLocation {
        try CopyCommand(source: source, destination: folder.path(name)).run(in: TestSurroundings().surroundings())
        return StoreLocation(store: folder.path(name), model: modelPath)
    }

    @Test(arguments: ["copy.xml", "copy.binary"]) func copiesKeepTheirBytes(name: String) throws {
        let original = try store()
        let copied = try copy(original, to: name)
        // A save writes the file again, including unknown values.
        try save(StorePlace(copied.store)) { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
            request.predicate = NSPredicate(format: "name == 'c'")
            let thing = try #require(context.fetch(request).first)
            #expect(thing.value(forKey: "own") == nil)
            thing.setValue("d", forKey: "name")
        }
        _ = try copy(copied, to: "back.sqlite")
        #expect(try count(folder.path("back.sqlite")) == 3)
        let back = try values(folder.path("back.sqlite"))
        #expect(back.map { $0[0] } == [.text("a"), .text("b"), .text("d")])
        #expect(back.map { $0[1] } == [.blob(Data(Self.bytes)), .blob(Data(Self.bytes)), .null])
        #expect(back.map { $0[2] } == [.blob(Data([9])), .null, .null])
    }

    @Test func checksumsCountThem() throws {
        let original = try store()
        let checksum = { () throws -> UInt64 in
            let session = try StoreSession(original, for: .reading, in: TestSurroundings().surroundings())
            return try session.perform {
                var checksum = ContentChecksum(session.context)
                return try checksum.entities()[0].checksum
            }
        }
        let before = try checksum()
        try Connection(path: original.store, access: .readWrite).execute(
            "UPDATE ZTHING SET ZOWN = x'02' WHERE ZNAME = 'b'")
        #expect(try checksum() != before)
    }

    @Test func exportsNameThem() throws {
        let original = try store()
        func missing(_ columns: [String]? = nil) throws -> String? {
            try ExportCommand(store: original, entity: "Thing", file: folder.path("out.json"), columns: columns)
                .run(in: TestSurroundings().surroundings()).missing
        }
        let line = try #require(try missing())
        #expect(line.hasPrefix("3 values are missing because roster lacks their classes or transformers. First:"))
        #expect(try #require(try missing(["plain"])).hasPrefix("1 value is missing because roster lacks its class"))
        #expect(try missing(["name"]) == nil)
    }
}
