import CoreData
import Foundation
import SQLiteAccess
import TestSupport
import Testing

/// After a migration is killed at any moment, the store is complete, in the old version or in one that a step leads to.
@Suite(.needs(.process)) struct MigrationCrashTests {
    /// `ROSTER_LONG_TESTS=n` multiplies it by n.
    private static let kills = 40 * (ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"].flatMap { Int($0) } ?? 1)
    private static let count = 2000
    /// `RANDOM_SEED` sets another seed.
    private static let seed = ProcessInfo.processInfo.environment["RANDOM_SEED"].flatMap { UInt64($0) } ?? 24
    private let folder: URL
    private var store: String { folder.appendingPathComponent("App.sqlite").path }
    private var bundle: URL { folder.appendingPathComponent("App.xcdatamodeld") }
    private let models: [NSManagedObjectModel]

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("migration-crash-\(UUID().uuidString)")
        models = [
            Self.model(["name": .stringAttributeType, "size": .stringAttributeType]),
            Self.model(["name": .stringAttributeType, "size": .stringAttributeType, "born": .dateAttributeType]),
            Self.model(["name": .stringAttributeType, "size": .integer64AttributeType, "born": .dateAttributeType]),
        ]
        try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
        for (name, model) in zip(["App", "App 2", "App 3"], models) {
            try model.write(to: bundle.appendingPathComponent("\(name).xcdatamodel"))
        }
        let marker = ["_XCCurrentVersionName": "App 3.xcdatamodel"]
        try PropertyListSerialization.data(fromPropertyList: marker, format: .xml, options: 0)
            .write(to: bundle.appendingPathComponent(".xccurrentversion"))
        try mapping().write(to: folder.appendingPathComponent("TwoToThree.cdm"))
    }

    private static func model(_ attributes: [String: NSAttributeType]) -> NSManagedObjectModel {
        let person = NSEntityDescription()
        person.name = "Person"
        person.managedObjectClassName = "NSManagedObject"
        person.properties = attributes.sorted { $0.key < $1.key }.map { name, type in
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
            return attribute
        }
        let model = NSManagedObjectModel()
        model.entities = [person]
        return model
    }

    private func mapping() -> NSMappingModel {
        let mapping = NSEntityMapping()
        mapping.name = "Person"
        mapping.mappingType = .transformEntityMappingType
        (mapping.sourceEntityName, mapping.destinationEntityName) = ("Person", "Person")
        mapping.sourceEntityVersionHash = models[1].entitiesByName["Person"]?.versionHash
        mapping.destinationEntityVersionHash = models[2].entitiesByName["Person"]?.versionHash
        mapping.attributeMappings = ["born", "name", "size"].map { name in
            let attribute = NSPropertyMapping()
            attribute.name = name
            attribute.valueExpression = NSExpression(
                format: name == "size" ? #"CAST($source.size, "NSNumber")"# : "$source.\(name)")
            return attribute
        }
        mapping.relationshipMappings = []
        let model = NSMappingModel()
        model.entityMappings = [mapping]
        return model
    }

    /// Creates the store of the first version.
    private func fill() throws {
        let container = try NSPersistentContainer.open("App", model: models[0], at: URL(fileURLWithPath: store))
        let context = container.newBackgroundContext()
        try context.performAndWait {
            for number in 0..<Self.count {
                let object = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
                object.setValue("名 \(number)", forKey: "name")
                object.setValue("\(number)", forKey: "size")
            }
            try context.save()
        }
        try close(container)
    }

    private func close(_ container: NSPersistentContainer) throws {
        let coordinator = container.persistentStoreCoordinator
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    /// Checks that every record exists with its values, in one of the versions. Returns the number of the version.
    private func check() throws -> Int {
        let url = URL(fileURLWithPath: store)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        let version = try #require(
            models.firstIndex { $0.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) })
        let container = try NSPersistentContainer.open("App", model: models[version], at: url)
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let request = NSFetchRequest<NSDictionary>(entityName: "Person")
            request.resultType = .dictionaryResultType
            let rows = try context.fetch(request)
            #expect(rows.count == Self.count)
            #expect(rows.allSatisfy { "名 \($0["size"] ?? "")" == $0["name"] as? String })
        }
        try close(container)
        let connection = try Connection(path: store, access: .readWrite)
        #expect(try connection.value("PRAGMA integrity_check") == .text("ok"))
        connection.close()
        return version
    }

    private func removeStores() throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name.contains(".sqlite") {
            try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
        }
    }

    private func hiddenFiles() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix(".") }.sorted()
    }

    @Test func killedMigrations() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        var state = Self.seed
        try fill()
        let start = ContinuousClock.now
        let arguments = ["migrate", store, "--to", bundle.path]
        let outcome = try RosterProcess.run(arguments)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let longest = (ContinuousClock.now - start) / .seconds(1)
        #expect(try check() == 2)
        var ends: [Int: Int] = [:]
        var (killed, leftovers) = (0, 0)
        for _ in 0..<Self.kills {
            try removeStores()
            try fill()
            let process = try LiveProcess(roster: arguments)
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            usleep(UInt32(longest * Double(state >> 11) / Double(1 << 53) * 1e6))
            if process.isRunning { killed += 1 }
            process.killAtOnce()
            process.waitForEnd()
            ends[try check(), default: 0] += 1
            guard try !hiddenFiles().isEmpty else { continue }
            // The next migration removes files that the killed one left next to the store.
            leftovers += 1
            #expect(try RosterProcess.run(arguments).status == 0)
            let hidden = try hiddenFiles()
            #expect(hidden == [], "\(hidden)")
            #expect(try check() == 2)
        }
        print(
            "kills of migrations, seed \(Self.seed): \(Self.kills), at work \(killed), of versions \(ends), "
                + "with files left \(leftovers)")
        #expect(leftovers > 0, "seed \(Self.seed): no kill left a file")
        #expect(killed > Self.kills / 8, "seed \(Self.seed): \(ends), \(killed) killed at work")
    }

    /// The store was already in place, and there may never be another migration.
    @Test func leftoversOfAKilledMigrationAreRemovedNextTime() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try fill()
        let arguments = ["migrate", store, "--to", bundle.path]
        #expect(try RosterProcess.run(arguments).status == 0)
        let foreign = ".App.sqlite.migration-\(UUID().uuidString).store"
        let left = ["migration-?.store", "migrationdestination_?.store", "replacement-?", "snapshot-?.store"].map {
            ".App.sqlite." + $0.replacingOccurrences(of: "?", with: UUID().uuidString)
        }
        for name in left + [foreign] {
            try FileManager.default.copyItem(atPath: store, toPath: folder.appendingPathComponent(name).path)
        }
        for name in left { try Data().write(to: folder.appendingPathComponent(name + ".making")) }
        #expect(try RosterProcess.run(arguments + ["--dry-run"]).status == 0)
        #expect(try hiddenFiles().count == 2 * left.count + 1)
        let outcome = try RosterProcess.run(arguments)
        #expect(outcome.status == 0)
        #expect(outcome.output.hasSuffix("already has version App 3"), "\(outcome.output)")
        #expect(try hiddenFiles() == [foreign])
        #expect(try check() == 2)
    }
}
