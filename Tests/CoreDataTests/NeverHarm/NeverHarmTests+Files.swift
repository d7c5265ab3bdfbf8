import CoreData
import Foundation
import SQLiteAccess
import Testing

// Points 5 to 9: files changed by other programs.
extension NeverHarmTests {
    /// Runs statements on a closed store.
    private func alter(_ url: URL, _ statements: [String]) throws {
        let connection = try Connection(path: url.path, access: .readWrite)
        defer { connection.close() }
        for statement in statements { try connection.execute(statement) }
    }

    /// Albums with photos and films, whose inverses are both named `albums`; one side is ordered.
    private static func albums() -> NSManagedObjectModel {
        func entity(_ name: String) -> NSEntityDescription {
            let entity = NSEntityDescription()
            entity.name = name
            return entity
        }
        func relationship(_ name: String, _ destination: NSEntityDescription, ordered: Bool)
            -> NSRelationshipDescription
        {
            let relationship = NSRelationshipDescription()
            relationship.name = name
            relationship.destinationEntity = destination
            relationship.isOrdered = ordered
            return relationship
        }
        let (album, photo, film) = (entity("Album"), entity("Photo"), entity("Film"))
        let pairs = [(photo, "photos", true), (film, "films", false)].map { destination, name, ordered in
            let there = relationship(name, destination, ordered: ordered)
            let back = relationship("albums", album, ordered: false)
            there.inverseRelationship = back
            back.inverseRelationship = there
            destination.properties = [back]
            return there
        }
        album.properties = pairs
        let model = NSManagedObjectModel()
        model.entities = [album, film, photo]
        return model
    }

