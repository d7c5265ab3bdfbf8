import Foundation
import SQLiteAccess
import Testing

@testable import CoreData

/// Stores written by Apple's framework have the tables that ours would have, and all of their rows can be read.
@Suite(.enabled(if: ModelCorpus.isPresent, "set ROSTER_CORPUS to the folder with Apple's stores"))
struct CorpusStoreTests {
    /// Stores whose tables were changed after their creation: new columns are last, and old names remain.
    static let migrated: Set = ["photos-11.0"]

    private func isMigrated(_ store: ModelCorpus.StoredModel) -> Bool {
        Self.migrated.contains { store.description.contains($0) }
    }

    /// A writable copy with its coordinator.
    private func open(
        _ stored: ModelCorpus.StoredModel
    ) throws -> (harness: StoreHarness, open: StoreHarness.Open) {
        let model = try NSManagedObjectModel(
            cachedModelData: stored.cachedModel, store: stored.url.path, metadata: stored.metadata)
        return try open(stored.url, model)
    }

    private func open(
        _ url: URL, _ model: NSManagedObjectModel
    ) throws -> (harness: StoreHarness, open: StoreHarness.Open) {
        let harness = try StoreHarness(model)
        for suffix in ["", "-wal"] {
            let source = url.path + suffix
            guard FileManager.default.fileExists(atPath: source) else { continue }
            try FileManager.default.copyItem(atPath: source, toPath: harness.url.path + suffix)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o644], ofItemAtPath: harness.url.path + suffix)
        }
        return (harness, try harness.open())
    }

    @Test(arguments: ModelCorpus.stores) func everyRowOfEveryEntityIsRead(_ stored: ModelCorpus.StoredModel) throws {
        let (harness, open) = try open(stored)
        let session = try #require(open.store.openSession)
        for table in session.layout.tables {
            let count = try session.connection.integer("SELECT COUNT(*) FROM \(SQLName.quoted(table.name))")
            let query = StoreQuery(entity: table.root)
            let found = try open.store.fetch(query)
            #expect(found.rows.count == Int(count ?? -1), "\(table.name)")
            #expect(try open.store.count(query) == Int(count ?? -1))
            let ids = found.keys.map { open.store.objectID(for: $0) }
            #expect(try open.store.rows(for: ids).count == ids.count)
            for relationship in table.root.properties.compactMap({ $0 as? NSRelationshipDescription })
            where relationship.isToMany && !relationship.isTransient {
                _ = try open.store.destinations(of: relationship, from: ids)
            }
        }
        _ = harness
    }

    @Test(arguments: ModelCorpus.stores) func columnsAreThoseThatApplesFrameworkMade(
        _ stored: ModelCorpus.StoredModel
    ) throws {
        let (harness, open) = try open(stored)
        let session = try #require(open.store.openSession)
        for table in session.layout.tables {
            let planned = ["Z_PK", "Z_ENT", "Z_OPT"] + table.columns.map(\.name)
            let actual = try session.connection.columns(of: table.name)
            if isMigrated(stored) {
                #expect(Set(planned) == Set(actual), "\(table.name)")
            } else {
                #expect(inOrderBesidesPositions(planned) == inOrderBesidesPositions(actual), "\(table.name)")
            }
        }
        _ = harness
    }

    /// The relative order of position columns is unknown, so they are left out if there are two.
    private func inOrderBesidesPositions(_ columns: [String]) -> [String] {
        columns.count { $0.hasPrefix("Z_FOK_") } < 2 ? columns : columns.filter { !$0.hasPrefix("Z_FOK_") }
    }

    /// The text of every statement, for stores of the framework versions whose style ours uses.
    @Test(arguments: ModelCorpus.stores) func statementsAreThoseOfApplesFramework(
        _ stored: ModelCorpus.StoredModel
    ) throws {
        let (harness, open) = try open(stored)
        let version = (open.store.metadata["NSPersistenceFrameworkVersion"] as? Int) ?? 0
        guard version >= 847, !isMigrated(stored) else { return }
        let numbering = EntityNumbering(freshFor: harness.model.entities)
        let text = SchemaText(layout: try TableLayout(numbering: numbering))
        let names = Set(text.layout.tables.map(\.name) + text.layout.joinTables.map(\.table.name))
        let actual = try harness.sql(
            "SELECT sql, tbl_name FROM sqlite_master WHERE type IN ('table', 'index', 'trigger') AND sql NOT NULL ORDER BY rowid"
        ).compactMap { row -> String? in
            guard case .text(let sql) = row[0], case .text(let table) = row[1], names.contains(table) else {
                return nil
            }
            return sql
        }
        let planned = text.entityTables() + text.indexes() + (try text.triggers())
        for (plannedText, actualText) in zip(planned, actual) where plannedText != actualText {
            Issue.record("planned: \(plannedText)\n  actual: \(actualText)")
        }
        #expect(planned.count == actual.count)
    }

    @Test(arguments: ModelCorpus.stores) func numbersFollowTheRule(_ stored: ModelCorpus.StoredModel) throws {
        let (harness, _) = try open(stored)
        let fresh = EntityNumbering(freshFor: harness.model.entities).entries
        let actual = try harness.sql(
            "SELECT Z_NAME, Z_ENT, Z_SUPER FROM Z_PRIMARYKEY WHERE Z_ENT < 16000 ORDER BY Z_ENT")
        let planned = fresh.map { entity, number -> [SQLiteValue] in
            let parent = fresh.first { $0.entity === entity.superentity }?.number ?? 0
            return [.text(entity.name ?? ""), .integer(number), .integer(parent)]
        }
        #expect(planned == actual)
    }

    /// Unknown metadata keys, tables, triggers and indexes are kept.
    @Test(arguments: ModelCorpus.stores) func aSaveLosesNothing(_ stored: ModelCorpus.StoredModel) throws {
        let (harness, open) = try open(stored)
        let before = try harness.sql("SELECT type, name, sql FROM sqlite_master ORDER BY rowid")
        let metadata = try #require(open.store.metadata)
        open.store.metadata["RosterTestKey"] = "kept"
        if let entity = harness.model.entities.first(where: { !$0.isAbstract && hasNoConstraint($0) }) {
            let values = [SlotValue](repeating: .null, count: entity.layout.slots.count)
            let id = try #require(open.store.obtainPermanentIDs(for: [entity]).first)
            try open.store.save(
                StoreChangeSet(inserted: [IdentifiedRow(id: id, row: .make(values, version: 1))]))
            #expect(try open.store.rows(for: [id]).count == 1)
        } else {
            try open.store.save(StoreChangeSet())
        }
        #expect(try harness.sql("SELECT type, name, sql FROM sqlite_master ORDER BY rowid") == before)
        try open.close()
        let after = try SQLiteStore.metadataForPersistentStore(with: harness.url)
        #expect(after["RosterTestKey"] as? String == "kept")
        for key in metadata.keys { #expect(after[key] != nil, "\(key)") }
        #expect(try harness.sql("PRAGMA integrity_check") == [[.text("ok")]])
    }

    private func hasNoConstraint(_ entity: NSEntityDescription) -> Bool {
        entity.uniquenessConstraintNames.isEmpty && (entity.superentity.map(hasNoConstraint) ?? true)
    }

    @Test(arguments: ModelCorpus.stores) func historyIsRead(_ stored: ModelCorpus.StoredModel) throws {
        let (harness, open) = try open(stored)
        guard let last = try open.store.lastHistoryNumber() else { return }
        let transactions = try open.store.history(after: 0)
        #expect(transactions.map(\.number).max() ?? 0 <= last)
        let count = try harness.sql("SELECT COUNT(*) FROM ACHANGE WHERE ZENTITY < 16000")[0][0]
        #expect(count == .integer(Int64(transactions.map(\.changes.count).reduce(0, +))))
        let updates = transactions.flatMap(\.changes).filter { $0.kind == .update }
        #expect(!updates.contains { $0.changedProperties.isEmpty })
        #expect(try open.store.history(after: last).isEmpty)
    }

    /// Before iOS 9, stores did not contain their model, so its source is read.
    @Test(arguments: [
        ("bookmigration-model1/Model1.sqlite", "Model.xcdatamodeld/Model1.xcdatamodel", 7),
        ("kodeco-surfjournal/SurfJournalModel.sqlite", "SurfJournalModel.xcdatamodeld", 5000),
    ]) func oldStoresAreRead(_ file: String, _ modelName: String, _ rows: Int) throws {
        let url = try #require(ModelCorpus.root).appendingPathComponent("stores/\(file)")
        let source = url.deletingLastPathComponent().appendingPathComponent("model/\(modelName)")
        guard FileManager.default.fileExists(atPath: url.path) else { return }
        let (harness, open) = try open(url, try NSManagedObjectModel(validContentsOf: source))
        let found = try harness.model.entities.map { try open.store.fetch(StoreQuery(entity: $0)).rows.count }
        #expect(found.reduce(0, +) == rows)
        #expect(try SQLiteStore.cachedModelData(at: harness.url, options: nil) == nil)
    }
}
