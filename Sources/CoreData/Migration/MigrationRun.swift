import Foundation
import Synchronization

/// One migration of a store by a mapping model: its steps in their order, in batches.
///
/// The destination is saved after each batch without being validated, so that neither side is ever in memory as a whole; it
/// is validated as a whole in the end. It is a new store, which is removed where anything fails.
final class MigrationRun {
    unowned let manager: NSMigrationManager
    let associations = MigrationAssociations()
    private var policies: [NSEntityMigrationPolicy] = []
    private var done = 0
    private var all = 1

    /// How many objects are held at a time.
    static let batch = 500

    init(manager: NSMigrationManager) { self.manager = manager }

    var steps: MigrationSteps { MigrationSteps(manager: manager) }

    private var mappings: [NSEntityMapping] { manager.mappingModel.entityMappings ?? [] }

    func run() throws {
        try check()
        let modules = manager.destinationModel.classModules + manager.sourceModel.classModules
        policies = try mappings.map { try MigrationPolicies.policy(for: $0, modules: modules) }
        let sources = try mappings.map(sourceObjects)
        // Both passes over the objects, and their validation.
        all = max(1, sources.map { $0?.count ?? 0 }.reduce(0, +) * 3)
        for ((mapping, policy), sources) in zip(zip(mappings, policies), sources) {
            try enter(mapping)
            try policy.begin(mapping, with: manager)
            try createInstances(sources, mapping, policy)
            try policy.endInstanceCreation(forMapping: mapping, manager: manager)
            try save()
        }
        for (mapping, policy) in zip(mappings, policies) {
            try enter(mapping)
            try createRelationships(mapping, policy)
            try policy.endRelationshipCreation(forMapping: mapping, manager: manager)
            try save()
        }
        for (mapping, policy) in zip(mappings, policies) {
            try enter(mapping)
            try policy.performCustomValidation(forMapping: mapping, manager: manager)
            try save()
        }
        try MigratedObjects(context: manager.destinationContext).validate { try self.stepped() }
        for (mapping, policy) in zip(mappings, policies) {
            try enter(mapping)
            try policy.end(mapping, manager: manager)
        }
        try manager.checkCancellation()
        try save()
    }

    private func check() throws {
        let fit = MappingFit(from: manager.sourceModel, to: manager.destinationModel)
        guard let problem = fit.problem(of: mappings) else { return }
        throw CoreDataError.make(134110, "The mapping model does not fit: \(problem).")
    }

    private func enter(_ mapping: NSEntityMapping) throws {
        manager.enter(mapping)
        try manager.checkCancellation()
    }

    private func stepped() throws {
        done += 1
        if done % 100 == 0 { manager.report(progress: min(1, Float(done) / Float(all))) }
        try manager.checkCancellation()
    }

    // MARK: Instances

    /// The source objects of a mapping; `nil` where it has none.
    private func sourceObjects(of mapping: NSEntityMapping) throws -> [NSManagedObject]? {
        guard mapping.mappingType != .addEntityMappingType, mapping.mappingType != .removeEntityMappingType,
            let entity = manager.sourceEntity(for: mapping)
        else { return nil }
        let expression = mapping.sourceExpression ?? InferredMappings.allObjects(of: entity)
        let owner = "the source of \(mapping.name ?? "")"
        let found = try MappingExpression(tree: expression.tree, manager: manager, owner: owner).value([
            NSMigrationManagerKey: manager, NSMigrationEntityMappingKey: mapping,
        ])
        switch found {
        case let request as NSFetchRequest<NSManagedObject>: return try manager.sourceContext.fetch(request)
        case let objects as [NSManagedObject]: return objects
        default:
            throw CoreDataError.make(
                134110, "\(owner) is neither a fetch request nor a list of objects of the source store.")
        }
    }

    private func createInstances(
        _ sources: [NSManagedObject]?, _ mapping: NSEntityMapping, _ policy: NSEntityMigrationPolicy
    ) throws {
        guard let sources else { return }
        for start in stride(from: 0, to: sources.count, by: Self.batch) {
            for index in start..<min(start + Self.batch, sources.count) {
                try policy.createDestinationInstances(forSource: sources[index], in: mapping, manager: manager)
                try stepped()
            }
            try save()
        }
    }

    // MARK: Relationships

    private func createRelationships(_ mapping: NSEntityMapping, _ policy: NSEntityMigrationPolicy) throws {
        let made = associations.order(of: mapping.name)
        for start in stride(from: 0, to: made.count, by: Self.batch) {
            let ids = Array(made[start..<min(start + Self.batch, made.count)])
            // One read for all rows of the batch instead of one for each.
            let objects = try MigratedObjects(context: manager.destinationContext).objects(ids)
            let sources = manager.sourceInstances(forEntityMappingName: mapping.name, destinationInstances: objects)
            try withExtendedLifetime(
                try MigratedObjects(context: manager.sourceContext).objects(sources.map(\.objectID))
            ) {
                for object in objects {
                    try policy.createRelationships(forDestination: object, in: mapping, manager: manager)
                    try stepped()
                }
            }
            try save()
        }
    }

    // MARK: Saving

    private func save() throws {
        let context = manager.destinationContext
        if context.hasChanges {
            context.savePipeline.validates = false
            defer { context.savePipeline.validates = true }
            do { try context.save() } catch let error as NSError where error.code == 133021 {
                throw CoreDataError.make(
                    134111,
                    "Objects of the migrated store have the same values where they must be unique: "
                        + error.localizedDescription, underlying: error)
            }
        }
        associations.settle()
    }
}
