import CoreData
import Foundation

/// 21: lightweight migrations, compared with the same SQL, and one with a manager and a custom policy.
@MainActor struct MigrationWorkload {
    let stage: Stage

    func run() throws {
        let full = try stage.filledStore(stage.count, isIndexed: false)
        try compare(
            "rename an attribute and drop one", full, Self.changed,
            by: """
                BEGIN IMMEDIATE; ALTER TABLE ZTEAM RENAME COLUMN ZVENUE TO ZSTADIUM;
                ALTER TABLE ZTEAM DROP COLUMN ZFOUNDED; COMMIT
                """, target: .ratio(1.5))
        try compare(
            "add an attribute with a default", full, Self.widened,
            by: "ALTER TABLE ZTEAM ADD COLUMN ZCITY VARCHAR DEFAULT 'Montevideo'", target: nil)
        try throughTheManager(full)
    }

    // MARK: Lightweight

    private func compare(
        _ what: String, _ full: URL, _ model: () -> NSManagedObjectModel, by sql: String, target: Line.Bound?
    ) throws {
        let rounds = try Rounds.run(stage.rounds) { rounds in
            let rawURL = try stage.copy(of: full, named: "migrate-raw")
            let database = RawDatabase(path: rawURL.path)
            rounds.note("raw", Clock.processor.time { database.execute(sql) })
            let url = try stage.copy(of: full, named: "migrate")
            let model = model()
            rounds.note("migrate", try Clock.processor.time { try League.Stack(url, model: model).close() })
        }
        Line(
            number: 21, what: "lightweight migration of \(stage.count) rows: \(what)", unit: .milliseconds,
            figure: rounds["migrate"].median, anchor: rounds["raw"].median, target: target
        ).report()
    }

    private static func changed() -> NSManagedObjectModel {
        let model = League.model(isIndexed: false)
        let team = model.entitiesByName["Team"]
        team?.properties.removeAll { ["venue", "founded"].contains($0.name) }
        let stadium = League.attribute("stadium", .integer32AttributeType)
        stadium.renamingIdentifier = "venue"
        team?.properties.append(stadium)
        return model
    }

    private static func widened() -> NSManagedObjectModel {
        let model = League.model(isIndexed: false)
        let city = League.attribute("city", .stringAttributeType)
        city.defaultValue = "Montevideo"
        model.entitiesByName["Team"]?.properties.append(city)
        return model
    }

    // MARK: Through the manager

    private func throughTheManager(_ full: URL) throws {
        let rounds = try Rounds.run(stage.rounds) { rounds in
            rounds.note("manager", try Clock.processor.time { try Self.migrate(full) })
        }
        Line(
            number: 21, what: "migration of \(stage.count) rows by manager and policy, per row", unit: .microseconds,
            figure: rounds["manager"].median / Double(stage.count), target: .absolute(25e-6)
        ).report()
        Line(
            number: 21, what: "… peak memory", unit: .megabytes,
            figure: try MemoryProbe(kind: .migrate, url: full).measure(), target: .absolute(64e6)
        ).report()
    }

    /// Migrates a store to a new one in the same folder, and removes that.
    static func migrate(_ url: URL) throws {
        let made = url.deletingLastPathComponent().appendingPathComponent("made-\(getpid()).sqlite")
        let (source, destination) = (League.model(isIndexed: false), widened())
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: source, destinationModel: destination)
        for each in mapping.entityMappings {
            each.mappingType = .customEntityMappingType
            each.entityMigrationPolicyClassName = NSStringFromClass(CityPolicy.self)
        }
        let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
        try manager.migrateStore(from: url, type: .sqlite, mapping: mapping, to: made, type: .sqlite)
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: made.path + suffix) }
    }
}

/// Sets an attribute from the values of others, as programs do.
final class CityPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance])
        made.first?.setValue("City of \(sInstance.value(forKey: "teamName") ?? "")", forKey: "city")
    }
}
