import CoreData
import Foundation
import StoreConformance
import Testing

/// Files of the built-in atomic stores: damaged, foreign, and written by others.
@Suite struct FileStoreTests {
    static let types: [NSPersistentStore.StoreType] = [.binary, .xml]

    private func filled(_ type: NSPersistentStore.StoreType) throws -> StoreConformance {
        let stack = try StoreConformance(type)
        try stack.inContext { context in
            let author = context.make("Author", named: "Ada")
            author.setValue(NSOrderedSet(array: [context.make("Novel", named: "C", "title")]), forKey: "books")
            try context.save()
        }
        return stack
    }

    private func code(_ body: () throws -> Void) -> Int? {
        do { try body() } catch { return (error as NSError).code }
        return nil
    }

    @Test(arguments: types) func foreignFilesAreRefusedAndNotChanged(_ type: NSPersistentStore.StoreType) throws {
        let stack = try filled(type)
        let url = stack.folder.appendingPathComponent("Other.store")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
        for text in ["hello", "<?xml version=\"1.0\"?><a/>", "<database>", "SQLite format 3\0", "RosterBinary1\nabc"] {
            try Data(text.utf8).write(to: url)
            let codes = [
                code { try coordinator.addPersistentStore(type: type, at: url) },
                code { _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: url) },
                code { try NSPersistentStoreCoordinator.setMetadata([:], type: type, at: url) },
            ]
            #expect(codes == [259, 259, 259], "\(text)")
            #expect(try Data(contentsOf: url) == Data(text.utf8))
        }
        let missing = stack.folder.appendingPathComponent("None.store")
        let options = [NSReadOnlyPersistentStoreOption: true]
        let absent = code { try coordinator.addPersistentStore(type: type, at: missing, options: options) }
        #expect(absent == 260 && !FileManager.default.fileExists(atPath: missing.path))
        let folder = code { try coordinator.addPersistentStore(type: type, at: stack.folder) }
        #expect(folder == 134080)
    }

    /// A file with any byte changed or any part of its end removed opens or is refused, and is not changed.
    @Test(arguments: types) func damageNeverStopsTheProgram(_ type: NSPersistentStore.StoreType) throws {
        let stack = try filled(type)
        let whole = try Data(contentsOf: stack.url)
        let url = stack.folder.appendingPathComponent("Damaged.store")
        var generator = SeededGenerator(seed: 52)
        var refused = 0
        for turn in 0..<150 {
            var data = whole
            if turn % 3 == 0 {
                data = data.prefix(Int.random(in: 1..<data.count, using: &generator))
            } else {
                for _ in 0...(turn % 4) {
                    data[Int.random(in: 0..<data.count, using: &generator)] = UInt8.random(
                        in: 0...255, using: &generator)
                }
            }
            try data.write(to: url)
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
            let options = [NSReadOnlyPersistentStoreOption: true]
            if let code = code({ try coordinator.addPersistentStore(type: type, at: url, options: options) }) {
                #expect([259, 134010, 134100, 133021].contains(code))
                refused += 1
            }
            #expect(try Data(contentsOf: url) == data)
        }
        #expect(refused > 0)
    }

    @Test(arguments: types) func anEmptyFileIsANewStore(_ type: NSPersistentStore.StoreType) throws {
        let stack = try StoreConformance(type)
        let url = stack.folder.appendingPathComponent("Empty.store")
        try Data().write(to: url)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
        try coordinator.addPersistentStore(type: type, at: url)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: url)
        #expect(metadata[NSStoreTypeKey] as? String == type.rawValue)
    }

    @Test(arguments: types) func aStoreThatAnotherStackWroteIsNotOverwritten(_ type: NSPersistentStore.StoreType) throws
    {
        let stack = try filled(type)
        let other = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
        try other.addPersistentStore(type: type, at: stack.url)
        try stack.inContext { context in
            try #require(try context.all("Author").first).setValue("Eva", forKey: "name")
            try context.save()
        }
        let written = try Data(contentsOf: stack.url)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = other
        try context.performAndWait {
            _ = context.make("Author", named: "Bob")
            #expect(code { try context.save() } == 134030)
            #expect(context.insertedObjects.count == 1)
            let stored = try Data(contentsOf: stack.url)
            #expect(stored == written)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: stack.folder.path) == ["Library.store"])
    }

    /// Another file blocks the path of the new one: the save fails, and nothing is lost.
    @Test(arguments: types) func aSaveThatCannotWriteLeavesTheOldFile(_ type: NSPersistentStore.StoreType) throws {
        let stack = try filled(type)
        let before = try Data(contentsOf: stack.url)
        let obstacle = stack.folder.appendingPathComponent(".Library.store.new")
        try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: false)
        try stack.inContext { context in
            let author = try #require(try context.all("Author").first)
            author.setValue("Eva", forKey: "name")
            #expect(throws: CocoaError.self) { try context.save() }
            let stored = try Data(contentsOf: stack.url)
            #expect(stored == before && author.isUpdated)
            try FileManager.default.removeItem(at: obstacle)
            try context.save()
        }
        try stack.reopen()
        let names = try stack.inContext { try $0.all("Author").map { $0.text("name") } }
        #expect(names == ["Eva"])
    }

    /// An XML file in the form of Apple's framework.
    @Test func readsAnXMLFile() throws {
        let stack = try StoreConformance(.xml)
        let url = stack.folder.appendingPathComponent("Apple.xml")
        try Data(
            """
            <?xml version="1.0"?>
            <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">

            <database>
                <databaseInfo>
                    <version>134481920</version>
                    <UUID>498313E6-0000-4000-8000-000000000001</UUID>
                    <nextObjectID>105</nextObjectID>
                    <metadata><plist version="1.0"><dict><key>NSPersistenceFrameworkVersion</key><integer>320</integer>
                        <key>n</key><array><true/><real>1.5</real><data>AQI=</data></array></dict></plist></metadata>
                </databaseInfo>
                <object type="AUTHOR" id="z102">
                    <attribute name="name" type="string">A &amp; B &lt;å&gt;&#10;你</attribute>
                    <attribute name="born" type="int32">1815</attribute>
                    <relationship name="address" type="1/1" destination="ADDRESS"></relationship>
                    <relationship name="books" type="0/0" destination="BOOK" idrefs="z104 z103"></relationship>
                </object>
                <object type="NOVEL" id="z103">
                    <attribute name="title" type="string">first</attribute>
                    <relationship name="author" type="1/1" destination="AUTHOR" idrefs="z102"></relationship>
                </object>
                <object type="BOOK" id="z104"><attribute name="title" type="string">second</attribute>
                    <relationship name="author" type="1/1" destination="AUTHOR" idrefs="z102"></relationship></object>
                <object type="SAMPLE" id="z101">
                    <attribute name="moment" type="date">445103622.25000000000000000000</attribute>
                    <attribute name="flag" type="bool">1</attribute>
                    <attribute name="bytes" type="binary">AQ
            ID</attribute>
                </object>
            </database>
            """.utf8
        ).write(to: url)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
        let store = try coordinator.addPersistentStore(type: .xml, at: url)
        #expect(store.identifier == "498313E6-0000-4000-8000-000000000001")
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let author = try #require(try context.all("Author").first)
            #expect(author.text("name") == "A & B <å>\n你" && author.value(forKey: "born") as? Int == 1815)
            #expect(author.objectID.uriRepresentation().lastPathComponent == "p102")
            #expect(author.texts("books", "title") == ["second", "first"])
            let sample = try #require(try context.all("Sample").first)
            #expect(sample.value(forKey: "moment") as? Date == Date(timeIntervalSinceReferenceDate: 445_103_622.25))
            #expect(sample.value(forKey: "flag") as? Bool == true)
            #expect(sample.value(forKey: "bytes") as? Data == Data([1, 2, 3]))
            let new = context.make("Tag", named: "t")
            try context.save()
            #expect(new.objectID.uriRepresentation().lastPathComponent == "p105")
        }
        let text = try String(contentsOf: url, encoding: .utf8)
        #expect(text.contains("<attribute name=\"moment\" type=\"date\">445103622.25000000000000000000</attribute>"))
        #expect(text.contains("<nextObjectID>106</nextObjectID>") && text.contains("idrefs=\"z104 z103\""))
    }

    /// A file in an earlier form, with a reference to a row deleted under No Action: it opens without the reference.
    /// With a reference whose inverse should have been changed, the file is damaged.
    @Test func aFileWithAReferenceToADeletedRowOpens() throws {
        let stack = try StoreConformance(.xml)
        func file(_ objects: String) throws -> URL {
            let url = stack.folder.appendingPathComponent("\(UUID().uuidString).xml")
            try Data(
                """
                <?xml version="1.0"?>
                <database>
                    <databaseInfo><version>134481920</version><UUID>\(UUID().uuidString)</UUID>
                        <nextObjectID>105</nextObjectID></databaseInfo>
                    \(objects)
                </database>
                """.utf8
            ).write(to: url)
            return url
        }
        let dangling = try file(
            """
            <object type="SHORTCUT" id="z101"><attribute name="name" type="string">s</attribute>
                <relationship name="target" type="1/1" destination="FOLDER" idrefs="z102"></relationship></object>
            <object type="PERSON" id="z103">
                <relationship name="likes" type="0/0" destination="PERSON" idrefs="z104 z103"></relationship></object>
            """)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
        try coordinator.addPersistentStore(type: .xml, at: dangling)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let shortcut = try #require(try context.all("Shortcut").first)
            #expect(shortcut.text("name") == "s" && shortcut.value(forKey: "target") == nil)
            let person = try #require(try context.all("Person").first)
            #expect(person.mutableSetValue(forKey: "likes").allObjects as? [NSManagedObject] == [person])
        }
        let damaged = try file(
            """
            <object type="BOOK" id="z101">
                <relationship name="author" type="1/1" destination="AUTHOR" idrefs="z102"></relationship></object>
            """)
        #expect(code { try coordinator.addPersistentStore(type: .xml, at: damaged) } == 259)
    }

    @Test(arguments: types) func nodesShowTheRows(_ type: NSPersistentStore.StoreType) throws {
        let stack = try filled(type)
        let store = try #require(stack.store as? NSAtomicStore)
        #expect(store.cacheNodes().count == 2)
        let author = try #require(store.cacheNodes().first { $0.objectID.entity.name == "Author" })
        #expect(author.value(forKey: "name") as? String == "Ada")
        let books = author.value(forKey: "books") as? NSOrderedSet
        #expect((books?.firstObject as? NSAtomicStoreCacheNode)?.value(forKey: "title") as? String == "C")
    }
}
