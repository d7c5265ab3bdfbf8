import CoreData
import Foundation
import Testing

@testable import RosterCommands

/// Records without a store become one, with a model inferred from them.
@Suite struct TemporaryStoreTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("roster-\(UUID().uuidString)")

    private func types(_ text: String, name: String) throws -> (
        keys: [String], types: [NSAttributeType], rows: [[String: Any]]
    ) {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent(name)
        try Data(text.utf8).write(to: file)
        let store = try TemporaryStore(reading: file.path, below: folder, in: TestSurroundings().surroundings())
        let model = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: store.store)
        let attributes = try #require(model.entitiesByName[TemporaryStore.entity]).attributesByName
        let container = NSPersistentContainer(name: "Records", managedObjectModel: model)
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: store.store)]
        container.loadPersistentStores { _, error in #expect(error == nil) }
        let request = NSFetchRequest<NSManagedObject>(entityName: TemporaryStore.entity)
        request.sortDescriptors = [NSSortDescriptor(key: "row", ascending: true)]
        let rows = try container.viewContext.fetch(request).map { object in
            Dictionary(
                uniqueKeysWithValues: store.keys.compactMap { key in object.value(forKey: key).map { (key, $0) } })
        }
        #expect(rows.count == store.count)
        return (store.keys, store.keys.map { attributes[$0]?.attributeType ?? .undefinedAttributeType }, rows)
    }

    @Test func columnsHaveTheTypesOfTheirValues() throws {
        let found = try types(
            """
            Full Name,age,Höhe (m),member,since,zip,description,Age
            Ada,36,1.65,true,1815-12-10,01234,x,
            Bob,,2,false,2001-02-03T04:05:06Z,99999,,7
            """, name: "people.csv")
        #expect(found.keys == ["fullName", "age", "höheM", "member", "since", "zip", "description_", "age2"])
        #expect(
            found.types == [
                .stringAttributeType, .integer64AttributeType, .doubleAttributeType, .booleanAttributeType,
                .dateAttributeType, .stringAttributeType, .stringAttributeType, .integer64AttributeType,
            ])
        #expect(found.rows[0]["age"] as? Int == 36 && found.rows[1]["age"] == nil)
        #expect(found.rows[0]["zip"] as? String == "01234" && found.rows[1]["höheM"] as? Double == 2)
    }

    @Test func linesOfJSONMayHaveDifferentKeys() throws {
        let found = try types("{\"a\": 1, \"b\": [1, 2]}\n{\"a\": 2.5, \"c\": {\"d\": null}}\n", name: "lines.jsonl")
        #expect(found.keys == ["a", "b", "c"])
        #expect(found.types == [.doubleAttributeType, .stringAttributeType, .stringAttributeType])
        #expect(found.rows[0]["b"] as? String == "[1,2]" && found.rows[1]["c"] as? String == "{\"d\":null}")
    }

    /// A number is not a heading: if each line is one field, the first one is a record, too.
    @Test(arguments: [
        ("1\n2\n3\n", ["value"], 3), ("-1.5\n2\n", ["value"], 2), ("n\n2\n3\n", ["n"], 2),
        ("1,2\n3,4\n", ["column1", "column2"], 1),
    ])
    func aFirstLineThatIsANumberIsARecord(_ text: String, keys: [String], count: Int) throws {
        let found = try types(text, name: "numbers")
        #expect(found.keys == keys && found.rows.count == count)
        if keys == ["value"] { #expect(found.rows.allSatisfy { $0["value"] != nil }) }
    }

    @Test func tabsInTheFirstLineMeanTSV() throws {
        #expect(try types("name\tn\nx,y\t3\n", name: "data").rows.first?["name"] as? String == "x,y")
    }

    @Test func anInvalidRecordLeavesNothing() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("bad.csv")
        try Data("a,b\n1\n".utf8).write(to: file)
        #expect(throws: CommandError.self) {
            try TemporaryStore(reading: file.path, below: folder, in: TestSurroundings().surroundings())
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["bad.csv"])
    }
}
