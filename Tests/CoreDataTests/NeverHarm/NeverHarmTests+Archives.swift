import CoreData
import Foundation
import SQLiteAccess
import Testing

/// Keyed archives in a store, damaged or of classes that are not here: nothing stops the program, and nothing is lost.
extension NeverHarmTests {
    private static func model() -> NSManagedObjectModel {
        let entity = NSEntityDescription()
        entity.name = "Thing"
        let value = NSAttributeDescription()
        value.name = "value"
        value.attributeType = .transformableAttributeType
        value.isOptional = true
        let name = NSAttributeDescription()
        name.name = "name"
        name.attributeType = .stringAttributeType
        name.isOptional = true
        entity.properties = [value, name]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }

    /// A store with one row whose value is these bytes, open.
    private func store(_ world: World, _ bytes: Data) throws -> (NSPersistentStoreCoordinator, NSManagedObjectContext) {
        let url = world.url("\(UUID().uuidString).sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        try coordinator.addPersistentStore(type: .sqlite, at: url)
        let context = coordinator.context()
        try context.performAndWait {
            _ = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
            try context.save()
            context.reset()
        }
        let connection = try Connection(path: url.path, access: .readWrite)
        try connection.execute("UPDATE ZTHING SET ZVALUE = ?", [.blob(bytes)])
        connection.close()
        return (coordinator, context)
    }

    /// An archive of one object, as XML, which the tests write by hand.
    private static func archive(_ name: String, _ fields: [String: Any] = [:], others: [Any] = []) throws -> Data {
        func reference(_ number: Int) -> Any { ["CF$UID": number] as [String: Any] }
        var object = fields
        object["$class"] = reference(2)
        let list: [String: Any] = [
            "$version": 100000, "$archiver": "NSKeyedArchiver", "$top": ["root": reference(1)] as [String: Any],
            "$objects": ["$null", object, ["$classname": name, "$classes": [name, "NSObject"]] as [String: Any]]
                + others,
        ]
        let xml = try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
        // Foundation writes references in binary form only for what it read as references.
        let read = try PropertyListSerialization.propertyList(from: xml, format: nil)
        return try PropertyListSerialization.data(fromPropertyList: read, format: .binary, options: 0)
    }

    @Test func archivesThatLackWhatTheirClassesNeed() throws {
        let world = try World()
        let names = [
            "NSError", "NSOrderedSet", "NSMutableOrderedSet", "NSURLQueryItem", "NSString", "NSTextCheckingResult",
            "NSOrthography", "NSDecimalNumber", "NSDateComponents", "NSIndexSet", "NSLocale",
        ]
        for name in names {
            let (coordinator, context) = try store(world, Self.archive(name))
            try context.performAndWait {
                let thing = try #require(context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing")).first)
                _ = thing.value(forKey: "value")
                #expect(try coordinator.storedValueDescription(forKey: "value", of: thing.objectID) != nil, "\(name)")
            }
        }
        let sparse = try Self.archive("NSOrderedSet", ["NS.object.1": "b", "NS.object.3": "d"])
        let (_, context) = try store(world, sparse)
        try context.performAndWait {
            let thing = try #require(context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing")).first)
            #expect(thing.value(forKey: "value") == nil)
        }
    }

    @Test func orderedSetsAndErrorsAreReadWhole() throws {
        let world = try World()
        let values: [NSObject] = [
            NSOrderedSet(array: ["b", "a", 3]), NSError(domain: "Some", code: 7),
            NSError(domain: "Other", code: -1, userInfo: [NSLocalizedDescriptionKey: "text"]),
        ]
        for value in values {
            let data = try NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: false)
            let (_, context) = try store(world, data)
            try context.performAndWait {
                let thing = try #require(context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing")).first)
                #expect((thing.value(forKey: "value") as? NSObject)?.isEqual(value) == true, "\(value)")
            }
        }
    }

    /// A value of a class that is not here is nil, is said once, shown as text, and stays through saves of its row.
    @Test func valuesOfUnknownClassesStay() throws {
        let world = try World()
        let bytes = try Self.archive("UIColor", ["red": 0.5, "name": "sky"])
        let (coordinator, context) = try store(world, bytes)
        try context.performAndWait {
            let thing = try #require(context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing")).first)
            #expect(thing.value(forKey: "value") == nil)
            let text = try coordinator.storedValueDescription(forKey: "value", of: thing.objectID)
            #expect(text == "UIColor(name: \"sky\", red: 0.5)")
            #expect(coordinator.readingNotes.count == 1)
            #expect(coordinator.readingNotes.first?.contains("Thing.value: a value of the class UIColor") ?? false)
            thing.setValue("renamed", forKey: "name")
            try context.save()
            #expect(try coordinator.storedValueDescription(forKey: "value", of: thing.objectID) == text)
        }
    }

    /// Mutated archives of all classes that Foundation is given, in a process of its own: none stops it.
    @Test func mutatedArchivesDoNotStopTheProgram() async {
        await #expect(processExitsWith: .success) {
            var components = DateComponents()
            components.year = 2026
            let values: [NSObject] = [
                NSError(domain: "Some", code: 7, userInfo: ["a": "b"]), NSOrderedSet(array: ["a", "b"]),
                NSDecimalNumber(string: "12.5"), components as NSDateComponents, NSIndexSet(indexesIn: NSRange(2..<9)),
                NSLocale(localeIdentifier: "de_DE"), NSURLQueryItem(name: "q", value: "v"),
                NSDictionary(dictionary: ["k": NSArray(array: [NSUUID(), NSURL(string: "http://a.b/c") as Any])]),
                NSAttributedString(string: "text"), NSDateInterval(start: Date(), duration: 5),
                NSCharacterSet(charactersIn: "abc"), NSTimeZone(name: "Europe/Rome") ?? NSNull(),
            ]
            let transformer = ValueTransformer(forName: .keyedUnarchiveFromDataTransformerName)
            var generator = SeededNumbers(seed: 24)
            let times = 300 * (ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"].flatMap { Int($0) } ?? 1)
            for value in values + [NSArray(array: values)] {
                let whole = try NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: false)
                for _ in 0..<times {
                    var damaged = whole
                    for _ in 0...Int.random(in: 0...2, using: &generator) {
                        let place = Int.random(in: 8..<damaged.count, using: &generator)
                        // Small changes turn references and lengths into others.
                        damaged[place] =
                            Bool.random(using: &generator)
                            ? damaged[place] &+ 1 : .random(in: 0...255, using: &generator)
                    }
                    _ = transformer?.transformedValue(damaged)
                }
            }
        }
    }
}
