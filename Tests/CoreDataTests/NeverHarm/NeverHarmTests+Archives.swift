import CoreData
import Foundation
import SQLiteAccess
import TestSupport
import Testing

/// Keyed archives in a store that are damaged or contain unknown classes: the program does not stop, and nothing is
/// lost.
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

    /// Opens a store with one row whose value consists of these bytes.
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

    /// Expects that the value with these bytes reads as `nil` and the program continues.
    private func expectNothing(of bytes: Data, in world: World, _ what: Comment? = nil) throws {
        let (_, context) = try store(world, bytes)
        try context.performAndWait {
            let thing = try #require(context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing")).first)
            #expect(thing.value(forKey: "value") == nil, what)
        }
    }

    /// A handwritten archive of one object, converted from XML.
    static func archive(_ name: String, _ fields: [String: Any] = [:], others: [Any] = []) throws -> Data {
        func reference(_ number: Int) -> Any { ["CF$UID": number] as [String: Any] }
        var object = fields
        object["$class"] = reference(2)
        let list: [String: Any] = [
            "$version": 100000, "$archiver": "NSKeyedArchiver", "$top": ["root": reference(1)] as [String: Any],
            "$objects": ["$null", object, ["$classname": name, "$classes": [name, "NSObject"]] as [String: Any]]
                + others,
        ]
        let xml = try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
        // Foundation writes binary references only for values that it read as references.
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
        // Numbers in an archive are checked before arithmetic.
        for count in [Int.max, .max / 2 + 1, .min, -1, 2] {
            let ranges: [String: Any] = ["NSRangeCount": count, "NSRangeData": Data([0, 1])]
            let path: [String: Any] = ["NSIndexPathLength": count, "NSIndexPathData": Data([0])]
            for (name, fields) in [("NSIndexSet", ranges), ("NSIndexPath", path)] {
                try expectNothing(of: Self.archive(name, fields), in: world, "\(name) \(count)")
            }
        }
        let sparse = try Self.archive("NSOrderedSet", ["NS.object.1": "b", "NS.object.3": "d"])
        try expectNothing(of: sparse, in: world)
    }

    @Test func orderedSetsAndErrorsAreReadWhole() throws {
        let world = try World()
        let ordered = NSOrderedSet(array: ["b", "a", 3])
        let plain = NSError(domain: "Some", code: 7)
        let archives: [(value: NSObject, data: Data)] = [
            (ordered, try NSKeyedArchiver.archivedData(withRootObject: ordered, requiringSecureCoding: false)),
            (plain, try Self.archive("NSError", ["NSDomain": "Some", "NSCode": 7])),
            (
                NSError(domain: "Other", code: -1, userInfo: [NSLocalizedDescriptionKey: "text"]),
                try Self.archive(
                    "NSError", ["NSDomain": "Other", "NSCode": -1, "NSUserInfo": ["CF$UID": 3] as [String: Any]],
                    others: [
                        [
                            "$class": ["CF$UID": 4] as [String: Any],
                            "NS.keys": [["CF$UID": 5] as [String: Any]],
                            "NS.objects": [["CF$UID": 6] as [String: Any]],
                        ] as [String: Any],
                        ["$classname": "NSDictionary", "$classes": ["NSDictionary", "NSObject"]] as [String: Any],
                        NSLocalizedDescriptionKey, "text",
                    ])
            ),
        ]
        for (value, data) in archives {
            let (_, context) = try store(world, data)
            try context.performAndWait {
                let thing = try #require(context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing")).first)
                #expect((thing.value(forKey: "value") as? NSObject)?.isEqual(value) == true, "\(value)")
            }
        }
    }

    /// Foundation on Linux cannot compute the hash of errors and decimal numbers, which its archiver and sets need.
    @Test func valuesWithoutAHashAreRefusedAndReadAsNil() throws {
        let world = try World()
        let (_, context) = try store(world, Self.archive("NSNull"))
        try context.performAndWait {
            let thing = try #require(context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing")).first)
            for value: NSObject in [NSError(domain: "Some", code: 7), NSArray(array: [NSDecimalNumber(string: "1.5")])]
            {
                thing.setValue(value, forKey: "value")
                #expect(thrownCode { try context.save() } == 134030)
            }
        }
        for name in ["NSSet", "NSCountedSet", "NSMutableSet"] {
            let data = try Self.archive(
                name, ["NS.objects": [["CF$UID": 3] as [String: Any], ["CF$UID": 5] as [String: Any]]],
                others: [
                    ["$class": ["CF$UID": 4] as [String: Any], "NSDomain": "Some", "NSCode": 7] as [String: Any],
                    ["$classname": "NSError", "$classes": ["NSError", "NSObject"]] as [String: Any],
                    [
                        "$class": ["CF$UID": 6] as [String: Any], "NS.exponent": 0, "NS.length": 1,
                        "NS.negative": false,
                        "NS.compact": true, "NS.mantissabo": 1, "NS.mantissa": Data(repeating: 1, count: 16),
                    ] as [String: Any],
                    [
                        "$classname": "NSDecimalNumber",
                        "$classes": ["NSDecimalNumber", "NSNumber", "NSValue", "NSObject"],
                    ]
                        as [String: Any],
                ])
            try expectNothing(of: data, in: world)
        }
    }

    /// Foundation traps at a set whose member is a class description of the archive or is inline in the set.
    @Test func invalidMembersOfSets() throws {
        let world = try World()
        let members: [Any] = [["CF$UID": 2] as [String: Any], ["$classname": "NSSet"] as [String: Any]]
        for member in members {
            for (name, fields) in [
                ("NSOrderedSet", ["NS.object.0": member]), ("NSSet", ["NS.objects": [member]]),
                ("NSCountedSet", ["NS.count": 1, "NS.object0": member, "NS.count0": 1]),
            ] as [(String, [String: Any])] {
                try expectNothing(of: Self.archive(name, fields), in: world)
            }
        }
    }

    /// Foundation expects a reference for each member of a collection. The invalid member follows a valid one.
    @Test(arguments: ["NSArray", "NSDictionary", "NSSet"]) func membersThatAreNotReferences(name: String) throws {
        let world = try World()
        let text: [String: Any] = ["CF$UID": 3]
        let members: [Any] = [["CF$UID": 4] as [String: Any], Data("ateX".utf8)]
        let others: [Any] = [
            "text", ["$class": ["CF$UID": 5] as [String: Any], "NSString": "abc"] as [String: Any],
            ["$classname": "NSCharacterSet", "$classes": ["NSCharacterSet", "NSObject"]] as [String: Any],
        ]
        let bytes = try Self.archive(name, ["NS.objects": members, "NS.keys": [text, text]], others: others)
        try expectNothing(of: bytes, in: world)
    }

    /// A URL that is its own base, unreachable from the root, in an archive that is too deep to be read.
    @Test func aURLThatIsItsOwnBase() throws {
        let world = try World()
        func reference(_ number: Int) -> Any { ["CF$UID": number] as [String: Any] }
        let count = 70
        var others: [Any] = (3..<3 + count).map {
            ["$class": reference(2), "NS.objects": [reference($0 + 1)]] as [String: Any]
        }
        others += [
            "text",
            ["$class": reference(count + 5), "NS.relative": "x", "NS.base": reference(count + 4)] as [String: Any],
            ["$classname": "NSURL", "$classes": ["NSURL", "NSObject"]] as [String: Any],
        ]
        let bytes = try Self.archive("NSArray", ["NS.objects": [reference(3)]], others: others)
        try expectNothing(of: bytes, in: world)
    }

    /// Foundation makes an `NSURL` of these texts and traps when it is bridged to `URL`.
    @Test(arguments: ["", "1://"]) func invalidURLs(text: String) throws {
        let world = try World()
        let (_, context) = try store(
            world, Self.archive("NSURL", ["NS.relative": text, "NS.base": ["CF$UID": 0] as [String: Any]]))
        try context.performAndWait {
            let thing = try #require(context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing")).first)
            #expect(thing.value(forKey: "value") as? URL == nil)
        }
    }

    /// A value of an unknown class is nil, is reported once, can be shown as text, and is kept by saves of its row.
    @Test func valuesOfUnknownClassesAreKept() throws {
        let world = try World()
        let bytes = try Self.archive("UIColor", ["red": 0.5, "name": "sky"])
        let (coordinator, context) = try store(world, bytes)
        try context.performAndWait {
            let thing = try #require(context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing")).first)
            #expect(thing.value(forKey: "value") == nil)
            let text = try coordinator.storedValueDescription(forKey: "value", of: thing.objectID)
            #expect(text == "UIColor(name: \"sky\", red: 0.5)")
            #expect(coordinator.readingNotes.count == 1)
            #expect(coordinator.readingNotes.first?.contains("decode a value of the class UIColor") ?? false)
            thing.setValue("renamed", forKey: "name")
            try context.save()
            #expect(try coordinator.storedValueDescription(forKey: "value", of: thing.objectID) == text)
        }
    }

    /// Mutated archives of all classes that Foundation decodes, in a separate process: none stops it.
    @Test(.needs(.process)) func mutatedArchivesDoNotStopTheProgram() async {
        await #expect(processExitsWith: .success) {
            var components = DateComponents()
            components.year = 2026
            let values: [NSObject] = [
                NSOrderedSet(array: ["a", "b"]), NSSet(array: ["a", 1]), components as NSDateComponents,
                NSIndexSet(indexesIn: NSRange(2..<9)),
                NSLocale(localeIdentifier: "de_DE"), NSURLQueryItem(name: "q", value: "v"),
                NSDictionary(dictionary: ["k": NSArray(array: [NSUUID(), NSURL(string: "http://a.b/c") as Any])]),
                NSAttributedString(string: "text"), NSDateInterval(start: Date(), duration: 5),
                NSCharacterSet(charactersIn: "abc"), NSTimeZone(name: "Europe/Rome") ?? NSNull(),
                NSCalendar(identifier: .gregorian) ?? NSNull(), UnitLength.kilometers,
                NSMeasurement(doubleValue: 3, unit: UnitLength.meters), NSCountedSet(array: ["a", "a"]),
                NSValue(range: NSRange(1..<3)), NSIndexPath(indexes: [1, 2, 3], length: 3),
                try NSRegularExpression(pattern: "a.b"),
            ]
            let transformer = ValueTransformer(forName: .keyedUnarchiveFromDataTransformerName)
            var generator = SeededNumbers(seed: 24)
            let times = 60 * (ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"].flatMap { Int($0) } ?? 1)
            var archives = try (values + [NSArray(array: values)]).map {
                try NSKeyedArchiver.archivedData(withRootObject: $0, requiringSecureCoding: false)
            }
            archives.append(
                try NeverHarmTests.archive(
                    "NSDecimalNumber",
                    [
                        "NS.exponent": 0, "NS.length": 1, "NS.negative": false, "NS.compact": true, "NS.mantissabo": 1,
                        "NS.mantissa": Data(repeating: 1, count: 16),
                    ]))
            archives.append(try NeverHarmTests.archive("NSError", ["NSDomain": "Some", "NSCode": 7]))
            for whole in archives {
                for _ in 0..<times {
                    var damaged = whole
                    for _ in 0...Int.random(in: 0...2, using: &generator) {
                        let place = Int.random(in: 8..<damaged.count, using: &generator)
                        // Small changes turn references and lengths into other valid ones.
                        damaged[place] =
                            Bool.random(using: &generator)
                            ? damaged[place] &+ 1 : .random(in: 0...255, using: &generator)
                    }
                    _ = transformer?.transformedValue(damaged)
                }
            }
        }
    }

    /// Lists that each contain the next one twice have too many paths for a walk: the value reads as `nil`, its bytes
    /// are kept, and other attributes can be changed.
    @Test(arguments: [24, 60]) func listsThatShareEachOther(_ depth: Int) throws {
        let world = try World()
        func reference(_ number: Int) -> [String: Any] { ["CF$UID": number] }
        func list(_ next: Int) -> [String: Any] {
            ["$class": reference(2), "NS.objects": [reference(next), reference(next)]]
        }
        let lists = (0..<depth).map { list($0 + 4) as Any } + ["end" as Any]
        let bytes = try Self.archive("NSArray", ["NS.objects": [reference(3), reference(3)]], others: lists)
        let (coordinator, context) = try store(world, bytes)
        try context.performAndWait {
            let thing = try #require(context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing")).first)
            #expect(thing.value(forKey: "value") == nil)
            thing.setValue("named", forKey: "name")
            try context.save()
            _ = try coordinator.storedValueDescription(forKey: "value", of: thing.objectID)
            let url = try #require(coordinator.persistentStores.first?.url)
            let found = try Connection(path: url.path, access: .readOnly).rows("SELECT ZVALUE, ZNAME FROM ZTHING")
            #expect(found == [[.blob(bytes), .text("named")]])
        }
    }

    /// Objects that a program shares between values are decoded correctly.
    @Test func sharedObjectsOfPrograms() throws {
        let world = try World()
        let part = NSArray(array: (0..<50).map { "part \($0)" })
        let entries = Dictionary(uniqueKeysWithValues: (0..<100).map { ("key \($0)", part as Any) })
        let value = NSDictionary(dictionary: entries)
        let bytes = try NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: false)
        let (_, context) = try store(world, bytes)
        try context.performAndWait {
            let thing = try #require(context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing")).first)
            #expect(thing.value(forKey: "value") as? NSDictionary == value)
        }
    }
}
