import CoreData
import Foundation

/// `migrate`: migrates a store to another version of its model.
public struct MigrateCommand {
    /// Location of the store and its model.
    public var store: StoreLocation
    /// `MODEL` or `MODEL:VERSION`.
    public var destination: String
    /// True to print the plan without carrying it out.
    public var isDryRun: Bool
    /// True to keep the copy made before the first step.
    public var keepsBackup: Bool
    /// Format of the plan: a table for people, or JSON with one object for each step.
    public var format: OutputFormat

    /// Creates the command; see the properties.
    public init(
        store: StoreLocation, destination: String, isDryRun: Bool = false, keepsBackup: Bool = false,
        format: OutputFormat = .table
    ) {
        self.store = store
        self.destination = destination
        self.isDryRun = isDryRun
        self.keepsBackup = keepsBackup
        self.format = format
    }

    /// Migrates from version to version. A copy of the store is kept in its folder until the result was opened.
    ///
    /// - Throws: ``CommandError``, or an error of the framework; the store is then unchanged.
    public func run(in surroundings: CommandSurroundings) throws {
        guard [.table, .json].contains(format) else {
            throw CommandError.misuse("--format of migrate must be table or json, not \(format.rawValue)")
        }
        let given = try StorePlace(store.store)
        // Replaces the target of a link, not the link.
        let url = given.isOnServer ? given.url : URL(fileURLWithPath: FileWriting.target(of: given.url.path))
        let place = StorePlace(url: url)
        let versions = try ModelVersions(destination)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: place.type, at: url)
        func isOfStore(_ model: NSManagedObjectModel) -> Bool {
            model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
        }
        if !isDryRun, !place.isOnServer { StoreCopies.removeLeft(besides: url) }
        if isOfStore(versions.destination.model) {
            // Opening removes external values left by a killed migration. A failure does not change the result.
            if !isDryRun, place.type == .sqlite {
                do { try open(url, versions.destination.model) } catch {
                    surroundings.note(
                        "cannot remove files of an interrupted migration: \(CommandError.line(for: error))")
                }
            }
            return try write("\(place.name) already has version \(versions.destination.name)", surroundings)
        }
        let source = try versions.all.first { isOfStore($0.model) } ?? storesOwnModel(place, surroundings)
        var steps = try MigrationPath(versions: versions).steps(from: source)
        for number in steps.indices where !Self.goesInPlace(place, isFirst: number == 0) {
            steps[number].isInPlace = false
        }
        let missing = try printPlan(steps, place, surroundings)
        guard !isDryRun else {
            guard missing.isEmpty else {
                throw CommandError.failure("the migration would fail: \(missing.joined(separator: "; "))")
            }
            return
        }
        try migrate(url, steps, surroundings)
        try SavedReport.telling(true) {
            try write("migrated \(place.name) to version \(versions.destination.name)", surroundings)
        }
    }

    /// True if an inferred step can change the store in place: its type is not written as a whole, and it contains the
    /// model that it was written with. Files of old frameworks contain none until the first step has rewritten them.
    private static func goesInPlace(_ place: StorePlace, isFirst: Bool) -> Bool {
        guard place.type == .sqlite else { return place.isOnServer }
        return !isFirst || (try? NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: place.url)) != nil
    }

    private func storesOwnModel(_ place: StorePlace, _ surroundings: CommandSurroundings) throws -> ModelVersion {
        guard [.sqlite, .postgreSQL].contains(place.type) else {
            throw CommandError.failure(
                "cannot migrate \(place.name): it contains no model, and no version of \(destination) fits it")
        }
        let location = StoreLocation(store: store.store)
        return ModelVersion(name: "the store's own model", model: try StoreModel.model(for: location, in: surroundings))
    }

    /// Programs that read JSON get the plan only.
    private func write(_ text: String, _ surroundings: CommandSurroundings) throws {
        guard format == .table else { return surroundings.note(text) }
        try surroundings.output.write(VisibleText.shown(text) + "\n")
        try surroundings.output.flush()
    }

    // MARK: The plan

    /// - Returns: the reasons why the migration would fail, as far as a dry run can find them.
    private func printPlan(
        _ steps: [MigrationStep], _ place: StorePlace, _ surroundings: CommandSurroundings
    ) throws -> [String] {
        let (counts, missing) = try look(at: steps[0], surroundings)
        let model = steps[0].source.model
        let rehearsal =
            isDryRun && place.type == .sqlite
            ? try LightweightMigrationRehearsal(storeAt: place.url, model: model) : nil
        let onServer =
            isDryRun && place.isOnServer && steps.allSatisfy(\.isInferred)
            ? try ServerMigrationRehearsal(storeAt: place.url, model: model) : nil
        var known = counts
        for (number, step) in steps.enumerated() {
            let destination = step.destination.model
            let file =
                try step.isInPlace
                ? rehearsal?.migrate(to: destination) ?? onServer?.migrate(to: destination)
                : rehearsal?.migrateByManager(to: destination)
            let plan = MigrationPlan(number: number + 1, step: step, counts: known, file: file)
            known = plan.countsAfterwards
            if format == .json {
                try surroundings.output.write(plan.json.text + "\n")
            } else {
                let text = MigrationPlanText(plan: plan, isWhole: isDryRun, type: place.type)
                for line in text.lines { try surroundings.output.write(VisibleText.shown(line) + "\n") }
            }
        }
        try surroundings.output.flush()
        return missing + steps.flatMap(\.missingPolicies) + (place.isOnServer ? steps.compactMap(Self.obstacle) : [])
    }

    private func look(
        at step: MigrationStep, _ surroundings: CommandSurroundings
    ) throws -> (counts: [String: Int], missing: [String]) {
        let session = try StoreSession(
            StoreLocation(store: store.store), for: .reading, in: surroundings, model: step.source.model)
        let obstacles = MigrationObstacles(step: step, session: session, surroundings: surroundings)
        let found = try session.perform {
            var counts: [String: Int] = [:]
            for name in step.source.model.entitiesByName.keys where session.model.entitiesByName[name] != nil {
                if surroundings.interruption.isRaised { throw CommandError.failure("interrupted") }
                let request = NSFetchRequest<NSManagedObject>(entityName: name)
                request.includesSubentities = false
                counts[name] = try session.context.count(for: request)
            }
            return (counts, isDryRun ? try obstacles.sentences() : [])
        }
        try session.close()
        return found
    }

    // MARK: The work

    private func migrate(_ url: URL, _ steps: [MigrationStep], _ surroundings: CommandSurroundings) throws {
        let place = StorePlace(url: url)
        guard !place.isOnServer else { return try migrate(place, steps, surroundings) }
        let making = StoreInMaking(for: url.path, .backup, discard: StoreInMaking.discard)
        let backup = URL(fileURLWithPath: making.path)
        var isNeeded = false
        defer {
            if !isNeeded { StoreInMaking.discard(making.path) }
            making.end()
        }
        try StoreCopies.replace(backup, with: url)
        do {
            for (number, step) in steps.enumerated() {
                if steps.count > 1 {
                    surroundings.note("step \(number + 1) of \(steps.count): to \(step.destination.name)")
                }
                if surroundings.interruption.isRaised { throw CommandError.failure("interrupted") }
                try make(step, at: url, surroundings)
            }
            try open(url, steps[steps.count - 1].destination.model)
        } catch {
            let reason = CommandError.line(for: error)
            do { try StoreCopies.replace(url, with: backup) } catch {
                isNeeded = true
                throw CommandError.failure(
                    "\(url.path) was not migrated: \(reason). Cannot put back the original \(backup.path): \(CommandError.line(for: error))"
                )
            }
            throw CommandError.failure("\(url.path) was not migrated and is unchanged: \(reason)")
        }
        guard keepsBackup else { return }
        let kept = try StoreCopies.keepCopy(of: backup, as: url, suffix: StoreCopies.backupSuffix)
        try SavedReport.telling(true) { try write("\(kept.path) is the store before the migration", surroundings) }
    }

    /// Migrates a store on a server, step by step. Each step is one transaction; a step that fails changes nothing.
    private func migrate(
        _ place: StorePlace, _ steps: [MigrationStep], _ surroundings: CommandSurroundings
    ) throws {
        if let obstacle = steps.lazy.compactMap(Self.obstacle).first {
            throw CommandError.failure("\(place.name) was not migrated: \(obstacle)")
        }
        for (number, step) in steps.enumerated() {
            if surroundings.interruption.isRaised {
                guard number > 0 else { throw CommandError.failure("interrupted; \(place.name) was not changed") }
                throw CommandError.failure(
                    "interrupted; \(place.name) now has version \(steps[number - 1].destination.name)")
            }
            try make(step, at: place.url, surroundings)
        }
    }

    /// The reason why a store on a server does not support a step.
    private static func obstacle(_ step: MigrationStep) -> String? {
        guard !step.isInferred else { return nil }
        return
            "the step to \(step.destination.name) needs a mapping model, which works only for files. Copy the store to a file, migrate it and copy it back"
    }

    private func make(_ step: MigrationStep, at url: URL, _ surroundings: CommandSurroundings) throws {
        guard !step.isInPlace else {
            return try open(
                url, step.destination.model,
                [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true])
        }
        let making = StoreInMaking(for: url.path, .migration, discard: StoreInMaking.discard)
        let made = URL(fileURLWithPath: making.path)
        let manager = NSMigrationManager(sourceModel: step.source.model, destinationModel: step.destination.model)
        let type = StorePlace(url: url).type
        defer {
            StoreInMaking.discard(making.path)
            making.end()
        }
        try WatchedMigration(manager: manager, surroundings: surroundings).run {
            try manager.migrateStore(from: url, type: type, mapping: step.mapping, to: made, type: type)
        }
        try StoreCopies.replace(url, with: made)
    }

    /// Opens the store with a model, and closes it.
    private func open(_ url: URL, _ model: NSManagedObjectModel, _ options: [AnyHashable: Any]? = nil) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            type: StorePlace(url: url).type, at: url, options: options)
        try coordinator.remove(store)
    }
}
