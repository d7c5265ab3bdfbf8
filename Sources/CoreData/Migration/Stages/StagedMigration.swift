import Foundation

/// Migrates a store to the current version of its model through the stages of a manager.
///
/// Each step is a separate migration that leaves a complete store. If a later step fails, the store keeps its last
/// version, and the next attempt continues there. If the handler after a migration failed or the process was killed,
/// the store's metadata records the unfinished stage, and the next attempt starts with that handler.
struct StagedMigration {
    let manager: NSStagedMigrationManager
    let url: URL
    let type: String
    let options: [AnyHashable: Any]
    /// The program's version.
    let destination: NSManagedObjectModel

    /// Runs the stages from the store's version to the program's version.
    ///
    /// - Parameter checksum: the checksum of the store's version.
    /// - Throws: 134504 for a version that is unknown or cannot be found, 134506 if the stages run backwards; the
    ///   errors of handlers and migrations.
    func run(from checksum: String, _ source: NSManagedObjectModel) throws {
        let steps = try steps()
        guard let first = steps.firstIndex(where: { $0.checksum == checksum }) else {
            throw CoreDataError.make(
                134504,
                "Cannot use staged migration with an unknown model version: no stage starts at \(checksum), the version of "
                    + "the store \(url.path).")
        }
        var current = source
        try endAwaitedStage(checksum, source)
        for index in first..<steps.count {
            let step = steps[index]
            let next = index + 1 < steps.count ? steps[index + 1] : nil
            if let stage = step.stage, let next, step.leadsOn {
                try call(stage.willMigrateHandler, stage, current)
                let model = try model(next, stage.nextModel)
                if stage.didMigrateHandler != nil { try note(awaited: next.checksum) }
                try migrate(from: current, to: model)
                current = model
                try end(stage, current)
            } else if let next, next.checksum != step.checksum, let reference = next.reference {
                let model = try reference.resolve()
                try migrate(from: current, to: model)
                current = model
            }
        }
        if current.versionChecksum != destination.versionChecksum { try migrate(from: current, to: destination) }
    }

    // MARK: Stages that have not ended

    /// The metadata key for the version whose stage waits for its last handler.
    private static let awaitedKey = "RosterStageAwaitingItsHandler"

    /// True if a store waits for the last handler of a stage.
    static func isAwaited(in metadata: [String: Any]?) -> Bool { metadata?[awaitedKey] != nil }

    private func endAwaitedStage(_ checksum: String, _ model: NSManagedObjectModel) throws {
        guard let awaited = try metadata()[Self.awaitedKey] as? String else { return }
        // A store with another version was interrupted before its migration.
        let stage = manager.stages.lazy.compactMap { $0 as? NSCustomMigrationStage }.first {
            $0.nextModel.versionChecksum == awaited
        }
        if awaited == checksum, let stage { return try end(stage, model) }
        try note(awaited: nil)
    }

    private func end(_ stage: NSCustomMigrationStage, _ model: NSManagedObjectModel) throws {
        guard let handler = stage.didMigrateHandler else { return }
        try call(handler, stage, model)
        try note(awaited: nil)
    }

    private func metadata() throws -> [String: Any] {
        try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url, options: plainOptions)
    }

    private func note(awaited checksum: String?) throws {
        var metadata = try metadata()
        metadata[Self.awaitedKey] = checksum
        try NSPersistentStoreCoordinator.setMetadata(
            metadata, forPersistentStoreOfType: type, at: url, options: plainOptions)
    }

    // MARK: Steps

    /// A version on the path.
    private struct Step {
        let checksum: String
        /// The reference to its model; `nil` for versions named by lightweight stages, which are skipped.
        let reference: NSManagedObjectModelReference?
        /// The custom stage that starts at this version.
        let stage: NSCustomMigrationStage?
        var leadsOn: Bool { stage != nil }
    }

    /// The versions in order. A version is listed once, even if one stage ends and the next begins there.
    private func steps() throws -> [Step] {
        var steps: [Step] = []
        var done: Set<String> = []
        func add(_ step: Step) throws {
            if let last = steps.last, last.checksum == step.checksum, last.stage == nil {
                steps[steps.count - 1] = Step(
                    checksum: step.checksum, reference: step.reference ?? last.reference, stage: step.stage)
                return
            }
            guard done.insert(step.checksum).inserted else {
                throw CoreDataError.make(
                    134506,
                    "The stages of the migration contain a loop: they return to the model version \(step.checksum).")
            }
            steps.append(step)
        }
        for stage in manager.stages {
            switch stage {
            case let stage as NSLightweightMigrationStage:
                for checksum in stage.versionChecksums {
                    try add(Step(checksum: checksum, reference: nil, stage: nil))
                }
            case let stage as NSCustomMigrationStage:
                try add(Step(checksum: stage.currentModel.versionChecksum, reference: stage.currentModel, stage: stage))
                try add(Step(checksum: stage.nextModel.versionChecksum, reference: stage.nextModel, stage: nil))
            default: break
            }
        }
        return steps
    }

    private func model(_ step: Step, _ reference: NSManagedObjectModelReference) throws -> NSManagedObjectModel {
        step.checksum == destination.versionChecksum ? destination : try reference.resolve()
    }

    // MARK: Doing

    private func migrate(from source: NSManagedObjectModel, to model: NSManagedObjectModel) throws {
        var options = plainOptions
        options[NSMigratePersistentStoresAutomaticallyOption] = true
        options[NSInferMappingModelAutomaticallyOption] = true
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: type, configurationName: nil, at: url, options: options)
        try coordinator.remove(store)
    }

    private var plainOptions: [AnyHashable: Any] {
        var options = options
        options[NSPersistentStoreStagedMigrationManagerOptionKey] = nil
        return options
    }

    private func call(
        _ handler: ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)?,
        _ stage: NSCustomMigrationStage,
        _ model: NSManagedObjectModel
    ) throws {
        guard let handler else { return }
        let container = NSPersistentContainer(
            name: url.deletingPathExtension().lastPathComponent, managedObjectModel: model)
        let description = NSPersistentStoreDescription(url: url)
        description.type = type
        description.shouldMigrateStoreAutomatically = false
        for (key, value) in plainOptions {
            if let key = key as? String, key != NSMigratePersistentStoresAutomaticallyOption {
                description.setOption(value as? NSObject, forKey: key)
            }
        }
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        manager.container = container
        defer { manager.container = nil }
        let coordinator = container.persistentStoreCoordinator
        do { try QueueWatchdog.allowingWaits { try handler(manager, stage) } } catch {
            for store in coordinator.persistentStores { try? coordinator.remove(store) }
            throw error
        }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
}