    @Test func columnsOfJoinTablesAreReadFromTheStore() throws {
        let world = try World()
        let url = world.url("albums.sqlite")
        func withContext(_ body: (NSManagedObjectContext) throws -> Void) throws {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.albums())
            let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
            let context = coordinator.context()
            try context.performAndWait { try body(context) }
            try coordinator.remove(store)
        }
        func insert(_ name: String, _ context: NSManagedObjectContext) -> NSManagedObject {
            NSEntityDescription.insertNewObject(forEntityName: name, into: context)
        }
        func counts(_ context: NSManagedObjectContext) throws -> [Int] {
            let albums = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Album"))
            return albums.flatMap { album in
                [album.mutableOrderedSetValue(forKey: "photos").count, album.mutableSetValue(forKey: "films").count]
            }
        }
        try withContext { context in
            let album = insert("Album", context)
            album.mutableOrderedSetValue(forKey: "photos").addObjects(
                from: (0..<3).map { _ in insert("Photo", context) })
            album.mutableSetValue(forKey: "films").addObjects(from: (0..<2).map { _ in insert("Film", context) })
            try context.save()
        }
        // The column with a number in its name differs between files.
        let connection = try Connection(path: url.path, access: .readWrite)
        let names = try ["Z_1PHOTOS", "Z_1FILMS"].map {
            try #require(connection.columns(of: $0).first { $0.hasPrefix("Z_1") })
        }
        connection.close()
        #expect(Set(names) == ["Z_1ALBUMS", "Z_1ALBUMS1"])
        try alter(
            url,
            [
                "ALTER TABLE Z_1PHOTOS RENAME COLUMN \(names[0]) TO \(names[1])",
                "ALTER TABLE Z_1FILMS RENAME COLUMN \(names[1]) TO \(names[0])",
            ])
        try withContext { context in
            #expect(try counts(context) == [3, 2])
            let album = try #require(context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Album")).first)
            album.mutableSetValue(forKey: "films").add(insert("Film", context))
            album.mutableOrderedSetValue(forKey: "photos").removeObject(at: 0)
            try context.save()
        }
        try withContext { context in
            let found = try counts(context)
            #expect(found == [2, 3])
        }
    }

    @Test func missingHistoryCountersAreAdded() throws {
        let world = try World()
        let url = world.url("history.sqlite")
        let options: [AnyHashable: Any] = [NSPersistentHistoryTrackingKey: true]
        let first = try world.coordinator(url, options: options)
        try first.context().fill("a")
        try first.remove(first.persistentStores[0])
        for isEmpty in [false, true] {
            let tables = ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"]
            try alter(
                url,
                ["DELETE FROM Z_PRIMARYKEY WHERE Z_ENT > 16000"] + (isEmpty ? tables.map { "DELETE FROM \($0)" } : []))
            let coordinator = try world.coordinator(url, options: isEmpty ? nil : options)
            let context = coordinator.context()
            let name = isEmpty ? "c" : "b"
            try context.fill(name)
            try context.performAndWait {
                let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
                let result = try context.execute(request) as? NSPersistentHistoryResult
                #expect((result?.result as? [NSPersistentHistoryTransaction])?.count == (isEmpty ? 1 : 2))
            }
            try coordinator.remove(coordinator.persistentStores[0])
        }
        #expect(try world.names(url) == ["a", "b", "c"])
        let connection = try Connection(path: url.path, access: .readOnly)
        defer { connection.close() }
        let counters = try connection.rows(
            "SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY WHERE Z_ENT > 16000 ORDER BY Z_ENT")
        #expect(
            counters == [
                [.integer(16001), .text("CHANGE"), .integer(0)],
                [.integer(16002), .text("TRANSACTION"), .integer(0)],
                [.integer(16003), .text("TRANSACTIONSTRING"), .integer(0)],
            ])
    }

    @Test func defaultsOfAnotherTypeAreReadIfPossible() throws {
        let world = try World()
        let attributes = [
            ("no", "Integer 64", "NO"), ("yes", "Integer 16", "YES"), ("half", "Double", "YES"),
            ("sum", "Decimal", "no"),
            ("many", "Integer 32", "many"), ("maybe", "Boolean", "maybe"), ("seven", "Integer 64", "7"),
        ].map { name, type, text in
            "<attribute name=\"\(name)\" optional=\"YES\" attributeType=\"\(type)\" defaultValueString=\"\(text)\"/>"
        }
        let folder = world.url("Shop.xcdatamodel")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(
            """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0"><entity name="Product">
            \(attributes.joined(separator: "\n"))</entity></model>
            """.utf8
        ).write(to: folder.appendingPathComponent("contents"))
        let model = try #require(NSManagedObjectModel(contentsOf: folder))
        let product = try #require(model.entitiesByName["Product"])
        func number(_ name: String) -> NSNumber? { product.attributesByName[name]?.defaultValue as? NSNumber }
        #expect(
            number("no") == 0 && number("yes") == 1 && number("half") == 1 && number("sum") == 0 && number("seven") == 7
        )
        #expect(product.attributesByName["many"]?.defaultValue == nil)
        #expect(product.attributesByName["maybe"]?.defaultValue == nil)
    }

    /// Only the models that a store needs are read; other unreadable versions are ignored.
    @Test func theVersionOfAStoreIsChosenBeforeModelsAreRead() throws {
        let world = try World()
        let url = world.url("a.sqlite")
        try world.fill(url, "a")
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        let hashes = try #require(metadata[NSStoreModelVersionHashesKey] as? [String: Data])
        let resources = world.url("Models.bundle")
        let folder = resources.appendingPathComponent("Model.momd")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try World.model().write(to: folder.appendingPathComponent("Right.mom"))
        try Data("unreadable".utf8).write(to: folder.appendingPathComponent("Wrong.mom"))
        let info: [String: Any] = [
            "NSManagedObjectModel_CurrentVersionName": "Wrong",
            "NSManagedObjectModel_VersionHashes": ["Right": hashes, "Wrong": hashes.mapValues { Data($0.reversed()) }],
        ]
        try PropertyListSerialization.data(fromPropertyList: info, format: .binary, options: 0)
            .write(to: folder.appendingPathComponent("VersionInfo.plist"))
        let bundle = try #require(Bundle(path: resources.path))
        let found = NSManagedObjectModel.mergedModel(from: [bundle], forStoreMetadata: metadata)
        #expect(found?.entitiesByName.keys.sorted() == ["Folder", "Item"])
        #expect(found?.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) == true)
    }

    /// Models without a separate list of hashes are read if they contain an entity name of the store, in any script.
    @Test(arguments: ["Item", "Überweisung", "注文"]) func modelsWithoutHashesAreFoundByTheirEntities(name: String)
        throws
    {
        let world = try World()
        func model(_ names: [String]) -> NSManagedObjectModel {
            let model = NSManagedObjectModel()
            model.entities = names.map { name in
                let entity = NSEntityDescription()
                (entity.name, entity.managedObjectClassName) = (name, "NSManagedObject")
                return entity
            }
            return model
        }
        let resources = world.url("Models.bundle")
        try FileManager.default.createDirectory(at: resources, withIntermediateDirectories: true)
        for (number, names) in [["Other"], ["\(name)s"], [name], ["Item2", "Ubung"]].enumerated() {
            try model(names).write(to: resources.appendingPathComponent("\(number).mom"))
        }
        let url = world.url("a.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model([name]))
        let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
        let bundle = try #require(Bundle(path: resources.path))
        let found = NSManagedObjectModel.mergedModel(from: [bundle], forStoreMetadata: store.metadata)
        #expect(found?.entities.map(\.name) == [name])
        try FileManager.default.removeItem(at: resources.appendingPathComponent("2.mom"))
        #expect(NSManagedObjectModel.mergedModel(from: [bundle], forStoreMetadata: store.metadata) == nil)
        try coordinator.remove(store)
    }
}
