import CoreData
import Foundation
import Testing

@testable import RosterCommands

/// Copies of stores with values in random order, such as those of photo libraries.
@Suite struct CopyCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func unorderedValuesAreSorted() {
        let dictionary: NSDictionary = [
            "b": ["x", "y"] as NSArray, "a": 1 as NSNumber, "c": NSSet(array: ["2", "10", "1"]),
            "d": ["k": Date(timeIntervalSinceReferenceDate: 0)] as NSDictionary,
        ]
        let text = "{a = 1; b = (x, y); c = {(1, 10, 2)}; d = {k = 2001-01-01T00:00:00Z}}"
        #expect(ValueText.stable(dictionary) == text)
        #expect(ValueText.stable(["b": 2, "a": 1] as [String: Any]) == "{a = 1; b = 2}")
        #expect(ValueText.stable(Data([1, 2, 3])) == "AQID")
    }

    /// A store with one record that has a dictionary of many keys in a transformable attribute.
    private func store() throws -> StoreLocation {
        let settings = NSAttributeDescription()
        settings.name = "settings"
        settings.attributeType = .transformableAttributeType
        settings.valueTransformerName = NSValueTransformerName.secureUnarchiveFromDataTransformerName.rawValue
        let entity = NSEntityDescription()
        entity.name = "Library"
        entity.properties = [settings]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let container = NSPersistentContainer(name: "Library", managedObjectModel: model)
        let url = URL(fileURLWithPath: folder.path("Library.sqlite"))
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let library = NSEntityDescription.insertNewObject(forEntityName: "Library", into: context)
            let values = NSMutableDictionary()
            for number in 0..<200 { values["key \(number)"] = number as NSNumber }
            library.setValue(values.copy(), forKey: "settings")
            try context.save()
        }
        return StoreLocation(store: url.path)
    }

    @Test func recordsWithDictionariesAreCopied() throws {
        let source = try store()
        let surroundings = TestSurroundings()
        let copy = folder.path("copy.sqlite")
        try CopyCommand(source: source, destination: copy).run(in: surroundings.surroundings())
        #expect(surroundings.lines.first?.hasPrefix("Library: 1 record, checksum ") == true, "\(surroundings.lines)")
        #expect(surroundings.lines.last == "copied \(source.store) to \(copy)")
        func exported(_ location: StoreLocation) throws -> String {
            let surroundings = TestSurroundings()
            try ListCommand(store: location, entity: "Library", columns: ["settings"], format: .json).run(
                in: surroundings.surroundings())
            return surroundings.text
        }
        let text = try exported(source)
        #expect(text.contains("key 0 = 0; key 1 = 1; key 10 = 10; key 100 = 100"), "\(text)")
        #expect(try exported(StoreLocation(store: copy)) == text)
    }
}
