import SQLiteAccess
import TestSupport
import Testing

@testable import CoreData

/// Random pairs of models, with single edits and several together, filled with random rows and migrated in place,
/// through the manager, and in stores of other types: the expected values are there, the schema is that of a new store,
/// and a check of the store finds nothing.
@MainActor @Suite(.needs(.campaign)) struct RandomMigrationTests {
    private static let factor = ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"].flatMap { Int($0) } ?? 1

    /// Three edits at a time; `ROSTER_LONG_TESTS=n` tests n models for each single edit.
    @Test func everyEdit() throws {
        var random = SeededGenerator(seed: 21)
        let all = ModelSpec.Edit.allCases
        guard Self.factor > 1 else {
            for start in stride(from: 0, to: all.count, by: 3) {
                try run(Array(all[start..<min(start + 3, all.count)]), seed: random.next())
            }
            return
        }
        for edit in all {
            for _ in 0..<Self.factor { try run([edit], seed: random.next()) }
        }
        print("migrations: \(all.count * Self.factor) of one edit, \(3 * Self.factor) of several")
    }

    /// Three pairs of models; `ROSTER_LONG_TESTS=n` multiplies them by n.
    @Test func editsTogether() throws {
        var random = SeededGenerator(seed: 22)
        for _ in 0..<(3 * Self.factor) {
            let edits = (0..<Int.random(in: 2...7, using: &random)).compactMap { _ in
                ModelSpec.Edit.allCases.randomElement(using: &random)
            }
            try run(edits, seed: random.next())
        }
    }

    @Test(arguments: [NSPersistentStore.StoreType.binary, .xml])
    func storesThatAreWrittenAsAWhole(type: NSPersistentStore.StoreType) throws {
        var random = SeededGenerator(seed: 23)
        for _ in 0..<Self.factor {
            let edits = ModelSpec.Edit.allCases.shuffled(using: &random).prefix(5)
            let desk = try MigrationDesk()
            let pair = Pair(Array(edits), seed: random.next(), isPlain: true)
            let before = try pair.make(desk, type: type.rawValue)
            let made = desk.folder.appendingPathComponent("Made")
            let (source, model) = (pair.old.model(), pair.new.model(after: pair.old))
            let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: source, destinationModel: model)
            try NSMigrationManager(sourceModel: source, destinationModel: model).migrateStore(
                from: desk.url, type: type, options: nil, mapping: mapping, to: made, type: type)
            let container = try desk.open(model, at: made, type: type.rawValue)
            let after = try StoreContents(container.viewContext, pair.new)
            try desk.close(container)
            if let found = pair.difference(before, after) { Issue.record("\(type.rawValue): \(found)") }
        }
    }

    /// Two versions of a random model.
    @MainActor
    private struct Pair {
        let old: ModelSpec
        private(set) var new: ModelSpec
        private var done: [ModelSpec.Edit] = []
        let seed: UInt64
        var random: SeededGenerator

        init(_ edits: [ModelSpec.Edit], seed: UInt64, isPlain: Bool = false) {
            self.seed = seed
            random = SeededGenerator(seed: seed)
            old = ModelSpec(&random, isPlain: isPlain)
            new = old
            for edit in edits where new.apply(edit, &random) { done.append(edit) }
        }

        /// True if values are read from files, which no statement does.
        var readsFiles: Bool {
            old.entities.flatMap(\.attributes).contains { was in
                was.isExternal
                    && new.entities.flatMap(\.attributes).contains { $0.id == was.id && !$0.isExternal }
            }
        }

        var text: String { "\(done), seed \(seed)" }

        /// Creates a store of the first version and returns its contents.
        func make(_ desk: MigrationDesk, type: String = NSSQLiteStoreType) throws -> StoreContents {
            var random = random
            let container = try desk.open(old.model(), type: type)
            try old.fill(container.viewContext, &random)
            container.viewContext.reset()
            let contents = try StoreContents(container.viewContext, old)
            if let wrong = contents.wrongDerivation { Issue.record("made: \(wrong); \(text)") }
            try desk.close(container)
            return contents
        }

        func difference(_ before: StoreContents, _ after: StoreContents) -> String? {
            after.difference(to: before.migrated(from: old, to: new), from: old, to: new).map { "\($0); \(text)" }
        }
    }

    private func run(_ edits: [ModelSpec.Edit], seed: UInt64) throws {
        let pair = Pair(edits, seed: seed)
        let desk = try MigrationDesk()
        let before = try pair.make(desk)
        let copy = desk.folder.appendingPathComponent("Copy.sqlite")
        try NSPersistentStoreCoordinator(managedObjectModel: pair.old.model()).replacePersistentStore(
            at: copy, withPersistentStoreFrom: desk.url, type: .sqlite)
        let model = pair.new.model(after: pair.old)
        do {
            let defers = seed % 3 == 0
            let told = try rehearse(pair, desk, model)
            try check(pair, desk.url, desk, model, before, defers: defers, "in place\(defers ? ", deferred" : "")")
            if !defers, !pair.readsFiles { try compare(told, with: desk.url, pair) }
            let made = desk.folder.appendingPathComponent("Made.sqlite")
            let source = pair.old.model()
            let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: source, destinationModel: model)
            try NSMigrationManager(sourceModel: source, destinationModel: model).migrateStore(
                from: copy, type: .sqlite, mapping: mapping, to: made, type: .sqlite)
            try check(pair, made, desk, model, before, "by the manager")
        } catch {
            Issue.record("\(error); \(pair.text)")
        }
    }

    /// Runs the statements of a rehearsal on a copy of the store. The store itself is not changed.
    private func rehearse(_ pair: Pair, _ desk: MigrationDesk, _ model: NSManagedObjectModel) throws -> URL {
        let before = try Data(contentsOf: desk.url)
        let plan = try LightweightMigrationRehearsal(storeAt: desk.url, model: pair.old.model()).migrate(to: model)
        #expect(try Data(contentsOf: desk.url) == before)
        let copy = desk.folder.appendingPathComponent("Told.sqlite")
        try FileManager.default.copyItem(at: desk.url, to: copy)
        let connection = try StoreFile(url: copy, options: StoreOptions(nil), isReadOnly: false).open()
        defer { connection.close() }
        for statement in plan.statements {
            // The text does not contain values of the store's metadata.
            let isWhole = !statement.hasPrefix("INSERT") || !statement.hasSuffix("?)")
            try connection.execute(statement, isWhole ? [] : [.null])
        }
        return copy
    }

    /// Compares schema and rows with those of the migrated store, except metadata.
    private func compare(_ told: URL, with url: URL, _ pair: Pair) throws {
        #expect(try StoreSchema.text(of: told) == StoreSchema.text(of: url), "\(pair.text)")
        #expect(try StoreSchema.rows(of: told) == StoreSchema.rows(of: url), "\(pair.text)")
    }

    private func check(
        _ pair: Pair, _ url: URL, _ desk: MigrationDesk, _ model: NSManagedObjectModel, _ before: StoreContents,
        defers: Bool = false, _ way: String
    ) throws {
        let key = NSPersistentStoreDeferredLightweightMigrationOptionKey
        let container = try desk.open(model, at: url, options: defers ? [key: true as NSNumber] : [:])
        let coordinator = container.persistentStoreCoordinator
        func look(_ moment: String) throws {
            container.viewContext.reset()
            let after = try StoreContents(container.viewContext, pair.new)
            if let found = pair.difference(before, after) { Issue.record("\(way)\(moment): \(found)") }
            for store in coordinator.persistentStores {
                let findings = try coordinator.findings(in: store)
                if !findings.isEmpty { Issue.record("\(way)\(moment): \(findings); \(pair.text)") }
            }
        }
        try look("")
        if defers {
            try coordinator.finishDeferredLightweightMigration()
            try look(", finished")
        }
        try desk.close(container)
        let fresh = desk.folder.appendingPathComponent("Fresh-\(UUID().uuidString).sqlite")
        try desk.close(try desk.open(model, at: fresh))
        let (schema, expected) = (try StoreSchema.text(of: url), try StoreSchema.text(of: fresh))
        if schema != expected {
            let differing = Set(schema).symmetricDifference(expected).sorted()
            Issue.record("\(way): the schema is not that of a new store: \(differing); \(pair.text)")
        }
    }
}
