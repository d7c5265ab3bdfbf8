import CoreData
import Foundation
import SQLiteAccess
import Testing

@testable import RosterCommands

/// `migrate` migrates through the versions of a model, or leaves the store unchanged.
@Suite struct MigrateCommandTests {
    private let folder: TemporaryFolder
    private var store: String { folder.path("App.sqlite") }
    private var bundle: String { folder.path("App.xcdatamodeld") }

    /// A model with three versions, and a store of the first one with three records. The second version renames and
    /// adds attributes; the third one changes a text to a number, which needs a mapping model.
    init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: bundle, withIntermediateDirectories: true)
        for (name, model) in [("App", Self.first()), ("App 2", Self.second()), ("App 3", Self.third())] {
            try model.write(to: URL(fileURLWithPath: bundle).appendingPathComponent("\(name).xcdatamodel"))
        }
        try setCurrent("App 3")
        let container = try NSPersistentContainer.open("App", model: Self.first(), at: URL(fileURLWithPath: store))
        let context = container.newBackgroundContext()
        try context.performAndWait {
            for name in ["Ada", "中文", "🙂"] {
                let object = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
                object.setValue(name, forKey: "name")
                object.setValue("42", forKey: "size")
            }
            try context.save()
        }
        for store in container.persistentStoreCoordinator.persistentStores {
            try container.persistentStoreCoordinator.remove(store)
        }
    }

    private func setCurrent(_ name: String) throws {
        let marker = try PropertyListSerialization.data(
            fromPropertyList: ["_XCCurrentVersionName": name + ".xcdatamodel"], format: .xml, options: 0)
        try marker.write(to: URL(fileURLWithPath: bundle).appendingPathComponent(".xccurrentversion"))
    }

    private static func model(_ attributes: [(String, NSAttributeType, String?)]) -> NSManagedObjectModel {
        let person = NSEntityDescription()
        person.name = "Person"
        person.managedObjectClassName = "NSManagedObject"
        person.properties = attributes.map { name, type, former in
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            attribute.isOptional = true
            attribute.renamingIdentifier = former
            return attribute
        }
        let model = NSManagedObjectModel()
        model.entities = [person]
        return model
    }

    private static func first() -> NSManagedObjectModel {
        model([("name", .stringAttributeType, nil), ("size", .stringAttributeType, nil)])
    }
    private static func second() -> NSManagedObjectModel {
        model([
            ("fullName", .stringAttributeType, "name"), ("size", .stringAttributeType, nil),
            ("born", .dateAttributeType, nil),
        ])
    }
    private static func third() -> NSManagedObjectModel {
        model([
            ("fullName", .stringAttributeType, nil), ("size", .integer64AttributeType, nil),
            ("born", .dateAttributeType, nil),
        ])
    }

    /// Writes a mapping model that converts the text to a number.
    private func writeMapping() throws {
        let mapping = NSEntityMapping()
        mapping.name = "Person"
        mapping.mappingType = .customEntityMappingType
        let (source, destination) = (Self.second().entitiesByName["Person"], Self.third().entitiesByName["Person"])
        mapping.sourceEntityName = "Person"
        mapping.destinationEntityName = "Person"
        mapping.sourceEntityVersionHash = source?.versionHash
        mapping.destinationEntityVersionHash = destination?.versionHash
        mapping.sourceExpression = NSExpression(
            format:
                #"FETCH(FUNCTION($manager, "fetchRequestForSourceEntityNamed:predicateString:", "Person", "TRUEPREDICATE"), $manager.sourceContext, NO)"#
        )
        mapping.attributeMappings = ["fullName", "born", "size"].map { name in
            let attribute = NSPropertyMapping()
            attribute.name = name
            attribute.valueExpression = NSExpression(
                format: name == "size" ? #"CAST($source.size, "NSNumber")"# : "$source.\(name)")
            return attribute
        }
        mapping.relationshipMappings = []
        let model = NSMappingModel()
        model.entityMappings = [mapping]
        try model.write(to: URL(fileURLWithPath: folder.path("TwoToThree.cdm")))
    }

    private func migrate(
        _ destination: String, dryRun: Bool = false, keepsBackup: Bool = false, format: OutputFormat = .table,
        store: String? = nil
    ) throws -> [String] {
        let surroundings = TestSurroundings()
        try MigrateCommand(
            store: StoreLocation(store: store ?? self.store), destination: destination, isDryRun: dryRun,
            keepsBackup: keepsBackup, format: format
        ).run(in: surroundings.surroundings())
        return surroundings.lines
    }

    private func rows(_ model: NSManagedObjectModel, at path: String? = nil) throws -> [NSDictionary] {
        let container = try NSPersistentContainer.open(
            "App", model: model, at: URL(fileURLWithPath: path ?? store))
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            let request = NSFetchRequest<NSDictionary>(entityName: "Person")
            request.resultType = .dictionaryResultType
            return try context.fetch(request)
        }
    }

    private func files() throws -> Set<String> {
        Set(
            try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
                .filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") })
    }

    /// Each file of the folder with its contents, except the log's index, which readers write.
    private func contents() throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        where name.hasPrefix("App.sqlite") && !name.hasSuffix("-shm") {
            contents[name] = try Data(contentsOf: folder.url.appendingPathComponent(name))
        }
        return contents
    }

    @Test func aDryRunPrintsThePlanAndChangesNothing() throws {
        let (before, bytes) = (try files(), try contents())
        let lines = try migrate("\(bundle):App 2", dryRun: true)
        #expect(
            lines.prefix(6) == [
                "1. App → App 2, inferred, in place",
                "   ~ Person (3 records): + born, name → fullName",
                "   tables:",
                "     ~ ZPERSON (3 rows), altered in place: + ZBORN TIMESTAMP, ZNAME → ZFULLNAME",
                "   SQL:",
                "     BEGIN EXCLUSIVE;",
            ])
        #expect(lines.contains("     ALTER TABLE ZPERSON RENAME COLUMN ZNAME TO ZFULLNAME;"))
        #expect(lines.contains("     ALTER TABLE ZPERSON ADD COLUMN ZBORN TIMESTAMP;"))
        #expect(lines.last == "     COMMIT;")
        #expect(try files() == before && contents() == bytes)
        #expect(try rows(Self.first()).count == 3)
    }

    @Test func allStepsArePrintedAsJSON() throws {
        try writeMapping()
        let bytes = try contents()
        let lines = try migrate(bundle, dryRun: true, format: .json)
        #expect(try contents() == bytes)
        let steps = try lines.map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(steps.map { $0["way"] as? String } == ["inferred", "mapping model"])
        #expect(steps.map { $0["to"] as? String } == ["App 2", "App 3"])
        let entity = try #require((steps[0]["entities"] as? [[String: Any]])?.first)
        #expect(entity["entity"] as? String == "Person" && entity["records"] as? Int == 3)
        let table = try #require((steps[0]["tables"] as? [[String: Any]])?.first)
        #expect(table["change"] as? String == "altered" && table["rows"] as? Int == 3)
        #expect(
            (table["columns"] as? [[String: Any]])?.compactMap { $0["column"] as? String } == ["ZBORN", "ZFULLNAME"])
        // The second step counts the records, too, and creates the new file by statements.
        #expect((steps[1]["entities"] as? [[String: Any]])?.first?["records"] as? Int == 3)
        #expect((steps[1]["sql"] as? [String])?.contains { $0.hasPrefix("CREATE TABLE ZPERSON") } == true)
        let real = try migrate(bundle, format: .json)
        #expect(real.count == 2 && real.allSatisfy { $0.contains(#""sql":null"#) })
        let misuse = try #require(throws: CommandError.self) { try migrate(bundle, dryRun: true, format: .csv) }
        #expect(misuse.kind == .misuse)
    }

    @Test func aDryRunReportsWhatWouldFail() throws {
        let model = Self.second()
        model.entitiesByName["Person"]?.propertiesByName["born"]?.isOptional = false
        let path = folder.path("Strict.mom")
        try model.write(to: URL(fileURLWithPath: path))
        let error = try #require(throws: CommandError.self) { try migrate(path, dryRun: true) }
        #expect(error.message.contains("3 records of Person would have no value for Person.born, which is required"))
        let real = try #require(throws: CommandError.self) { try migrate(path) }
        #expect(real.message.contains("is unchanged") && real.message.contains("Person.born"))
        #expect(try rows(Self.first()).count == 3)
    }

    /// The dry run has the same result as the migration.
    @Test func aDryRunFindsValuesThatShallBeUnique() throws {
        for (number, names) in [["size"], ["title", "size"], ["title"]].enumerated() {
            let model = Self.model([("title", .stringAttributeType, "name"), ("size", .stringAttributeType, nil)])
            model.entitiesByName["Person"]?.uniquenessConstraints = [names]
            let path = folder.path("Unique \(number).mom")
            try model.write(to: URL(fileURLWithPath: path))
            guard names == ["size"] else {
                _ = try migrate(path, dryRun: true)
                continue
            }
            for dryRun in [true, false] {
                let error = try #require(throws: CommandError.self) { try migrate(path, dryRun: dryRun) }
                #expect(
                    error.message.contains("1 value of Person is in several records, but Person.size must be unique")
                        == dryRun, "\(error.message)")
            }
        }
        #expect(try rows(Self.first()).count == 3)
    }

    @Test func aDryRunFindsADefaultThatShallBeUnique() throws {
        let model = Self.model([
            ("title", .stringAttributeType, "name"), ("size", .stringAttributeType, nil),
            ("code", .stringAttributeType, nil),
        ])
        let person = try #require(model.entitiesByName["Person"])
        person.attributesByName["code"]?.defaultValue = "x"
        person.uniquenessConstraints = [["code"]]
        let path = folder.path("Default.mom")
        try model.write(to: URL(fileURLWithPath: path))
        let error = try #require(throws: CommandError.self) { try migrate(path, dryRun: true) }
        #expect(error.message.contains("1 value of Person"), "\(error.message)")
    }

    /// For renaming identifiers whose name is used again, the plan matches the migration.
    @Test func aPlanFollowsRenamingIdentifiersAsTheMigrationDoes() throws {
        let titled = Self.model([("title", .stringAttributeType, "name"), ("size", .stringAttributeType, nil)])
        let headed = Self.model([("headline", .stringAttributeType, "name"), ("size", .stringAttributeType, nil)])
        headed.entitiesByName["Person"]?.propertiesByName["headline"]?.isOptional = false
        let fresh = Self.model([
            ("headline", .stringAttributeType, "name"), ("size", .stringAttributeType, "length"),
            ("born", .dateAttributeType, nil),
        ])
        let told = [
            (titled, "   ~ Person (3 records): name → title"), (headed, "   ~ Person (3 records): title → headline"),
            // No property was named “length”, so the sizes are lost.
            (fresh, "   ~ Person (3 records): + born, ~ headline, + size, − size"),
        ]
        for (number, (model, line)) in told.enumerated() {
            let path = folder.path("Renamed \(number).mom")
            try model.write(to: URL(fileURLWithPath: path))
            let lines = try migrate(path, dryRun: true)
            #expect(lines.dropFirst().first == line)
            _ = try migrate(path)
        }
        let migrated = try rows(fresh)
        #expect(Set(migrated.compactMap { $0["headline"] as? String }) == ["Ada", "中文", "🙂"])
        #expect(migrated.count == 3 && migrated.allSatisfy { $0["size"] == nil })
    }

    /// The models of a source mapping model may be in another program.
    @Test func aSourceMappingModelOfAnotherProgramIsIgnored() throws {
        let url = URL(fileURLWithPath: folder.path("Other.xcmappingmodel"))
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        let text = """
            <?xml version="1.0"?>
            <database><object type="XDDEVMAPPINGMODEL" id="z1">
            <attribute name="sourcemodelpath" type="string">Other.xcdatamodeld/Other.xcdatamodel</attribute>
            <attribute name="destinationmodelpath" type="string">Other.xcdatamodeld/Other 2.xcdatamodel</attribute>
            </object></database>
            """
        try Data(text.utf8).write(to: url.appendingPathComponent("xcmapping.xml"))
        #expect(throws: (any Error).self) { try NSMappingModel.read(from: url) }
        #expect(try migrate("\(bundle):App 2").last == "migrated \(store) to version App 2")
    }

    /// Counting records and missing values checks for the interruption.
    @Test(arguments: [0, 1]) func aDryRunCanBeInterrupted(looks: Int) throws {
        let path = folder.path("Strict.mom")
        let model = Self.second()
        model.entitiesByName["Person"]?.propertiesByName["born"]?.isOptional = false
        try model.write(to: URL(fileURLWithPath: path))
        let surroundings = TestSurroundings()
        surroundings.raisesAfterLooks = looks
        let error = try #require(throws: CommandError.self) {
            try MigrateCommand(store: StoreLocation(store: store), destination: path, isDryRun: true)
                .run(in: surroundings.surroundings())
        }
        #expect(error.message == "interrupted")
        #expect(surroundings.lines.isEmpty)
    }

    /// An inferred step would lose values that the mapping model keeps.
    @Test(arguments: [0, 200]) func aMappingModelThatCannotBeReadIsAnError(length: Int) throws {
        try writeMapping()
        let url = URL(fileURLWithPath: folder.path("TwoToThree.cdm"))
        try Data(contentsOf: url).prefix(length).write(to: url)
        let bytes = try contents()
        for dryRun in [true, false] {
            let error = try #require(throws: CommandError.self) { try migrate("\(bundle):App 2", dryRun: dryRun) }
            #expect(error.message.contains("TwoToThree.cdm") && error.message.hasSuffix("repair it or move it away"))
        }
        #expect(try contents() == bytes)
    }

    @Test func aPolicyOfAnotherProgramIsNamed() throws {
        try writeMapping()
        let url = URL(fileURLWithPath: folder.path("TwoToThree.cdm"))
        let mapping = try NSMappingModel.read(from: url)
        mapping.entityMappings[0].entityMigrationPolicyClassName = "App.SizePolicy"
        try mapping.write(to: url)
        for dryRun in [true, false] {
            let error = try #require(throws: CommandError.self) { try migrate(bundle, dryRun: dryRun) }
            #expect(error.message.contains("App.SizePolicy"), "\(error.message)")
        }
        #expect(try rows(Self.first()).count == 3)
    }

    /// A migration through a manager reports progress, and an interruption leaves the store unchanged without other
    /// files.
    @Test func longMigrationsReportProgressAndCanBeInterrupted() throws {
        try writeMapping()
        let container = try NSPersistentContainer.open("App", model: Self.first(), at: URL(fileURLWithPath: store))
        let context = container.newBackgroundContext()
        try context.performAndWait {
            for number in 0..<6_000 {
                let object = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
                object.setValue("\(number)", forKey: "size")
            }
            try context.save()
        }
        for store in container.persistentStoreCoordinator.persistentStores {
            try container.persistentStoreCoordinator.remove(store)
        }
        let before = try files()
        for reports in [0, 1] {
            let surroundings = TestSurroundings()
            surroundings.raisesAfterReports = reports
            let error = try #require(throws: CommandError.self) {
                try MigrateCommand(store: StoreLocation(store: store), destination: bundle)
                    .run(in: surroundings.surroundings())
            }
            #expect(
                error.message.hasSuffix("interrupted"), "\(error.message)")
            #expect(surroundings.progress.count >= reports)
            #expect(try files() == before)
            #expect(try rows(Self.first()).count == 6_003)
        }
        let surroundings = TestSurroundings()
        try MigrateCommand(store: StoreLocation(store: store), destination: bundle).run(in: surroundings.surroundings())
        #expect(surroundings.progress.contains { $0.hasSuffix(" % of the records") })
        #expect(try rows(Self.third()).count == 6_003)
    }

    /// As in stores of old frameworks: they are written again and contain a model from then on.
    @Test func aStoreWithoutAModelIsIdentifiedByItsVersion() throws {
        let connection = try Connection(path: store, access: .readWrite)
        try connection.execute("DELETE FROM Z_MODELCACHE")
        connection.close()
        let told = try migrate("\(bundle):App 2", dryRun: true)
        #expect(told.first == "1. App → App 2, inferred, into a new file")
        #expect(told.contains { $0.hasPrefix("     CREATE TABLE ZPERSON") })
        _ = try migrate("\(bundle):App 2")
        #expect(Set(try rows(Self.second()).compactMap { $0["fullName"] as? String }) == ["Ada", "中文", "🙂"])
        #expect(try migrate("\(bundle):App", dryRun: true).first == "1. App 2 → App, inferred, in place")
    }

    @Test(arguments: ["xml", "binary"]) func atomicStoresAreMigratedToo(ending: String) throws {
        try writeMapping()
        let path = folder.path("App.\(ending)")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.first())
        let url = URL(fileURLWithPath: path)
        let type = StorePlace(url: url).type
        let original = try coordinator.addPersistentStore(type: .sqlite, at: URL(fileURLWithPath: store))
        let made = try coordinator.migratePersistentStore(original, to: url, type: type)
        try coordinator.remove(made)
        let bytes = try Data(contentsOf: url)
        let told = try migrate(bundle, dryRun: true, store: path)
        #expect(told.first == "1. App → App 2, inferred, into a new file")
        #expect(told.contains("   no SQL: the whole file is rewritten"))
        #expect(try Data(contentsOf: url) == bytes)
        #expect(try migrate(bundle, keepsBackup: true, store: path).last == "migrated \(path) to version App 3")
        let last = NSPersistentStoreCoordinator(managedObjectModel: Self.third())
        try last.addPersistentStore(type: type, at: url)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = last
        try context.performAndWait {
            let people = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
            #expect(Set(people.map { $0.value(forKey: "fullName") as? String }) == ["Ada", "中文", "🙂"])
            #expect(people.allSatisfy { $0.value(forKey: "size") as? Int == 42 })
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path("App.before-migration.\(ending)"))) == bytes)
    }

    @Test func infersAStep() throws {
        let before = try files()
        let lines = try migrate("\(bundle):App 2")
        #expect(lines.last == "migrated \(store) to version App 2")
        #expect(Set(try rows(Self.second()).compactMap { $0["fullName"] as? String }) == ["Ada", "中文", "🙂"])
        #expect(try files() == before, "no copy stays")
        #expect(try migrate("\(bundle):App 2") == ["\(store) already has version App 2"])
    }

    /// The store has the wanted version but cannot be opened to remove files of a killed migration.
    @Test func anUnreadableStoreOfTheSameVersionIsReported() throws {
        try Connection(path: store, access: .readWrite).execute("DROP TABLE ZPERSON")
        let surroundings = TestSurroundings()
        try MigrateCommand(store: StoreLocation(store: store), destination: "\(bundle):App")
            .run(in: surroundings.surroundings())
        #expect(surroundings.lines == ["\(store) already has version App"])
        #expect(surroundings.notes.contains { $0.hasPrefix("cannot remove files of an interrupted migration: ") })
    }

    @Test func usesAMappingModelThatFits() throws {
        try writeMapping()
        let lines = try migrate(bundle, keepsBackup: true)
        #expect(lines.contains("1. App → App 2, inferred, in place"))
        #expect(lines.contains("2. App 2 → App 3, by a mapping model, into a new file"))
        let migrated = try rows(Self.third())
        #expect(migrated.count == 3 && migrated.allSatisfy { $0["size"] as? Int == 42 })
        #expect(Set(migrated.compactMap { $0["fullName"] as? String }) == ["Ada", "中文", "🙂"])
        let backup = folder.path("App.before-migration.sqlite")
        #expect(Set(try rows(Self.first(), at: backup).compactMap { $0["name"] as? String }) == ["Ada", "中文", "🙂"])
        #expect(try !files().contains { $0.hasPrefix(".App") }, "no file of a step stays")
    }

    @Test func aStepThatCannotBeInferredIsReportedAndLosesNothing() throws {
        let before = try files()
        let error = try #require(throws: CommandError.self) { try migrate(bundle) }
        #expect(error.message.contains("from App 2 to App 3") || error.message.contains("from App to App 3"))
        #expect(error.message.contains("mapping model"))
        #expect(try files() == before)
        #expect(try rows(Self.first()).count == 3)
    }

    @Test func badArgumentsAreMisuse() throws {
        let version = try #require(throws: CommandError.self) { try migrate("\(bundle):App 9") }
        #expect(version.kind == .misuse && version.message.contains("Its versions: App, App 2, App 3"))
        #expect(throws: CommandError.self) { try migrate(folder.path("Nothing.xcdatamodeld")) }
    }
}
